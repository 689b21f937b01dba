/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ELF build: which build of a program or library a file is, by its build id
 *
 * A debug file has the build id of the file whose symbols it holds. The files may hold anything.
 */

#include <glib.h>
#include <stdbool.h>

/* The build id of the open file, in small hexadecimal digits. NULL: it has none. */
char *elf_build_id(int fd);
/* True if the open file has a table of all symbols, not only of those that it exports. */
bool elf_build_has_symbols(int fd);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The names of C++ and Rust as people write them, without parameters
 */

/* To be freed with free(); NULL: NAME is not mangled. */
char *demangle(const char *name);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dwarf API: libdw, loaded when it is first needed
 *
 * Only stacks that perf copied need it.
 */

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <glib.h>

#define DWARF_API(X)                                                                               \
        X(dwarf_cfi_addrframe)                                                                     \
        X(dwarf_cfi_end)                                                                           \
        X(dwarf_frame_cfa)                                                                         \
        X(dwarf_frame_info)                                                                        \
        X(dwarf_frame_register)                                                                    \
        X(dwarf_getcfi_elf)                                                                        \
        X(dwelf_elf_gnu_build_id)

typedef struct DwarfApi {
#define DWARF_API_MEMBER(name) __typeof__(name) *name;
        DWARF_API(DWARF_API_MEMBER)
#undef DWARF_API_MEMBER
} DwarfApi;

/* NULL with ERROR set: it is not installed, or too old. Not for use by several threads. */
const DwarfApi *dwarf_api(GError **error);

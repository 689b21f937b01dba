/* SPDX-License-Identifier: MIT */
#pragma once

/* Mapping kind: the kind of memory at an address, by perf's name of the mapping */

#include <stdbool.h>

typedef enum MappingKind {
        MAPPING_NOWHERE, /* perf knows no mapping there */
        MAPPING_JITTED,  /* memory for jitted code: anonymous, or the runtime's memfd */
        MAPPING_IMAGE,   /* a .NET assembly, which may have precompiled code */
        MAPPING_LIBRARY, /* an ELF library: never managed code */
        MAPPING_MANAGED, /* perf did not search: the runtime itself reports a managed frame there */
        MAPPING_OTHER,   /* another file, which may be a single-file program with assemblies */
} MappingKind;

/* DSO may be NULL. */
MappingKind mapping_kind_of_dso(const char *dso);

/* True for a library of the .NET runtime, or its JIT compiler. DSO may be NULL. */
bool mapping_is_of_runtime(const char *dso);

/* True if code there can be managed although perf has SYMBOL (or NULL) for it. */
bool mapping_kind_may_be_managed(MappingKind kind, const char *symbol);

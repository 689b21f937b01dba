/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapping kind: the kind of memory that perf found an address in, by the name of its mapping
 */

#include <stdbool.h>

typedef enum MappingKind {
        MAPPING_NOWHERE, /* perf has no mapping there */
        MAPPING_JITTED,  /* memory that the JIT writes code to: anonymous, or the runtime's memfd */
        MAPPING_IMAGE,   /* a .NET assembly, which may hold precompiled code */
        MAPPING_LIBRARY, /* an ELF library: never managed code */
        MAPPING_MANAGED, /* perf is not asked: the runtime itself reports a managed frame there */
        MAPPING_OTHER,   /* another file: a single-file program holds assemblies */
} MappingKind;

/* DSO may be NULL. */
MappingKind mapping_kind_of_dso(const char *dso);

/* True if it is a library of the .NET runtime itself, or of its JIT compiler. DSO may be NULL. */
bool mapping_is_of_runtime(const char *dso);

/* Can there be managed code although perf has SYMBOL (or NULL) for it? */
bool mapping_kind_may_be_managed(MappingKind kind, const char *symbol);

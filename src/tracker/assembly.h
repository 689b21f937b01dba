/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Assembly: one assembly of a process while it is loaded, and the table of all assemblies ever
 * loaded
 *
 * An id is an address in the program, which reuses it after an unload: each life of an id is an
 * assembly of its own.
 */

#include "codemap/strtab.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Assembly {
        uint64_t id;
        uint64_t app_domain_id; /* 0: not known */
        uint64_t binding_id;    /* of the binder; 0: none, or not known */
        uint64_t loaded;
        uint64_t unloaded; /* UINT64_MAX while it lives */
        Str name;          /* owned reference: its full name; 0: not known */
        uint32_t flags;    /* as the runtime writes them: event/module-flags.h */
        bool has_load;     /* `loaded` is its own load event's time */
        bool has_flags;    /* an event described it */
} Assembly;

typedef struct AssemblyTable {
        Strtab *names;      /* borrowed */
        Account *account;   /* borrowed */
        GPtrArray *all;     /* owned Assemblies, by number - 1 */
        GHashTable *newest; /* borrowed id -> number of its newest life */
} AssemblyTable;

/* NAMES and ACCOUNT are borrowed. */
void assembly_table_init(AssemblyTable *table, Strtab *names, Account *account);
void assembly_table_deinit(AssemblyTable *table);

bool assembly_is_living(const Assembly *assembly);
/* The highest number; numbers begin at 1. */
uint32_t assembly_table_n(const AssemblyTable *table);
/* NULL if no assembly has that number. */
Assembly *assembly_table_get(const AssemblyTable *table, uint32_t number);
/* The number of the newest assembly with that id, living or not; 0: there was none. */
uint32_t assembly_table_newest(const AssemblyTable *table, uint64_t id);
/* The same, only if that assembly lives; else 0. */
uint32_t assembly_table_find(const AssemblyTable *table, uint64_t id);
/* The same, and makes the assembly if there is none. 0 for id 0. */
uint32_t assembly_table_need(AssemblyTable *table, uint64_t id, uint64_t time);
/*
 * Unloads the assembly with that number. An unload before its load was that of an earlier assembly
 * with its id, and is ignored.
 */
void assembly_table_end(AssemblyTable *table, uint32_t number, uint64_t time);
/* From a checkpoint, in order of the numbers. Takes over the name if it succeeds. */
bool assembly_table_restore(AssemblyTable *table, const Assembly *assembly);

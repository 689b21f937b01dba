/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stubs: IL stubs that the runtime has made and not loaded yet, and their target methods
 *
 * ILStubGenerated comes first; the load of the stub, as a method of its own, comes later with the
 * same MethodID. The runtime reuses an id when its module is gone, and some kinds of stubs have no
 * such event. An entry is therefore dropped with any other event of its id. If an event may be
 * missing in between, the stub gets no target, rather than a wrong one.
 *
 * A stub made for one method serves all methods of its module with an equal signature; no event
 * reports the others.
 */

#include "codemap/body.h"
#include "event/record.h"

typedef struct Stub {
        uint64_t method_id;
        uint64_t module_id; /* of the target method, and of the stub */
        uint64_t time;
        bool is_reverse;   /* native code calls managed code */
        StubTarget target; /* owned references */
} Stub;

/* The stubs of one process. */
typedef struct StubTable {
        Strtab *names;     /* borrowed */
        Account *account;  /* borrowed */
        GHashTable *table; /* owned: borrowed MethodID (of its value) -> owned Stub */
} StubTable;

void stub_table_init(StubTable *stubs, Strtab *names, Account *account);
void stub_table_deinit(StubTable *stubs);

/*
 * Takes an ILStubGenerated. LAST is the time of the process's latest event. A late ILStubGenerated
 * is not kept, because its id may have been unloaded and reused since.
 */
void stub_table_keep(StubTable *stubs, const Record *record, uint64_t last);
/* Adds a stub from a checkpoint. Takes over its references. */
void stub_table_restore(StubTable *stubs, const Stub *stub);

/* The stub that RECORD loads, if it was made before; else NULL. */
const Stub *stub_table_find(const StubTable *stubs, const Record *record);
/* True if BODY, which RECORD loaded, is the code of the stub. */
bool stub_is_of(const StubTable *stubs, const Stub *stub, const Body *body, const Record *record);
/* Drops the stub. The caller takes over the references of its target. */
StubTarget stub_table_take(StubTable *stubs, const Stub *stub);
/* Drops the stub with its references. */
void stub_table_remove(StubTable *stubs, const Stub *stub);

/* A method, or a module, was unloaded at TIME. */
void stub_table_drop(StubTable *stubs, uint64_t method_id, uint64_t time);
void stub_table_drop_module(StubTable *stubs, uint64_t module_id, uint64_t time);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stub: an IL stub that the runtime has made and not loaded yet, and the method it is made for
 *
 * ILStubGenerated comes first, and the load of the stub, as another method, some time after it: by
 * its MethodID it is found. An id is given again when its module is gone, and not every kind of
 * stub has such an event; so what is kept goes with whatever else happens to its id, and where
 * anything may be missing in between, a stub has no target rather than another's.
 *
 * One made for a method serves all methods of its module with an equal signature, and of these
 * nothing tells.
 */

#include "core/process.h"

typedef struct Stub {
        uint64_t method_id;
        uint64_t module_id; /* of the method it is made for, and its own */
        uint64_t time;
        bool is_reverse;   /* native code calls managed code */
        StubTarget target; /* owned references */
} Stub;

/* Takes an ILStubGenerated. */
void stub_keep(Process *process, const Record *record);
/* Of an image. Takes over the references of STUB. */
void stub_restore(Process *process, const Stub *stub);
/*
 * A load that has been applied: if it is of a stub that is kept, its body has the target now. True
 * if the body had none before. The stub is not kept any longer.
 */
bool stub_load(Process *process, const Record *record);
/* Something was unloaded at TIME: a method, a module. */
void stub_drop(Process *process, uint64_t method_id, uint64_t time);
void stub_drop_module(Process *process, uint64_t module_id, uint64_t time);
void stub_drop_all(Process *process);

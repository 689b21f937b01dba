/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process: one generation of a traced process, with its modules and its code map
 *
 * A generation begins with the first event of a (pid namespace, pid), and again when another
 * program gets that pid.
 */

#include "codemap/codemap.h"
#include "event/record.h"
#include "tracker/assembly.h"
#include "tracker/details.h"
#include "tracker/jitstats.h"
#include "tracker/process-gaps.h"
#include "tracker/stub.h"
#include "tracker/trace.h"
#include "util/guid-text.h"

/* The uid where the owner of a process is not known: only viewers who see all see it. */
#define PROCESS_OF_NOBODY UINT32_MAX

/* A compilation that has begun on a thread. */
typedef struct Jitting {
        uint64_t method_id;
        uint64_t time;
        Str name_space; /* owned references */
        Str name;
        Str signature;
        uint32_t il_size; /* bytes */
} Jitting;

typedef struct Module {
        uint64_t id;
        Str path; /* owned reference; 0: not known (yet) */
        uint64_t loaded;
        uint64_t unloaded; /* BODY_FOREVER while it lives */
        bool has_load;     /* `loaded` is its own load event's time */
        bool has_flags;    /* an event described it */
        uint32_t number;   /* in the process's modules, from 1 */
        uint32_t assembly; /* number in the process's assemblies; 0: not known */
        uint32_t flags;    /* as the runtime writes them: event/module-flags.h */
        Str native_path;   /* owned reference; 0: none */
        /* Its PDB, as its compiler wrote that into the image; without a PDB all are zero. */
        Str pdb_path; /* owned reference */
        uint32_t pdb_age;
        uint8_t pdb_guid[GUID_SIZE];
} Module;

typedef struct Process {
        Strtab *names;    /* borrowed */
        Account *account; /* borrowed, its owner's */
        ProcessKey key;
        unsigned generation; /* counted from 1 */
        uint64_t serial;     /* in order of appearance, of all that ever were; from 1 */
        uint32_t uid; /* of its owner: of its per-UID buffers, or as the host knows; part of its
                         identity */
        bool is_from_start; /* its runtime's start was seen: it has no earlier events */
        bool was_found;     /* on this host, so that what is not found any more has ended */
        bool has_tiering;   /* tiered compilation is on, and `tiering` is known */
        bool rundown_has_modules, rundown_has_jitted; /* rows of the rundown under way */
        uint32_t tiering; /* its settings: TIERED_* of event/module-flags.h */
        uint64_t begin;
        uint64_t last;          /* latest event */
        uint64_t exit;          /* its exit unload; BODY_FOREVER: not seen */
        uint64_t rundown_begin; /* of the rundown under way; 0: none */
        char *runtime_version;  /* owned or NULL: "10.0.12" */
        char *runtime_path;     /* owned or NULL */
        char *command;          /* owned or NULL */
        char *program;          /* owned or NULL: the name of its main thread */
        size_t text_size;       /* booked for these four */
        CodeMap *map;           /* owned */
        GPtrArray *all_modules; /* owned Modules, each life of an id its own */
        GHashTable *modules;    /* borrowed id -> borrowed Module: the newest life of each id */
        AssemblyTable assemblies;
        GHashTable *jitting; /* tid -> owned Jitting */
        StubTable stubs;
        DetailTable details;
        GHashTable *rundown_maps; /* owned MethodKey -> owned IlMap, until their method's row */
        GArray *rundowns;         /* owned, of Rundown: the complete ones in order of arrival */
        ProcessGaps gaps;
        GPtrArray *traces;       /* owned, of borrowed Traces that have events of it */
        unsigned age;            /* rounds of tracker_age() since it was over */
        uint64_t aged_last;      /* its last event as of the round before */
        uint64_t observed_epoch; /* of the map, as the observer knows it */
        JitStats *jit_stats;     /* owned or NULL: there is no such event of it */
        uint64_t edited;         /* since when IL may not be the assemblies'; BODY_FOREVER: never */
        uint64_t refused_since;  /* since when bodies were refused to save memory; BODY_FOREVER:
                                    never */
} Process;

typedef struct MethodKey {
        uint64_t method_id;
        uint64_t rejit_id;
} MethodKey;

Process *process_new(Strtab *names, Account *account, ProcessKey key, unsigned generation,
                     uint64_t begin);
void process_free(Process *process);
/* From a checkpoint: takes over what HEAD has in its plain fields and texts. */
void process_restore_head(Process *process, const Process *head);

/* Bytes of a command, a path or a version that are kept: a program can make them as long as it
 * likes. */
#define PROCESS_MAX_TEXT 4096u
/* The process has events in the trace, which may be known. */
void process_add_trace(Process *process, Trace *trace);
/* Its command line, else the name of its program, or NULL. */
const char *process_command(const Process *process);
/* Books the runtime's version, its path, the command and the program after one of them has changed.
 */
void process_book_texts(Process *process);

bool module_is_living(const Module *module);
/* The living module with that id; made if there is none. NULL for id 0. */
Module *process_living_module(Process *process, uint64_t id, uint64_t time);
/* The same; in the last rundown, the module that has ended with that id, if there was one. */
Module *process_module(Process *process, uint64_t id, uint64_t time);
/*
 * Adds a module from a checkpoint, in order of the numbers; takes over its texts if it succeeds. An
 * id has at most one living module, the last of it.
 */
bool process_restore_module(Process *process, const Module *module);
/* Takes over the reference to PATH. */
void process_set_module_path(Process *process, Module *module, Str path);
/* The assembly that a module belongs to, or NULL. */
const Assembly *process_module_assembly(const Process *process, const Module *module);
/*
 * The unload of a module at TIME: ends its bodies that began by then. If the module was loaded
 * later, the unload was of an earlier one with its id, and it stays; else it ends, and bodies that
 * began later belong to the next module with that id.
 */
void process_end_module(Process *process, Module *module, uint64_t time);

/* The module that a body belongs to, or NULL. */
const Module *process_body_module(const Process *process, const Body *body);
void process_set_module(Process *process, Body *body, uint64_t module_id, uint64_t time);

/* Keeps a map of a rundown until the row of its method comes. Takes over MAP. */
void process_keep_il_map(Process *process, uint64_t method_id, uint64_t rejit_id, IlMap *map);
/* Removes the map kept for a method, which the caller owns from now on; NULL if there is none. */
IlMap *process_take_il_map(Process *process, uint64_t method_id, uint64_t rejit_id);
void process_drop_il_maps(Process *process);

/* The compilation that began on the thread last, or NULL. */
Jitting *process_jitting(const Process *process, int32_t tid);
/* Copies JITTING, and takes over its names. */
void process_begin_jitting(Process *process, int32_t tid, const Jitting *jitting);

/* Takes a JittedMethodRichDebugInfo. */
void process_take_inline_tree(Process *process, const Record *record);
/* Takes a MethodDetails. */
void process_take_method_details(Process *process, const Record *record);
/*
 * RECORD, a load, has been applied: its body gets what earlier events know of it: the target of
 * a stub, or the type arguments of a generic method. True if that changes its name.
 */
bool process_load_detail(Process *process, const Record *record);

/*
 * Adds a complete rundown. A bounded number is kept, the first and the last ones in any case.
 */
#define PROCESS_MAX_RUNDOWNS 64u
void process_add_rundown(Process *process, const Rundown *rundown);

/* The time up to which all streams are in that can have events of the process. */
uint64_t process_horizon(const Process *process);
/* It has not ended, and one of its sessions has not either: more events can come. */
bool process_is_open(const Process *process);
/* The process was over at TIME. */
void process_end(Process *process, uint64_t time);
/* ns. Real runtimes were seen to emit for up to 12 ms after their exit unload. */
#define PROCESS_EXIT_GRACE UINT64_C(1000000000)
/* When the body's life was over, by its own end or the process's; BODY_FOREVER: it lives. */
uint64_t process_body_end(const Process *process, const Body *body);
/*
 * True while a runtime that has reported the unload of everything, at its end, lists once more what
 * there was: so it ends an EventPipe session.
 */
bool process_is_in_last_rundown(const Process *process);
/* True if at TIME nothing can be of the process any more: its pid may be another program's. */
bool process_is_over_at(const Process *process, uint64_t time);
/* True if events of the process may have been lost in [begin, end]. */
bool process_has_gap(const Process *process, uint64_t begin, uint64_t end);
/* True if TIME is before the first event of a process whose start was not seen. */
bool process_is_before(const Process *process, uint64_t time);

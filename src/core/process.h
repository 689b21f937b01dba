/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process: one generation of a traced process, with its modules and its code map
 *
 * A generation begins with the first event of a (pid namespace, pid), and again when that pid is
 * given to another program.
 */

#include "core/codemap.h"
#include "core/jitstats.h"
#include "core/lapses.h"
#include "core/record.h"
#include "core/trace.h"

/* A compilation that has begun on a thread. */
typedef struct Jitting {
        uint64_t method_id;
        uint64_t time;
        Str name_space; /* owned references */
        Str name;
        Str signature;
} Jitting;

typedef struct Module {
        uint64_t id;
        Str path; /* owned reference; 0: not known (yet) */
        uint64_t loaded;
        uint64_t unloaded; /* BODY_FOREVER while it lives */
        bool has_load;     /* `loaded` is its own load event's time */
        uint32_t number;   /* in the process's modules, from 1 */
} Module;

typedef struct Process {
        Strtab *names;    /* borrowed */
        Account *account; /* borrowed */
        ProcessKey key;
        unsigned generation; /* counted from 1 */
        uint64_t serial;     /* in order of appearance, of all that ever were; from 1 */
        bool has_uid;        /* else its streams may tell whose it is */
        uint32_t uid;        /* of its owner, as /proc had it */
        bool is_from_start;  /* its runtime's start was seen: nothing of it came before */
        uint64_t begin;
        uint64_t last;            /* latest event */
        uint64_t exit;            /* its exit unload; BODY_FOREVER: not seen */
        uint64_t rundown_begin;   /* of the rundown under way; 0: none */
        char *runtime_version;    /* owned or NULL: "10.0.12" */
        char *runtime_path;       /* owned or NULL */
        char *command;            /* owned or NULL */
        CodeMap *map;             /* owned */
        GPtrArray *all_modules;   /* owned Modules, each life of an id its own */
        GHashTable *modules;      /* borrowed id -> borrowed Module: the living ones */
        GHashTable *jitting;      /* tid -> owned Jitting */
        GHashTable *stubs;        /* borrowed MethodID -> owned Stub (core/stub.h) */
        GHashTable *rundown_maps; /* owned MethodKey -> owned IlMap, until their method's row */
        GArray *rundowns;         /* of Rundown, as they came */
        Lapses lapses;
        GPtrArray *traces;      /* borrowed Traces that its events came from */
        unsigned age;           /* rounds of tracker_age() since it was over */
        uint64_t aged_last;     /* its last event as of the round before */
        uint64_t told_epoch;    /* of the map, as observers know it */
        JitStats *jit_stats;    /* owned; NULL: none of their events came */
        uint64_t refused_since; /* bodies were refused for want of memory; BODY_FOREVER: none */
} Process;

typedef struct MethodKey {
        uint64_t method_id;
        uint64_t rejit_id;
} MethodKey;

Process *process_new(Strtab *names, Account *account, ProcessKey key, unsigned generation,
                     uint64_t begin);
void process_free(Process *process);

/* The living module of that id; made if there is none. NULL for id 0. */
Module *process_module(Process *process, uint64_t id, uint64_t time);
/* One like MODULE, whose path is taken over: a living one is the only one of its id. */
void process_restore_module(Process *process, const Module *module, bool is_living);
/* Takes over the reference to PATH. */
void process_set_module_path(Process *process, Module *module, Str path);
/*
 * Ends the module's bodies that were there by TIME. If the module itself is younger, another one
 * had its id then, and it stays; else it ends, and younger bodies are of the next one of that id.
 */
void process_end_module(Process *process, Module *module, uint64_t time);

/* The module that a body is of, or NULL. */
const Module *process_body_module(const Process *process, const Body *body);
void process_set_module(Process *process, Body *body, uint64_t module_id, uint64_t time);

/* A map of a rundown, kept until the row of its method comes. Takes over MAP. */
void process_keep_il_map(Process *process, uint64_t method_id, uint64_t rejit_id, IlMap *map);
/* The map kept for a method, the caller's from now on; or NULL. */
IlMap *process_take_il_map(Process *process, uint64_t method_id, uint64_t rejit_id);
void process_drop_il_maps(Process *process);

void process_begin_jitting(Process *process, int32_t tid, Jitting *jitting);
const Jitting *process_jitting(const Process *process, int32_t tid, uint64_t method_id);

/* Time up to which all streams that the process can appear in are in. */
uint64_t process_horizon(const Process *process);
/* True if events of the process may have been lost in [begin, end]. */
bool process_has_gap(const Process *process, uint64_t begin, uint64_t end);
/* True if TIME is before the first event of a process whose start was not seen. */
bool process_is_before(const Process *process, uint64_t time);

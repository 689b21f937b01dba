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

/* The uid of a process whose owner is not known: only viewers who see all processes see it. */
#define PROCESS_OF_NOBODY UINT32_MAX

/* A compilation in progress on a thread. */
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
        Str path; /* owned reference; 0: not known */
        uint64_t loaded;
        uint64_t unloaded; /* BODY_FOREVER while it lives */
        bool has_load;     /* `loaded` is its own load event's time */
        bool has_flags;    /* an event described it */
        uint32_t number;   /* in the process's modules, from 1 */
        uint32_t assembly; /* number in the process's assemblies; 0: not known */
        uint32_t flags;    /* as the runtime writes them: event/module-flags.h */
        Str native_path;   /* owned reference; 0: none */
        /*
         * Its PDB, as the compiler has written it into the image; all zero: the image names none.
         */
        Str pdb_path; /* owned reference */
        uint32_t pdb_age;
        uint8_t pdb_guid[GUID_SIZE];
} Module;

typedef struct Process {
        Strtab *names;    /* borrowed */
        Account *account; /* borrowed, its owner's */
        ProcessKey key;
        unsigned generation; /* from 1 on */
        uint64_t serial; /* unique among all processes ever, in order of appearance, from 1 on */
        uint32_t uid;    /* of its owner: of its per-UID buffers, or as the host knows; part of its
                            identity */
        bool is_from_start; /* its runtime's start was seen: no events are missing before */
        bool was_found;   /* it was found on this host: if it is not found any more, it has ended */
        bool has_tiering; /* tiered compilation is on, and `tiering` is known */
        bool rundown_has_modules; /* the rundown in progress has such rows */
        bool rundown_has_jitted;  /* it has such rows, or lists jitted code if there is any */
        bool is_full_rundown;     /* the next rundown does */
        uint32_t tiering;         /* its settings: TIERED_* of event/module-flags.h */
        uint64_t begin;
        uint64_t last;          /* time of its latest event */
        uint64_t exit;          /* its exit unload; BODY_FOREVER: not seen */
        uint64_t rundown_begin; /* of the rundown in progress; 0: none */
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
        GHashTable *rundown_maps; /* owned MethodKey -> owned IlMap, until the row of its method
                                   * comes */
        GArray *rundowns;         /* owned, of Rundown: the complete ones, in order of arrival */
        ProcessGaps gaps;
        GPtrArray *traces;       /* owned, of borrowed Traces with events of this process */
        unsigned age;            /* rounds of tracker_age() since its end */
        uint64_t aged_last;      /* its latest event at the round before */
        uint64_t observed_epoch; /* of the map: the latest that the observer knows */
        JitStats *jit_stats;     /* owned or NULL: no such event has come */
        uint64_t edited;         /* since when its IL may differ from the assemblies'; BODY_FOREVER:
                                  * never */
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
/* From a checkpoint: takes over the plain fields and texts of HEAD. */
void process_restore_head(Process *process, const Process *head);

/* Bytes kept of a command, a path or a version, which a program can make arbitrarily long. */
#define PROCESS_MAX_TEXT 4096u
/* Adds a trace with events of the process, unless it has it. */
void process_add_trace(Process *process, Trace *trace);
/* Its command line, else its program's name, or NULL. */
const char *process_command(const Process *process);
/* Books runtime_version, runtime_path, command and program after a change of one. */
void process_book_texts(Process *process);

bool module_is_living(const Module *module);
/* The living module with that id, made if there is none. NULL for id 0. */
Module *process_living_module(Process *process, uint64_t id, uint64_t time);
/* The same; in the last rundown, the ended module with that id, if there was one. */
Module *process_module(Process *process, uint64_t id, uint64_t time);
/*
 * Adds a module from a checkpoint, in order of the numbers; takes over its texts if it succeeds. An
 * id has at most one living module, its last one.
 */
bool process_restore_module(Process *process, const Module *module);
/* Takes over the reference to PATH. */
void process_set_module_path(Process *process, Module *module, Str path);
/* The assembly of a module, or NULL. */
const Assembly *process_module_assembly(const Process *process, const Module *module);
/*
 * Unloads a module at TIME: ends its bodies that began by then. If the module was loaded later, the
 * unload was that of an earlier module with its id, and the module stays. Else the module ends, and
 * bodies that began later belong to the next module with that id.
 */
void process_end_module(Process *process, Module *module, uint64_t time);

/* The module of a body, or NULL. */
const Module *process_body_module(const Process *process, const Body *body);
void process_set_module(Process *process, Body *body, uint64_t module_id, uint64_t time);

/* Keeps a map of a rundown until its method's row comes. Takes over MAP. */
void process_keep_il_map(Process *process, uint64_t method_id, uint64_t rejit_id, IlMap *map);
/* Removes the map kept for a method and gives it to the caller; NULL if there is none. */
IlMap *process_take_il_map(Process *process, uint64_t method_id, uint64_t rejit_id);
void process_drop_il_maps(Process *process);

/* The latest compilation that began on the thread, or NULL. */
Jitting *process_jitting(const Process *process, int32_t tid);
/* Copies JITTING; takes over its names. */
void process_begin_jitting(Process *process, int32_t tid, const Jitting *jitting);

/* Takes a JittedMethodRichDebugInfo. */
void process_take_inline_tree(Process *process, const Record *record);
/* Takes a MethodDetails. */
void process_take_method_details(Process *process, const Record *record);
/*
 * Completes the body of RECORD, an applied load, from earlier events: with the target of a stub, or
 * the type arguments of a generic method. True if the body's name changes.
 */
bool process_load_detail(Process *process, const Record *record);

/* Adds a complete rundown. A bounded number is kept, always with the first and the last. */
#define PROCESS_MAX_RUNDOWNS 64u
void process_add_rundown(Process *process, const Rundown *rundown);

/* The time up to which all streams with events of the process have arrived. */
uint64_t process_horizon(const Process *process);
/* True if a session that can have events of the process has not ended. */
bool process_has_open_trace(const Process *process);
/* True if neither the process nor all of its sessions have ended: more events can come. */
bool process_is_open(const Process *process);
/* True if both the process and all of its sessions have ended: no more events can come. */
bool process_is_closed(const Process *process);
/* The process has ended by TIME. */
void process_end(Process *process, uint64_t time);
/* ns. Real runtimes emitted events for up to 12 ms after their exit unload. */
#define PROCESS_EXIT_GRACE UINT64_C(1000000000)
/* The end of the body's life, or of its process; BODY_FOREVER: it lives. */
uint64_t process_body_end(const Process *process, const Body *body);
/*
 * True while an exiting runtime, after the unload of everything, lists its code once more: the last
 * rundown of an EventPipe session.
 */
bool process_is_in_last_rundown(const Process *process);
/* True if no event at TIME can be the process's: its pid may be another program's. */
bool process_is_over_at(const Process *process, uint64_t time);
/* True if events of the process may have been lost in [begin, end]. */
bool process_has_gap(const Process *process, uint64_t begin, uint64_t end);
/* True if TIME is before the process's first event, and its start was not seen. */
bool process_is_before(const Process *process, uint64_t time);

/* SPDX-License-Identifier: MIT */
#ifndef CLRSYM_H
#define CLRSYM_H

/*
 * libclrsym: which .NET method was at an address of a process at a time
 *
 * Asks a clrsymd over its socket, or a recorded trace. Link with `pkg-config --libs clrsym`.
 * libclrsym(3) has an example; clrsym-answers(7) says what the answers mean.
 *
 * Times are ns of CLOCK_MONOTONIC, on the clock of the trace. Addresses are taken as they are: who
 * has a return address and means the call subtracts 1.
 *
 * Errors: functions return 0 or a negative errno value; clrsym_message() then says in one line what
 * is wrong, why, and what to do. Nothing here aborts or prints, there is no global state, and no
 * signal is touched or raised. What a daemon sends is checked: nothing of it is handed on if a part
 * makes no sense.
 *
 *     -ENOENT, -ECONNREFUSED, ...  there is no daemon, or no program that reads traces
 *     -EACCES                      this user may not ask it
 *     -ECONNRESET                  it hung up
 *     -ETIMEDOUT                   it has been silent for a minute
 *     -EBADMSG                     it is no clrsymd, or none for this library
 *     -EREMOTEIO                   it refused the question
 *     -EINVAL                      the question is none
 *     -EIO, -ECANCELED             the trace cannot be read; the progress function ended it
 *     -EBUSY                       called from a callback of another call with the handle
 *     -ENOMEM
 *
 * A handle can be used again after any of these; but a trace whose process has ended is opened
 * again. All questions can be asked twice: if the daemon
 * went away, a call waits for the next one and asks that (clrsym_options.reconnect_ms), unless a
 * callback was called already.
 *
 * Threads: a handle is used by one thread at a time; different handles are independent. It is of no
 * use in a child after fork().
 *
 * Ownership: strings in an answer are the handle's, and valid until the next call with it; those
 * that a callback gets, until the callback returns; those of an event, until the next call with the
 * watch. They are UTF-8 and NUL-terminated; NULL where not known. They are the traced program's own
 * words: escape them before they go to a terminal (clrsym_symbol() does).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Most queries that go to the daemon at once; clrsym_resolve() takes any number. */
#define CLRSYM_BATCH 4096

typedef enum clrsym_status {
        CLRSYM_OK,
        CLRSYM_NO_PROCESS, /* no such process is known, or it may not be seen by this user */
        CLRSYM_NO_METHOD,  /* nothing was ever there */
        CLRSYM_UNLOADED,   /* something was, earlier: see clrsym_answer.body */
        CLRSYM_NOT_YET,    /* something is, later */
        CLRSYM_AMBIGUOUS,  /* several have been there (give a time), or several processes are meant
                            */
        CLRSYM_PENDING,    /* the time is past what is in, and nothing is known there yet */
        CLRSYM_EVICTED,    /* what was there has been forgotten, for want of memory */
        CLRSYM_INVALID,    /* the query is none */
} clrsym_status;

/* From best to worst. */
typedef enum clrsym_confidence {
        CLRSYM_EXACT,
        CLRSYM_ASSUMED,     /* its start of life, or its end, was not seen */
        CLRSYM_PROVISIONAL, /* the time is past the horizon: news may change it */
        CLRSYM_GAP,         /* events that could change it may have been lost */
} clrsym_confidence;

/* What made a body known. */
typedef enum clrsym_source {
        CLRSYM_SOURCE_LOAD,
        CLRSYM_SOURCE_RUNDOWN,   /* listed as alive: `loaded` is not known */
        CLRSYM_SOURCE_UNLOAD,    /* only its unload was seen */
        CLRSYM_SOURCE_R2R_ENTRY, /* only its first address is known */
} clrsym_source;

/* The runtime's optimization tiers, by its own numbers; and code that was not jitted. */
typedef enum clrsym_tier {
        CLRSYM_TIER_UNKNOWN,
        CLRSYM_TIER_MIN_OPT_JITTED,
        CLRSYM_TIER_OPTIMIZED,
        CLRSYM_TIER_QUICK_JITTED,
        CLRSYM_TIER_OPTIMIZED_TIER1,
        CLRSYM_TIER_OPTIMIZED_TIER1_OSR,
        CLRSYM_TIER_INSTRUMENTED,
        CLRSYM_TIER_INSTRUMENTED_OPTIMIZED,
        CLRSYM_TIER_READY_TO_RUN,
} clrsym_tier;

/* What is known of the IL offset of an instruction. */
typedef enum clrsym_il_kind {
        CLRSYM_IL_UNKNOWN, /* there is no IL map */
        CLRSYM_IL_EXACT,   /* il_offset is set */
        CLRSYM_IL_PROLOG,
        CLRSYM_IL_EPILOG,
        CLRSYM_IL_NO_MAPPING,
} clrsym_il_kind;

/* The words that the daemon's JSON and clrsym(1) have for them; "?" for another number. Static. */
const char *clrsym_status_name(clrsym_status status);
const char *clrsym_confidence_name(clrsym_confidence confidence);
const char *clrsym_source_name(clrsym_source source);
const char *clrsym_tier_name(clrsym_tier tier);
const char *clrsym_il_kind_name(clrsym_il_kind kind);

/* No time: `loaded` of a body whose start was not seen. Alive: `unloaded` of one that lives. */
#define CLRSYM_NO_TIME UINT64_C(0)
#define CLRSYM_ALIVE   UINT64_MAX

/* A connection to a daemon, or an opened trace. */
typedef struct clrsym clrsym;

typedef struct clrsym_options {
        /*
         * Path of the daemon's socket. NULL: $CLRSYM_SOCKET, $XDG_RUNTIME_DIR/clrsym/query if it is
         * there, or /run/clrsym/query.
         */
        const char *socket;
        /*
         * Instead of a daemon: a directory in or above one or several CTF traces, or a snapshot
         * made by `clrsym save`. Read by a process of its own, which ends with the handle: the
         * program $CLRSYM_DAEMON, or the clrsymd that this library was installed with.
         */
        const char *trace;
        /* With `trace`: also write what was read to this file, a snapshot. */
        const char *save;
        /* With `trace`: also take the events that clrsym_call()'s method JitStatistics is about. */
        bool with_jit_events;
        /*
         * Called several times a second while a trace is read, and after a signal, with the bytes
         * read and the bytes in all (0 until that is known); not 0 ends the reading (-ECANCELED).
         */
        int (*progress)(uint64_t n_read, uint64_t n_total, void *data);
        void *data;
        /*
         * ms for which a call tries to reach a daemon again that went away (a restart). 0: 5000;
         * -1: not at all. clrsym_open() itself does not wait.
         */
        int reconnect_ms;
} clrsym_options;

/*
 * Opens. OPTIONS may be NULL. On failure *RET is NULL and *RET_MESSAGE, unless RET_MESSAGE is NULL,
 * a line of text (free() it; NULL if there is no memory).
 */
int clrsym_open(clrsym **ret, const clrsym_options *options, char **ret_message);
/* NULL is fine. */
void clrsym_close(clrsym *handle);
/* What the last failed call says; valid until the next call. Never NULL. */
const char *clrsym_message(const clrsym *handle);

typedef struct clrsym_query {
        int32_t pid; /* in the asker's pid namespace while it runs; in a trace, the process's own */
        bool has_pid_ns;
        bool has_time;   /* else: now */
        uint64_t pid_ns; /* inode of the pid namespace that has the pid; else any that has it */
        uint64_t address;
        uint64_t time;
} clrsym_query;

/* A native code body: one version of a method's code, at its place. */
typedef struct clrsym_body {
        const char *name_space; /* with the type: "System.Threading.Thread" */
        const char *name;
        const char *signature;
        const char *module_path;
        uint64_t module_id;
        uint64_t method_id;
        uint64_t start;
        uint32_t size;  /* 0: not known */
        uint32_t flags; /* MethodFlags of the runtime */
        uint32_t token;
        uint32_t rejit_id;   /* native code version, as in the runtime's events */
        bool has_il_version; /* else no IL map is known */
        uint64_t il_version; /* the profiling API's ReJITID */
        clrsym_tier tier;
        clrsym_source source;
        uint64_t jit_ns; /* 0: not known */
        uint64_t loaded;
        uint64_t unloaded;
        /*
         * Of an IL stub: the method that the runtime made it for. It serves all methods of its
         * module with an equal signature. stub_name is NULL where no event told, and for all other
         * code.
         */
        const char *stub_name_space;
        const char *stub_name;
        const char *stub_signature;
} clrsym_body;

typedef struct clrsym_answer {
        clrsym_status status;
        clrsym_confidence confidence;
        bool has_process; /* the four below are set */
        int32_t pid;      /* in its own namespace */
        uint64_t pid_ns;
        uint32_t generation; /* which of the programs that had this pid, from 1 */
        uint64_t horizon;    /* up to here the process's events are in */
        /*
         * Changes whenever an answer OK given before could change: what was answered for a body may
         * be kept for [start, start + size) until then. Other answers must not be kept.
         */
        uint64_t epoch;
        bool has_body; /* OK: the body. UNLOADED, NOT_YET, PENDING, EVICTED: the nearest, if any */
        clrsym_body body;
        uint64_t offset;  /* of the address in the body; meaningless where that is the nearest */
        int64_t distance; /* ns from the time asked to the nearest body's life: negative if over */
        clrsym_il_kind il_kind;
        int32_t il_offset;     /* with CLRSYM_IL_EXACT */
        uint32_t n_candidates; /* AMBIGUOUS: how many; see clrsym_history(), clrsym_processes() */
} clrsym_answer;

/*
 * Answers N queries, one each, in order; RET_ANSWERS is the caller's. Waits up to WAIT_MS in all
 * for events of times that are not in yet. On failure all answers are INVALID.
 */
int clrsym_resolve(clrsym *handle, const clrsym_query *queries, size_t n, unsigned wait_ms,
                   clrsym_answer *ret_answers);

/* How a method is called. */
typedef enum clrsym_style {
        CLRSYM_STYLE_CLR,    /* Namespace.Type.Method(args), as the runtime writes it */
        CLRSYM_STYLE_CSHARP, /* the same as C# writes it; see clrsym-names(7) */
        CLRSYM_STYLE_SHORT,  /* Type.Method: overloads are equal in it */
} clrsym_style;

/*
 * Writes the name of a body into BUFFER, NUL-terminated and cut at N bytes (not inside a character
 * or an escape), with what a terminal would obey escaped; without a name, "method 0x...". Returns
 * the length it needs without the NUL. BUFFER may be NULL if N is 0. An unknown style is CLR.
 */
size_t clrsym_symbol(const clrsym_body *body, clrsym_style style, char *buffer, size_t n);
/* "clr", "csharp", "short" (static); and back: false for another word. */
const char *clrsym_style_name(clrsym_style style);
bool clrsym_style_from_name(const char *name, clrsym_style *ret_style);

typedef struct clrsym_process {
        int32_t pid;
        uint64_t pid_ns;
        uint32_t generation;
        bool is_running;     /* its exit was not seen */
        bool is_from_start;  /* its runtime's start was seen */
        const char *runtime; /* "10.0.12" */
        const char *runtime_path;
        const char *command;
        uint64_t n_bodies;
        uint64_t n_live;
        uint64_t n_modules;
        uint64_t since;  /* first event */
        uint64_t last;   /* latest event */
        uint64_t exited; /* CLRSYM_ALIVE: not seen */
        uint64_t horizon;
        uint64_t epoch;
} clrsym_process;

/*
 * Callbacks end the iteration by a value other than 0, which the function then returns. They may
 * not call with the same handle.
 */
typedef int (*clrsym_process_fn)(const clrsym_process *process, void *data);
int clrsym_processes(clrsym *handle, clrsym_process_fn fn, void *data);

/* Which bodies of which processes. All zero: the living bodies of all processes. */
typedef struct clrsym_filter {
        int32_t pid; /* 0: of all processes */
        bool has_pid_ns;
        uint64_t pid_ns;
        bool all;      /* also bodies that are unloaded */
        bool has_time; /* those alive at TIME */
        uint64_t time;
} clrsym_filter;

typedef int (*clrsym_body_fn)(const clrsym_process *process, const clrsym_body *body, void *data);
/* Of PROCESS only pid, pid_ns and generation are set. */
int clrsym_methods(clrsym *handle, const clrsym_filter *filter, clrsym_body_fn fn, void *data);
/* Every body that ever was at ADDRESS, newest first. */
int clrsym_history(clrsym *handle, const clrsym_filter *filter, uint64_t address, clrsym_body_fn fn,
                   void *data);
/* Every native body of a method: METHOD is "Namespace.Type.Method" or its id, "0x...". */
int clrsym_versions(clrsym *handle, const clrsym_filter *filter, const char *method,
                    clrsym_body_fn fn, void *data);

typedef enum clrsym_event_type {
        CLRSYM_EVENT_LOAD,
        CLRSYM_EVENT_UNLOAD,
        CLRSYM_EVENT_EPOCH,  /* answers about the process could be others now */
        CLRSYM_EVENT_RESYNC, /* news were lost, for they were not read in time: forget all */
} clrsym_event_type;

typedef struct clrsym_event {
        clrsym_event_type type;
        int32_t pid; /* the four are 0 with RESYNC */
        uint64_t pid_ns;
        uint32_t generation;
        uint64_t epoch;
        bool has_body; /* LOAD, UNLOAD */
        clrsym_body body;
} clrsym_event;

/*
 * News of the processes of FILTER (pid and pid_ns; NULL: all), on a connection of their own: a
 * watch does not need the handle any more, and may be used by another thread. First comes an EPOCH
 * of each. Nothing that is loaded or unloaded after clrsym_watch_open() is missed without a RESYNC;
 * that comes once news come again, so that who then lists all anew misses nothing either. Of a
 * trace there are none (-EOPNOTSUPP).
 */
typedef struct clrsym_watch clrsym_watch;
int clrsym_watch_open(clrsym *handle, const clrsym_filter *filter, clrsym_watch **ret);
/*
 * The next one: 1, or 0 if none came within TIMEOUT_MS (-1: wait for ever) or a signal did. The
 * event is valid until the next call with WATCH. After a restart of the daemon, a RESYNC. An error
 * is the end: close it.
 */
int clrsym_watch_next(clrsym_watch *watch, int timeout_ms, clrsym_event *ret_event);
/*
 * To poll for POLLIN, and for nothing else; then call clrsym_watch_next() with timeout 0 until it
 * returns 0. It stays the same over a restart of the daemon.
 */
int clrsym_watch_fd(const clrsym_watch *watch);
const char *clrsym_watch_message(const clrsym_watch *watch);
void clrsym_watch_close(clrsym_watch *watch);

/*
 * Any method of the daemon's Varlink interface org.clrsym.Symbolizer (or another, if METHOD has a
 * dot), with PARAMETERS, a JSON object or NULL. FN gets the parameters of each reply, a JSON object
 * of N bytes, NUL-terminated, valid during the call: one, or with CLRSYM_MORE as many as come. FN
 * may be NULL. A reply that is an error is -EREMOTEIO, or -EINVAL if it is about a parameter, and
 * clrsym_message() has it. WAIT_MS is what the daemon was told that it may wait.
 */
#define CLRSYM_MORE 1u
typedef int (*clrsym_reply_fn)(const char *parameters, size_t n, void *data);
int clrsym_call(clrsym *handle, const char *method, const char *parameters, unsigned flags,
                unsigned wait_ms, clrsym_reply_fn fn, void *data);

/*
 * A time as people write it (see clrsym(1), TIMES) to ns, by the clock of what is asked; -EINVAL
 * if it is none.
 */
int clrsym_time(clrsym *handle, const char *text, uint64_t *ret_time);

/* Version of the library. Static. */
const char *clrsym_version(void);
/* Highest version of the binary form that it speaks: clrsym-protocol(7), Bulk. */
unsigned clrsym_bulk_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif

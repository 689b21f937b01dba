/* SPDX-License-Identifier: MIT */
#ifndef CLRSYM_H
#define CLRSYM_H

/*
 * libclrsym: names the .NET method at an address of a process at a time
 *
 * Asks a clrsymd over its socket, or a recorded trace. Link with `pkg-config --libs clrsym`.
 * libclrsym(3) has an example; clrsym-answers(7) describes the answers.
 *
 * Times are ns of CLOCK_MONOTONIC, on the clock of the trace. Addresses are used as they are: to
 * ask about the call of a return address, subtract 1.
 *
 * Errors: functions return 0 or a negative errno value; clrsym_message() then has one line about
 * what failed, why, and what to do. The library does not abort or print, has no global state, and
 * does not touch or raise signals. Everything that a daemon sends is checked: if a part is wrong,
 * nothing of it reaches the caller.
 *
 *     -ENOENT, -ECONNREFUSED, ...  there is no daemon, or no program that reads traces
 *     -EACCES                      this user may not ask it
 *     -ECONNRESET                  it hung up
 *     -ETIMEDOUT                   it has been unresponsive for a minute
 *     -EBADMSG                     it is not a clrsymd, or not one for this library
 *     -EREMOTEIO                   it refused the question
 *     -EINVAL                      the question is malformed
 *     -EIO, -ECANCELED             the trace cannot be read; the progress function ended it
 *     -EBUSY                       called from a callback of another call with the handle
 *     -ENOMEM
 *
 * A handle can be used again after any of these; but after the process that reads a trace has
 * ended, the trace has to be opened again. If the daemon ends, a call waits for the next daemon and
 * asks that one (clrsym_options.reconnect_ms), unless a callback was called already.
 *
 * Threads: a handle is used by one thread at a time; different handles are independent. A handle
 * cannot be used in a child after fork().
 *
 * Later versions add members to structs. The caller sets `size` of a struct that a function reads
 * once to its sizeof, so that the library knows which members the caller has. Structs in arrays and
 * structs that the library fills have `reserved` room, which is 0.
 *
 * Ownership: the handle owns the strings in an answer, which are valid until the next call with it.
 * Strings that a callback gets are valid until it returns, those of an event until the next call
 * with the watch. They are UTF-8 and NUL-terminated; NULL if not known. They come from the traced
 * program: escape them before they go to a terminal (clrsym_symbol() does).
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

/* The queries that go to the daemon at once; clrsym_resolve() takes any number. */
#define CLRSYM_BATCH 4096

typedef enum clrsym_status {
        CLRSYM_OK,
        CLRSYM_NO_PROCESS, /* no such process is known, or this user may not see it */
        CLRSYM_NO_METHOD,  /* nothing was ever there */
        CLRSYM_UNLOADED,   /* a body was there earlier: see clrsym_answer.body */
        CLRSYM_NOT_YET,    /* a body was loaded there later */
        CLRSYM_AMBIGUOUS,  /* several bodies were there (give a time), or several processes match */
        CLRSYM_PENDING,    /* the moment is past the horizon, and nothing is known there yet */
        CLRSYM_EVICTED,    /* the body there was dropped to free memory */
        CLRSYM_INVALID,    /* the query is malformed */
} clrsym_status;

/* From best to worst. */
typedef enum clrsym_confidence {
        CLRSYM_EXACT,
        CLRSYM_ASSUMED,     /* the load or the unload of the body was not seen */
        CLRSYM_PROVISIONAL, /* the moment is past the horizon: later events may change it */
        CLRSYM_GAP,         /* events that could change it may have been lost */
} clrsym_confidence;

/* The event that made a body known. */
typedef enum clrsym_source {
        CLRSYM_SOURCE_LOAD,
        CLRSYM_SOURCE_RUNDOWN,   /* in a rundown: `loaded` is not known */
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

/* The kinds of IL offsets. */
typedef enum clrsym_il_kind {
        CLRSYM_IL_UNKNOWN, /* there is no IL map */
        CLRSYM_IL_EXACT,   /* il_offset is set */
        CLRSYM_IL_PROLOG,
        CLRSYM_IL_EPILOG,
        CLRSYM_IL_NO_MAPPING,
} clrsym_il_kind;

/* The states of a process. */
typedef enum clrsym_process_state {
        CLRSYM_RUNNING, /* or its end has not arrived yet */
        CLRSYM_EXITED,
        CLRSYM_RECORDED, /* its traces have ended, without its end */
} clrsym_process_state;

/* The names in the daemon's JSON and in clrsym(1); "?" for another number. Static. */
const char *clrsym_status_name(clrsym_status status);
const char *clrsym_confidence_name(clrsym_confidence confidence);
const char *clrsym_source_name(clrsym_source source);
const char *clrsym_tier_name(clrsym_tier tier);
const char *clrsym_il_kind_name(clrsym_il_kind kind);
const char *clrsym_process_state_name(clrsym_process_state state);

/* No time: `loaded` of a body whose load was not seen. Alive: `unloaded` of a living body. */
#define CLRSYM_NO_TIME UINT64_C(0)
#define CLRSYM_ALIVE   UINT64_MAX

/* In the flags of a body: its IL can differ from that of its assembly, because of hot reload or a
 * debugger. The other bits are the runtime's. */
#define CLRSYM_METHOD_EDITED UINT32_C(0x40000000)

/* A connection to a daemon, or an opened trace. */
typedef struct clrsym clrsym;

typedef struct clrsym_options {
        size_t size; /* sizeof(clrsym_options); 0: the members of version 0.2 */
        /*
         * Path of the daemon's socket. NULL: $CLRSYM_SOCKET, $XDG_RUNTIME_DIR/clrsym/query if it
         * exists, or /run/clrsym/query.
         */
        const char *socket;
        /*
         * Instead of a daemon: a directory in or above one or several CTF traces, a .nettrace file,
         * or a snapshot made by `clrsym snapshot`. A process of its own reads the trace, and ends
         * with the handle: the program $CLRSYM_DAEMON, or the clrsymd of this library's
         * installation.
         */
        const char *trace;
        /* With `trace`: also save the trace to this file, as a snapshot. */
        const char *save;
        /* With `trace`: also read the events for clrsym_call()'s method JitStatistics. */
        bool with_jit_events;
        /*
         * Called several times a second while a trace is read, and after a signal, with the bytes
         * read and the bytes of the whole trace (0: not known yet). A result other than 0 ends the
         * reading (-ECANCELED).
         */
        int (*progress)(uint64_t n_read, uint64_t n_total, void *data);
        void *data;
        /* ms for which a call tries to reconnect to a daemon that has ended (a restart). 0: 5000;
         * -1: no retry. clrsym_open() itself does not wait. */
        int reconnect_ms;
} clrsym_options;

/*
 * Opens. OPTIONS may be NULL. On failure *RET is NULL, and *RET_MESSAGE, unless RET_MESSAGE is
 * NULL, is a line of text that the caller frees with free() (NULL if there is no memory).
 */
int clrsym_open(clrsym **ret, const clrsym_options *options, char **ret_message);
/* NULL is fine. */
void clrsym_close(clrsym *handle);
/* The reason of the last call's failure; valid until the next call. Never NULL. */
const char *clrsym_message(const clrsym *handle);
/* A note about the trace, one line of text: it has events of a later version than the library
 * knows. NULL: none. Valid as long as the handle. */
const char *clrsym_note(const clrsym *handle);

typedef struct clrsym_query {
        int32_t pid; /* in the caller's pid namespace while it runs; in a trace, the process's own
                      */
        bool has_pid_ns;
        bool has_time;   /* false: now */
        uint64_t pid_ns; /* with has_pid_ns: inode of the pid namespace; else any has it */
        uint64_t address;
        uint64_t time;
        uint64_t reserved[2];
} clrsym_query;

/* A body: one piece of native code of a method, with its lifetime. */
typedef struct clrsym_body {
        const char *name_space; /* with the type: "System.Threading.Thread" */
        const char *name;
        const char *signature;
        const char *module_path;
        uint64_t module_id;
        uint8_t module_pdb_guid[16]; /* of its PDB, as in events and files; all 0: not known */
        const char *module_pdb_path; /* the path to which the compiler wrote the PDB; NULL: not
                                      * known */
        uint64_t method_id;
        uint64_t start;
        uint32_t size;  /* 0: not known */
        uint32_t flags; /* MethodFlags of the runtime, and CLRSYM_METHOD_EDITED */
        uint32_t token;
        uint32_t rejit_id;   /* native code version, as in the runtime's events */
        bool has_il_version; /* false: no IL map is known */
        uint32_t il_size;    /* bytes of the method's IL; 0: not known */
        uint64_t il_version; /* the profiling API's ReJITID */
        clrsym_tier tier;
        clrsym_source source;
        uint64_t jit_ns; /* 0: not known */
        uint64_t loaded;
        uint64_t unloaded;
        /*
         * The method for which the runtime made an IL stub. The stub serves all methods of its
         * module with an equal signature. stub_name is NULL if that is not known, and for all other
         * code.
         */
        const char *stub_name_space;
        const char *stub_name;
        const char *stub_signature;
        /* The type arguments of a generic method. Types are written by the tokens of their modules,
         * as in the events (clrsym-protocol(7)); NULL: none, or not known. */
        const char *type_args;
        /*
         * The names of the type arguments, in the spelling of reflection, and the names in the
         * source of the type parameters of the type and of the method; set by
         * clrsym_lines_name_types(), and written by clrsym_symbol(); NULL before, and if not known.
         * With commas between them.
         */
        const char *type_arg_names;
        const char *type_param_names;
        const char *method_param_names;
        /*
         * From .NET 11 on, a method that returns a task can have two bodies: one body returns the
         * task, the other body returns the result. One of them has the method's code; the compiler
         * made the other body, which only calls it. True: the compiler made this body. Set by
         * clrsym_lines_name_types(), too.
         */
        bool is_thunk;
        uint64_t reserved[6];
} clrsym_body;

/* A method that the JIT inlined into another one. */
typedef struct clrsym_inlined {
        /*
         * The method by the token of its module (clrsym-protocol(7)); NULL: not known.
         * clrsym_lines_find_inlined() makes a name of it.
         */
        const char *method;
        int32_t il_offset; /* of the innermost one where the address is, else of the call; -1: not
                              known */
        uint64_t reserved[1];
} clrsym_inlined;

typedef struct clrsym_answer {
        clrsym_status status;
        clrsym_confidence confidence;
        bool has_process; /* the next four members are set */
        int32_t pid;      /* in its own namespace */
        uint64_t pid_ns;
        uint32_t generation; /* number of the program among those that had this pid, from 1 */
        uint64_t horizon;    /* all events of the process up to this time have arrived */
        /* Changes whenever an earlier answer OK could change: until then, the answer for a body may
         * be kept for [start, start + size). Other answers must not be kept. */
        uint64_t epoch;
        bool has_body; /* OK: the body. UNLOADED, NOT_YET, PENDING, EVICTED: the nearest, if any */
        clrsym_body body;
        uint64_t offset;  /* of the address in the body; meaningless for a nearest body */
        int64_t distance; /* ns from the time of the query to the nearest body's life: negative if
                           * it has ended */
        clrsym_il_kind il_kind;
        int32_t il_offset; /* with CLRSYM_IL_EXACT */
        /*
         * The IL offset whose source line is shown: il_offset; 0 in a prolog and in unmapped code;
         * in an epilog the highest of the map, as in the runtime's own stack traces. -1: not known.
         */
        int32_t line_il_offset;
        /*
         * OK, if the runtime reports inlined methods (clrsym-answers(7)): the methods inlined
         * there, the innermost first. They are approximate, because the JIT often does not report
         * where an inlined method ends.
         */
        const clrsym_inlined *inlined;
        uint32_t n_inlined;
        uint32_t n_candidates; /* AMBIGUOUS: see clrsym_history(), clrsym_processes() */
        uint64_t reserved[4];
} clrsym_answer;

/*
 * Answers N queries, one each, in order, in RET_ANSWERS, which the caller allocates. Waits up to
 * WAIT_MS in total for events that can change an answer: the events up to the query's time, or
 * without a time those before the call, unless a live body is the answer. On failure all answers
 * are INVALID.
 */
int clrsym_resolve(clrsym *handle, const clrsym_query *queries, size_t n, unsigned wait_ms,
                   clrsym_answer *ret_answers);

/*
 * Source lines of answers: from portable PDBs and, for precompiled code, from the images. This
 * process reads the files, with its rights; the daemon is not asked. A PDB must have the module's
 * ids; it can be beside the assembly, in it, or in the searched directories. At most 32 MiB of PDBs
 * are kept.
 *
 * As with a handle: used by one thread at a time, and functions block only to read files.
 */
typedef struct clrsym_lines clrsym_lines;

/* Why there is no line. */
typedef enum clrsym_line_status {
        CLRSYM_LINE_FOUND,
        CLRSYM_LINE_NO_METHOD,   /* the answer is not OK */
        CLRSYM_LINE_NO_MODULE,   /* the method is in no file, or its file is not known */
        CLRSYM_LINE_NO_IL,       /* the IL offset of the address is not known */
        CLRSYM_LINE_OTHER_IL,    /* a profiler or hot reload may have replaced the IL */
        CLRSYM_LINE_NO_PDB,      /* the assembly was compiled without a PDB */
        CLRSYM_LINE_PDB_MISSING, /* its PDB was not found */
        CLRSYM_LINE_PDB_OTHER, /* only PDBs of other builds were found, or the assembly was replaced
                                */
        CLRSYM_LINE_PDB_WINDOWS, /* its PDB has the format of Windows */
        CLRSYM_LINE_PDB_DAMAGED, /* the PDB cannot be read */
        CLRSYM_LINE_NONE,        /* the PDB has no line for it: code that the compiler generated */
        CLRSYM_LINE_TOO_MUCH,    /* the files of its process are larger than the limit */
} clrsym_line_status;

/* "pdb-missing": as in clrsym(1); "?" for another number. Static. */
const char *clrsym_line_status_name(clrsym_line_status status);

typedef struct clrsym_line {
        const char *file; /* as the compiler got it, or as it was mapped; NULL: there is no line.
                             Valid until the next call with the lines. Escape it for terminals. */
        uint32_t line, column; /* from 1 */
        /* The checksum of the file's bytes when they were compiled: 20 bytes are SHA-1, 32 SHA-256.
         * Valid as long as the file's name. NULL: not known. */
        const uint8_t *checksum;
        uint32_t n_checksum; /* bytes */
        uint64_t reserved[2];
} clrsym_line;

/* -ENOMEM; then *RET is NULL. */
int clrsym_lines_new(clrsym_lines **ret);
/* NULL is fine. */
void clrsym_lines_free(clrsym_lines *lines);
/*
 * Before the first question. PATH: a directory to search for PDBs and images, which can have the
 * layout of a symbol server. It is searched before those of $CLRSYM_SYMBOLS and the debuggers'
 * cache in the home directory. -ENOMEM.
 */
int clrsym_lines_add_directory(clrsym_lines *lines, const char *path);
/* PATH: a single-file program that has ended; modules that were beside it are looked for in it,
 * too. The last 16 are kept. -ENOMEM. */
int clrsym_lines_add_program(clrsym_lines *lines, const char *path);
/*
 * Before the first question. Files in the directory FROM are reported as in TO; the map that was
 * added last wins. -EINVAL: FROM is empty; -ENOMEM.
 */
int clrsym_lines_map_source(clrsym_lines *lines, const char *from, const char *to);

/*
 * At most 512 MiB a minute of a process's files are read and unpacked, because a hostile program
 * chooses its files. PROCESS: the process to charge for the next calls, whatever their PID is; 0,
 * the default: the process with their PID.
 */
void clrsym_lines_set_process(clrsym_lines *lines, int32_t process);
/* The process with most calls that failed because of that limit; 0: none. */
int32_t clrsym_lines_costly_process(clrsym_lines *lines);

/*
 * The line of an answer to clrsym_resolve(), before the next call with that handle. PID: the files
 * are those that this process sees, in the caller's pid namespace; 0: those that the caller sees,
 * as for a trace. If the code is precompiled and its image is there, the IL offset is set in
 * ANSWER. *RET is set in any case.
 */
clrsym_line_status clrsym_lines_find(clrsym_lines *lines, int32_t pid, clrsym_answer *answer,
                                     clrsym_line *ret);
/* The first line of the body's method. */
clrsym_line_status clrsym_lines_find_first(clrsym_lines *lines, int32_t pid,
                                           const clrsym_body *body, clrsym_line *ret);

/*
 * Inlined method I of an answer: its name, in RET_BODY, for clrsym_symbol(), and its line. PID as
 * above. If RET_BODY->name is NULL, the assembly was not found, or the events do not have the
 * method. Valid until the next call with the lines. A call's line is not known if the runtime does
 * not report the call.
 */
clrsym_line_status clrsym_lines_find_inlined(clrsym_lines *lines, int32_t pid,
                                             const clrsym_answer *answer, uint32_t i,
                                             clrsym_body *ret_body, clrsym_line *ret);

/*
 * Sets type_arg_names, type_param_names and method_param_names of a generic body, and is_thunk, if
 * the metadata of their modules is found, as images are by clrsym_lines_find(). The type arguments
 * of precompiled code, which events do not have, are in its image. Valid until the next call with
 * the lines. PID: as there.
 */
void clrsym_lines_name_types(clrsym_lines *lines, int32_t pid, clrsym_body *body);

/* The styles of a method's name. */
typedef enum clrsym_style {
        CLRSYM_STYLE_CLR,    /* Namespace.Type.Method(args), as the runtime writes it */
        CLRSYM_STYLE_CSHARP, /* the same in the form of C#; see clrsym-names(7) */
        CLRSYM_STYLE_SHORT,  /* Type.Method: overloads have equal names */
} clrsym_style;

/*
 * Writes the name of a body into BUFFER, NUL-terminated and cut at N bytes (not inside a character
 * or an escape). Control characters are escaped. Without a name it is "method 0x...". Returns the
 * length of the whole name without the NUL. BUFFER may be NULL if N is 0. An unknown style is CLR.
 */
size_t clrsym_symbol(const clrsym_body *body, clrsym_style style, char *buffer, size_t n);
/* "clr", "csharp", "short" (static); and back: false for another name. */
const char *clrsym_style_name(clrsym_style style);
bool clrsym_style_from_name(const char *name, clrsym_style *ret_style);

typedef struct clrsym_process {
        int32_t pid;
        uint64_t pid_ns;
        uint32_t generation;
        bool is_running;     /* `state` is CLRSYM_RUNNING */
        bool is_from_start;  /* the start of its runtime was seen */
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
        clrsym_process_state state;
        uint64_t reserved[4];
} clrsym_process;

/*
 * A callback ends the iteration by a value other than 0, which the function then returns. It may
 * not call functions with the same handle.
 */
typedef int (*clrsym_process_fn)(const clrsym_process *process, void *data);
int clrsym_processes(clrsym *handle, clrsym_process_fn fn, void *data);

/* Selects bodies and processes. All zero: the living bodies of all processes. */
typedef struct clrsym_filter {
        size_t size; /* sizeof(clrsym_filter); 0: the members of version 0.2 */
        int32_t pid; /* 0: of all processes */
        bool has_pid_ns;
        uint64_t pid_ns;
        bool all;      /* also unloaded bodies */
        bool has_time; /* bodies that were alive at TIME */
        uint64_t time;
} clrsym_filter;

typedef int (*clrsym_body_fn)(const clrsym_process *process, const clrsym_body *body, void *data);
/* In PROCESS only pid, pid_ns and generation are set. */
int clrsym_methods(clrsym *handle, const clrsym_filter *filter, clrsym_body_fn fn, void *data);
/* All bodies that were ever at ADDRESS, newest first. */
int clrsym_history(clrsym *handle, const clrsym_filter *filter, uint64_t address, clrsym_body_fn fn,
                   void *data);
/* All bodies of a method: METHOD is "Namespace.Type.Method" or its id, "0x...". */
int clrsym_versions(clrsym *handle, const clrsym_filter *filter, const char *method,
                    clrsym_body_fn fn, void *data);

typedef enum clrsym_event_type {
        CLRSYM_EVENT_LOAD,
        CLRSYM_EVENT_UNLOAD,
        CLRSYM_EVENT_EPOCH,  /* earlier answers about the process may be wrong now */
        CLRSYM_EVENT_RESYNC, /* events were lost, because they were not read in time: drop
                              * everything */
} clrsym_event_type;

typedef struct clrsym_event {
        clrsym_event_type type;
        int32_t pid; /* these four are 0 with RESYNC */
        uint64_t pid_ns;
        uint32_t generation;
        uint64_t epoch;
        bool has_body; /* LOAD, UNLOAD */
        clrsym_body body;
        uint64_t reserved[2];
} clrsym_event;

/*
 * Events of the processes of FILTER (pid and pid_ns; NULL: all), on a connection of their own: a
 * watch no longer needs the handle, and another thread may use it. The first event of each process
 * is an EPOCH. If a load or unload after clrsym_watch_open() is missed, a RESYNC is sent when
 * events can be read again: a caller that then lists everything again misses nothing. A trace has
 * no events (-EOPNOTSUPP).
 */
typedef struct clrsym_watch clrsym_watch;
int clrsym_watch_open(clrsym *handle, const clrsym_filter *filter, clrsym_watch **ret);
/*
 * The next event: returns 1, or 0 after TIMEOUT_MS without one (-1: no timeout) or after a signal.
 * The event is valid until the next call with WATCH. After a restart of the daemon there is a
 * RESYNC. After an error the watch can only be closed.
 */
int clrsym_watch_next(clrsym_watch *watch, int timeout_ms, clrsym_event *ret_event);
/* A descriptor to poll for POLLIN only; then call clrsym_watch_next() with timeout 0 until it
 * returns 0. The descriptor stays the same over a restart of the daemon. */
int clrsym_watch_fd(const clrsym_watch *watch);
const char *clrsym_watch_message(const clrsym_watch *watch);
void clrsym_watch_close(clrsym_watch *watch);

/*
 * Any method of the daemon's Varlink interface org.clrsym.Symbolizer (or another, if METHOD has a
 * dot), with PARAMETERS, a JSON object or NULL. FN gets the parameters of each reply, a JSON object
 * of N bytes, NUL-terminated, valid during the call: one reply, or with CLRSYM_MORE any number. FN
 * may be NULL. A reply that is an error is -EREMOTEIO, or -EINVAL if it is about a parameter;
 * clrsym_message() describes it. WAIT_MS is the time that PARAMETERS allow the daemon to wait.
 */
#define CLRSYM_MORE 1u
typedef int (*clrsym_reply_fn)(const char *parameters, size_t n, void *data);
int clrsym_call(clrsym *handle, const char *method, const char *parameters, unsigned flags,
                unsigned wait_ms, clrsym_reply_fn fn, void *data);

/*
 * Lists in JSON and decoded, for callers that pass the JSON on. clrsym_rows() makes a call as
 * clrsym_call() does, with CLRSYM_MORE; FN gets each element of the array MEMBER of each reply, and
 * returns as a clrsym_process_fn does. -EBADMSG: a reply has no such array.
 */
typedef struct clrsym_row clrsym_row;
typedef int (*clrsym_row_fn)(clrsym_row *row, void *data);
int clrsym_rows(clrsym *handle, const char *method, const char *parameters, const char *member,
                unsigned wait_ms, clrsym_row_fn fn, void *data);
/* The row as the daemon wrote it: *RET_N bytes, without a NUL. Valid until FN returns. */
const char *clrsym_row_json(const clrsym_row *row, size_t *ret_n);
/*
 * The row decoded: one of ListProcesses; one of ListMethods, History or Versions; an answer of
 * Resolve, in which `pid` is the one that was asked about, and `generation` is 0. Strings are valid
 * until FN returns. -EBADMSG: the row is none; then FN returns that, too.
 */
int clrsym_row_process(clrsym_row *row, clrsym_process *ret);
int clrsym_row_body(clrsym_row *row, clrsym_process *ret_process, clrsym_body *ret);
int clrsym_row_answer(clrsym_row *row, clrsym_answer *ret);
/*
 * Puts the IL offsets that clrsym_lines_find() set in ANSWER into the row's JSON, for precompiled
 * code, of which a daemon does not know them. JSON that was returned before is not valid any more.
 */
int clrsym_row_set_il(clrsym_row *row, const clrsym_answer *answer);

/*
 * Converts a time as people write it (see clrsym(1), TIMES) to ns, by the clock of the daemon or
 * the trace; -EINVAL if it is not a time.
 */
int clrsym_time(clrsym *handle, const char *text, uint64_t *ret_time);

/* Version of the library. Static. */
const char *clrsym_version(void);
/* Highest version of the binary form that the library uses: clrsym-protocol(7), Bulk. */
unsigned clrsym_bulk_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Options of the verbs: one table, of which each verb takes a part
 */

#include "attach/reply.h"
#include "cli/record-source.h"
#include "clrsym/clrsym.h"
#include "lttng/trace-format.h"
#include "record/sampler.h"

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum Option {
        OPTION_SOCKET,
        OPTION_INGEST_SOCKET,
        OPTION_TRACE,
        OPTION_PID,
        OPTION_AT,
        OPTION_WAIT,
        OPTION_WALK,
        OPTION_FILTER,
        OPTION_ALL,
        OPTION_UNLOADED,
        OPTION_LONG,
        OPTION_TIER,
        OPTION_MIN_VERSIONS,
        OPTION_REJITTED,
        OPTION_OLDER,
        OPTION_FLAG,
        OPTION_SORT,
        OPTION_IL_VERSION,
        OPTION_STYLE,
        OPTION_LINES,
        OPTION_SYMBOLS,
        OPTION_SOURCE_MAP,
        OPTION_EVENT,
        OPTION_INPUT,
        OPTION_DIFF,
        OPTION_TIERS,
        OPTION_EXPLAIN,
        OPTION_REGISTERS,
        OPTION_DEBUGGER,
        OPTION_SUMMARY,
        OPTION_ANNOTATE,
        OPTION_MAP,
        OPTION_USER,
        OPTION_AGAIN,
        OPTION_VIA,
        OPTION_LIST,
        OPTION_RUNDOWN,
        OPTION_FOLLOW,
        OPTION_EXCLUDE,
        OPTION_FORMAT,
        OPTION_PORT,
        OPTION_INLINES,
        OPTION_LIVE,
        OPTION_OUTPUT,
        OPTION_TRACK,
        OPTION_DISK,
        OPTION_BUFFER_SIZE,
        OPTION_TRACE_FORMAT,
        OPTION_NAME,
        OPTION_SESSION,
        OPTION_RELAY_OUTPUT,
        OPTION_JIT_EVENTS,
        OPTION_FORCE,
        OPTION_RESTART,
        OPTION_KEEP,
        OPTION_QUIET,
        OPTION_VERBOSE,
        OPTION_JSON,
        OPTION_TARGETS,
        OPTION_ALL_CPUS,
        OPTION_DURATION,
        OPTION_FREQUENCY,
        OPTION_SAMPLER,
        OPTION_ALLOC,
        OPTION_OFF_CPU,
        OPTION_STACKS,
        OPTION_CALL_GRAPH,
        OPTION_EVERY,
        OPTION_PUSH,
        _OPTION_MAX,
} Option;

__extension__ typedef unsigned __int128 OptionSet;

static_assert(_OPTION_MAX <= 128, "an OptionSet has a bit for each option");

#define OPTION_BIT(option) ((OptionSet)1 << (option))

/* A verb's own argument and help for an option, instead of the table's. */
typedef struct OptionText {
        Option option;
        const char *argument;
        const char *help;
} OptionText;

/* The options of a verb. */
typedef struct OptionUse {
        OptionSet allowed;
        const OptionText *texts; /* ends with a HELP of NULL; or NULL */
        bool takes_command;      /* the first argument ends the options: the rest is a command */
} OptionUse;

/* PID, or PIDNS:PID. */
typedef struct ProcessName {
        bool has_pid_ns;
        uint64_t pid_ns;
        int32_t pid;
} ProcessName;

bool process_name_from_text(const char *text, ProcessName *ret_name);

/* PERFPID=PID, or PERFPID=PIDNS:PID: maps perf's PERFPID to a process. */
typedef struct ProcessMap {
        int32_t perf_pid;
        ProcessName process;
} ProcessMap;

/* Larger than any typed list. */
#define MAX_MAPS 64

typedef struct ProcessMaps {
        ProcessMap maps[MAX_MAPS];
        unsigned n;
} ProcessMaps;

typedef enum Sort {
        SORT_NONE,
        SORT_JIT,
        SORT_SIZE,
        SORT_VERSIONS,
        SORT_REUSE,
        SORT_LOADED,
        SORT_IL_SIZE,
        _SORT_MAX,
} Sort;

/* Members of options that were not given are zero. Strings are borrowed from the command line. */
typedef struct Options {
        OptionSet given;
        const char *socket;
        const char *trace;
        ProcessName process;
        const char *at;
        unsigned wait_ms;
        const char *tier; /* as clrsym_tier_name() spells it; static */
        uint64_t min_versions;
        uint64_t older_ns;
        uint32_t flag; /* one of event/method-flags.h */
        Sort sort;
        uint64_t il_version;
        clrsym_style style;
        const char *event;
        const char *input;
        const char *before;
        const char *output; /* the last one of: */
        GPtrArray *outputs; /* owned, of borrowed strings; or NULL */
        ProcessMaps maps;
        const char *user;
        const char *format;
        bool starts_at_once; /* --port=nosuspend */
        AttachVia via;
        AttachList list;
        bool is_rule;           /* --list=RULE; without a rule, --list shows attachments */
        GPtrArray *exclude;     /* owned, of borrowed strings: rules; or NULL */
        GPtrArray *symbols;     /* owned, of borrowed strings; or NULL */
        GPtrArray *source_maps; /* the same: "FROM=TO" */
        GPtrArray *track;       /* owned, of borrowed strings: "PID,PID..."; or NULL */
        uint64_t disk;          /* bytes */
        uint64_t buffer_size;   /* bytes */
        TraceFormat trace_format;
        const char *name;
        const char *session;
        const char *relay_output;
        GArray *targets; /* owned, of pid_t; or NULL */
        double seconds;
        uint64_t frequency;         /* a second */
        const RecordSource *source; /* source for --sampler or --alloc; NULL: perf */
        SampledTime time;           /* the time that --off-cpu selects */
        bool is_physical;           /* --stacks=physical */
        bool is_walked_by_runtime;  /* --walk=runtime */
        const char *call_graph;
        double every; /* seconds */
        const char *push;
        char **arguments; /* the positional arguments; ends with NULL */
} Options;

void options_clear(Options *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static inline bool options_has(const Options *options, Option option)
{
        return options->given & OPTION_BIT(option);
}

/*
 * Reads the options after the verb argv[0]. On success the caller clears RET_OPTIONS. False if the
 * usage is wrong: RET_REASON says how (owned).
 */
bool options_parse(int argc, char **argv, const OptionUse *use, Options *ret_options,
                   bool *ret_is_help, char **ret_reason);

/* " --trace DIR", for each of REQUIRED. */
void options_append_required(GString *out, OptionSet required);

/* A line for each option that is allowed, and for --help. */
void options_append_help(GString *out, const OptionUse *use);

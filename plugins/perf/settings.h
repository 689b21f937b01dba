/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Settings: what the filter is told by --dlarg NAME or --dlarg NAME=VALUE
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FormType {
        FORM_TEXT,   /* what perf script prints */
        FORM_FOLDED, /* a line for each stack, and how often it was met */
        FORM_STREAM, /* for `clrsym perf`: see perf/stream.h */
        FORM_SURVEY, /* for `clrsym perf`: see survey.h */
        _FORM_MAX,
} FormType;

typedef enum NameForm {
        NAMES_FULL,  /* as C# has it */
        NAMES_SHORT, /* Type.Method */
        NAMES_CLR,   /* as the runtime writes it */
        _NAMES_MAX,
} NameForm;

/* A process of the recording, and which one of the trace it is. */
typedef struct PidMap {
        int32_t perf_pid;
        int32_t pid;
        bool has_pid_ns;
        uint64_t pid_ns;
} PidMap;

/* Strings are borrowed from perf. */
typedef struct Settings {
        const char *socket; /* or NULL */
        const char *trace;  /* or NULL */
        const char *event;  /* only samples of this one; NULL: of all */
        FormType form;
        NameForm names;
        bool has_tier;        /* text: show it */
        bool is_annotated;    /* folded: _[j] and _[k] */
        bool is_mapped_only;  /* processes without a PidMap are not asked about */
        bool has_clock;       /* the two below were given */
        int64_t clock_offset; /* ns to add to perf's times */
        uint64_t clock_slack; /* ns that they may be wrong by then */
        int report_fd;        /* for the counts; -1: as a sentence to stderr */
        int mappings_fd;      /* what recorded processes had mapped; -1: not told */
        unsigned wait_ms;     /* for events of a live process */
        PidMap *maps;         /* owned, by perf_pid */
        size_t n_maps;
} Settings;

/* For perf's own clock, which nobody compared. */
#define DEFAULT_CLOCK_SLACK UINT64_C(1000000000)

/*
 * Reads N arguments. False if one is wrong or there is no memory: RET_REASON says which, in
 * N_REASON bytes. Settings are to be freed in both cases.
 */
bool settings_read(Settings *settings, char **arguments, int n, char *ret_reason, size_t n_reason);
void settings_deinit(Settings *settings);

/* NULL: none was given. */
const PidMap *settings_map(const Settings *settings, int32_t perf_pid);

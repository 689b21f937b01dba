/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Settings of the filter: --dlarg NAME or --dlarg NAME=VALUE
 */

#include "clrsym/clrsym.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FormType {
        FORM_TEXT,   /* as perf script prints it */
        FORM_FOLDED, /* a line for each stack with the number of its samples */
        FORM_SINK,   /* for a profile: see perf/sample-sink.h */
        _FORM_MAX,
} FormType;

/* A process of the recording, and the process of the trace that it is. */
typedef struct PidMap {
        int32_t perf_pid;
        int32_t pid;
        bool has_pid_ns;
        uint64_t pid_ns;
} PidMap;

/* The values of a setting that can be given several times. */
typedef struct SettingTexts {
        const char **texts; /* owned; borrowed strings */
        size_t n;
} SettingTexts;

/* Strings are borrowed from perf. */
typedef struct Settings {
        const char *socket; /* or NULL */
        const char *trace;  /* or NULL */
        bool has_no_events; /* there is neither: only what images have is named */
        const char *event;  /* only samples of this event; NULL: of all */
        FormType form;
        clrsym_style style;
        bool has_tier;        /* text: show it */
        bool has_source;      /* text: show which source named each frame */
        bool is_annotated;    /* folded: _[j] and _[k] */
        bool is_mapped_only;  /* processes without a PidMap are not named */
        bool has_clock;       /* the two members below were given */
        int64_t clock_offset; /* ns to add to perf's times */
        uint64_t clock_slack; /* ns by which the result may be wrong */
        int report_fd;        /* for the counts; -1: print a sentence to stderr */
        int mappings_fd;      /* mappings of the recorded processes; -1: none are given */
        unsigned wait_ms;     /* how long to wait for events of a live process */
        PidMap *maps;         /* owned, by perf_pid */
        size_t n_maps;
        bool has_lines;           /* add source lines */
        SettingTexts symbols;     /* directories in which PDBs are looked for */
        SettingTexts source_maps; /* "FROM=TO" */
        SettingTexts programs;    /* with compressed assemblies, which no mapping shows */
} Settings;

/* For perf's own clock, whose offset is unknown. */
#define DEFAULT_CLOCK_SLACK UINT64_C(1000000000)

/*
 * Reads N arguments. False if one is wrong or there is no memory, with the reason in RET_REASON, of
 * N_REASON bytes. Settings must be deinitialized in both cases.
 */
bool settings_read(Settings *settings, char **arguments, int n, char *ret_reason, size_t n_reason);
void settings_deinit(Settings *settings);

/* The map of perf's PERF_PID; NULL: none was given. */
const PidMap *settings_map(const Settings *settings, int32_t perf_pid);

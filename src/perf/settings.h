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
        FORM_TEXT,   /* in the format of perf script */
        FORM_FOLDED, /* a line for each stack, with its number of samples */
        FORM_SINK,   /* to a SampleSink, for a profile */
        _FORM_MAX,
} FormType;

/* Maps a pid of the recording to the pid in the trace. */
typedef struct PidMap {
        int32_t perf_pid;
        int32_t pid;
        bool has_pid_ns;
        uint64_t pid_ns;
} PidMap;

/* The values of a setting that can be repeated. */
typedef struct SettingTexts {
        const char **texts; /* owned array of borrowed strings */
        size_t n;
} SettingTexts;

/* Strings are borrowed from perf. */
typedef struct Settings {
        const char *socket; /* or NULL */
        const char *trace;  /* or NULL */
        bool has_no_events; /* neither socket nor trace: only images name code */
        const char *event;  /* only samples of this event; NULL: of all events */
        FormType form;
        clrsym_style style;
        bool has_tier;        /* text: show it */
        bool has_source;      /* text: show which source named each frame */
        bool is_annotated;    /* folded: _[j] and _[k] */
        bool is_mapped_only;  /* name only processes with a PidMap */
        bool has_clock;       /* the next two members are set */
        int64_t clock_offset; /* ns to add to perf's times */
        uint64_t clock_slack; /* ns by which the result may be wrong */
        int report_fd;        /* for the counts; -1: a sentence on stderr */
        int mappings_fd;      /* with the mappings of recorded processes; -1: none */
        unsigned wait_ms;     /* timeout for events of a live process */
        PidMap *maps;         /* owned, in the order of perf_pid */
        size_t n_maps;
        bool has_lines;           /* add source lines */
        SettingTexts symbols;     /* directories with PDBs */
        SettingTexts source_maps; /* "FROM=TO" */
        SettingTexts programs; /* programs with compressed assemblies, which mappings do not show */
} Settings;

/* In ns: for perf's own clock, whose offset is unknown. */
#define DEFAULT_CLOCK_SLACK UINT64_C(1000000000)

/*
 * Reads N arguments. False: an argument is wrong, or no memory; RET_REASON, of N_REASON bytes, is
 * the reason. Deinitialize SETTINGS in both cases.
 */
bool settings_read(Settings *settings, char **arguments, int n, char *ret_reason, size_t n_reason);
void settings_deinit(Settings *settings);

/* The map of PERF_PID; NULL: none. */
const PidMap *settings_map(const Settings *settings, int32_t perf_pid);

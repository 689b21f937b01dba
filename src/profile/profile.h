/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile: the named samples of one recording, and the formats that they are written in
 *
 * Names come from the profiled programs and are not trusted: control characters, marks that change
 * the direction of writing and the like are kept as \u{..}, bytes that are not UTF-8 as \u{fffd},
 * and every format escapes the rest as its readers need it.
 */

#include "perfdata/event-name.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FrameKind {
        FRAME_MANAGED,
        FRAME_NATIVE,
        FRAME_KERNEL,
        FRAME_UNKNOWN,
        FRAME_SESSION, /* work that a diagnostic session causes in the program, of whatever kind */
        _FRAME_KIND_MAX,
} FrameKind;

/* All strings are borrowed, and copied by profile_frame(). */
typedef struct ProfileFrame {
        const char *name;   /* NULL, "" or "[unknown]": shown as "[MODULE]" or "[unknown]" */
        const char *module; /* file or library, or NULL */
        FrameKind kind;
        const char *tier; /* "QuickJitted", ..; NULL if not managed or not known */
        bool is_marked;   /* the name is not certain: a body in its last moments, or in a gap */
        const char *file; /* the source's path, or NULL: not known */
        uint32_t line;    /* in FILE, from 1 */
        /* The checksum of FILE as it was compiled, in hexadecimal digits: 40 are SHA-1, 64 SHA-256.
         * NULL: not known. */
        const char *checksum;
} ProfileFrame;

typedef struct ProfileSample {
        const char *comm; /* the thread's name, copied; NULL or "": "[unknown]" */
        int32_t pid, tid;
        uint64_t time;          /* ns, of any clock, the same for all samples */
        uint64_t period;        /* of this sample, in the unit of profile_event_unit() */
        const uint32_t *frames; /* numbers of profile_frame(), the leaf first */
        size_t n_frames;        /* may be 0 */
        /* The thread's own stack, if FRAMES has the methods that await instead; NULL: FRAMES is it.
         * HTML shows both. */
        const uint32_t *physical;
        size_t n_physical;
        uint64_t n_equal; /* more samples that are equal to this one: it counts for them */
        /* It is of the recording that the others are compared with. A graph shows the others, and
         * by colours what has changed since. Only SVG and HTML do that. */
        bool is_before;
} ProfileSample;

typedef struct Profile Profile;

Profile *profile_new(void);
void profile_free(Profile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Profile, profile_free)

/* The number of a frame. Equal frames have the same number, valid as long as the profile. */
uint32_t profile_frame(Profile *profile, const ProfileFrame *frame);

/* The number of the same frame, but of a diagnostic session. */
uint32_t profile_session_frame(Profile *profile, uint32_t frame);
/* The name of what calls such frames: next to the thread's name. */
#define PROFILE_SESSION "[clrsym session]"

/* Is that the name of a thread of the runtime that only collects garbage? COMM may be NULL. */
bool profile_comm_collects(const char *comm);

/* The name of what calls the collector's frames begins so; the generation follows. */
#define PROFILE_COLLECTION "garbage collection ("

/* The command line of process PID, or its name, copied; the newest one counts. */
void profile_set_command(Profile *profile, int32_t pid, const char *command);

/* Samples may come in any order. */
void profile_add(Profile *profile, const ProfileSample *sample);

size_t profile_n_samples(const Profile *profile);
/* Most samples that one profile counts: numbers that a double has exactly. */
#define PROFILE_MAX_COUNT (UINT64_C(1) << 53)
/* A new profile of those samples whose process WANTS wants. */
typedef bool (*ProfileWantsFn)(void *data, int32_t pid);
Profile *profile_part(const Profile *profile, ProfileWantsFn wants, void *data);

/* All samples, with those that they count for; at most PROFILE_MAX_COUNT. */
uint64_t profile_count(const Profile *profile);

/* The event of samples that the runtime's own sampler took: what pictures say of them. */
#define PROFILE_EVENT_MANAGED "dotnet-sample"
/* The events of a .nettrace file that have stacks: allocations, waits for locks, exceptions. */
#define PROFILE_EVENT_ALLOC      "alloc"
#define PROFILE_EVENT_CONTENTION "contention"
#define PROFILE_EVENT_EXCEPTION  "exception"
/* The event of samples of threads that lost their CPU, weighed by the time until they got one; and
 * of these together with the samples of the CPU's time. */
#define PROFILE_EVENT_OFF_CPU OFF_CPU_EVENT
#define PROFILE_EVENT_WALL    "wall-clock"
/* The leaf of a sample by the runtime's sampler, of a thread that is not in managed code. */
#define PROFILE_NOT_MANAGED "[native code, or waiting]"

/* What the numbers of an event's samples mean. All strings are static. */
typedef struct ProfileUnit {
        const char *noun; /* of one that a sample counts for: "sample", "byte" */
        const char *own;  /* title of the own share of a function: "TIME" */
        const char *unit; /* of periods, as pprof has it: "nanoseconds", "bytes", "count" */
        bool is_time;     /* periods are ns */
        bool is_weighed;  /* a sample counts for its period; else for 1 */
        bool is_running;  /* the thread was found running, or waiting: no event of its own */
} ProfileUnit;

/* EVENT: perf's name, maybe with modifiers, or NULL. Static. */
const ProfileUnit *profile_event_unit(const char *event);

/* Whose samples they are, for stores. Borrowed. */
typedef struct ProfileResource {
        const char *process, *host;
        const char *container; /* its id; NULL: none, or not known */
} ProfileResource;

typedef struct ProfileOptions {
        const char *title; /* title of graphs and profiles, or NULL: "Flame graph" */
        /*
         * perf's name of the sampled event, "cpu-clock", or NULL. It determines the unit of
         * periods.
         */
        const char *event;
        /* ns to add to a sample's time for the time since 1970 UTC, or 0: not known. */
        int64_t clock_offset;
        /* All samples are of one series of a store, whose labels are elsewhere: pprof's samples
         * have none, because a store makes a series of each. */
        bool is_series;
        bool is_annotated; /* folded stacks: _[j] after managed names, _[k] after the kernel's */
        const ProfileResource *resource; /* NULL: not of one */
        const GArray *markers;           /* of ProfileMarker; NULL: none are known */
} ProfileOptions;

typedef enum ProfileForm {
        PROFILE_FORM_FOLDED,     /* ".folded" */
        PROFILE_FORM_SPEEDSCOPE, /* ".speedscope.json" */
        PROFILE_FORM_PPROF,      /* ".pb.gz" */
        PROFILE_FORM_OTLP,       /* ".otlp.gz" */
        PROFILE_FORM_FIREFOX,    /* ".firefox.json.gz" */
        PROFILE_FORM_SVG,        /* ".svg" */
        PROFILE_FORM_HTML,       /* ".html" */
        _PROFILE_FORM_MAX,
} ProfileForm;

/* False if no format has this ending. */
bool profile_form_of_path(const char *path, ProfileForm *ret_form);
/* The same by its name, "folded" or "pprof". */
bool profile_form_of_name(const char *name, ProfileForm *ret_form);
/* ".folded"; static. */
const char *profile_form_ending(ProfileForm form);
/* The endings of all formats, with commas between. Owned by the caller. */
char *profile_form_endings(void);
/* False if the format cannot show what has changed. */
bool profile_form_compares(ProfileForm form);

/* True if the format shows ProfileOptions.markers. */
bool profile_form_has_markers(ProfileForm form);
/* True if it shows ProfileSample.physical. */
bool profile_form_has_physical(ProfileForm form);

/*
 * Writes the format that PATH's ending names. OPTIONS may be NULL.
 *
 * A file appears at PATH when it is whole; before, and after a failure, what was at PATH stays, and
 * nothing else remains: see util/atomic-file.h. False with RETERR_ERROR, a sentence for people, on
 * failure.
 */
bool profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                   GError **reterr_error);
/* The same in FORM, whatever PATH is; "-": to stdout. */
bool profile_write_form(const Profile *profile, ProfileForm form, const char *path,
                        const ProfileOptions *options, GError **reterr_error);

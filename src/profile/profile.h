/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile: the named samples of a recording, and the formats for them
 *
 * Names come from the profiled programs and are not trusted: control characters, marks that change
 * the direction of writing and the like are stored as \u{..}, bytes that are not UTF-8 as \u{fffd},
 * and every format escapes the rest for its readers.
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
        FRAME_SESSION, /* work of any kind that a diagnostic session causes in the program */
        _FRAME_KIND_MAX,
} FrameKind;

/* All strings are borrowed, and copied by profile_frame(). */
typedef struct ProfileFrame {
        const char *name;   /* NULL, "" or "[unknown]": shown as "[MODULE]" or "[unknown]" */
        const char *module; /* file or library, or NULL */
        FrameKind kind;
        const char *tier; /* "QuickJitted", ..; NULL: not managed, or not known */
        bool is_marked;   /* the name is not certain: a body in its last moments, or in a gap */
        const char *file; /* the source's path, or NULL: not known */
        uint32_t line;    /* in FILE, from 1 */
        /* The checksum of FILE when it was compiled, in hexadecimal digits: 40 are SHA-1, 64
         * SHA-256. NULL: not known. */
        const char *checksum;
} ProfileFrame;

typedef struct ProfileSample {
        const char *comm; /* the thread's name, copied; NULL or "": "[unknown]" */
        int32_t pid, tid;
        uint64_t time;          /* ns, of any clock, the same for all samples */
        uint64_t period;        /* of this sample, in the unit of profile_event_unit() */
        const uint32_t *frames; /* numbers of profile_frame(), the leaf first */
        size_t n_frames;        /* may be 0 */
        /* The thread's own stack, if FRAMES has the methods that await instead; NULL: FRAMES has
         * the thread's own. HTML shows both. */
        const uint32_t *physical;
        size_t n_physical;
        uint64_t n_equal; /* the number of further equal samples, which this one counts for, too */
        /* The sample is of the recording with which the others are compared. A graph shows the
         * others, and by colours what has changed. Only SVG and HTML do that. */
        bool is_before;
} ProfileSample;

typedef struct Profile Profile;

Profile *profile_new(void);
void profile_free(Profile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Profile, profile_free)

/* The number of a frame. Equal frames have the same number, valid as long as the profile. */
uint32_t profile_frame(Profile *profile, const ProfileFrame *frame);

/* The number of an equal frame of a diagnostic session. */
uint32_t profile_session_frame(Profile *profile, uint32_t frame);
/* The name of the caller of such frames, next to the thread's name. */
#define PROFILE_SESSION "[clrsym session]"

/* True for the name of a thread of the runtime that only collects garbage. COMM may be NULL. */
bool profile_comm_collects(const char *comm);

/* The beginning of the name of the collector's caller; the generation follows. */
#define PROFILE_COLLECTION "garbage collection ("

/* Sets the command line of process PID, or its name, which is copied; the last call counts. */
void profile_set_command(Profile *profile, int32_t pid, const char *command);

/* Samples may come in any order. */
void profile_add(Profile *profile, const ProfileSample *sample);

size_t profile_n_samples(const Profile *profile);
/* Maximum of samples of a profile: a double has such numbers exactly. */
#define PROFILE_MAX_COUNT (UINT64_C(1) << 53)
/* A new profile of the samples of the processes for which WANTS returns true. */
typedef bool (*ProfileWantsFn)(void *data, int32_t pid);
Profile *profile_part(const Profile *profile, ProfileWantsFn wants, void *data);

/* The number of samples, including those that they count for; at most PROFILE_MAX_COUNT. */
uint64_t profile_count(const Profile *profile);

/* The event of the runtime's own sampler, which pictures explain. */
#define PROFILE_EVENT_MANAGED "dotnet-sample"
/* The events of a .nettrace file that have stacks: allocations, waits for locks, exceptions. */
#define PROFILE_EVENT_ALLOC      "alloc"
#define PROFILE_EVENT_CONTENTION "contention"
#define PROFILE_EVENT_EXCEPTION  "exception"
/* The event of threads that lost their CPU, weighed by the time until they got one; and the event
 * of these together with samples of CPU time. */
#define PROFILE_EVENT_OFF_CPU OFF_CPU_EVENT
#define PROFILE_EVENT_WALL    "wall-clock"
/* The leaf of a sample of the runtime's sampler, for a thread outside of managed code. */
#define PROFILE_NOT_MANAGED "[native code, or waiting]"

/* The meaning of the numbers of an event's samples. All strings are static. */
typedef struct ProfileUnit {
        const char *noun; /* one unit: "sample", "byte" */
        const char *own;  /* title of a function's own share: "TIME" */
        const char *unit; /* unit of periods, in pprof's form: "nanoseconds", "bytes", "count" */
        bool is_time;     /* periods are ns */
        bool is_weighed;  /* a sample counts its period; false: 1 */
        bool is_running;  /* a sample is a thread that was found running or waiting, not an event of
                           * its own */
} ProfileUnit;

/* EVENT: perf's name, which can have modifiers, or NULL. Static. */
const ProfileUnit *profile_event_unit(const char *event);

/* The owner of the samples, for stores. Borrowed. */
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
        /* All samples are of one series of a store, which has the labels: pprof's samples get none,
         * because a store makes a series of each. */
        bool is_series;
        bool is_annotated; /* folded stacks: _[j] after managed names, _[k] after the kernel's */
        const ProfileResource *resource; /* NULL: none */
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
/* The endings of all formats, with commas between them. Owned by the caller. */
char *profile_form_endings(void);
/* True if the format can show changes. */
bool profile_form_compares(ProfileForm form);

/* True if the format has ProfileOptions.markers. */
bool profile_form_has_markers(ProfileForm form);
/* True if the format has ProfileSample.physical. */
bool profile_form_has_physical(ProfileForm form);

/*
 * Writes the format of PATH's ending. OPTIONS may be NULL.
 *
 * The file appears at PATH when it is complete; before, and after a failure, the earlier file
 * stays, and nothing else remains: see util/atomic-file.h. False with RETERR_ERROR, a sentence for
 * people, on failure.
 */
bool profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                   GError **reterr_error);
/* The same in FORM, whatever PATH is; "-": to stdout. */
bool profile_write_form(const Profile *profile, ProfileForm form, const char *path,
                        const ProfileOptions *options, GError **reterr_error);

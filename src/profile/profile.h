/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile: the named samples of one recording, and the forms that they are written in
 *
 * Names come from the profiled programs and are believed nothing: control characters, marks that
 * turn the direction of writing and the like are kept as \u{..}, bytes that are no UTF-8 as
 * \u{fffd}, and every form escapes what is left as its readers need it.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FrameKind {
        FRAME_MANAGED,
        FRAME_NATIVE,
        FRAME_KERNEL,
        FRAME_UNKNOWN,
        _FRAME_KIND_MAX,
} FrameKind;

/* All strings are borrowed, and copied by profile_frame(). */
typedef struct ProfileFrame {
        const char *name;   /* NULL, "" or "[unknown]": shown as "[MODULE]" or "[unknown]" */
        const char *module; /* file or library, or NULL */
        FrameKind kind;
        const char *tier; /* "QuickJitted", ..; NULL if not managed or not known */
        bool is_marked;   /* the name is not certain: a body in its last moments, or in a gap */
} ProfileFrame;

typedef struct ProfileSample {
        const char *comm; /* the thread's name, copied; NULL or "": "[unknown]" */
        int32_t pid, tid;
        uint64_t time;          /* ns, of any clock, the same for all samples */
        uint64_t period;        /* events that this sample stands for; ns if the event is a clock */
        const uint32_t *frames; /* numbers of profile_frame(), the leaf first */
        size_t n_frames;        /* may be 0 */
} ProfileSample;

typedef struct Profile Profile;

Profile *profile_new(void);
void profile_free(Profile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Profile, profile_free)

/* The number of a frame: of equal frames the same one, valid as long as the profile is. */
uint32_t profile_frame(Profile *profile, const ProfileFrame *frame);

/* Samples may come in any order. */
void profile_add(Profile *profile, const ProfileSample *sample);

size_t profile_n_samples(const Profile *profile);

typedef struct ProfileOptions {
        const char *title; /* of the graphs and profiles, or NULL: "Flame graph" */
        bool annotate;     /* folded stacks: _[j] after managed names, _[k] after the kernel's */
        /* The event that was sampled as perf calls it, "cpu-clock", or NULL. Tells what periods
         * are. */
        const char *event;
        /* What makes a sample's time one since 1970 UTC, in ns, or 0: not known. */
        int64_t clock_offset;
} ProfileOptions;

typedef enum ProfileForm {
        PROFILE_FORM_FOLDED,     /* ".folded" */
        PROFILE_FORM_SPEEDSCOPE, /* ".speedscope.json" */
        PROFILE_FORM_PPROF,      /* ".pb.gz" */
        PROFILE_FORM_SVG,        /* ".svg" */
        PROFILE_FORM_HTML,       /* ".html" */
        _PROFILE_FORM_MAX,
} ProfileForm;

/* False, and RET_FORM as it was, if no form has this ending. "-" is folded. */
bool profile_form_of_path(const char *path, ProfileForm *ret_form);

/*
 * Writes the form that PATH's ending tells; "-" is stdout. OPTIONS may be NULL.
 *
 * A file appears at PATH when it is whole; before, and after a failure, what was at PATH stays, and
 * nothing else is left. What is no regular file (a pipe, /dev/null) is written to directly.
 * False and RETERR_ERROR, a sentence for people, on failure.
 */
bool profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                   GError **reterr_error);

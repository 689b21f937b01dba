/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output form: what an output of report and record is written as, by --format or by its ending
 */

#include "profile/profile.h"

#include <glib.h>
#include <stdbool.h>

/* What --format takes, for help and messages. */
#define OUTPUT_FORMATS "text, folded, speedscope, pprof, otlp, firefox, svg, html, clrsym"

typedef enum OutputKind {
        OUTPUT_TEXT,
        OUTPUT_PROFILE,
        OUTPUT_SAVED, /* the named samples */
} OutputKind;

typedef struct OutputForm {
        OutputKind kind;
        ProfileForm profile; /* of OUTPUT_PROFILE */
} OutputForm;

/* The form of the output PATH ("-": stdout). FORMAT: of --format, checked; NULL: the ending counts.
 */
OutputForm output_form(const char *path, const char *format);
/* "flame graph is", for a message about the place of the file; static. */
const char *output_form_noun(OutputForm form);
/* ".html", ".txt"; static. */
const char *output_form_ending(OutputForm form);

/* Does one of N outputs have a form of profiles that HAS something, or can it be made into each?
 * FORMAT as --format has it. */
bool output_forms_have(const char *const *outputs, unsigned n, const char *format,
                       bool (*has)(ProfileForm));

/*
 * False with ERROR set: FORMAT (or NULL) is no form; or one of the OUTPUTS (NULL: there are none)
 * has an ending that means neither a form nor text, such as ".htm", and no FORMAT.
 */
bool output_forms_check(const GPtrArray *outputs, const char *format, GError **error);

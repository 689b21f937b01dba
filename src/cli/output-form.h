/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output form: the form of an output of report and record, by --format or by its ending
 */

#include "profile/profile.h"

#include <glib.h>
#include <stdbool.h>

/* The arguments of --format, for help and messages. */
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

/* The form of the output PATH ("-": stdout). FORMAT: checked argument of --format; NULL: the ending
 * decides. */
OutputForm output_form(const char *path, const char *format);
/* "flame graph is", for a message about the output file; static. */
const char *output_form_noun(OutputForm form);
/* ".html", ".txt"; static. */
const char *output_form_ending(OutputForm form);

/* True if HAS is true for the form of one of N outputs, or if an output can be converted to any
 * form. FORMAT: argument of --format. */
bool output_forms_have(const char *const *outputs, unsigned n, const char *format,
                       bool (*has)(ProfileForm));

/*
 * False with ERROR set if FORMAT is not a form, or if FORMAT is NULL and an output's ending means
 * neither a form nor text, such as ".htm". OUTPUTS and FORMAT may be NULL.
 */
bool output_forms_check(const GPtrArray *outputs, const char *format, GError **error);

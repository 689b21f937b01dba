/* SPDX-License-Identifier: MIT */
#include "cli/output-form.h"

#include "cli/perf-run.h"
#include "cli/saved-profile.h"
#include "util/file-name.h"

#include <string.h>

static const char *const TEXT_ENDINGS[] = {".txt", ".text", ".out", ".log", ".perf"};

static bool output_is_text(const char *path)
{
        const char *name = file_name_of(path);
        const char *dot = strrchr(name, '.');
        size_t i;

        if (!dot || dot == name || !g_ascii_isalpha(dot[1]))
                return true;
        for (i = 0; i < G_N_ELEMENTS(TEXT_ENDINGS); i++)
                if (!strcmp(dot, TEXT_ENDINGS[i]))
                        return true;
        return false;
}

/* False: FORMAT is not a form. */
static bool output_form_of_name(const char *format, OutputForm *ret)
{
        *ret = (OutputForm){.kind = OUTPUT_PROFILE};
        if (profile_form_of_name(format, &ret->profile))
                return true;
        ret->kind = !strcmp(format, SAVED_ENDING + 1) ? OUTPUT_SAVED : OUTPUT_TEXT;
        return ret->kind == OUTPUT_SAVED || !strcmp(format, "text");
}

OutputForm output_form(const char *path, const char *format)
{
        OutputForm form = {.kind = OUTPUT_PROFILE};

        if (format)
                output_form_of_name(format, &form);
        else if (!profile_form_of_path(path, &form.profile))
                form.kind = g_str_has_suffix(path, SAVED_ENDING) ? OUTPUT_SAVED : OUTPUT_TEXT;
        return form;
}

const char *output_form_noun(OutputForm form)
{
        static const char *const NOUNS[_PROFILE_FORM_MAX] = {
                [PROFILE_FORM_FOLDED] = "folded stacks are",
                [PROFILE_FORM_SPEEDSCOPE] = "profile is",
                [PROFILE_FORM_PPROF] = "profile is",
                [PROFILE_FORM_OTLP] = "OTLP profile is",
                [PROFILE_FORM_FIREFOX] = "profile for Firefox Profiler is",
                [PROFILE_FORM_SVG] = "flame graph is",
                [PROFILE_FORM_HTML] = "flame graph is",
        };

        switch (form.kind) {
        case OUTPUT_PROFILE:
                return NOUNS[form.profile];
        case OUTPUT_SAVED:
                return "named samples are";
        case OUTPUT_TEXT:
                break;
        }
        return "text is";
}

const char *output_form_ending(OutputForm form)
{
        switch (form.kind) {
        case OUTPUT_PROFILE:
                return profile_form_ending(form.profile);
        case OUTPUT_SAVED:
                return SAVED_ENDING;
        case OUTPUT_TEXT:
                break;
        }
        return TEXT_ENDINGS[0];
}

bool output_forms_have(const char *const *outputs, unsigned n, const char *format,
                       bool (*has)(ProfileForm))
{
        unsigned i;

        for (i = 0; i < n; i++) {
                const OutputForm form = output_form(outputs[i], format);

                if (form.kind == OUTPUT_SAVED || (form.kind == OUTPUT_PROFILE && has(form.profile)))
                        return true;
        }
        return false;
}

bool output_forms_check(const GPtrArray *outputs, const char *format, GError **error)
{
        g_autofree char *endings = NULL;
        OutputForm form;
        guint i;

        if (format && !output_form_of_name(format, &form)) {
                g_set_error(error, PERF_ERROR, 0, "--format %s: not one of " OUTPUT_FORMATS,
                            format);
                return false;
        }
        for (i = 0; outputs && !format && i < outputs->len; i++) {
                const char *path = outputs->pdata[i];

                if (output_form(path, NULL).kind != OUTPUT_TEXT || output_is_text(path))
                        continue;
                endings = profile_form_endings();
                g_set_error(error, PERF_ERROR, 0,
                            "%s: its ending names no form: give %s, %s, or .txt for text; or "
                            "--format",
                            path, endings, SAVED_ENDING);
                return false;
        }
        return true;
}

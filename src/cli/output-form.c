/* SPDX-License-Identifier: MIT */
#include "cli/output-form.h"

#include "cli/perf-run.h"
#include "cli/saved-profile.h"
#include "profile/profile.h"

#include <string.h>

static const char *const TEXT_ENDINGS[] = {".txt", ".text", ".out", ".log", ".perf"};

static bool output_is_text(const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const char *dot = strrchr(name, '.');
        size_t i;

        if (!dot || dot == name || !g_ascii_isalpha(dot[1]))
                return true;
        for (i = 0; i < G_N_ELEMENTS(TEXT_ENDINGS); i++)
                if (!strcmp(dot, TEXT_ENDINGS[i]))
                        return true;
        return false;
}

bool output_forms_check(const GPtrArray *outputs, GError **error)
{
        g_autofree char *endings = NULL;
        ProfileForm form;
        guint i;

        for (i = 0; outputs && i < outputs->len; i++) {
                const char *path = outputs->pdata[i];

                if (profile_form_of_path(path, &form) || g_str_has_suffix(path, SAVED_ENDING) ||
                    output_is_text(path))
                        continue;
                endings = profile_form_endings();
                g_set_error(error, PERF_ERROR, 0,
                            "%s: its ending names no form: give %s, %s, or .txt for text", path,
                            endings, SAVED_ENDING);
                return false;
        }
        return true;
}

/* SPDX-License-Identifier: MIT */
#include "util/printable-string.h"
#include "profile/writers.h"

#include <string.h>

static const struct {
        const char *name, *ending;
        WriteProfile *write;
        bool gzip;
        bool compares;
        bool has_markers;
        bool has_physical;
} FORMS[_PROFILE_FORM_MAX] = {
        [PROFILE_FORM_FOLDED] = {"folded", ".folded", folded_write, false},
        [PROFILE_FORM_SPEEDSCOPE] = {"speedscope", ".speedscope.json", speedscope_write, false},
        [PROFILE_FORM_PPROF] = {"pprof", ".pb.gz", pprof_write, true},
        [PROFILE_FORM_OTLP] = {"otlp", ".otlp.gz", otlp_write, true},
        [PROFILE_FORM_FIREFOX] = {"firefox", ".firefox.json.gz", firefox_write, true,
                                  .has_markers = true},
        [PROFILE_FORM_SVG] = {"svg", ".svg", svg_write, .compares = true},
        [PROFILE_FORM_HTML] = {"html", ".html", html_write, .compares = true, .has_markers = true,
                               .has_physical = true},
};

bool profile_form_of_path(const char *path, ProfileForm *ret_form)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FORMS); i++)
                if (g_str_has_suffix(path, FORMS[i].ending)) {
                        *ret_form = (ProfileForm)i;
                        return true;
                }
        return false;
}

bool profile_form_of_name(const char *name, ProfileForm *ret_form)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FORMS); i++)
                if (!strcmp(name, FORMS[i].name)) {
                        *ret_form = (ProfileForm)i;
                        return true;
                }
        return false;
}

const char *profile_form_ending(ProfileForm form)
{
        return FORMS[form].ending;
}

bool profile_form_compares(ProfileForm form)
{
        return FORMS[form].compares;
}

bool profile_form_has_markers(ProfileForm form)
{
        return FORMS[form].has_markers;
}

bool profile_form_has_physical(ProfileForm form)
{
        return FORMS[form].has_physical;
}

char *profile_form_endings(void)
{
        GString *endings = g_string_new(NULL);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FORMS); i++)
                g_string_append_printf(endings, "%s%s", i ? ", " : "", FORMS[i].ending);
        return g_string_free(endings, FALSE);
}

static void set_ending_error(GError **reterr_error, const char *path)
{
        g_autofree char *endings = profile_form_endings();

        g_set_error(reterr_error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "unknown output format: %s ends in none of %s", path, endings);
}

bool profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                   GError **reterr_error)
{
        ProfileForm form;

        if (profile_form_of_path(path, &form))
                return profile_write_form(profile, form, path, options, reterr_error);
        set_ending_error(reterr_error, path);
        return false;
}

bool profile_write_form(const Profile *profile, ProfileForm form, const char *path,
                        const ProfileOptions *options, GError **reterr_error)
{
        ProfileOptions printable = options ? *options : (ProfileOptions){};
        g_autofree char *title = NULL, *event = NULL;
        ProfileFile out;

        if (profile->has_before && !FORMS[form].compares) {
                g_set_error(reterr_error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                            "%s: only .svg and .html show what has changed", path);
                return false;
        }
        if (!profile_file_open(&out, path, FORMS[form].gzip, reterr_error))
                return false;
        printable.title = title = text_printable(printable.title ? printable.title : "Flame graph");
        if (printable.event)
                printable.event = event = text_printable(printable.event);
        FORMS[form].write(profile, &printable, &out);
        return profile_file_close(&out, reterr_error);
}

/* SPDX-License-Identifier: MIT */
#include "profile/profile-marker.h"
#include "profile/profile.h"
#include "support/profile-folded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Writes the profile on stdin to files: profile-tool [--title T] [--event E] [--offset NS]
 * [--annotate] FILE...
 *
 * Each line has fields separated by tabs, with backslash escapes as in C:
 * F KIND TIER MARK MODULE NAME FILE LINE CHECKSUM
 *                                   the next frame, counted from 0; "-": no tier, no module
 * P PID COMMAND
 * M KIND PID TID BEGIN END TEXT     a marker: 0 is a collection, 1 a pause, 2 a compilation
 * S COMM PID TID TIME PERIOD FRAMES [PHYSICAL]
 *                                   numbers of frames, separated by commas, the leaf first
 */

static const char *const KINDS[_FRAME_KIND_MAX] = {"managed", "native", "kernel", "unknown"};

static _Noreturn void die(const char *what, const char *line)
{
        fprintf(stderr, "profile-tool: %s: %s\n", what, line);
        exit(1);
}

static void add_frame(Profile *profile, GArray *numbers, char **fields)
{
        g_autofree char *module = g_strcompress(fields[4]), *name = g_strcompress(fields[5]);
        g_autofree char *tier = g_strcompress(fields[2]), *file = g_strcompress(fields[6]);
        ProfileFrame frame = {
                .name = name,
                .module = g_str_equal(module, "-") ? NULL : module,
                .tier = g_str_equal(tier, "-") ? NULL : tier,
                .is_marked = g_str_equal(fields[3], "1"),
                .file = file,
                .line = (uint32_t)atoi(fields[7]),
                .checksum = fields[8],
        };
        uint32_t number;

        while (frame.kind < _FRAME_KIND_MAX && !g_str_equal(fields[1], KINDS[frame.kind]))
                frame.kind++;
        if (frame.kind == _FRAME_KIND_MAX)
                die("no such kind", fields[1]);
        number = profile_frame(profile, &frame);
        g_array_append_val(numbers, number);
}

static GArray *stack_parse(const GArray *numbers, const char *text)
{
        GArray *frames = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_auto(GStrv) words = g_strsplit(text, ",", -1);
        size_t i;

        for (i = 0; words[i] && *words[i]; i++) {
                unsigned long number = strtoul(words[i], NULL, 10);

                if (number >= numbers->len)
                        die("no such frame", words[i]);
                g_array_append_val(frames, g_array_index(numbers, uint32_t, number));
        }
        return frames;
}

static void add_sample(Profile *profile, const GArray *numbers, char **fields)
{
        g_autofree char *comm = g_strcompress(fields[1]);
        g_autoptr(GArray) frames = stack_parse(numbers, fields[6]);
        g_autoptr(GArray) physical = fields[7] ? stack_parse(numbers, fields[7]) : NULL;
        ProfileSample sample = {
                .comm = comm,
                .pid = atoi(fields[2]),
                .tid = atoi(fields[3]),
                .time = g_ascii_strtoull(fields[4], NULL, 10),
                .period = g_ascii_strtoull(fields[5], NULL, 10),
        };

        sample.frames = (const uint32_t *)(gconstpointer)frames->data;
        sample.n_frames = frames->len;
        if (physical) {
                sample.physical = (const uint32_t *)(gconstpointer)physical->data;
                sample.n_physical = physical->len;
        }
        profile_add(profile, &sample);
}

static void add_marker(GArray *markers, char **fields)
{
        const ProfileMarker marker = {
                .kind = (ProfileMarkerKind)atoi(fields[1]),
                .pid = atoi(fields[2]),
                .tid = atoi(fields[3]),
                .begin = g_ascii_strtoull(fields[4], NULL, 10),
                .end = g_ascii_strtoull(fields[5], NULL, 10),
                .text = g_strdup(fields[6]),
        };

        g_array_append_val(markers, marker);
}

static void read_profile(Profile *profile, GArray *markers)
{
        g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        char *line = NULL;
        size_t size = 0;
        ssize_t n;

        while ((n = getline(&line, &size, stdin)) > 0) {
                g_auto(GStrv) fields = NULL;
                guint n_fields;

                line[n - 1] = '\0';
                fields = g_strsplit(line, "\t", -1);
                n_fields = g_strv_length(fields);
                if (n_fields == 9 && g_str_equal(fields[0], "F"))
                        add_frame(profile, numbers, fields);
                else if (n_fields == 3 && g_str_equal(fields[0], "P"))
                        profile_set_command(profile, atoi(fields[1]), fields[2]);
                else if (n_fields == 7 && g_str_equal(fields[0], "M"))
                        add_marker(markers, fields);
                else if ((n_fields == 7 || n_fields == 8) && g_str_equal(fields[0], "S"))
                        add_sample(profile, numbers, fields);
                else
                        die("not understood", line);
        }
        free(line);
}

int main(int argc, char **argv)
{
        g_autofree char *title = NULL, *event = NULL;
        g_auto(GStrv) paths = NULL;
        gboolean annotate = FALSE;
        gint64 offset = 0;
        const GOptionEntry entries[] = {
                {"title", 0, 0, G_OPTION_ARG_STRING, &title, "title", "T"},
                {"event", 0, 0, G_OPTION_ARG_STRING, &event, "event", "E"},
                {"offset", 0, 0, G_OPTION_ARG_INT64, &offset, "clock offset", "NS"},
                {"annotate", 0, 0, G_OPTION_ARG_NONE, &annotate, "annotate names", NULL},
                {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &paths, "files", NULL},
                G_OPTION_ENTRY_NULL,
        };
        g_autoptr(GOptionContext) context = g_option_context_new("FILE...");
        g_autoptr(Profile) profile = profile_new();
        g_autoptr(GArray) markers = profile_markers_new();
        g_autoptr(GError) error = NULL;
        size_t i;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error))
                die("options", error->message);
        read_profile(profile, markers);
        for (i = 0; paths && paths[i]; i++) {
                const ProfileOptions options = {
                        .title = title,
                        .event = event,
                        .clock_offset = offset,
                        .markers = markers->len ? markers : NULL,
                };

                if (!(g_str_equal(paths[i], "-") || g_str_has_suffix(paths[i], ".folded")
                              ? profile_write_folded(profile, paths[i], annotate, &error)
                              : profile_write(profile, paths[i], &options, &error))) {
                        fprintf(stderr, "%s\n", error->message);
                        return 1;
                }
        }
        return 0;
}

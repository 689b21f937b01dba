/* SPDX-License-Identifier: MIT */
#include "cli/perf-folded.h"

#include "cli/perf-run.h"
#include "perf/folded-text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of samples a line; more make no difference. */
#define MAX_LINE_COUNT (UINT64_C(1) << 40)

typedef struct FoldedReader {
        Profile *profile;
        GHashTable *numbers; /* name (owned) -> number of the frame + 1 */
        GArray *frames;      /* uint32_t: of the line, the outermost first */
        GArray *stack;       /* uint32_t: frames of the line, the leaf first */
        bool is_before;
} FoldedReader;

bool perf_folded_is(const char *path)
{
        return g_str_has_suffix(path, ".folded");
}

/* Cuts SUFFIX off. */
static bool cut_suffix(char *text, const char *suffix)
{
        size_t n = strlen(text), n_suffix = strlen(suffix);

        if (n <= n_suffix || !g_str_has_suffix(text, suffix))
                return false;
        text[n - n_suffix] = '\0';
        return true;
}

static uint32_t frame_of_label(FoldedReader *reader, const char *label)
{
        g_autofree char *name = NULL;
        ProfileFrame frame = {.kind = FRAME_UNKNOWN};
        gpointer known = g_hash_table_lookup(reader->numbers, label);
        uint32_t number;

        if (known)
                return GPOINTER_TO_UINT(known) - 1;
        name = g_strdup(label);
        if (cut_suffix(name, folded_annotation(NAMED_MANAGED)))
                frame.kind = FRAME_MANAGED;
        else if (cut_suffix(name, folded_annotation(NAMED_KERNEL)))
                frame.kind = FRAME_KERNEL;
        frame.is_marked = cut_suffix(name, " ~") || cut_suffix(name, "_~");
        frame.name = name;
        number = profile_frame(reader->profile, &frame);
        g_hash_table_insert(reader->numbers, g_strdup(label), GUINT_TO_POINTER(number + 1));
        return number;
}

/* LABELS follow the thread's name; NULL: there are none. */
static bool labels_are_of_session(const char *labels)
{
        return labels && g_str_has_prefix(labels, PROFILE_SESSION) &&
               strchr(";", labels[strlen(PROFILE_SESSION)]);
}

/* False if the line does not end with a count. */
static bool take_line(FoldedReader *reader, char *line)
{
        char *space = strrchr(line, ' '), *end, *label, *semicolon;
        ProfileSample sample = {.is_before = reader->is_before};
        uint64_t count;
        guint i;

        if (!space || !g_ascii_isdigit(space[1]))
                return false;
        errno = 0;
        count = g_ascii_strtoull(space + 1, &end, 10);
        if (*end || errno)
                return false;
        if (!count)
                return true;
        *space = '\0';
        sample.n_equal = MIN(count, MAX_LINE_COUNT) - 1;
        semicolon = strchr(line, ';');
        if (semicolon)
                *semicolon = '\0';
        /* Comparisons leave sessions out. */
        if (labels_are_of_session(semicolon ? semicolon + 1 : NULL))
                return true;
        sample.comm = line;
        g_array_set_size(reader->frames, 0);
        for (label = semicolon; label; label = semicolon) {
                uint32_t number;

                semicolon = strchr(++label, ';');
                if (semicolon)
                        *semicolon = '\0';
                number = frame_of_label(reader, label);
                g_array_append_val(reader->frames, number);
        }
        g_array_set_size(reader->stack, 0);
        for (i = reader->frames->len; i-- > 0;)
                g_array_append_val(reader->stack, g_array_index(reader->frames, uint32_t, i));
        sample.frames = (const uint32_t *)(const void *)reader->stack->data;
        sample.n_frames = reader->stack->len;
        profile_add(reader->profile, &sample);
        return true;
}

bool perf_folded_read(const char *path, bool is_before, Profile *profile, GError **error)
{
        FoldedReader reader = {
                .profile = profile,
                .numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .frames = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .stack = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .is_before = is_before,
        };
        FILE *file = fopen(path, "re");
        unsigned n_lines = 0;
        char *line = NULL;
        size_t size = 0;
        ssize_t n = 0;
        bool ok = file != NULL, has_stacks = false;

        while (ok && (n = getline(&line, &size, file)) > 0) {
                n_lines++;
                if (line[n - 1] == '\n')
                        line[--n] = '\0';
                /* A NUL would hide the rest of the line. */
                ok = n == 0 || (strlen(line) == (size_t)n && take_line(&reader, line));
                has_stacks |= n > 0;
        }
        if (ok && n < 0 && !ferror(file)) {
                ok = has_stacks;
                if (!ok)
                        g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES,
                                    "%s has no samples: record again", path);
        } else if (ok || !file) {
                g_set_error(error, PERF_ERROR, 0, "%s: %s", path, g_strerror(errno));
                ok = false;
        } else {
                g_set_error(error, PERF_ERROR, 0,
                            "%s: line %u is not of folded stacks, which end in a number of samples",
                            path, n_lines);
        }
        if (file)
                fclose(file);
        free(line);
        g_array_unref(reader.stack);
        g_array_unref(reader.frames);
        g_hash_table_unref(reader.numbers);
        return ok;
}

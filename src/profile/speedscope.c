/* SPDX-License-Identifier: MIT */
#include "profile/sample-order.h"
#include "profile/writers.h"
#include "util/json-text.h"

/*
 * speedscope: a "sampled" profile for each thread, its samples in order of time
 *
 * A weight is the time of a sample, or 1 if that is not known. Indexes of frames refer to one
 * table, which has a method once, in all its tiers; with lines, once for each line. The viewer
 * opens on the thread with most samples.
 */

/* The source and its line, or else the module. */
static void append_place(GString *text, const Frame *frame)
{
        const char *file = frame->file ? frame->file : frame->module;

        if (!file)
                return;
        g_string_append(text, ",\"file\":");
        json_append_string(text, file);
        if (frame->file)
                g_string_append_printf(text, ",\"line\":%" G_GUINT32_FORMAT, frame->line);
}

/* Writes one frame for each group of merged ones; MERGED becomes their indexes in the file. */
static void speedscope_write_frames(const Profile *profile, uint32_t *merged, ProfileFile *out)
{
        g_autoptr(GString) name = g_string_new(NULL);
        uint32_t i, n = 0;

        for (i = 0; i < profile->frames->len; i++) {
                const Frame *frame = &g_array_index(profile->frames, Frame, i);

                if (merged[i] != i) {
                        merged[i] = merged[merged[i]];
                        continue;
                }
                merged[i] = n;
                if (frame->kind == FRAME_COMM)
                        continue;
                g_string_truncate(name, 0);
                frame_append_marked_name(name, frame);
                g_string_append(out->text, n++ ? ",\n{\"name\":" : "\n{\"name\":");
                json_append_string(out->text, name->str);
                append_place(out->text, frame);
                g_string_append_c(out->text, '}');
                profile_file_flush(out);
        }
}

static void append_stack(GString *text, const Profile *profile, uint32_t node,
                         const uint32_t *indexes, GArray *path)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        guint i;

        g_array_set_size(path, 0);
        /* Without the thread's name. */
        for (; nodes[node].parent != PROFILE_ROOT; node = nodes[node].parent)
                g_array_append_val(path, indexes[nodes[node].frame]);
        g_string_append_c(text, '[');
        for (i = path->len; i-- > 0;) {
                json_append_u64(text, g_array_index(path, uint32_t, i));
                if (i)
                        g_string_append_c(text, ',');
        }
        g_string_append_c(text, ']');
}

static void write_thread(const Profile *profile, const uint32_t *sorted, uint32_t n,
                         const uint32_t *indexes, const ProfileUnit *unit, ProfileFile *out)
{
        const Sample *samples = (const Sample *)(gconstpointer)profile->samples->data;
        const Thread *thread = &g_array_index(profile->threads, Thread, samples[*sorted].thread);
        g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_autoptr(GString) name = g_string_new(NULL);
        const bool has_periods = unit->is_time || unit->is_weighed;
        uint64_t sum = 0;
        uint32_t i;

        g_string_append_printf(name, "%s %" G_GINT32_FORMAT "/%" G_GINT32_FORMAT,
                               g_array_index(profile->frames, Frame, thread->comm).name,
                               thread->pid, thread->tid);
        for (i = 0; i < n; i++)
                sum += has_periods ? samples[sorted[i]].period : 1;

        g_string_append(out->text, "{\"type\":\"sampled\",\"name\":");
        json_append_string(out->text, name->str);
        g_string_append_printf(out->text,
                               ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" G_GUINT64_FORMAT
                               ",\"samples\":[",
                               has_periods ? unit->unit : "none", (guint64)sum);
        for (i = 0; i < n; i++) {
                g_string_append(out->text, i ? ",\n" : "\n");
                append_stack(out->text, profile, samples[sorted[i]].node, indexes, path);
                profile_file_flush(out);
        }
        g_string_append(out->text, "],\"weights\":[");
        for (i = 0; i < n; i++) {
                if (i)
                        g_string_append_c(out->text, ',');
                json_append_u64(out->text, has_periods ? samples[sorted[i]].period : 1);
                profile_file_flush(out);
        }
        g_string_append(out->text, "]}");
}

void speedscope_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        const Sample *samples = (const Sample *)(gconstpointer)profile->samples->data;
        g_autofree uint32_t *indexes = profile_merge_frames(profile, MERGE_TIERS);
        g_autofree uint32_t *sorted = sample_order_new(profile);
        const ProfileUnit *unit = profile_event_unit(options->event);
        uint32_t i, n, n_threads = 0, n_most = 0, busiest = 0;

        g_string_append(out->text,
                        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                        "\"exporter\":\"clrsym " CLRSYM_VERSION "\",\"name\":");
        json_append_string(out->text, options->title);
        g_string_append(out->text, ",\"shared\":{\"frames\":[");
        speedscope_write_frames(profile, indexes, out);
        g_string_append(out->text, "]},\"profiles\":[");
        for (i = 0; i < profile->samples->len; i += n) {
                n = 1;
                while (i + n < profile->samples->len &&
                       samples[sorted[i + n]].thread == samples[sorted[i]].thread)
                        n++;
                g_string_append(out->text, i ? ",\n" : "\n");
                write_thread(profile, sorted + i, n, indexes, unit, out);
                if (n > n_most) {
                        n_most = n;
                        busiest = n_threads;
                }
                n_threads++;
        }
        g_string_append_printf(out->text, "],\"activeProfileIndex\":%" G_GUINT32_FORMAT "}\n",
                               busiest);
}

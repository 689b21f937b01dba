/* SPDX-License-Identifier: MIT */
#include "profile/protobuf.h"
#include "profile/sample-sums.h"
#include "profile/summary.h"
#include "profile/text-table.h"
#include "profile/writers.h"

#include <string.h>

/*
 * pprof: a message Profile of pprof's profile.proto, compressed
 *
 * A location is a frame, with its tier and line; a function is a method in one source, in all its
 * tiers; a mapping is a module. There are no addresses: names are final. Samples of one thread with
 * one stack are added up. Labels are time, thread, and the tier of the innermost frame. Functions
 * have no system name: if it were equal to the name, readers would demangle it, and drop the parts
 * in brackets.
 */

/* The fields of profile.proto that are written. */
enum {
        PROFILE_SAMPLE_TYPE = 1,
        PROFILE_SAMPLE = 2,
        PROFILE_MAPPING = 3,
        PROFILE_LOCATION = 4,
        PROFILE_FUNCTION = 5,
        PROFILE_STRING_TABLE = 6,
        PROFILE_TIME_NANOS = 9,
        PROFILE_DURATION_NANOS = 10,
        PROFILE_PERIOD_TYPE = 11,
        PROFILE_PERIOD = 12,
        PROFILE_COMMENT = 13,

        VALUE_TYPE_TYPE = 1,
        VALUE_TYPE_UNIT = 2,

        SAMPLE_LOCATION_ID = 1,
        SAMPLE_VALUE = 2,
        SAMPLE_LABEL = 3,

        LABEL_KEY = 1,
        LABEL_STR = 2,
        LABEL_NUM = 3,

        MAPPING_ID = 1,
        MAPPING_FILENAME = 5,
        MAPPING_HAS_FUNCTIONS = 7,
        MAPPING_HAS_FILENAMES = 8,

        LOCATION_ID = 1,
        LOCATION_MAPPING_ID = 2,
        LOCATION_LINE = 4,
        LINE_FUNCTION_ID = 1,
        LINE_LINE = 2,

        FUNCTION_ID = 1,
        FUNCTION_NAME = 2,
        FUNCTION_FILENAME = 4,
};

typedef struct Pprof {
        const Profile *profile;
        ProfileFile *out;
        GString *message, *inner; /* being built; owned */
        TextTable strings;        /* of the file */
        bool has_period;          /* samples have a second value */
        bool is_series;           /* samples have no labels */
} Pprof;

static uint64_t string_number(Pprof *pprof, const char *text)
{
        return text_table_number(&pprof->strings, text);
}

static void end_message(Pprof *pprof, unsigned field)
{
        pb_append_bytes(pprof->out->text, field, pprof->message->str, pprof->message->len);
        g_string_truncate(pprof->message, 0);
        profile_file_flush(pprof->out);
}

static void end_inner(Pprof *pprof, unsigned field)
{
        pb_append_bytes(pprof->message, field, pprof->inner->str, pprof->inner->len);
        g_string_truncate(pprof->inner, 0);
}

static void write_value_type(Pprof *pprof, unsigned field, const char *type, const char *unit)
{
        pb_append_number(pprof->message, VALUE_TYPE_TYPE, string_number(pprof, type));
        pb_append_number(pprof->message, VALUE_TYPE_UNIT, string_number(pprof, unit));
        end_message(pprof, field);
}

static void append_label(Pprof *pprof, const char *key, const char *text, int64_t number)
{
        pb_append_number(pprof->inner, LABEL_KEY, string_number(pprof, key));
        if (text)
                pb_append_number(pprof->inner, LABEL_STR, string_number(pprof, text));
        else
                pb_append_number(pprof->inner, LABEL_NUM, (uint64_t)number);
        end_inner(pprof, SAMPLE_LABEL);
}

/* NAMED is the last node before the root: the thread's name. */
static void append_labels(Pprof *pprof, const SampleSum *sum, uint32_t named)
{
        const Profile *profile = pprof->profile;
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        const Thread *thread = &g_array_index(profile->threads, Thread, sum->thread);
        const Frame *leaf = &g_array_index(profile->frames, Frame, nodes[sum->node].frame);

        append_label(pprof, "thread",
                     g_array_index(profile->frames, Frame, nodes[named].frame).name, 0);
        append_label(pprof, "pid", NULL, thread->pid);
        append_label(pprof, "tid", NULL, thread->tid);
        if (leaf->tier)
                append_label(pprof, "tier", leaf->tier, 0);
}

static void write_sample(Pprof *pprof, const SampleSum *sum)
{
        const Profile *profile = pprof->profile;
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        uint32_t node;

        for (node = sum->node; nodes[node].parent != PROFILE_ROOT; node = nodes[node].parent)
                pb_append_varint(pprof->inner, (uint64_t)nodes[node].frame + 1);
        end_inner(pprof, SAMPLE_LOCATION_ID);
        pb_append_varint(pprof->inner, sum->n_samples);
        if (pprof->has_period)
                pb_append_varint(pprof->inner, MIN(sum->period, (uint64_t)INT64_MAX));
        end_inner(pprof, SAMPLE_VALUE);
        if (!pprof->is_series)
                append_labels(pprof, sum, node);
        end_message(pprof, PROFILE_SAMPLE);
}

/* The module of the outermost managed frame of a stack; NULL: none. */
static const char *stack_module(const Profile *profile, uint32_t node)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        const char *module = NULL;

        for (; nodes[node].parent != PROFILE_ROOT; node = nodes[node].parent) {
                const Frame *frame = &g_array_index(profile->frames, Frame, nodes[node].frame);

                if (frame->kind == FRAME_MANAGED && frame->module)
                        module = frame->module;
        }
        return module;
}

/* The module in which most managed stacks begin, of first threads or of all; NULL: none. A first
 * thread begins in the program, the others in the runtime's libraries. */
static const char *profile_find_program(const Profile *profile, bool is_of_first)
{
        g_autoptr(GHashTable) counts = g_hash_table_new(g_direct_hash, g_direct_equal);
        const char *program = NULL;
        guint most = 0, i;

        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);
                const Thread *thread = &g_array_index(profile->threads, Thread, sample->thread);
                const char *module = !is_of_first || thread->pid == thread->tid
                                             ? stack_module(profile, sample->node)
                                             : NULL;
                guint n = module ? GPOINTER_TO_UINT(g_hash_table_lookup(counts, module)) + 1 : 0;

                if (!module)
                        continue;
                g_hash_table_insert(counts, (gpointer)module, GUINT_TO_POINTER(n));
                if (n > most) {
                        most = n;
                        program = module;
                }
        }
        return program;
}

static const char *profile_program(const Profile *profile)
{
        const char *program = profile_find_program(profile, true);

        return program ? program : profile_find_program(profile, false);
}

static void pprof_add_mapping(Pprof *pprof, GHashTable *numbers, const char *module)
{
        guint number = g_hash_table_size(numbers) + 1;

        if (!module || g_hash_table_contains(numbers, module))
                return;
        g_hash_table_insert(numbers, (gpointer)module, GUINT_TO_POINTER(number));
        pb_append_number(pprof->message, MAPPING_ID, number);
        pb_append_number(pprof->message, MAPPING_FILENAME, string_number(pprof, module));
        pb_append_number(pprof->message, MAPPING_HAS_FUNCTIONS, true);
        pb_append_number(pprof->message, MAPPING_HAS_FILENAMES, true);
        end_message(pprof, PROFILE_MAPPING);
}

/* Numbers of modules as mappings, from 1. The profile owns the keys. Readers show the first one as
 * the program. */
static GHashTable *write_mappings(Pprof *pprof)
{
        GHashTable *numbers = g_hash_table_new(g_direct_hash, g_direct_equal);
        uint32_t i;

        pprof_add_mapping(pprof, numbers, profile_program(pprof->profile));
        for (i = 0; i < pprof->profile->frames->len; i++)
                pprof_add_mapping(pprof, numbers,
                                  g_array_index(pprof->profile->frames, Frame, i).module);
        return numbers;
}

static void pprof_write_frames(Pprof *pprof)
{
        g_autofree uint32_t *merged = profile_merge_frames(pprof->profile, MERGE_TIERS_AND_LINES);
        g_autoptr(GHashTable) mappings = write_mappings(pprof);
        g_autoptr(GString) name = g_string_new(NULL);
        uint32_t i;

        for (i = 0; i < pprof->profile->frames->len; i++) {
                const Frame *frame = &g_array_index(pprof->profile->frames, Frame, i);
                const char *file;

                if (frame->kind == FRAME_COMM)
                        continue;
                pb_append_number(pprof->message, LOCATION_ID, (uint64_t)i + 1);
                pb_append_number(pprof->message, LOCATION_MAPPING_ID,
                                 GPOINTER_TO_UINT(frame->module ? g_hash_table_lookup(mappings,
                                                                                      frame->module)
                                                                : NULL));
                pb_append_number(pprof->inner, LINE_FUNCTION_ID, (uint64_t)merged[i] + 1);
                pb_append_number(pprof->inner, LINE_LINE, frame->line);
                end_inner(pprof, LOCATION_LINE);
                end_message(pprof, PROFILE_LOCATION);
                if (merged[i] != i)
                        continue;

                g_string_truncate(name, 0);
                frame_append_marked_name(name, frame);
                pb_append_number(pprof->message, FUNCTION_ID, (uint64_t)i + 1);
                pb_append_number(pprof->message, FUNCTION_NAME, string_number(pprof, name->str));
                file = frame->file ? frame->file : frame->module;
                if (file)
                        pb_append_number(pprof->message, FUNCTION_FILENAME,
                                         string_number(pprof, file));
                end_message(pprof, PROFILE_FUNCTION);
        }
}

/* The time of the profile, and the average period of its samples. */
static void write_times(Pprof *pprof, int64_t clock_offset)
{
        GString *text = pprof->out->text;
        Summary summary;

        summary_init(&summary, pprof->profile);
        if (!summary.n_samples)
                return;
        if (clock_offset)
                pb_append_number(text, PROFILE_TIME_NANOS, summary.first + (uint64_t)clock_offset);
        pb_append_number(text, PROFILE_DURATION_NANOS, MIN(summary.duration, (uint64_t)INT64_MAX));
        if (pprof->has_period)
                pb_append_number(text, PROFILE_PERIOD,
                                 MIN(summary.period / summary.n_samples, (uint64_t)INT64_MAX));
}

void pprof_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        const ProfileUnit *unit = profile_event_unit(options->event);
        g_autoptr(GArray) sums = sample_sums_new(profile);
        g_autoptr(GString) message = g_string_new(NULL), inner = g_string_new(NULL);
        Pprof pprof = {
                .profile = profile,
                .out = out,
                .message = message,
                .inner = inner,
                .has_period = options->event != NULL,
                .is_series = options->is_series,
        };
        const char *type = unit->is_time && !unit->is_weighed ? "cpu" : options->event;
        guint i;

        text_table_init(&pprof.strings);
        write_value_type(&pprof, PROFILE_SAMPLE_TYPE, "samples", "count");
        if (pprof.has_period) {
                write_value_type(&pprof, PROFILE_SAMPLE_TYPE, type, unit->unit);
                write_value_type(&pprof, PROFILE_PERIOD_TYPE, type, unit->unit);
        }
        for (i = 0; i < sums->len; i++)
                write_sample(&pprof, &g_array_index(sums, SampleSum, i));
        pprof_write_frames(&pprof);
        write_times(&pprof, options->clock_offset);
        pb_append_number(out->text, PROFILE_COMMENT,
                         string_number(&pprof, "clrsym " CLRSYM_VERSION));
        for (i = 0; i < pprof.strings.texts->len; i++) {
                const char *text = g_ptr_array_index(pprof.strings.texts, i);

                pb_append_bytes(out->text, PROFILE_STRING_TABLE, text, strlen(text));
                profile_file_flush(out);
        }
        text_table_deinit(&pprof.strings);
}

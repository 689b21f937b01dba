/* SPDX-License-Identifier: MIT */
#include "profile/protobuf.h"
#include "profile/sample-sums.h"
#include "profile/summary.h"
#include "profile/text-table.h"
#include "profile/writers.h"

#include <string.h>

/*
 * OTLP: a message ExportProfilesServiceRequest of OpenTelemetry's signal of profiles, v1development
 * as of opentelemetry-proto 1.11.0, compressed
 *
 * One resource with one scope and one profile. The dictionary has what samples refer to by index;
 * the first row of each table is empty, and means "none". The identifiers of the first link are
 * zeros of their full size, because some decoders take no shorter ones. A location is a frame with
 * its line, a function a method, whatever its tiers and lines, a mapping a module. There are no
 * addresses. Samples of one thread with one stack are added up; the thread is in their attributes.
 */

/* The fields of the .proto files that are written. */
enum {
        REQUEST_RESOURCE_PROFILES = 1,
        REQUEST_DICTIONARY = 2,

        RESOURCE_PROFILES_RESOURCE = 1,
        RESOURCE_PROFILES_SCOPE_PROFILES = 2,
        RESOURCE_ATTRIBUTES = 1,
        SCOPE_PROFILES_SCOPE = 1,
        SCOPE_PROFILES_PROFILES = 2,
        SCOPE_NAME = 1,
        SCOPE_VERSION = 2,

        KEY_VALUE_KEY = 1,
        KEY_VALUE_VALUE = 2,
        ANY_STRING = 1,
        ANY_INT = 3,

        PROFILE_SAMPLE_TYPE = 1,
        PROFILE_SAMPLES = 2,
        PROFILE_TIME = 3,
        PROFILE_DURATION = 4,
        PROFILE_PERIOD_TYPE = 5,
        PROFILE_PERIOD = 6,
        VALUE_TYPE_TYPE = 1,
        VALUE_TYPE_UNIT = 2,
        SAMPLE_STACK = 1,
        SAMPLE_ATTRIBUTES = 2,
        SAMPLE_VALUES = 4,

        DICTIONARY_MAPPINGS = 1,
        DICTIONARY_LOCATIONS = 2,
        DICTIONARY_FUNCTIONS = 3,
        DICTIONARY_LINKS = 4,
        DICTIONARY_STRINGS = 5,
        DICTIONARY_ATTRIBUTES = 6,
        DICTIONARY_STACKS = 7,
        MAPPING_FILENAME = 4,
        LOCATION_MAPPING = 1,
        LOCATION_LINES = 3,
        LINE_FUNCTION = 1,
        LINE_LINE = 2,
        FUNCTION_NAME = 1,
        FUNCTION_FILENAME = 3,
        LINK_TRACE_ID = 1,
        LINK_SPAN_ID = 2,
        STACK_LOCATIONS = 1,
        ATTRIBUTE_KEY = 1,
        ATTRIBUTE_VALUE = 2,
};

typedef struct Otlp {
        const Profile *profile;
        const ProfileUnit *unit;
        TextTable strings;
        GString *attributes; /* owned: the rows of this table, */
        GString *stacks;     /* and of this one, as fields of the dictionary */
        uint32_t n_attributes, n_stacks;
        GHashTable *attribute_index; /* owned "KEY VALUE" -> index */
        GHashTable *stack_index;     /* node + 1 -> index */
        /* Owned: the indexes of attributes, 0 for those that are not made yet. */
        uint32_t *pids, *tids;      /* by thread of the profile */
        uint32_t *names;            /* of threads, by the frame that has the name */
        GString *inner, *innermost; /* owned: being built */
} Otlp;

static void otlp_append(GString *message, unsigned field, const GString *inner)
{
        pb_append_bytes(message, field, inner->str, inner->len);
}

/* Appends INNER, and empties it. */
static void otlp_end(GString *message, unsigned field, GString *inner)
{
        otlp_append(message, field, inner);
        g_string_truncate(inner, 0);
}

/* A value with TEXT, or with NUMBER. */
static void otlp_append_value(GString *message, unsigned field, const char *text, int64_t number)
{
        g_autoptr(GString) value = g_string_new(NULL);

        if (text) {
                pb_append_bytes(value, ANY_STRING, text, strlen(text));
        } else {
                g_string_append_c(value, ANY_INT << 3);
                pb_append_varint(value, (uint64_t)number);
        }
        otlp_append(message, field, value);
}

static uint32_t otlp_attribute(Otlp *otlp, const char *key, const char *text, int64_t number)
{
        g_autofree char *name = text ? g_strdup_printf("%s %s", key, text)
                                     : g_strdup_printf("%s %" G_GINT64_FORMAT, key, number);
        gpointer known = g_hash_table_lookup(otlp->attribute_index, name);

        if (known)
                return GPOINTER_TO_UINT(known);
        pb_append_number(otlp->innermost, ATTRIBUTE_KEY, text_table_number(&otlp->strings, key));
        otlp_append_value(otlp->innermost, ATTRIBUTE_VALUE, text, number);
        otlp_end(otlp->attributes, DICTIONARY_ATTRIBUTES, otlp->innermost);
        otlp->n_attributes++;
        g_hash_table_insert(otlp->attribute_index, g_steal_pointer(&name),
                            GUINT_TO_POINTER(otlp->n_attributes));
        return otlp->n_attributes;
}

/* That of INDEX, which is made at its first use. */
static uint32_t otlp_attribute_once(Otlp *otlp, uint32_t *index, const char *key, const char *text,
                                    int64_t number)
{
        if (!*index)
                *index = otlp_attribute(otlp, key, text, number);
        return *index;
}

static const StackNode *otlp_node(const Otlp *otlp, uint32_t number)
{
        return &g_array_index(otlp->profile->nodes, StackNode, number);
}

static const Frame *otlp_frame(const Otlp *otlp, uint32_t number)
{
        return &g_array_index(otlp->profile->frames, Frame, number);
}

/* The leaf first, without the frame of the thread's name, whose number RET_NAME gets. */
static uint32_t otlp_stack(Otlp *otlp, uint32_t node, uint32_t *ret_name)
{
        gpointer known = g_hash_table_lookup(otlp->stack_index, GUINT_TO_POINTER(node + 1));
        uint32_t at;

        for (at = node; otlp_node(otlp, at)->parent != PROFILE_ROOT;
             at = otlp_node(otlp, at)->parent)
                if (!known)
                        pb_append_varint(otlp->inner, (uint64_t)otlp_node(otlp, at)->frame + 1);
        *ret_name = otlp_node(otlp, at)->frame;
        if (known)
                return GPOINTER_TO_UINT(known);
        otlp_end(otlp->innermost, STACK_LOCATIONS, otlp->inner);
        otlp_end(otlp->stacks, DICTIONARY_STACKS, otlp->innermost);
        otlp->n_stacks++;
        g_hash_table_insert(otlp->stack_index, GUINT_TO_POINTER(node + 1),
                            GUINT_TO_POINTER(otlp->n_stacks));
        return otlp->n_stacks;
}

static void otlp_add_sample(Otlp *otlp, const SampleSum *sum, GString *profile)
{
        const Thread *thread = &g_array_index(otlp->profile->threads, Thread, sum->thread);
        const bool has_periods = otlp->unit->is_time || otlp->unit->is_weighed;
        g_autoptr(GString) sample = g_string_new(NULL), indexes = g_string_new(NULL);
        uint32_t name;

        pb_append_number(sample, SAMPLE_STACK, otlp_stack(otlp, sum->node, &name));
        pb_append_varint(indexes, otlp_attribute_once(otlp, &otlp->names[name], "thread.name",
                                                      otlp_frame(otlp, name)->name, 0));
        pb_append_varint(indexes, otlp_attribute_once(otlp, &otlp->pids[sum->thread], "process.pid",
                                                      NULL, thread->pid));
        pb_append_varint(indexes, otlp_attribute_once(otlp, &otlp->tids[sum->thread], "thread.id",
                                                      NULL, thread->tid));
        otlp_end(sample, SAMPLE_ATTRIBUTES, indexes);
        pb_append_varint(indexes,
                         has_periods ? MIN(sum->period, (uint64_t)INT64_MAX) : sum->n_samples);
        otlp_append(sample, SAMPLE_VALUES, indexes);
        otlp_append(profile, PROFILE_SAMPLES, sample);
}

static void otlp_append_type(Otlp *otlp, GString *profile, unsigned field, const char *type,
                             const char *unit)
{
        pb_append_number(otlp->inner, VALUE_TYPE_TYPE, text_table_number(&otlp->strings, type));
        pb_append_number(otlp->inner, VALUE_TYPE_UNIT, text_table_number(&otlp->strings, unit));
        otlp_end(profile, field, otlp->inner);
}

static void otlp_append_profile(Otlp *otlp, const ProfileOptions *options, GString *profile)
{
        const ProfileUnit *unit = otlp->unit;
        const bool has_periods = unit->is_time || unit->is_weighed;
        g_autoptr(GArray) sums = sample_sums_new(otlp->profile);
        const char *type = !has_periods ? "samples" : !unit->is_weighed ? "cpu" : options->event;
        Summary summary;
        guint i;

        summary_init(&summary, otlp->profile);
        otlp_append_type(otlp, profile, PROFILE_SAMPLE_TYPE, type, unit->unit);
        for (i = 0; i < sums->len; i++)
                otlp_add_sample(otlp, &g_array_index(sums, SampleSum, i), profile);
        if (options->clock_offset)
                pb_append_fixed64(profile, PROFILE_TIME,
                                  summary.first + (uint64_t)options->clock_offset);
        pb_append_number(profile, PROFILE_DURATION, summary.duration);
        if (has_periods && !unit->is_weighed && summary.n_samples) {
                otlp_append_type(otlp, profile, PROFILE_PERIOD_TYPE, type, unit->unit);
                pb_append_number(profile, PROFILE_PERIOD,
                                 MIN(summary.period / summary.n_samples, (uint64_t)INT64_MAX));
        }
}

static void otlp_add_resource(GString *resource, const char *key, const char *text)
{
        g_autoptr(GString) pair = g_string_new(NULL);

        if (!text)
                return;
        pb_append_bytes(pair, KEY_VALUE_KEY, key, strlen(key));
        otlp_append_value(pair, KEY_VALUE_VALUE, text, 0);
        otlp_append(resource, RESOURCE_ATTRIBUTES, pair);
}

static void otlp_append_resource(Otlp *otlp, const ProfileOptions *options, GString *request)
{
        const ProfileResource *of = options->resource;
        g_autoptr(GString) resource = g_string_new(NULL), scope = g_string_new(NULL),
                           scope_profiles = g_string_new(NULL), profile = g_string_new(NULL),
                           resource_profiles = g_string_new(NULL);

        otlp_add_resource(resource, "service.name", of ? of->process : options->title);
        otlp_add_resource(resource, "host.name", of ? of->host : NULL);
        otlp_add_resource(resource, "container.id", of ? of->container : NULL);
        pb_append_bytes(scope, SCOPE_NAME, "clrsym", strlen("clrsym"));
        pb_append_bytes(scope, SCOPE_VERSION, CLRSYM_VERSION, strlen(CLRSYM_VERSION));
        otlp_append_profile(otlp, options, profile);
        otlp_append(scope_profiles, SCOPE_PROFILES_SCOPE, scope);
        otlp_append(scope_profiles, SCOPE_PROFILES_PROFILES, profile);
        otlp_append(resource_profiles, RESOURCE_PROFILES_RESOURCE, resource);
        otlp_append(resource_profiles, RESOURCE_PROFILES_SCOPE_PROFILES, scope_profiles);
        otlp_append(request, REQUEST_RESOURCE_PROFILES, resource_profiles);
}

static void otlp_append_frame(Otlp *otlp, uint32_t i, GHashTable *mappings, const uint32_t *merged,
                              GString *locations, GString *functions)
{
        const Frame *frame = otlp_frame(otlp, i);
        const char *file = frame->file ? frame->file : frame->module;
        g_autoptr(GString) name = g_string_new(NULL);

        pb_append_number(otlp->inner, LOCATION_MAPPING,
                         GPOINTER_TO_UINT(frame->module
                                                  ? g_hash_table_lookup(mappings, frame->module)
                                                  : NULL));
        pb_append_number(otlp->innermost, LINE_FUNCTION, (uint64_t)merged[i] + 1);
        pb_append_number(otlp->innermost, LINE_LINE, frame->line);
        otlp_end(otlp->inner, LOCATION_LINES, otlp->innermost);
        otlp_end(locations, DICTIONARY_LOCATIONS, otlp->inner);
        /* Rows that are merged into others stay, empty, so that indexes are those of frames. */
        if (merged[i] == i) {
                frame_append_marked_name(name, frame);
                pb_append_number(otlp->inner, FUNCTION_NAME,
                                 text_table_number(&otlp->strings, name->str));
                pb_append_number(otlp->inner, FUNCTION_FILENAME,
                                 file ? text_table_number(&otlp->strings, file) : 0);
        }
        otlp_end(functions, DICTIONARY_FUNCTIONS, otlp->inner);
}

static void otlp_append_dictionary(Otlp *otlp, GString *dictionary)
{
        static const char zeros[16];
        g_autofree uint32_t *merged = profile_merge_frames(otlp->profile, MERGE_TIERS_AND_LINES);
        g_autoptr(GHashTable) mappings = g_hash_table_new(g_direct_hash, g_direct_equal);
        g_autoptr(GString) locations = g_string_new(NULL), functions = g_string_new(NULL);
        guint i;

        pb_append_bytes(dictionary, DICTIONARY_MAPPINGS, "", 0);
        pb_append_bytes(locations, DICTIONARY_LOCATIONS, "", 0);
        pb_append_bytes(functions, DICTIONARY_FUNCTIONS, "", 0);
        for (i = 0; i < otlp->profile->frames->len; i++) {
                const char *module = otlp_frame(otlp, i)->module;

                if (module && !g_hash_table_contains(mappings, module)) {
                        g_hash_table_insert(mappings, (gpointer)module,
                                            GUINT_TO_POINTER(g_hash_table_size(mappings) + 1));
                        pb_append_number(otlp->inner, MAPPING_FILENAME,
                                         text_table_number(&otlp->strings, module));
                        otlp_end(dictionary, DICTIONARY_MAPPINGS, otlp->inner);
                }
                otlp_append_frame(otlp, i, mappings, merged, locations, functions);
        }
        g_string_append_len(dictionary, locations->str, (gssize)locations->len);
        g_string_append_len(dictionary, functions->str, (gssize)functions->len);
        pb_append_bytes(otlp->inner, LINK_TRACE_ID, zeros, 16);
        pb_append_bytes(otlp->inner, LINK_SPAN_ID, zeros, 8);
        otlp_end(dictionary, DICTIONARY_LINKS, otlp->inner);
        g_string_append_len(dictionary, otlp->attributes->str, (gssize)otlp->attributes->len);
        g_string_append_len(dictionary, otlp->stacks->str, (gssize)otlp->stacks->len);
        for (i = 0; i < otlp->strings.texts->len; i++) {
                const char *text = otlp->strings.texts->pdata[i];

                pb_append_bytes(dictionary, DICTIONARY_STRINGS, text, strlen(text));
        }
}

void otlp_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        g_autoptr(GString) attributes = g_string_new(NULL), stacks = g_string_new(NULL),
                           inner = g_string_new(NULL), innermost = g_string_new(NULL),
                           dictionary = g_string_new(NULL);
        g_autoptr(GHashTable) attribute_index =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                              stack_index = g_hash_table_new(NULL, NULL);
        g_autofree uint32_t *pids = g_new0(uint32_t, profile->threads->len),
                            *tids = g_new0(uint32_t, profile->threads->len),
                            *names = g_new0(uint32_t, profile->frames->len);
        Otlp otlp = {
                .profile = profile,
                .unit = profile_event_unit(options->event),
                .attributes = attributes,
                .stacks = stacks,
                .attribute_index = attribute_index,
                .stack_index = stack_index,
                .pids = pids,
                .tids = tids,
                .names = names,
                .inner = inner,
                .innermost = innermost,
        };

        text_table_init(&otlp.strings);
        pb_append_bytes(attributes, DICTIONARY_ATTRIBUTES, "", 0);
        pb_append_bytes(stacks, DICTIONARY_STACKS, "", 0);
        otlp_append_resource(&otlp, options, out->text);
        otlp_append_dictionary(&otlp, dictionary);
        otlp_append(out->text, REQUEST_DICTIONARY, dictionary);
        text_table_deinit(&otlp.strings);
}

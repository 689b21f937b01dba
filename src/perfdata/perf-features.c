/* SPDX-License-Identifier: MIT */
#include "perfdata/perf-features.h"

#include "metadata/byte-cursor.h"

#include <string.h>

/* A bit of misc in the header of a build id's record: the byte after the id is its length. */
#define MISC_BUILD_ID_SIZE (1u << 15)

static void event_name_clear(gpointer data)
{
        g_free(((PerfEventName *)data)->name);
}

PerfReference perf_reference_new(uint64_t clock, int64_t zero)
{
        return (PerfReference){.is_known = true, .tod = clock + (uint64_t)zero, .clock = clock};
}

uint64_t perf_reference_time_of_day(const PerfReference *reference, uint64_t time)
{
        return reference->tod + (time > reference->clock ? time - reference->clock : 0);
}

int64_t perf_reference_zero(const PerfReference *reference)
{
        return (int64_t)(reference->tod - reference->clock);
}

void perf_features_init(PerfFeatures *features)
{
        *features = (PerfFeatures){
                .build_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .names = g_array_new(FALSE, FALSE, sizeof(PerfEventName)),
        };
        g_array_set_clear_func(features->names, event_name_clear);
}

void perf_features_deinit(PerfFeatures *features)
{
        g_clear_pointer(&features->build_ids, g_hash_table_unref);
        g_clear_pointer(&features->names, g_array_unref);
        g_clear_pointer(&features->machine, g_free);
}

/* The rest of CURSOR, up to a NUL or the end; may be empty. Owned by the caller. */
static char *feature_rest(ByteCursor *cursor)
{
        return g_strndup(cursor->at ? (const char *)cursor->at : "", cursor->n);
}

void perf_features_take_build_id(PerfFeatures *features, uint16_t misc, const uint8_t *bytes,
                                 size_t n)
{
        enum { MAX = sizeof(((PerfBuildId *)NULL)->bytes) };
        ByteCursor cursor = {.at = bytes, .n = n};
        PerfBuildId id = {.n = MAX};
        g_autofree char *path = NULL;
        PerfBuildId *noted;
        const uint8_t *at;
        uint8_t length;

        byte_cursor_u32(&cursor); /* pid */
        at = byte_cursor_take(&cursor, sizeof(id.bytes));
        length = byte_cursor_u8(&cursor);
        byte_cursor_take(&cursor, 3);
        if (misc & MISC_BUILD_ID_SIZE)
                id.n = MIN(length, (uint8_t)MAX);
        if (cursor.has_failed || !id.n ||
            g_hash_table_size(features->build_ids) >= PERF_MAX_BUILD_IDS)
                return;
        memcpy(id.bytes, at, id.n);
        path = feature_rest(&cursor);
        noted = g_hash_table_lookup(features->build_ids, path);
        if (!noted)
                g_hash_table_insert(features->build_ids, g_steal_pointer(&path),
                                    g_memdup2(&id, sizeof(id)));
        else if (noted->n != id.n || memcmp(noted->bytes, id.bytes, id.n) != 0)
                noted->n = 0;
}

static void features_take_build_ids(PerfFeatures *features, ByteCursor *cursor)
{
        while (!cursor->has_failed && cursor->n) {
                uint16_t misc, size;
                const uint8_t *at;

                byte_cursor_u32(cursor); /* type */
                misc = byte_cursor_u16(cursor);
                size = byte_cursor_u16(cursor);
                at = size >= 8 ? byte_cursor_take(cursor, size - 8u) : NULL;
                if (!at)
                        return;
                perf_features_take_build_id(features, misc, at, size - 8u);
        }
}

static void features_take_machine(PerfFeatures *features, ByteCursor *cursor)
{
        const uint32_t n = byte_cursor_u32(cursor);
        const uint8_t *text = byte_cursor_take(cursor, n);

        if (cursor->has_failed)
                return;
        g_free(features->machine);
        features->machine = g_strndup((const char *)text, n);
}

static void features_take_events(PerfFeatures *features, ByteCursor *cursor)
{
        uint32_t n = byte_cursor_u32(cursor), i;
        const uint32_t n_attr = byte_cursor_u32(cursor);

        for (i = 0; i < n && !cursor->has_failed; i++) {
                PerfEventName row = {0};
                uint32_t n_ids, n_name;
                const uint8_t *name;

                byte_cursor_take(cursor, n_attr);
                n_ids = byte_cursor_u32(cursor);
                n_name = byte_cursor_u32(cursor);
                name = byte_cursor_take(cursor, n_name);
                if (n_ids)
                        row.id = byte_cursor_u64(cursor);
                if (n_ids > 1)
                        byte_cursor_take(cursor, (n_ids - 1) * sizeof(uint64_t));
                if (cursor->has_failed)
                        return;
                row.name = g_strndup((const char *)name, n_name);
                g_array_append_val(features->names, row);
        }
}

static void features_take_clock(PerfFeatures *features, ByteCursor *cursor)
{
        uint64_t tod, clock;

        byte_cursor_u32(cursor); /* version */
        byte_cursor_u32(cursor); /* clock */
        tod = byte_cursor_u64(cursor);
        clock = byte_cursor_u64(cursor);
        if (cursor->has_failed || tod > G_MAXINT64 || clock > G_MAXINT64)
                return;
        features->reference = (PerfReference){.is_known = true, .tod = tod, .clock = clock};
}

void perf_features_take(PerfFeatures *features, unsigned number, const uint8_t *bytes, size_t n)
{
        static const struct {
                unsigned number;
                void (*take)(PerfFeatures *features, ByteCursor *cursor);
        } ROWS[] = {
                {PERF_FEATURE_BUILD_ID, features_take_build_ids},
                {PERF_FEATURE_ARCH, features_take_machine},
                {PERF_FEATURE_EVENT_DESC, features_take_events},
                {PERF_FEATURE_CLOCK_DATA, features_take_clock},
        };
        ByteCursor cursor = {.at = bytes, .n = n};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (ROWS[i].number == number)
                        ROWS[i].take(features, &cursor);
}

const PerfBuildId *perf_features_build_id(const PerfFeatures *features, const char *path)
{
        const PerfBuildId *noted = g_hash_table_lookup(features->build_ids, path);

        return noted && noted->n ? noted : NULL;
}

#ifdef __x86_64__
#define OWN_MACHINE "x86_64"
#elif defined(__aarch64__)
#define OWN_MACHINE "aarch64"
#else
#define OWN_MACHINE "another machine"
#endif

const char *perf_features_machine(const PerfFeatures *features)
{
        return features && features->machine ? features->machine : OWN_MACHINE;
}

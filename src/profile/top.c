/* SPDX-License-Identifier: MIT */
#include "profile/top.h"

#include "profile/data.h"
#include "profile/frame-share.h"
#include "profile/summary.h"
#include "profile/your-code.h"

#include <string.h>

static const char *const SHARE_NAMES[_SHARE_MAX] = {
        [SHARE_JIT] = "JIT",
        [SHARE_GC] = "garbage collector",
        [SHARE_EXCEPTIONS] = "exception handling",
        [SHARE_MANAGED] = "managed code",
        [SHARE_RUNTIME] = "runtime (libcoreclr.so)",
        [SHARE_NATIVE] = "other native code",
        [SHARE_KERNEL] = "kernel",
        [SHARE_NOT_MANAGED] = "native code, or waiting",
        [SHARE_UNKNOWN] = "unknown",
        [SHARE_SESSION] = "clrsym session: work in the program that its recording caused",
};

typedef struct TopRow {
        uint32_t frame;
        uint64_t self, total;
} TopRow;

typedef struct Top {
        const Profile *profile;
        uint32_t *merged;  /* owned: of profile_merge_frames() */
        TopRow *rows;      /* owned: by frame */
        uint64_t *counted; /* owned: by frame, the last sample + 1 that counted for it */
        uint64_t shares[_SHARE_MAX];
        GHashTable *tiers; /* tier (borrowed) -> uint64_t (owned): samples with such a leaf */
        uint64_t n_tiered;
} Top;

static const Frame *top_frame(const Top *top, uint32_t number)
{
        return &g_array_index(top->profile->frames, Frame, number);
}

static void top_count_tier(Top *top, const Frame *leaf, uint64_t count)
{
        uint64_t *n;

        if (leaf->kind != FRAME_MANAGED || !leaf->tier)
                return;
        n = g_hash_table_lookup(top->tiers, leaf->tier);
        if (!n) {
                n = g_new0(uint64_t, 1);
                g_hash_table_insert(top->tiers, (char *)leaf->tier, n);
        }
        *n += count;
        top->n_tiered += count;
}

static void top_take_sample(Top *top, uint64_t number, const Sample *sample)
{
        const GArray *nodes = top->profile->nodes;
        bool has_managed = false;
        Share share = _SHARE_MAX;
        uint32_t at;

        for (at = sample->node; at != PROFILE_ROOT;
             at = g_array_index(nodes, StackNode, at).parent) {
                const uint32_t own = g_array_index(nodes, StackNode, at).frame;
                const uint32_t frame = top->merged[own];

                if (at == sample->node) {
                        top->rows[frame].self += sample->count;
                        top_count_tier(top, top_frame(top, own), sample->count);
                }
                if (share == _SHARE_MAX)
                        share = frame_share(top_frame(top, own));
                if (share == _SHARE_MAX && !has_managed &&
                    frame_handles_exceptions(top_frame(top, own)))
                        share = SHARE_EXCEPTIONS;
                has_managed = has_managed || top_frame(top, own)->kind == FRAME_MANAGED;
                if (top->counted[frame] == number + 1)
                        continue;
                top->counted[frame] = number + 1;
                top->rows[frame].total += sample->count;
        }
        if (share == _SHARE_MAX && sample->node != PROFILE_ROOT)
                share = frame_leaf_share(
                        top_frame(top, g_array_index(nodes, StackNode, sample->node).frame));
        top->shares[share == _SHARE_MAX ? SHARE_UNKNOWN : share] += sample->count;
}

static int top_compare_self(const void *a, const void *b)
{
        const TopRow *left = a, *right = b;

        if (left->self != right->self)
                return left->self < right->self ? 1 : -1;
        return (left->frame > right->frame) - (left->frame < right->frame);
}

static int top_compare_total(const void *a, const void *b)
{
        const TopRow *left = a, *right = b;

        if (left->total != right->total)
                return left->total < right->total ? 1 : -1;
        return (left->frame > right->frame) - (left->frame < right->frame);
}

/* Cuts the line at WIDTH columns of one character each. */
static void top_append_line(GString *out, const char *line, unsigned width)
{
        g_autofree char *cut = g_utf8_strlen(line, -1) > (glong)width
                                       ? g_utf8_substring(line, 0, (glong)width)
                                       : g_strdup(line);

        g_string_append(out, cut);
        g_string_append_c(out, '\n');
}

static void top_append_share(GString *line, uint64_t part, uint64_t whole)
{
        g_autoptr(GString) text = g_string_new(NULL);

        number_append_share(text, part, whole);
        g_string_append_printf(line, "%8s", text->str);
}

static void top_append_row(GString *out, const Top *top, const TopRow *row, unsigned width)
{
        const Frame *frame = top_frame(top, row->frame);
        const uint64_t n = profile_count(top->profile);
        g_autoptr(GString) line = g_string_new(NULL);

        top_append_share(line, row->self, n);
        top_append_share(line, row->total, n);
        g_string_append(line, "  ");
        frame_append_marked_name(line, frame);
        if (frame->module && *frame->name != '[') {
                g_autofree char *base = g_path_get_basename(frame->module);

                g_string_append_printf(line, " (%s)", base);
        }
        top_append_line(out, line->str, width);
}

static bool frame_is_function(const Frame *frame)
{
        return frame->kind != FRAME_COMM && frame->kind != FRAME_SESSION;
}

static bool frame_is_managed(const Frame *frame)
{
        return frame->kind == FRAME_MANAGED;
}

/* The tables: their frames and order. */
typedef struct TopTable {
        const char *title; /* NULL: "FUNCTION, BY ITS OWN ..." */
        bool (*has)(const Frame *frame);
        bool is_by_total; /* false: by own samples, without frames that have none */
} TopTable;

static const TopTable TABLES[] = {
        {NULL, frame_is_function, false},
        {"METHOD, WITH WHAT IT CALLED", frame_is_managed, true},
        {"METHOD OF YOUR CODE, WITH WHAT IT CALLED", frame_is_yours, true},
};

static void top_append_table(GString *out, const Top *top, const TopTable *table, const char *own,
                             unsigned n_rows, unsigned width)
{
        const size_t n = top->profile->frames->len;
        g_autofree TopRow *sorted = g_memdup2(top->rows, n * sizeof(TopRow));
        unsigned n_shown = 0;
        size_t i;

        qsort(sorted, n, sizeof(TopRow), table->is_by_total ? top_compare_total : top_compare_self);
        for (i = 0; i < n && n_shown < n_rows; i++) {
                if (!table->has(top_frame(top, sorted[i].frame)) ||
                    !(table->is_by_total ? sorted[i].total : sorted[i].self))
                        continue;
                if (!n_shown++)
                        g_string_append_printf(out, "\n    SELF   TOTAL  %s\n",
                                               table->title ? table->title : own);
                top_append_row(out, top, &sorted[i], width);
        }
}

typedef struct TierCount {
        const char *tier;
        uint64_t n;
} TierCount;

static int tier_count_compare(const void *a, const void *b)
{
        const TierCount *left = a, *right = b;

        return left->n != right->n ? (left->n < right->n ? 1 : -1)
                                   : strcmp(left->tier, right->tier);
}

/* ": OptimizedTier1 60 %, ReadyToRun 40 %" */
static void top_append_tiers(GString *out, const Top *top)
{
        g_autofree TierCount *counts = g_new(TierCount, g_hash_table_size(top->tiers) + 1);
        const char *before = ": ";
        unsigned n_counts = 0, i;
        GHashTableIter iter;
        gpointer tier, n;

        g_hash_table_iter_init(&iter, top->tiers);
        while (g_hash_table_iter_next(&iter, &tier, &n))
                counts[n_counts++] = (TierCount){tier, *(uint64_t *)n};
        qsort(counts, n_counts, sizeof(*counts), tier_count_compare);
        for (i = 0; i < n_counts; i++) {
                g_string_append_printf(out, "%s%s ", before, counts[i].tier);
                number_append_share(out, counts[i].n, top->n_tiered);
                before = ", ";
        }
}

static void top_append_shares(GString *out, const Top *top, unsigned width)
{
        unsigned i;

        for (i = 0; i < _SHARE_MAX; i++) {
                g_autoptr(GString) line = g_string_new(NULL);

                if (!top->shares[i])
                        continue;
                top_append_share(line, top->shares[i], profile_count(top->profile));
                g_string_append_printf(line, "  %s", SHARE_NAMES[i]);
                if (i == SHARE_MANAGED)
                        top_append_tiers(line, top);
                top_append_line(out, line->str, width);
        }
}

void top_append(GString *out, const Profile *profile, const char *event, unsigned n_rows,
                unsigned width)
{
        const size_t n = profile->frames->len;
        Top top = {
                .profile = profile,
                .merged = profile_merge_frames(profile, MERGE_TIERS_AND_MARKS),
                .rows = g_new0(TopRow, n),
                .counted = g_new0(uint64_t, n),
                .tiers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free),
        };
        const ProfileUnit *unit = profile_event_unit(event);
        g_autofree char *own = g_strconcat("FUNCTION, BY ITS OWN ", unit->own, NULL);
        size_t i;

        for (i = 0; i < n; i++)
                top.rows[i].frame = (uint32_t)i;
        for (i = 0; i < profile->samples->len; i++)
                top_take_sample(&top, i, &g_array_index(profile->samples, Sample, i));
        if (unit->is_running)
                top_append_shares(out, &top, width);
        for (i = 0; i < G_N_ELEMENTS(TABLES); i++)
                top_append_table(out, &top, &TABLES[i], own, n_rows, width);
        g_free(top.merged);
        g_free(top.rows);
        g_free(top.counted);
        g_hash_table_unref(top.tiers);
}

/* SPDX-License-Identifier: MIT */
#include "profile/palette.h"

#include <string.h>

const PaletteEntry PALETTE[_COLOUR_MAX] = {
        [COLOUR_OPTIMIZED] = {"optimized (tier 1)", "#79c97c"},
        [COLOUR_OSR] = {"on-stack (OSR)", "#b5d95c"},
        [COLOUR_INSTRUMENTED] = {"instrumented", "#f3dc63"},
        [COLOUR_QUICK] = {"quick JIT (tier 0)", "#f8ab63"},
        [COLOUR_PRECOMPILED] = {"precompiled (R2R)", "#62cfc7"},
        [COLOUR_MANAGED] = {"managed, tier unknown", "#c5d3b4"},
        [COLOUR_NATIVE] = {"native", "#94b8ee"},
        [COLOUR_KERNEL] = {"kernel", "#cda6e6"},
        [COLOUR_UNKNOWN] = {"unknown", "#c4c4c4"},
        [COLOUR_SESSION] = {"diagnostic session", "#e3d3b8"},
        [COLOUR_COMM] = {"thread", "#dfe3e8"},
};

static const struct {
        const char *tier;
        Colour colour;
} TIERS[] = {
        {"Optimized", COLOUR_OPTIMIZED},
        {"OptimizedTier1", COLOUR_OPTIMIZED},
        {"OptimizedTier1OSR", COLOUR_OSR},
        {"InstrumentedTier", COLOUR_INSTRUMENTED},
        {"InstrumentedTierOptimized", COLOUR_INSTRUMENTED},
        {"QuickJitted", COLOUR_QUICK},
        {"MinOptJitted", COLOUR_QUICK},
        {"ReadyToRun", COLOUR_PRECOMPILED},
        {"PreJIT", COLOUR_PRECOMPILED},
};

static const struct {
        const char *word;
        Colour colour;
} KINDS[_FRAME_KIND_MAX + 1] = {
        [FRAME_MANAGED] = {"managed", COLOUR_MANAGED},
        [FRAME_NATIVE] = {"native", COLOUR_NATIVE},
        [FRAME_KERNEL] = {"kernel", COLOUR_KERNEL},
        [FRAME_UNKNOWN] = {"unknown", COLOUR_UNKNOWN},
        [FRAME_SESSION] = {"session", COLOUR_SESSION},
        [FRAME_COMM] = {"thread", COLOUR_COMM},
};

Colour frame_colour(const Frame *frame)
{
        size_t i;

        for (i = 0; frame->kind == FRAME_MANAGED && frame->tier && i < G_N_ELEMENTS(TIERS); i++)
                if (g_str_equal(frame->tier, TIERS[i].tier))
                        return TIERS[i].colour;
        return KINDS[frame->kind].colour;
}

const char *frame_kind_word(FrameKind kind)
{
        return KINDS[kind].word;
}

unsigned frame_shade(const Frame *frame)
{
        return frame->kind == FRAME_COMM ? 0 : g_str_hash(frame->name) / 7 % 3;
}

void legend_init(Legend *legend, const Profile *profile)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        uint32_t i;

        *legend = (Legend){};
        for (i = 0; i < profile->frames->len; i++) {
                const Frame *frame = &g_array_index(profile->frames, Frame, i);

                legend->entries[frame_colour(frame)].is_shown = true;
                legend->has_marked |= frame->is_marked;
        }
        /* Rows of thread names need no entry. */
        legend->entries[COLOUR_COMM].is_shown = false;
        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);
                const Frame *leaf =
                        &g_array_index(profile->frames, Frame, nodes[sample->node].frame);

                legend->entries[frame_colour(leaf)].self += sample->count;
        }
}

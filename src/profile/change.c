/* SPDX-License-Identifier: MIT */
#include "profile/change.h"

#include "profile/summary.h"

#include <math.h>

static const struct {
        const char *colour;
        const char *label; /* NULL: between two steps with labels */
} ROWS[2 * CHANGE_STEPS + 1] = {
        {"#6f9ff0", "less than before"},  {"#93b8f4", NULL}, {"#b7d0f8", NULL}, {"#d5e3fb", NULL},
        {"#e6e6e6", "no certain change"}, {"#fbdcd6", NULL}, {"#f8bfb4", NULL}, {"#f49d8e", NULL},
        {"#ef7b69", "more than before"},
};

static double change_share(uint64_t part, uint64_t whole)
{
        return whole ? (double)part / (double)whole : 0;
}

static double change_of_total(const CallTree *tree, uint32_t number)
{
        const CallNode *node = call_node(tree, number), *all = call_node(tree, 0);

        return change_share(node->total, all->total) -
               change_share(call_node_before(tree, number).total, call_node_before(tree, 0).total);
}

/* Agresti and Caffo: an additional sample of each kind keeps the errors of small numbers from being
 * too small. */
static double adjusted_share(uint64_t part, uint64_t whole, double *variance)
{
        double n = (double)whole + 2, p = ((double)part + 1) / n;

        *variance += p * (1 - p) / n;
        return p;
}

static bool is_certain(const CallTree *tree, uint32_t number)
{
        const CallNode *node = call_node(tree, number), *all = call_node(tree, 0);
        double variance = 0, change;

        change = adjusted_share(node->total, all->total, &variance);
        change -= adjusted_share(call_node_before(tree, number).total,
                                 call_node_before(tree, 0).total, &variance);
        return fabs(change) > 2 * sqrt(variance);
}

void change_seconds(const Profile *profile, const char *event, double *ret_seconds,
                    double *ret_before)
{
        Summary summary;

        *ret_seconds = *ret_before = 0;
        if (!profile_event_unit(event)->is_time)
                return;
        summary_init(&summary, profile);
        *ret_seconds = (double)summary.period / (double)MAX(summary.n_samples, 1) / 1e9;
        *ret_before = (double)summary.period_before / (double)MAX(summary.n_before, 1) / 1e9;
}

void changes_init(Changes *changes, const CallTree *tree, const char *event)
{
        uint32_t i;

        *changes = (Changes){.tree = tree};
        change_seconds(tree->profile, event, &changes->seconds, &changes->seconds_before);
        for (i = 1; tree->before && i < tree->nodes->len; i++)
                changes->largest = MAX(changes->largest, fabs(change_of_total(tree, i)));
}

int change_step(const Changes *changes, uint32_t number)
{
        double change;
        int step;

        if (!number || changes->largest == 0 || !is_certain(changes->tree, number))
                return 0;
        change = change_of_total(changes->tree, number);
        /* The square root makes smaller changes visible beside the largest. */
        step = (int)ceil(sqrt(fabs(change) / changes->largest) * CHANGE_STEPS);
        step = CLAMP(step, 1, CHANGE_STEPS);
        return change < 0 ? -step : step;
}

const char *change_colour(int step)
{
        return ROWS[step + CHANGE_STEPS].colour;
}

const char *change_label(int step)
{
        return ROWS[step + CHANGE_STEPS].label;
}

static void append_points(GString *out, double change)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof(text), "%+.2f", 100 * change));
}

static void append_seconds(GString *out, uint64_t n, double seconds)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof(text), "%.2f", (double)n * seconds));
        g_string_append(out, " s");
}

static void append_count(GString *out, uint64_t n, uint64_t whole, double seconds)
{
        number_append(out, n);
        g_string_append(out, " (");
        number_append_share(out, n, whole);
        if (seconds > 0) {
                g_string_append(out, ", ");
                append_seconds(out, n, seconds);
        }
        g_string_append_c(out, ')');
}

void change_append(GString *out, const Changes *changes, uint32_t number)
{
        const CallTree *tree = changes->tree;
        const CallCount before = call_node_before(tree, number);
        const uint64_t all_before = call_node_before(tree, 0).total;

        g_string_append(out, "before ");
        append_count(out, before.total, all_before, changes->seconds_before);
        g_string_append(out, ", itself ");
        append_count(out, before.self, all_before, changes->seconds_before);
        g_string_append(out, ": ");
        append_points(out, change_of_total(tree, number));
        g_string_append(out, " points, itself ");
        append_points(out, change_share(call_node(tree, number)->self, call_node(tree, 0)->total) -
                                   change_share(before.self, all_before));
        if (changes->seconds > 0) {
                g_string_append(out, ", now ");
                append_seconds(out, call_node(tree, number)->total, changes->seconds);
                g_string_append(out, ", itself ");
                append_seconds(out, call_node(tree, number)->self, changes->seconds);
        }
}

/* SPDX-License-Identifier: MIT */
#include "profile/calltree.h"
#include "profile/change.h"
#include "profile/label.h"
#include "profile/markup.h"
#include "profile/palette.h"
#include "profile/summary.h"
#include "profile/writers.h"

/*
 * SVG: a flame graph, the thread names below and the calls above them, the most frequent first
 *
 * The picture works without scripts; a viewer that runs scripts adds search, zoom, and the line
 * below. The script uses attributes of a frame's group: data-s and data-n, the number of its first
 * sample and the number of its samples, and data-k, the part of the title with the short name.
 */

#define WIDTH      1200.0
#define MARGIN     10.0
#define ROW        18.0
#define CELL       7.25 /* of a monospaced font of 12 px, or a little more */
#define PADDING    3.0  /* left and right of a label */
#define WIDTH_MIN  0.3  /* narrower frames are left out */
#define GAP        0.5  /* between frames that have room for it */
#define LEGEND_TOP 58.0
#define LEGEND_ROW 20.0
#define SANS_CELL  6.6 /* of a proportional font of 12 px, roughly */
#define N_TITLE    72  /* characters of the title that leave room for the controls */

typedef struct Svg {
        const CallTree *tree;
        const char *noun; /* unit of a sample: "sample" */
        Changes changes;
        ProfileFile *out;
        uint32_t depth; /* of the highest shown frame */
        double top;     /* of the graph */
        double scale;
} Svg;

static void append_length(GString *out, double length)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE], *end;

        g_ascii_formatd(text, sizeof(text), "%.2f", length);
        for (end = text; *end; end++)
                ;
        while (end[-1] == '0')
                *--end = '\0';
        if (end[-1] == '.')
                *--end = '\0';
        g_string_append(out, text);
}

static void append_attribute(GString *out, const char *name, double length)
{
        g_string_append_printf(out, " %s=\"", name);
        append_length(out, length);
        g_string_append_c(out, '"');
}

static void append_text(GString *out, const char *class, double x, double y, const char *text)
{
        g_string_append_printf(out, "<text class=\"%s\"", class);
        append_attribute(out, "x", x);
        append_attribute(out, "y", y);
        g_string_append_c(out, '>');
        xml_append(out, text);
        g_string_append(out, "</text>\n");
}

/* Moves to the next row if an entry of N characters does not fit in this one. */
static void legend_place(double *x, double *y, size_t n)
{
        double width = 18 + (double)n * SANS_CELL + 16;

        if (*x > MARGIN && *x + width > WIDTH - MARGIN) {
                *x = MARGIN;
                *y += LEGEND_ROW;
        }
}

/* One entry: CLASS has its colour, if OUT is not NULL. */
static void append_legend_entry(GString *out, const char *class, const char *text, double *x,
                                double *y)
{
        size_t n = strlen(text);

        legend_place(x, y, n);
        if (out) {
                g_string_append_printf(out, "<rect class=\"%s\"", class);
                append_attribute(out, "x", *x);
                append_attribute(out, "y", *y);
                g_string_append(out, " width=\"12\" height=\"12\" rx=\"2\"/>");
                append_text(out, "l", *x + 17, *y + 10, text);
        }
        *x += 18 + (double)n * SANS_CELL + 16;
}

/* As append_legend(), of a comparison. */
static double append_change_legend(GString *out)
{
        double x = MARGIN, y = LEGEND_TOP;
        int step;

        for (step = -CHANGE_STEPS; step <= CHANGE_STEPS; step++) {
                char class[16];

                if (!change_label(step))
                        continue;
                g_snprintf(class, sizeof(class), "d%d", step + CHANGE_STEPS);
                append_legend_entry(out, class, change_label(step), &x, &y);
        }
        return y + LEGEND_ROW;
}

/* Returns where the legend ends. With OUT NULL, nothing is written. */
static double append_legend(GString *out, const Legend *legend, uint64_t n_samples)
{
        static const char MARKED[] = "~ name not certain";
        g_autoptr(GString) text = g_string_new(NULL);
        double x = MARGIN, y = LEGEND_TOP;
        size_t i;

        for (i = 0; i < _COLOUR_MAX; i++) {
                const LegendEntry *entry = &legend->entries[i];
                char class[16];

                if (!entry->is_shown)
                        continue;
                g_string_assign(text, PALETTE[i].label);
                if (entry->self) {
                        g_string_append_c(text, ' ');
                        number_append_share(text, entry->self, n_samples);
                }
                g_snprintf(class, sizeof(class), "c%zu", i);
                append_legend_entry(out, class, text->str, &x, &y);
        }
        if (legend->has_marked) {
                legend_place(&x, &y, strlen(MARKED));
                if (out)
                        append_text(out, "l", x, y + 10, MARKED);
        }
        return y + LEGEND_ROW;
}

static void append_style(GString *out, bool is_comparison)
{
        size_t i;
        int step;

        g_string_append(out, "<style>\n");
        resource_append(out, "svg.css");
        for (i = 0; i < _COLOUR_MAX; i++)
                g_string_append_printf(out, ".c%zu{fill:%s}\n", i, PALETTE[i].rgb);
        for (step = -CHANGE_STEPS; is_comparison && step <= CHANGE_STEPS; step++)
                g_string_append_printf(out, ".d%d{fill:%s}\n", step + CHANGE_STEPS,
                                       change_colour(step));
        g_string_append(out, "</style>\n");
}

/* "Name", and further lines about the frame. */
static void append_title(Svg *svg, uint32_t number)
{
        GString *out = svg->out->text;
        const CallNode *node = call_node(svg->tree, number);
        uint64_t whole = call_node(svg->tree, 0)->total;

        if (number) {
                const Frame *frame = call_node_frame(svg->tree, number);
                uint32_t i = node->variants;

                xml_append(out, frame->name);
                g_string_append_printf(out, "%s\n%s", frame->is_marked ? " ~" : "",
                                       frame_kind_word(frame->kind));
                if (frame->module) {
                        g_string_append(out, ", ");
                        xml_append(out, frame->module);
                }
                for (; i != CALL_NONE;
                     i = g_array_index(svg->tree->variants, CallVariant, i).next) {
                        const CallVariant *variant =
                                &g_array_index(svg->tree->variants, CallVariant, i);
                        const Frame *other =
                                &g_array_index(svg->tree->profile->frames, Frame, variant->frame);

                        if (!other->tier && !other->is_marked && !other->file)
                                continue;
                        g_string_append_c(out, '\n');
                        xml_append(out, other->tier ? other->tier : "tier unknown");
                        if (other->is_marked)
                                g_string_append(out, ", name not certain");
                        if (other->file) {
                                g_string_append(out, ", ");
                                xml_append(out, other->file);
                                g_string_append_printf(out, ":%" G_GUINT32_FORMAT, other->line);
                        }
                        if (variant->total != node->total) {
                                g_string_append(out, ": ");
                                number_append_share(out, variant->total, node->total);
                        }
                }
        } else {
                g_string_append(out, "all");
        }
        g_string_append_c(out, '\n');
        number_append(out, node->total);
        g_string_append_printf(out, " %s%s (", svg->noun, node->total == 1 ? "" : "s");
        number_append_share(out, node->total, whole);
        g_string_append(out, "), itself ");
        number_append(out, node->self);
        g_string_append(out, " (");
        number_append_share(out, node->self, whole);
        g_string_append_c(out, ')');
        if (svg->tree->profile->has_before) {
                g_string_append_c(out, '\n');
                change_append(out, &svg->changes, number);
        }
}

static void append_frame(Svg *svg, uint32_t number, uint64_t start)
{
        static const Frame ALL = {.name = "all", .kind = FRAME_COMM};
        GString *out = svg->out->text;
        const CallNode *node = call_node(svg->tree, number);
        const Frame *frame = number ? call_node_frame(svg->tree, number) : &ALL;
        double x = MARGIN + (double)start * svg->scale;
        double y = svg->top + (double)(svg->depth - node->depth) * ROW;
        double width = (double)node->total * svg->scale;
        size_t begin, end;

        g_string_append_printf(out,
                               "<g class=\"f\" data-s=\"%" G_GUINT64_FORMAT
                               "\" data-n=\"%" G_GUINT64_FORMAT "\"",
                               (guint64)start, (guint64)node->total);
        label_short(frame, &begin, &end);
        if (begin > 0 || frame->name[end])
                g_string_append_printf(out, " data-k=\"%zu,%zu\"",
                                       label_utf16_length(frame->name, begin),
                                       label_utf16_length(frame->name, end));
        g_string_append(out, "><title>");
        append_title(svg, number);
        if (svg->tree->profile->has_before)
                g_string_append_printf(out, "</title><rect class=\"d%d\"",
                                       change_step(&svg->changes, number) + CHANGE_STEPS);
        else
                g_string_append_printf(out, "</title><rect class=\"c%d s%u\"",
                                       (int)frame_colour(frame), frame_shade(frame));
        append_attribute(out, "x", x);
        append_attribute(out, "y", y);
        append_attribute(out, "width", width > 4 * GAP ? width - GAP : width);
        g_string_append_printf(out, " height=\"%.0f\"/>", ROW - 1);
        if (width > 2 * PADDING) {
                g_autoptr(GString) label = g_string_new(NULL);

                label_append(label, frame, (size_t)((width - 2 * PADDING) / CELL));
                if (label->len) {
                        g_string_append(out, "<text");
                        append_attribute(out, "x", x + PADDING);
                        append_attribute(out, "y", y + 13);
                        g_string_append_c(out, '>');
                        xml_append(out, label->str);
                        g_string_append(out, "</text>");
                }
        }
        g_string_append(out, "</g>\n");
        profile_file_flush(svg->out);
}

static bool is_shown(const Svg *svg, uint32_t number)
{
        return (double)call_node(svg->tree, number)->total * svg->scale >= WIDTH_MIN;
}

static void append_frames(Svg *svg)
{
        /* The sample at which the next child of each node begins. */
        g_autofree uint64_t *next = g_new0(uint64_t, svg->tree->nodes->len);
        uint32_t i = 0;

        while (i != CALL_NONE) {
                const CallNode *node = call_node(svg->tree, i);
                uint64_t start = next[node->parent];

                next[i] = start;
                if (i)
                        next[node->parent] += node->total;
                if (is_shown(svg, i))
                        append_frame(svg, i, start);
                i = call_tree_next(svg->tree, i, !is_shown(svg, i));
        }
}

void svg_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        g_autofree uint32_t *merged = profile_merge_frames(profile, MERGE_TIERS_AND_MARKS);
        g_autoptr(CallTree) tree = call_tree_new(profile, merged);
        g_autoptr(GString) title = g_string_new(NULL), subtitle = g_string_new(NULL);
        Svg svg = {.tree = tree, .noun = profile_event_unit(options->event)->noun, .out = out};
        Summary summary;
        Legend legend;
        double height;
        uint32_t i;

        summary_init(&summary, profile);
        summary_append(subtitle, &summary, options);
        legend_init(&legend, profile);
        if (profile->has_before)
                changes_init(&svg.changes, tree, options->event);
        svg.top = (profile->has_before ? append_change_legend(NULL)
                                       : append_legend(NULL, &legend, summary.n_samples)) +
                  4;
        svg.scale = summary.n_samples ? (WIDTH - 2 * MARGIN) / (double)summary.n_samples : 0;
        for (i = 0; i != CALL_NONE; i = call_tree_next(tree, i, !is_shown(&svg, i)))
                if (is_shown(&svg, i))
                        svg.depth = MAX(svg.depth, call_node(tree, i)->depth);
        height = svg.top + (svg.depth + 1) * ROW + 28;

        g_string_append_printf(out->text,
                               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                               "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
                               WIDTH, height, WIDTH, height);
        g_string_append(out->text, "<title>");
        xml_append(out->text, options->title);
        g_string_append(out->text, "</title>\n");
        append_style(out->text, profile->has_before);
        g_string_append(out->text, "<rect id=\"back\" width=\"100%\" height=\"100%\"/>\n");
        label_append(title, &(Frame){.name = options->title, .kind = FRAME_UNKNOWN}, N_TITLE);
        append_text(out->text, "h", MARGIN, 25, title->str);
        append_text(out->text, "l", MARGIN, 44, subtitle->str);
        if (profile->has_before)
                append_change_legend(out->text);
        else
                append_legend(out->text, &legend, summary.n_samples);
        g_string_append(out->text, "<g id=\"frames\">\n");
        if (summary.n_samples)
                append_frames(&svg);
        g_string_append(out->text, "</g>\n");
        append_text(out->text, "l", MARGIN, height - 10,
                    summary.n_samples ? "" : "There are no samples.");
        g_string_append(out->text, "<script><![CDATA[\n");
        resource_append(out->text, "svg.js");
        g_string_append(out->text, "]]></script>\n</svg>\n");
}

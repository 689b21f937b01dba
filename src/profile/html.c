/* SPDX-License-Identifier: MIT */
#include "profile/calltree.h"
#include "profile/change.h"
#include "profile/html-lines.h"
#include "profile/label.h"
#include "profile/markup.h"
#include "profile/palette.h"
#include "profile/summary.h"
#include "profile/writers.h"
#include "util/json-text.h"

#include <string.h>

/*
 * HTML: a page with the whole call tree, and a script that draws the visible part of it
 *
 * The page's policy lets nothing run but that script, and loads nothing. The tree is three lists, a
 * number for each node, parents before children: its frame, how many steps up from the previous
 * node to the node's parent, and the samples that ended in it. A comparison has two more: the
 * samples before that ended in it, and the colour of its change.
 */

typedef struct HtmlPage {
        const Profile *profile;
        const ProfileOptions *options;
        ProfileFile *out;
} HtmlPage;

typedef void AppendPart(const HtmlPage *page, const char *name);

static void append_title(const HtmlPage *page, const char *name)
{
        xml_append(page->out->text, page->options->title);
}

static void append_resource(const HtmlPage *page, const char *name)
{
        resource_append(page->out->text, name);
}

/* 'sha256-..' of a script or style that the page's policy allows. */
static void append_hash(const HtmlPage *page, const char *name)
{
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_autofree char *base64 = NULL;
        guint8 digest[32];
        gsize n_digest = sizeof(digest);
        size_t n;
        const char *text = resource_text(name, &n);

        g_checksum_update(checksum, (const guchar *)text, (gssize)n);
        g_checksum_get_digest(checksum, digest, &n_digest);
        base64 = g_base64_encode(digest, n_digest);
        g_string_append_printf(page->out->text, "'sha256-%s'", base64);
}

/* A table of distinct strings; returns the numbers by which frames refer to them. */
static GHashTable *append_strings(GString *out, const Profile *profile, size_t offset)
{
        GHashTable *numbers = g_hash_table_new(g_direct_hash, g_direct_equal);
        uint32_t i;

        g_string_append_c(out, '[');
        for (i = 0; i < profile->frames->len; i++) {
                const Frame *frame = &g_array_index(profile->frames, Frame, i);
                const char *text = G_STRUCT_MEMBER(const char *, frame, offset);
                guint n = g_hash_table_size(numbers);

                if (!text || g_hash_table_contains(numbers, text))
                        continue;
                g_hash_table_insert(numbers, (gpointer)text, GUINT_TO_POINTER(n));
                if (n)
                        g_string_append_c(out, ',');
                script_append_string(out, text);
        }
        g_string_append_c(out, ']');
        return numbers;
}

static void append_string_number(GString *out, GHashTable *numbers, const char *text)
{
        g_string_append_c(out, ',');
        if (text)
                json_append_u64(out, GPOINTER_TO_UINT(g_hash_table_lookup(numbers, text)));
        else
                g_string_append(out, "-1");
}

/*
 * A list of frames: [name, begin and end of its short form, module, kind, tier, mark, colour,
 * shade], and, if they are known, the source and the line.
 */
static void append_frames(const HtmlPage *page)
{
        GString *out = page->out->text;
        g_autoptr(GHashTable) modules = NULL, tiers = NULL, files = NULL;
        uint32_t i;

        g_string_append(out, ",\n\"modules\":");
        modules = append_strings(out, page->profile, offsetof(Frame, module));
        g_string_append(out, ",\n\"tiers\":");
        tiers = append_strings(out, page->profile, offsetof(Frame, tier));
        g_string_append(out, ",\n\"files\":");
        files = append_strings(out, page->profile, offsetof(Frame, file));
        g_string_append(out, ",\n\"frames\":[");
        for (i = 0; i < page->profile->frames->len; i++) {
                const Frame *frame = &g_array_index(page->profile->frames, Frame, i);
                size_t begin, end;

                label_short(frame, &begin, &end);
                g_string_append(out, i ? ",\n[" : "\n[");
                script_append_string(out, frame->name);
                g_string_append_printf(out, ",%zu,%zu", label_utf16_length(frame->name, begin),
                                       label_utf16_length(frame->name, end));
                append_string_number(out, modules, frame->module);
                g_string_append_printf(out, ",%d", (int)frame->kind);
                append_string_number(out, tiers, frame->tier);
                g_string_append_printf(out, ",%d,%d,%u", frame->is_marked, (int)frame_colour(frame),
                                       frame_shade(frame));
                if (frame->file) {
                        append_string_number(out, files, frame->file);
                        g_string_append_printf(out, ",%" G_GUINT32_FORMAT, frame->line);
                }
                g_string_append_c(out, ']');
                profile_file_flush(page->out);
        }
        g_string_append_c(out, ']');
        html_lines_append(page->out, page->profile, files);
}

static void append_variants(const HtmlPage *page, const CallTree *tree, const uint32_t *places)
{
        GString *out = page->out->text;
        const char *separator = "\n";
        uint32_t i;

        g_string_append(out, ",\n\"mixed\":[");
        for (i = call_tree_next(tree, 0, false); i != CALL_NONE;
             i = call_tree_next(tree, i, false)) {
                uint32_t j = call_node(tree, i)->variants;
                const CallVariant *variant = &g_array_index(tree->variants, CallVariant, j);

                if (variant->next == CALL_NONE)
                        continue;
                g_string_append(out, separator);
                separator = ",\n";
                g_string_append_printf(out, "[%u", places[i]);
                for (; j != CALL_NONE; j = variant->next) {
                        variant = &g_array_index(tree->variants, CallVariant, j);
                        g_string_append_printf(out, ",%u,%" G_GUINT64_FORMAT, variant->frame,
                                               (guint64)variant->total);
                }
                g_string_append_c(out, ']');
                profile_file_flush(page->out);
        }
        g_string_append_c(out, ']');
}

/* The nodes without the root, and, by their position, what only some nodes have. */
static void append_tree(const HtmlPage *page)
{
        g_autofree uint32_t *merged = profile_merge_frames(page->profile, MERGE_TIERS_AND_MARKS);
        g_autoptr(CallTree) tree = call_tree_new(page->profile, merged);
        g_autofree uint32_t *places = g_new(uint32_t, tree->nodes->len);
        GString *out = page->out->text;
        enum { FRAME, UP, SELF, BEFORE, CHANGE, _MAX };
        static const char *const NAMES[_MAX] = {"frame", "up", "self", "before", "change"};
        int list, n_lists = page->profile->has_before ? _MAX : BEFORE;
        Changes changes;

        changes_init(&changes, tree);
        for (list = 0; list < n_lists; list++) {
                uint32_t i, before = 0, place = 0;

                g_string_append_printf(out, ",\n\"%s\":[", NAMES[list]);
                for (i = call_tree_next(tree, 0, false); i != CALL_NONE;
                     i = call_tree_next(tree, i, false)) {
                        const CallNode *node = call_node(tree, i);
                        uint32_t variant = node->variants;
                        const uint64_t values[_MAX] = {
                                [FRAME] = g_array_index(tree->variants, CallVariant, variant).frame,
                                [UP] = call_node(tree, before)->depth + 1 - node->depth,
                                [SELF] = node->self,
                                [BEFORE] = call_node_before(tree, i).self,
                                [CHANGE] = (uint64_t)(change_step(&changes, i) + CHANGE_STEPS),
                        };

                        if (before)
                                g_string_append_c(out, ',');
                        json_append_u64(out, values[list]);
                        places[i] = place++;
                        before = i;
                        profile_file_flush(page->out);
                }
                g_string_append_c(out, ']');
        }
        append_variants(page, tree, places);
}

/* The colours of a comparison. */
static void append_changes(GString *out)
{
        int step;

        g_string_append(out, "],\n\"changes\":[");
        for (step = -CHANGE_STEPS; step <= CHANGE_STEPS; step++)
                g_string_append_printf(out, "%s[\"%s\",\"%s\"]", step > -CHANGE_STEPS ? "," : "",
                                       change_label(step) ? change_label(step) : "",
                                       change_colour(step));
}

/* The time that a sample stands for, on average: after, and before. */
static void append_seconds(GString *out, const Summary *summary)
{
        const double n = (double)MAX(summary->n_samples, 1),
                     n_before = (double)MAX(summary->n_before, 1);
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_dtostr(text, sizeof(text), (double)summary->period / n / 1e9));
        g_string_append_c(out, ',');
        g_string_append(out, g_ascii_dtostr(text, sizeof(text),
                                            (double)summary->period_before / n_before / 1e9));
}

static void append_data(const HtmlPage *page, const char *name)
{
        GString *out = page->out->text;
        g_autoptr(GString) subtitle = g_string_new(NULL);
        const char *separator = "";
        Summary summary;
        Legend legend;
        size_t i;

        summary_init(&summary, page->profile);
        summary_append(subtitle, &summary, page->options);
        g_string_append(out, "{\"title\":");
        script_append_string(out, page->options->title);
        g_string_append(out, ",\"subtitle\":");
        script_append_string(out, subtitle->str);
        g_string_append(out, ",\n\"colours\":[");
        for (i = 0; i < _COLOUR_MAX; i++)
                g_string_append_printf(out, "%s[\"%s\",\"%s\"]", i ? "," : "", PALETTE[i].label,
                                       PALETTE[i].rgb);
        g_string_append(out, "],\n\"legend\":[");
        legend_init(&legend, page->profile);
        for (i = 0; i < _COLOUR_MAX; i++) {
                if (!legend.entries[i].is_shown)
                        continue;
                g_string_append_printf(out, "%s[%zu,%" G_GUINT64_FORMAT "]", separator, i,
                                       (guint64)legend.entries[i].self);
                separator = ",";
        }
        if (page->profile->has_before)
                append_changes(out);
        g_string_append(out, "],\n\"seconds\":[");
        if (page->profile->has_before && profile_event_unit(page->options->event)->is_time)
                append_seconds(out, &summary);
        g_string_append_printf(out, "],\n\"noun\":\"%s\",\n\"kinds\":[",
                               profile_event_unit(page->options->event)->noun);
        for (i = 0; i <= FRAME_COMM; i++)
                g_string_append_printf(out, "%s\"%s\"", i ? "," : "",
                                       frame_kind_word((FrameKind)i));
        g_string_append_c(out, ']');
        append_frames(page);
        append_tree(page);
        g_string_append_c(out, '}');
}

/* What replaces {{NAME}} in the page. */
static const struct {
        const char *marker;
        AppendPart *append;
        const char *name;
} PARTS[] = {
        {"{{title}}", append_title, NULL},           {"{{style-hash}}", append_hash, "page.css"},
        {"{{script-hash}}", append_hash, "page.js"}, {"{{style}}", append_resource, "page.css"},
        {"{{script}}", append_resource, "page.js"},  {"{{data}}", append_data, NULL},
};

void html_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        const HtmlPage page = {.profile = profile, .options = options, .out = out};
        g_autoptr(GString) frame = g_string_new(NULL);
        const char *text, *marker;

        resource_append(frame, "page.html");
        for (text = frame->str; (marker = strstr(text, "{{"));) {
                size_t i;

                g_string_append_len(out->text, text, marker - text);
                for (i = 0; !g_str_has_prefix(marker, PARTS[i].marker); i++)
                        g_assert(i + 1 < G_N_ELEMENTS(PARTS));
                PARTS[i].append(&page, PARTS[i].name);
                text = marker + strlen(PARTS[i].marker);
        }
        g_string_append(out->text, text);
}

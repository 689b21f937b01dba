/* SPDX-License-Identifier: MIT */
#include "profile/change.h"
#include "profile/html-lines.h"
#include "profile/html-samples.h"
#include "profile/label.h"
#include "profile/markup.h"
#include "profile/palette.h"
#include "profile/summary.h"
#include "profile/writers.h"
#include "profile/your-code.h"
#include "util/json-text.h"

#include <string.h>

/*
 * HTML: a page with all stacks and samples, and a script that draws them
 *
 * The page's policy allows only that script, and no loads. Its data are frames, the tree of all
 * stacks, and the samples (html-samples.h); the script makes the drawn tree of them, so that it can
 * fold frames, and omit samples.
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

/* The parts of the script, in the order in which they use each other. */
static const char *const SCRIPTS[] = {"page-data.js",   "page-view.js",   "page-draw.js",
                                      "page-source.js", "page-tables.js", "page-callers.js",
                                      "page-strip.js",  "page.js"};

/* The style, or the script: a function, whose names are its own. */
static void append_resource(GString *out, const char *name)
{
        size_t i;

        if (name) {
                resource_append(out, name);
                return;
        }
        g_string_append(out, "(function () {\n'use strict';\n");
        for (i = 0; i < G_N_ELEMENTS(SCRIPTS); i++)
                resource_append(out, SCRIPTS[i]);
        g_string_append(out, "})();");
}

/* NAME NULL: the script. */
static void append_text(const HtmlPage *page, const char *name)
{
        append_resource(page->out->text, name);
}

/* 'sha256-..' of a script or style that the page's policy allows. */
static void append_hash(const HtmlPage *page, const char *name)
{
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *base64 = NULL;
        guint8 digest[32];
        gsize n_digest = sizeof(digest);

        append_resource(text, name);
        g_checksum_update(checksum, (const guchar *)text->str, (gssize)text->len);
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
 * shade, of your code], and, if they are known, the source and the line.
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
                g_string_append_printf(out, ",%d,%d,%u,%d", frame->is_marked,
                                       (int)frame_colour(frame), frame_shade(frame),
                                       frame_is_yours(frame));
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

/* The tree of stacks: for each node but the root its frame, and the distance to its parent. */
static void append_tree(const HtmlPage *page)
{
        const GArray *nodes = page->profile->nodes;
        GString *out = page->out->text;
        uint32_t i;

        g_string_append(out, ",\n\"frame\":[");
        for (i = 1; i < nodes->len; i++) {
                if (i > 1)
                        g_string_append_c(out, ',');
                json_append_u64(out, g_array_index(nodes, StackNode, i).frame);
                profile_file_flush(page->out);
        }
        g_string_append(out, "],\n\"up\":[");
        for (i = 1; i < nodes->len; i++) {
                if (i > 1)
                        g_string_append_c(out, ',');
                json_append_u64(out, i - 1 - g_array_index(nodes, StackNode, i).parent);
                profile_file_flush(page->out);
        }
        g_string_append_c(out, ']');
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

/* The time of a sample: after, and before. */
static void append_seconds(const HtmlPage *page)
{
        double seconds[2];
        int i;

        change_seconds(page->profile, page->options->event, &seconds[0], &seconds[1]);
        for (i = 0; seconds[0] > 0 && i < 2; i++) {
                char text[G_ASCII_DTOSTR_BUF_SIZE];

                g_string_append_printf(page->out->text, "%s%s", i ? "," : "",
                                       g_ascii_dtostr(text, sizeof(text), seconds[i]));
        }
}

static void append_data(const HtmlPage *page, const char *name)
{
        GString *out = page->out->text;
        g_autoptr(GString) subtitle = g_string_new(NULL);
        Summary summary;
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
        if (page->profile->has_before)
                append_changes(out);
        g_string_append(out, "],\n\"seconds\":[");
        append_seconds(page);
        g_string_append_printf(out, "],\n\"noun\":\"%s\",\n\"kinds\":[",
                               profile_event_unit(page->options->event)->noun);
        for (i = 0; i <= FRAME_COMM; i++)
                g_string_append_printf(out, "%s\"%s\"", i ? "," : "",
                                       frame_kind_word((FrameKind)i));
        g_string_append_c(out, ']');
        append_frames(page);
        append_tree(page);
        html_samples_append(page->out, page->profile, page->options->markers);
        g_string_append_c(out, '}');
}

/* The values of {{NAME}} in the page. */
static const struct {
        const char *marker;
        AppendPart *append;
        const char *name;
} PARTS[] = {
        {"{{title}}", append_title, NULL},      {"{{style-hash}}", append_hash, "page.css"},
        {"{{script-hash}}", append_hash, NULL}, {"{{style}}", append_text, "page.css"},
        {"{{script}}", append_text, NULL},      {"{{data}}", append_data, NULL},
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

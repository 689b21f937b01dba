/* SPDX-License-Identifier: MIT */
#include "perf/text-frame.h"

/* Writes the line, and marks it if the code has no line of its own. */
static void frame_put_line(TextOut *out, const NamedFrame *frame)
{
        text_out_text(out, " at ");
        text_out_text(out, frame->file);
        text_out_text(out, ":");
        text_out_decimal(out, frame->line, 0);
        if (frame->il_kind == CLRSYM_IL_EXACT)
                return;
        text_out_text(out, " (");
        text_out_text(out, clrsym_il_kind_name(frame->il_kind));
        text_out_text(out, ")");
}

/* The source of a perf symbol follows from the kind of frame or mapping. */
const char *text_frame_source(const Entry *entry, const NamedFrame *frame)
{
        static const char *const NAMES[_FRAME_SOURCE_MAX] = {
                [FRAME_SOURCE_EVENT] = "event",
                [FRAME_SOURCE_STUB] = "stub",
                [FRAME_SOURCE_IMAGE] = "image",
                [FRAME_SOURCE_INLINED] = "inline tree",
                [FRAME_SOURCE_STACK] = "OSR repair, by the stack",
                [FRAME_SOURCE_SAMPLES] = "OSR repair, by other samples",
                [FRAME_SOURCE_RECORDER] = "recorder",
                [FRAME_SOURCE_SEVERAL] = "recorder, several names",
                [FRAME_SOURCE_MARK] = "mark",
        };

        if (entry->source != FRAME_SOURCE_SYMBOL)
                return NAMES[entry->source];
        if (!frame->name)
                return "none";
        if (frame->kind == NAMED_KERNEL)
                return "kernel symbol";
        return mapping_kind_of_dso(frame->module) == MAPPING_JITTED ? "perf map" : "ELF symbol";
}

static void frame_put_source(TextOut *out, const Entry *entry, const NamedFrame *frame)
{
        text_out_text(out, " {");
        text_out_text(out, text_frame_source(entry, frame));
        text_out_text(out, "}");
}

void text_frame_put(TextOut *out, const Entry *entry, const NamedFrame *frame, bool has_tier,
                    bool has_source)
{
        text_out_hex(out, entry->ip, 16);
        text_out_bytes(out, " ", 1);
        text_out_text(out, frame->name ? frame->name : "[unknown]");
        if (frame->name) {
                text_out_text(out, "+0x");
                text_out_hex(out, entry->offset, 0);
        }
        text_out_text(out, " (");
        text_out_text(out, frame->module ? frame->module : "[unknown]");
        text_out_bytes(out, ")", 1);
        if (frame->kind == NAMED_MANAGED && has_tier) {
                text_out_text(out, " [");
                text_out_text(out, clrsym_tier_name(frame->tier));
                text_out_bytes(out, "]", 1);
        }
        if (frame->file)
                frame_put_line(out, frame);
        if (frame->is_marked)
                text_out_text(out, " ~");
        if (has_source)
                frame_put_source(out, entry, frame);
        text_out_bytes(out, "\n", 1);
}

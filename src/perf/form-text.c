/* SPDX-License-Identifier: MIT */

/*
 * Text as `perf script --ns` prints it, in the columns of perf 6.1, but with absolute addresses.
 * Later versions give the tid two more columns.
 */

#include "perf/form.h"

#include <stdlib.h>
#include <string.h>

#define NS 1000000000

/* A form's state must not be NULL. */
static void *text_new(void)
{
        return calloc(1, 1);
}

static void add_seconds(TextOut *out, uint64_t ns)
{
        char digits[10];
        uint64_t rest = ns % NS;
        unsigned i;

        text_out_decimal(out, ns / NS, 5);
        for (i = sizeof(digits); i-- > 1; rest /= 10)
                digits[i] = (char)('0' + rest % 10);
        digits[0] = '.';
        text_out_bytes(out, digits, sizeof(digits));
}

/* In samples with a callchain perf writes the thread's name as it is, else in a column. */
static void add_head(const FormContext *context, const BatchSample *sample)
{
        const char *comm = frames_get(context->frames, sample->comm).name;
        TextOut *out = context->out;
        size_t n;

        if (!sample->has_chain)
                for (n = strlen(comm); n < 16; n++)
                        text_out_bytes(out, " ", 1);
        text_out_text(out, comm);
        text_out_bytes(out, " ", 1);
        if (sample->tid < 0)
                text_out_text(out, "   -1");
        else
                text_out_decimal(out, (uint32_t)sample->tid, 5);
        text_out_bytes(out, " ", 1);
        if (sample->cpu != NO_CPU) {
                text_out_text(out, sample->cpu < 10 ? "[00" : sample->cpu < 100 ? "[0" : "[");
                text_out_decimal(out, (uint32_t)sample->cpu, 0);
                text_out_text(out, "] ");
        }
        add_seconds(out, sample->time);
        text_out_text(out, ": ");
        text_out_decimal(out, sample->period, 10);
        text_out_bytes(out, " ", 1);
        text_out_text(out, frames_get(context->frames, sample->event).name);
        text_out_text(out, ": ");
}

/* Code without a line of its own is marked. */
static void add_line(TextOut *out, const NamedFrame *frame)
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

/* What named the frame; of perf's frames, by their kind. */
static const char *source_name(const Entry *entry, const NamedFrame *frame)
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

static void add_source(TextOut *out, const Entry *entry, const NamedFrame *frame)
{
        text_out_text(out, " {");
        text_out_text(out, source_name(entry, frame));
        text_out_text(out, "}");
}

static void add_entry(const FormContext *context, const Entry *entry)
{
        NamedFrame frame = frames_get(context->frames, entry->frame);
        TextOut *out = context->out;

        text_out_hex(out, entry->ip, 16);
        text_out_bytes(out, " ", 1);
        text_out_text(out, frame.name ? frame.name : "[unknown]");
        if (frame.name) {
                text_out_text(out, "+0x");
                text_out_hex(out, entry->offset, 0);
        }
        text_out_text(out, " (");
        text_out_text(out, frame.module ? frame.module : "[unknown]");
        text_out_bytes(out, ")", 1);
        if (frame.kind == NAMED_MANAGED && context->settings->has_tier) {
                text_out_text(out, " [");
                text_out_text(out, clrsym_tier_name(frame.tier));
                text_out_bytes(out, "]", 1);
        }
        if (frame.file)
                add_line(out, &frame);
        if (frame.is_marked)
                text_out_text(out, " ~");
        if (context->settings->has_source)
                add_source(out, entry, &frame);
        text_out_bytes(out, "\n", 1);
}

static bool text_add(void *state, const FormContext *context, const BatchSample *sample,
                     const Entry *entries)
{
        size_t i;

        add_head(context, sample);
        if (sample->has_chain)
                text_out_bytes(context->out, "\n", 1);
        for (i = 0; i < sample->n; i++) {
                text_out_bytes(context->out, sample->has_chain ? "\t" : " ", 1);
                add_entry(context, &entries[i]);
        }
        if (sample->has_chain)
                text_out_bytes(context->out, "\n", 1);
        return true;
}

static bool text_forget(void *state, const FormContext *context)
{
        return true;
}

const Form form_text = {text_new, text_add, text_forget, text_forget, free};

/* SPDX-License-Identifier: MIT */
#include "perf/form.h"

#include <stdlib.h>
#include <string.h>

/* The stream's numbers, by the table's; STREAM_NO: none yet. */
#define STREAM_NO UINT32_MAX

typedef struct Numbers {
        uint32_t *of; /* owned, by number of the table */
        size_t n;
        uint32_t next;
} Numbers;

typedef struct Stream {
        bool has_begun;
        Numbers frames, texts;
} Stream;

static void *stream_new(void)
{
        return calloc(1, sizeof(Stream));
}

static void stream_free(void *state)
{
        Stream *stream = state;

        if (stream) {
                free(stream->frames.of);
                free(stream->texts.of);
        }
        free(stream);
}

/* Room for the numbers of all rows. */
static bool form_stream_make_room(Numbers *numbers, uint32_t n)
{
        size_t bigger = numbers->n ? numbers->n : 1024;
        uint32_t *of;

        if (n <= numbers->n)
                return true;
        while (bigger < n)
                bigger *= 2;
        of = realloc(numbers->of, bigger * sizeof(*of));
        if (!of)
                return false;
        memset(of + numbers->n, 0xff, (bigger - numbers->n) * sizeof(*of));
        numbers->of = of;
        numbers->n = bigger;
        return true;
}

static void put_header(TextOut *out, StreamType type, size_t size)
{
        const StreamHeader header = {type, (uint32_t)size};

        text_out_bytes(out, &header, sizeof(header));
}

static uint32_t put_text(Stream *stream, const FormContext *context, uint32_t number)
{
        uint32_t *of = &stream->texts.of[number];
        NamedFrame text = frames_get(context->frames, number);

        if (*of == STREAM_NO) {
                put_header(context->out, STREAM_TEXT, strlen(text.name));
                text_out_text(context->out, text.name);
                *of = stream->texts.next++;
        }
        return *of;
}

/* The line comes before the frame. */
static void put_line(const FormContext *context, const NamedFrame *frame)
{
        const StreamLine row = {frame->line};
        size_t n = strlen(frame->file);

        if (frame->checksum) {
                put_header(context->out, STREAM_CHECKSUM, strlen(frame->checksum));
                text_out_text(context->out, frame->checksum);
        }

        put_header(context->out, STREAM_LINE, sizeof(row) + n);
        text_out_bytes(context->out, &row, sizeof(row));
        text_out_bytes(context->out, frame->file, n);
}

/* The kernel marks a file that was removed: the mark is not shown. */
static size_t module_length(const char *module)
{
        static const char DELETED[] = " (deleted)";
        const size_t n = module ? strlen(module) : 0, n_mark = sizeof(DELETED) - 1;

        return n > n_mark && !strcmp(module + n - n_mark, DELETED) ? n - n_mark : n;
}

static uint32_t form_stream_put_frame(Stream *stream, const FormContext *context, uint32_t number)
{
        uint32_t *of = &stream->frames.of[number];
        NamedFrame frame = frames_get(context->frames, number);
        StreamFrame row = {
                .n_name = frame.name ? (uint32_t)strlen(frame.name) : 0,
                .n_module = (uint32_t)module_length(frame.module),
                .kind = (uint8_t)frame.kind,
                .tier = (uint8_t)frame.tier,
                .is_marked = frame.is_marked,
        };

        if (*of == STREAM_NO) {
                if (frame.file)
                        put_line(context, &frame);
                put_header(context->out, STREAM_FRAME,
                           sizeof(row) + (size_t)row.n_name + row.n_module);
                text_out_bytes(context->out, &row, sizeof(row));
                text_out_bytes(context->out, frame.name, row.n_name);
                text_out_bytes(context->out, frame.module, row.n_module);
                *of = stream->frames.next++;
        }
        return *of;
}

static void stream_begin(Stream *stream, const FormContext *context)
{
        if (!stream->has_begun)
                text_out_bytes(context->out, STREAM_MAGIC, STREAM_N_MAGIC);
        stream->has_begun = true;
}

static bool stream_add(void *state, const FormContext *context, const BatchSample *sample,
                       const Entry *entries)
{
        Stream *stream = state;
        StreamSample row = {
                .time = sample->time,
                .period = sample->period,
                .pid = sample->pid,
                .tid = sample->tid,
        };
        size_t i;

        stream_begin(stream, context);
        if (!form_stream_make_room(&stream->frames, context->frames->n) ||
            !form_stream_make_room(&stream->texts, context->frames->n))
                return false;
        row.comm = put_text(stream, context, sample->comm);
        row.event = put_text(stream, context, sample->event);
        for (i = 0; i < sample->n; i++)
                form_stream_put_frame(stream, context, entries[i].frame);
        put_header(context->out, STREAM_SAMPLE, sizeof(row) + sample->n * sizeof(uint32_t));
        text_out_bytes(context->out, &row, sizeof(row));
        for (i = 0; i < sample->n; i++)
                text_out_bytes(context->out, &stream->frames.of[entries[i].frame],
                               sizeof(uint32_t));
        return true;
}

static bool stream_forget(void *state, const FormContext *context)
{
        Stream *stream = state;

        if (stream->frames.n)
                memset(stream->frames.of, 0xff, stream->frames.n * sizeof(uint32_t));
        if (stream->texts.n)
                memset(stream->texts.of, 0xff, stream->texts.n * sizeof(uint32_t));
        return true;
}

static bool stream_end(void *state, const FormContext *context)
{
        stream_begin(state, context);
        put_header(context->out, STREAM_END, 0);
        return true;
}

const Form form_stream = {stream_new, stream_add, stream_forget, stream_end, stream_free};

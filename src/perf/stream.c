/* SPDX-License-Identifier: MIT */
#include "perf/stream.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

struct StreamReader {
        const StreamCalls *calls; /* borrowed */
        void *data;
        char *bytes; /* owned: an incomplete record */
        size_t n_bytes, size;
        char **texts; /* owned array of owned texts, NUL-terminated */
        uint32_t n_texts;
        size_t n_texts_size;
        uint32_t n_frames, n_markers;
        char *words; /* owned: a frame's two texts, NUL-terminated */
        size_t words_size;
        bool has_magic, is_whole, is_broken;
};

StreamReader *stream_reader_new(const StreamCalls *calls, void *data)
{
        StreamReader *reader = calloc(1, sizeof(*reader));

        if (reader) {
                reader->calls = calls;
                reader->data = data;
        }
        return reader;
}

void stream_reader_free(StreamReader *reader)
{
        uint32_t i;

        if (!reader)
                return;
        for (i = 0; i < reader->n_texts; i++)
                free(reader->texts[i]);
        free(reader->texts);
        free(reader->words);
        free(reader->bytes);
        free(reader);
}

static bool stream_take_frame(StreamReader *reader, const char *at, size_t n)
{
        StreamFrame frame;
        char *name, *module;

        if (n < sizeof(frame))
                return false;
        memcpy(&frame, at, sizeof(frame));
        at += sizeof(frame);
        n -= sizeof(frame);
        if (frame.n_name > n || frame.n_module != n - frame.n_name ||
            frame.kind >= _NAMED_KIND_MAX || reader->n_frames == UINT32_MAX)
                return false;
        if (!array_grow(&reader->words, &reader->words_size, n + 2, 1))
                return false;
        name = reader->words;
        module = name + frame.n_name + 1;
        memcpy(name, at, frame.n_name);
        name[frame.n_name] = '\0';
        memcpy(module, at + frame.n_name, frame.n_module);
        module[frame.n_module] = '\0';
        reader->n_frames++;
        reader->calls->frame(reader->data, &frame, name, module);
        return true;
}

static bool take_line(StreamReader *reader, const char *at, size_t n)
{
        StreamLine line;

        if (n <= sizeof(line))
                return false;
        memcpy(&line, at, sizeof(line));
        n -= sizeof(line);
        if (!line.line || memchr(at + sizeof(line), '\0', n) ||
            !array_grow(&reader->words, &reader->words_size, n + 1, 1))
                return false;
        memcpy(reader->words, at + sizeof(line), n);
        reader->words[n] = '\0';
        if (reader->calls->line)
                reader->calls->line(reader->data, line.line, reader->words);
        return true;
}

static bool take_checksum(StreamReader *reader, const char *at, size_t n)
{
        size_t i;

        for (i = 0; i < n; i++)
                if (!strchr("0123456789abcdef", at[i]) || !at[i])
                        return false;
        if (!n || !array_grow(&reader->words, &reader->words_size, n + 1, 1))
                return false;
        memcpy(reader->words, at, n);
        reader->words[n] = '\0';
        if (reader->calls->checksum)
                reader->calls->checksum(reader->data, reader->words);
        return true;
}

static bool stream_take_process(StreamReader *reader, const char *at, size_t n)
{
        StreamProcess process;

        if (n <= sizeof(process))
                return false;
        memcpy(&process, at, sizeof(process));
        n -= sizeof(process);
        if (memchr(at + sizeof(process), '\0', n) ||
            !array_grow(&reader->words, &reader->words_size, n + 1, 1))
                return false;
        memcpy(reader->words, at + sizeof(process), n);
        reader->words[n] = '\0';
        if (reader->calls->process)
                reader->calls->process(reader->data, process.pid, reader->words);
        return true;
}

static bool stream_take_marker(StreamReader *reader, const char *at, size_t n)
{
        StreamMarker marker;

        if (n < sizeof(marker) || reader->n_markers == STREAM_MAX_MARKERS)
                return false;
        memcpy(&marker, at, sizeof(marker));
        n -= sizeof(marker);
        if (marker.begin > marker.end || memchr(at + sizeof(marker), '\0', n) ||
            !array_grow(&reader->words, &reader->words_size, n + 1, 1))
                return false;
        memcpy(reader->words, at + sizeof(marker), n);
        reader->words[n] = '\0';
        reader->n_markers++;
        return !reader->calls->marker ||
               reader->calls->marker(reader->data, &marker, reader->words);
}

static bool stream_take_text(StreamReader *reader, const char *at, size_t n)
{
        char *text;

        /* The limit is generous, because texts are names of threads and events. */
        if (reader->n_texts > UINT32_MAX / 4 ||
            !array_grow(&reader->texts, &reader->n_texts_size, reader->n_texts + 1,
                        sizeof(*reader->texts)))
                return false;
        text = malloc(n + 1);
        if (!text)
                return false;
        memcpy(text, at, n);
        text[n] = '\0';
        reader->texts[reader->n_texts++] = text;
        return true;
}

/* The numbers in N_BYTES at AT, valid until the next record; NULL: malformed, or no memory. */
static const uint32_t *stream_read_frames(StreamReader *reader, const char *at, size_t n_bytes)
{
        const size_t n = n_bytes / sizeof(uint32_t);
        const uint32_t *frames;
        size_t i;

        /* Copy them, because they may be unaligned. */
        if (n_bytes % sizeof(*frames) ||
            !array_grow(&reader->words, &reader->words_size, n_bytes + sizeof(*frames), 1))
                return NULL;
        if (n)
                memcpy(reader->words, at, n_bytes);
        frames = (const uint32_t *)(const void *)reader->words;
        for (i = 0; i < n; i++)
                if (frames[i] >= reader->n_frames)
                        return NULL;
        return frames;
}

static bool stream_take_physical(StreamReader *reader, const char *at, size_t n)
{
        const uint32_t *frames = n ? stream_read_frames(reader, at, n) : NULL;

        if (frames && reader->calls->physical)
                reader->calls->physical(reader->data, frames, n / sizeof(*frames));
        return frames != NULL;
}

static bool stream_take_sample(StreamReader *reader, const char *at, size_t n)
{
        StreamSample sample;
        const uint32_t *frames;

        if (n < sizeof(sample))
                return false;
        memcpy(&sample, at, sizeof(sample));
        n -= sizeof(sample);
        if (sample.comm >= reader->n_texts || sample.event >= reader->n_texts)
                return false;
        frames = stream_read_frames(reader, at + sizeof(sample), n);
        if (!frames)
                return false;
        n /= sizeof(*frames);
        reader->calls->sample(reader->data, &sample, reader->texts[sample.comm],
                              reader->texts[sample.event], frames, n);
        return true;
}

static bool take_record(StreamReader *reader, const StreamHeader *header, const char *at)
{
        switch (header->type) {
        case STREAM_FRAME:
                return stream_take_frame(reader, at, header->size);
        case STREAM_TEXT:
                return stream_take_text(reader, at, header->size);
        case STREAM_SAMPLE:
                return stream_take_sample(reader, at, header->size);
        case STREAM_LINE:
                return take_line(reader, at, header->size);
        case STREAM_CHECKSUM:
                return take_checksum(reader, at, header->size);
        case STREAM_PROCESS:
                return stream_take_process(reader, at, header->size);
        case STREAM_MARKER:
                return stream_take_marker(reader, at, header->size);
        case STREAM_PHYSICAL:
                return stream_take_physical(reader, at, header->size);
        case STREAM_END:
                reader->is_whole = true;
                return header->size == 0;
        default:
                return false;
        }
}

/* Takes the complete records of N bytes; RET_N is their size. */
static bool take_whole(StreamReader *reader, const char *at, size_t n, size_t *ret_n)
{
        size_t taken = 0;

        if (!reader->has_magic && n >= STREAM_N_MAGIC) {
                if (memcmp(at, STREAM_MAGIC, STREAM_N_MAGIC) != 0)
                        return false;
                reader->has_magic = true;
                taken = STREAM_N_MAGIC;
        }
        while (reader->has_magic && n - taken >= sizeof(StreamHeader)) {
                StreamHeader header;

                memcpy(&header, at + taken, sizeof(header));
                if (header.size > STREAM_MAX_PAYLOAD || reader->is_whole)
                        return false;
                if (n - taken - sizeof(header) < header.size)
                        break;
                if (!take_record(reader, &header, at + taken + sizeof(header)))
                        return false;
                taken += sizeof(header) + header.size;
        }
        *ret_n = taken;
        return true;
}

bool stream_reader_take(StreamReader *reader, const void *bytes, size_t n)
{
        size_t taken = 0;

        if (reader->is_broken ||
            !array_grow(&reader->bytes, &reader->size, reader->n_bytes + n, 1)) {
                reader->is_broken = true;
                return false;
        }
        if (n)
                memcpy(reader->bytes + reader->n_bytes, bytes, n);
        reader->n_bytes += n;
        if (!take_whole(reader, reader->bytes, reader->n_bytes, &taken)) {
                reader->is_broken = true;
                return false;
        }
        reader->n_bytes -= taken;
        if (taken && reader->n_bytes)
                memmove(reader->bytes, reader->bytes + taken, reader->n_bytes);
        return true;
}

bool stream_reader_is_whole(const StreamReader *reader)
{
        return reader->is_whole && !reader->is_broken && reader->n_bytes == 0;
}

/* SPDX-License-Identifier: MIT */
#include "reader/event-reader.h"

#include "reader/event-source.h"
#include "util/ahead.h"
#include "util/fd.h"
#include "wire/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_BATCHES 4
/* Items that one event can make at most, beside the first. */
#define EXTRA_ITEMS 4

/* The kinds, in the order of the comparison: the last takes each regular file. */
static const EventSourceType *const SOURCES[] = {&CTF_SOURCE, &NETTRACE_SOURCE, &SNAPSHOT_SOURCE};

struct EventReader {
        char *path; /* owned */
        EventUse use;
        EventSource *source; /* owned */
        EventBatch batches[N_BATCHES];
        Ahead *ahead; /* owned */
};

static void event_reader_fail(const EventReader *reader, GError **error, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", reader->path, what);
}

static EventSource *event_reader_open(const EventReader *reader, GError **error)
{
        FD_AUTO int fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat st;
        size_t i;

        if (fd < 0 || fstat(fd, &st) < 0) {
                event_reader_fail(reader, error, g_strerror(errno));
                return NULL;
        }
        for (i = 0; i < G_N_ELEMENTS(SOURCES); i++)
                if (SOURCES[i]->is(fd, st.st_mode))
                        return SOURCES[i]->open(fd_steal(&fd), reader->path, reader->use, error);
        event_reader_fail(reader, error, TRACE_NEITHER);
        return NULL;
}

/* For Ahead. */
static bool event_reader_fill(void *data, unsigned number)
{
        EventReader *reader = data;
        EventBatch *batch = &reader->batches[number];

        batch->n_items = batch->n_bytes = batch->weight = 0;
        batch->result = reader->source->type->fill(reader->source, batch, &batch->error);
        if (batch->error && !g_str_has_prefix(batch->error->message, reader->path))
                g_prefix_error(&batch->error, "%s: ", reader->path);
        return batch->result == EVENT_READ_MORE;
}

EventReader *event_reader_new(const char *path, EventUse use, GError **error)
{
        EventReader *reader = g_new0(EventReader, 1);
        size_t i;

        reader->path = g_strdup(path);
        reader->use = use;
        reader->source = event_reader_open(reader, error);
        if (!reader->source) {
                event_reader_free(reader);
                return NULL;
        }
        for (i = 0; i < N_BATCHES; i++)
                reader->batches[i].items = g_new(EventItem, EVENT_BATCH_ITEMS + EXTRA_ITEMS);
        reader->ahead = ahead_new("read", N_BATCHES, event_reader_fill, reader);
        return reader;
}

void event_reader_free(EventReader *reader)
{
        size_t i;

        if (!reader)
                return;
        ahead_free(reader->ahead);
        for (i = 0; i < N_BATCHES; i++) {
                g_clear_error(&reader->batches[i].error);
                g_free(reader->batches[i].items);
                g_free(reader->batches[i].bytes);
        }
        if (reader->source)
                reader->source->type->close(reader->source);
        g_free(reader->path);
        g_free(reader);
}

EventBatch *event_reader_next(EventReader *reader)
{
        return &reader->batches[ahead_next(reader->ahead)];
}

bool event_reader_has_jit_events(const EventReader *reader)
{
        const EventSourceType *type = reader->source->type;

        return type->has_jit_events ? type->has_jit_events(reader->source)
                                    : reader->use != EVENT_USE_CODE_MAPS;
}

uint64_t event_reader_n_bytes(const EventReader *reader)
{
        return reader->source->type->n_bytes(reader->source);
}

void event_reader_report(const EventReader *reader, FeederReport *ret_report)
{
        reader->source->type->report(reader->source, ret_report);
}

GHashTable *event_reader_counts(const EventReader *reader)
{
        return reader->source->type->counts ? reader->source->type->counts(reader->source) : NULL;
}

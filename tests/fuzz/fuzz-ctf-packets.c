/* SPDX-License-Identifier: MIT */

/*
 * A trace in a directory: u16 size and the metadata, then u16 size and bytes of each stream file.
 * Two reads of the trace give the same items; an event reader gives the same records.
 */

#include "ctf/reader.h"
#include "fuzz.h"
#include "reader/event-reader.h"
#include "values.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

enum { MAX_FILES = 4 };

static char *directory;

static void clear(void)
{
        g_autoptr(GDir) names = g_dir_open(directory, 0, NULL);
        const char *name;

        while (names && (name = g_dir_read_name(names))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                g_unlink(path);
        }
}

static void clear_all(void)
{
        clear();
        g_rmdir(directory);
}

static void put_file(const char *name, FuzzInput bytes)
{
        g_autofree char *path = g_build_filename(directory, name, NULL);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        FUZZ_REQUIRE(fd >= 0 && write(fd, bytes.at, bytes.n) == (ssize_t)bytes.n);
        close(fd);
}

static void put_files(FuzzInput *input)
{
        unsigned i;

        put_file("metadata", fuzz_take_part(input, fuzz_take(input, 2)));
        for (i = 0; i < MAX_FILES && input->n > 0; i++) {
                g_autofree char *name = g_strdup_printf("stream_%u", i);

                put_file(name, fuzz_take_part(input, fuzz_take(input, 2)));
        }
}

/* The items up to the end or to the error. */
typedef struct Items {
        unsigned n;
        uint64_t digest; /* digest of the order, the times and the values of the records */
        bool is_broken;
} Items;

static void items_add_item(Items *items, CtfItemType type, uint64_t time, unsigned max_items)
{
        FUZZ_REQUIRE(++items->n <= max_items);
        fuzz_digest(&items->digest, type);
        fuzz_digest(&items->digest, time);
}

static Items read_all(CtfReader *reader, unsigned max_items)
{
        g_autoptr(GError) error = NULL;
        CtfDataStream *stream;
        CtfReadResult result;
        Items items = {0};
        Record record;

        while ((result = ctf_reader_next(reader, &stream, &error)) == CTF_READ_ITEM) {
                items_add_item(&items, stream->item, stream->time, max_items);
                if (stream->item == CTF_ITEM_EVENT && stream->event->event &&
                    ctf_reader_decode(reader, stream, &record) == CTF_DECODE_RECORD)
                        fuzz_digest_record(&items.digest, &record);
        }
        FUZZ_REQUIRE((result == CTF_READ_ERROR) == (error != NULL));
        items.is_broken = error != NULL;
        return items;
}

/* Records and losses of the whole trace, or, if an event is unusable, those before it. */
typedef struct Events {
        unsigned n;
        uint64_t digest;
} Events;

static void events_add(Events *events, const Record *record)
{
        events->n++;
        if (record)
                fuzz_digest_record(&events->digest, record);
}

/* Returns true if an event is unusable. */
static bool read_events(CtfReader *reader, Events *ret)
{
        CtfDataStream *stream;
        Record record;

        while (ctf_reader_next(reader, &stream, NULL) == CTF_READ_ITEM) {
                if (stream->item == CTF_ITEM_DISCARDED_EVENTS ||
                    stream->item == CTF_ITEM_DISCARDED_PACKETS)
                        events_add(ret, NULL);
                if (stream->item != CTF_ITEM_EVENT)
                        continue;
                if (!stream->has_clock)
                        return true;
                if (!stream->event->event)
                        continue;
                switch (ctf_reader_decode(reader, stream, &record)) {
                case CTF_DECODE_RECORD:
                        events_add(ret, &record);
                        break;
                case CTF_DECODE_SKIPPED:
                        break;
                case CTF_DECODE_NO_PROCESS:
                case CTF_DECODE_NO_CLOCK:
                        return true;
                }
        }
        return false;
}

static void check_events(const Items *items, const Events *want, bool is_refused)
{
        EventReader *reader = event_reader_new(directory, EVENT_USE_ALL, NULL);
        const EventBatch *batch;
        Events got = {0};
        size_t i;

        FUZZ_REQUIRE(reader);
        do {
                batch = event_reader_next(reader);
                for (i = 0; i < batch->n_items; i++) {
                        const EventItem *item = &batch->items[i];

                        if (item->type == EVENT_ITEM_RECORD || item->type == EVENT_ITEM_GAP)
                                events_add(&got,
                                           item->type == EVENT_ITEM_RECORD ? &item->record : NULL);
                }
        } while (batch->result == EVENT_READ_MORE);
        FUZZ_REQUIRE((batch->result == EVENT_READ_ERROR) == (batch->error != NULL));
        FUZZ_REQUIRE((batch->result == EVENT_READ_ERROR) == (is_refused || items->is_broken));
        FUZZ_REQUIRE(got.n == want->n && got.digest == want->digest);
        event_reader_free(reader);
}

static bool items_are_equal(const Items *a, const Items *b)
{
        return a->n == b->n && a->digest == b->digest && a->is_broken == b->is_broken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        g_autoptr(GError) error = NULL;
        CtfReader *reader;
        /* An event has at least a bit, and a packet a byte; each packet adds its begin, its end and
         * losses. */
        unsigned max_items = (unsigned)size * 16 + 16;
        Items items, again;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (!directory) {
                directory = g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
                FUZZ_REQUIRE(directory);
                atexit(clear_all);
        }
        clear();
        put_files(&input);
        reader = ctf_reader_new(directory, EVENT_USE_ALL, &error);
        FUZZ_REQUIRE((reader == NULL) == (error != NULL));
        if (!reader)
                return 0;
        items = read_all(reader, max_items);
        if (ctf_reader_rewind(reader, NULL)) {
                again = read_all(reader, max_items);
                FUZZ_REQUIRE(items_are_equal(&items, &again));
        }
        if (ctf_reader_rewind(reader, NULL)) {
                Events events = {0};
                bool is_refused = read_events(reader, &events);

                check_events(&items, &events, is_refused);
        }
        /* Free a reader whose thread has just begun. */
        event_reader_free(event_reader_new(directory, EVENT_USE_ALL, NULL));
        ctf_reader_free(reader);
        return 0;
}

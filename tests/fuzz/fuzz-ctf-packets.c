/* SPDX-License-Identifier: MIT */

/*
 * A trace in a directory: u16 size and the metadata, then u16 size and bytes of each stream file.
 * Read two times, and once more by a thread, it has the same items.
 */

#include "ctf/read-ahead.h"
#include "fuzz.h"
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

/* What was read, up to the end or to the error. */
typedef struct Items {
        unsigned n;
        uint64_t digest; /* of their order, their times and the values of the records */
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

static Items read_all_ahead(CtfReader *reader, unsigned max_items)
{
        CtfReadAhead *ahead = ctf_read_ahead_new(reader);
        const CtfReadBatch *batch;
        Items items = {0};
        size_t i;

        do {
                batch = ctf_read_ahead_next(ahead);
                for (i = 0; i < batch->n_items; i++) {
                        const CtfReadItem *item = &batch->items[i];

                        items_add_item(&items, item->type, item->time, max_items);
                        if (item->type == CTF_ITEM_EVENT && item->outcome == CTF_DECODE_RECORD)
                                fuzz_digest_record(&items.digest, &item->record);
                }
        } while (batch->result == CTF_READ_ITEM);
        items.is_broken = batch->result == CTF_READ_ERROR;
        FUZZ_REQUIRE(items.is_broken == (batch->error != NULL));
        ctf_read_ahead_free(ahead);
        return items;
}

static bool items_are_equal(const Items *a, const Items *b)
{
        return a->n == b->n && a->digest == b->digest && a->is_broken == b->is_broken;
}

/* Ends a thread that has hardly begun. */
static void read_no_more(CtfReader *reader)
{
        ctf_read_ahead_free(ctf_read_ahead_new(reader));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        g_autoptr(GError) error = NULL;
        CtfReader *reader;
        /* An event has a bit, and a packet a byte; beside them are its begin, its end and losses.
         */
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
                again = read_all_ahead(reader, max_items);
                FUZZ_REQUIRE(items_are_equal(&items, &again));
        }
        if (ctf_reader_rewind(reader, NULL))
                read_no_more(reader);
        ctf_reader_free(reader);
        return 0;
}

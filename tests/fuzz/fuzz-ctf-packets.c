/* SPDX-License-Identifier: MIT */

/*
 * A trace in a directory: u16 size and the metadata, then u16 size and bytes of each stream file.
 * Read two times, it has the same items.
 */

#include "ctf/reader.h"
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

/* The number of items up to the end, or to the error. */
static unsigned read_all(CtfReader *reader, unsigned max_items)
{
        g_autoptr(GError) error = NULL;
        CtfDataStream *stream;
        CtfReadResult result;
        unsigned n = 0;
        Record record;

        while ((result = ctf_reader_next(reader, &stream, &error)) == CTF_READ_ITEM) {
                FUZZ_REQUIRE(++n <= max_items);
                if (stream->item == CTF_ITEM_EVENT && stream->event->event &&
                    ctf_reader_decode(reader, stream, &record) == CTF_DECODE_RECORD)
                        fuzz_check_record(&record);
        }
        FUZZ_REQUIRE((result == CTF_READ_ERROR) == (error != NULL));
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        g_autoptr(GError) error = NULL;
        CtfReader *reader;
        /* An event has a bit, and a packet a byte; beside them are its begin, its end and losses.
         */
        unsigned max_items = (unsigned)size * 16 + 16, n;

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
        n = read_all(reader, max_items);
        if (ctf_reader_rewind(reader, NULL))
                FUZZ_REQUIRE(read_all(reader, max_items) == n);
        ctf_reader_free(reader);
        return 0;
}

/* SPDX-License-Identifier: MIT */

/*
 * A journal's entries, with right checksums: u8 kind, u8 connection, u16 size, bytes. A BATCH or
 * OPEN holds frames as in fuzz-ingest; with kind RAW_ENTRY the bytes go into the file unchanged.
 */

#include "frames.h"
#include "journal/journal-directory.h"
#include "journal/journal-file.h"
#include "journal/journal.h"
#include "known.h"

#include <glib/gstdio.h>
#include <unistd.h>

enum { RAW_ENTRY = 255 };

/* Creates a directory in memory; the caller frees its name. */
static char *make_directory(void)
{
        g_autofree char *template = g_strdup("/dev/shm/clrsym-fuzz-XXXXXX");

        return g_mkdtemp(template) ? g_steal_pointer(&template)
                                   : g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
}

static void remove_directory(const char *path)
{
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *file = g_build_filename(path, name, NULL);

                g_unlink(file);
        }
        g_rmdir(path);
}

static void read_boot_id(JournalLine *line)
{
        g_autofree char *text = NULL;

        if (g_file_get_contents("/proc/sys/kernel/random/boot_id", &text, NULL, NULL))
                g_strlcpy(line->boot_id, g_strstrip(text), sizeof(line->boot_id));
}

static uint64_t write_entry(int fd, uint64_t offset, FuzzInput *input)
{
        uint8_t kind = (uint8_t)fuzz_take(input, 1), connection = (uint8_t)fuzz_take(input, 1);
        FuzzInput part = fuzz_take_part(input, fuzz_take(input, 2));
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        int64_t n;

        if (kind == RAW_ENTRY) {
                n = pwrite(fd, part.at, part.n, (off_t)offset);
                return offset + (uint64_t)MAX(n, 0);
        }
        if (kind == JOURNAL_BATCH || kind == JOURNAL_OPEN)
                while (part.n > 0)
                        fuzz_take_frame(&part, bytes);
        else
                g_byte_array_append(bytes, part.at, (guint)part.n);
        n = journal_write_entry(
                fd, offset,
                &(JournalEntry){(JournalKind)kind, connection, bytes->data, bytes->len});
        FUZZ_REQUIRE(n > 0);
        return offset + (uint64_t)n;
}

static void write_file(const char *path, FuzzInput *input)
{
        JournalDirectory directory;
        JournalLine line = {.begin = JOURNAL_FIRST};
        uint64_t offset;
        int fd;

        FUZZ_REQUIRE(journal_directory_open(&directory, path, NULL));
        fd = journal_directory_create(&directory, (JournalName){1, JOURNAL_WHOLE});
        FUZZ_REQUIRE(fd >= 0);
        read_boot_id(&line);
        line.begin = fuzz_take(input, 1) & 1 ? JOURNAL_CHECKPOINT : JOURNAL_FIRST;
        offset = (uint64_t)journal_write_line(fd, &line);
        while (input->n > 0)
                offset = write_entry(fd, offset, input);
        close(fd);
        journal_directory_close(&directory);
}

static void ignore_message(const gchar *domain, GLogLevelFlags level, const gchar *message,
                           gpointer data)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static bool is_quiet;
        FuzzInput input = {data, size};
        g_autofree char *path = NULL;
        QueryStats stats = {0};
        Journal *journal;
        Tracker *tracker;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (!is_quiet)
                g_log_set_handler(NULL,
                                  G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO,
                                  ignore_message, NULL);
        is_quiet = true;
        path = make_directory();
        write_file(path, &input);
        tracker = tracker_new();
        journal = journal_new(path, tracker, &(TrackerHost){0}, &stats, NULL, NULL);
        FUZZ_REQUIRE(journal);
        known_check(tracker);
        journal_free(journal);
        tracker_free(tracker);
        remove_directory(path);
        return 0;
}

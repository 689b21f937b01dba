/* SPDX-License-Identifier: MIT */

/*
 * How fast a nettrace stream is read from memory: with all events decoded, and with those
 * for code maps. CPU time. bench-nettrace FILE [SECONDS]
 */

#include "nettrace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PIECE (256u << 10)

static const struct {
        const char *name;
        EventUse use;
} WAYS[] = {
        {"every event", EVENT_USE_ALL},
        {"code maps", EVENT_USE_CODE_MAPS},
};

static double cpu_seconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t take_all(NettraceReader *reader)
{
        uint64_t n = 0;
        Record record;
        StreamGap gap;

        while (nettrace_reader_next(reader, &record, &gap) != NETTRACE_ITEM_NONE)
                n++;
        return n;
}

/* Returns how many records and gaps came out. */
static uint64_t read_once(EventUse use, const char *bytes, gsize n_bytes)
{
        NettraceReader *reader = nettrace_reader_new(use);
        g_autoptr(GError) error = NULL;
        uint64_t n = 0;
        gsize at;

        for (at = 0; at < n_bytes; at += PIECE) {
                if (!nettrace_reader_push(reader, (const uint8_t *)bytes + at,
                                          MIN(PIECE, n_bytes - at), &error)) {
                        fprintf(stderr, "%s\n", error->message);
                        exit(1);
                }
                n += take_all(reader);
        }
        nettrace_reader_finish(reader);
        n += take_all(reader);
        nettrace_reader_free(reader);
        return n;
}

int main(int argc, char **argv)
{
        double seconds = argc > 2 ? atof(argv[2]) : 2;
        g_autoptr(GError) error = NULL;
        g_autofree char *bytes = NULL;
        gsize n_bytes;
        unsigned i;

        if (argc < 2 || !g_file_get_contents(argv[1], &bytes, &n_bytes, &error)) {
                fprintf(stderr, "%s\n", error ? error->message : "bench-nettrace FILE [SECONDS]");
                return 1;
        }
        for (i = 0; i < G_N_ELEMENTS(WAYS); i++) {
                uint64_t n_items = read_once(WAYS[i].use, bytes, n_bytes), n_rounds = 0;
                double begin = cpu_seconds(), best = 1e9, spent;

                do {
                        double start = cpu_seconds();

                        read_once(WAYS[i].use, bytes, n_bytes);
                        best = MIN(best, cpu_seconds() - start);
                        n_rounds++;
                        spent = cpu_seconds() - begin;
                } while (spent < seconds);
                printf("%s: %.0f MB/s, best %.0f, %.1f million events/s (%.1f MB, "
                       "%" G_GUINT64_FORMAT " records)\n",
                       WAYS[i].name, (double)n_bytes * (double)n_rounds / spent / 1e6,
                       (double)n_bytes / best / 1e6,
                       (double)n_items * (double)n_rounds / spent / 1e6, (double)n_bytes / 1e6,
                       (guint64)n_items);
        }
        return 0;
}

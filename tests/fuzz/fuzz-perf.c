/* SPDX-License-Identifier: MIT */

/*
 * Inputs of `clrsym report` and of perf's filter: u8 kind, then lines of /proc/PID/maps or of
 * mappings; or the stream of samples in a .clrsym file, in pieces of u8 bytes.
 */

#include "fuzz.h"
#include "perf/mapping.h"
#include "perf/stream.h"

#include <string.h>

typedef bool (*TakeLine)(Mapping *mapping, const char *line);

/* A mapping that was read can be written, and reading it again gives the same mapping. */
static void check_mapping(const Mapping *mapping)
{
        char *text = NULL, *end;
        size_t n = 0;
        FILE *file = open_memstream(&text, &n);
        Mapping again;

        FUZZ_REQUIRE(file);
        FUZZ_REQUIRE(mapping->path && *mapping->path == '/' && mapping->start < mapping->end);
        mapping_write(mapping, file);
        FUZZ_REQUIRE(fclose(file) == 0);
        end = strchr(text, '\n');
        FUZZ_REQUIRE(end && !end[1]);
        *end = '\0';
        FUZZ_REQUIRE(mapping_take_line(&again, text));
        FUZZ_REQUIRE(again.pid == mapping->pid && again.start == mapping->start &&
                     again.end == mapping->end && again.offset == mapping->offset &&
                     again.time == mapping->time && again.since == mapping->since &&
                     again.inode == mapping->inode && !strcmp(again.path, mapping->path));
        mapping_deinit(&again);
        free(text);
}

static void read_lines(FuzzInput *input, TakeLine take)
{
        char *text = strndup(input->n ? (const char *)input->at : "", input->n), *rest = text,
             *line;

        FUZZ_REQUIRE(text);
        while ((line = strsep(&rest, "\n"))) {
                Mapping mapping;

                if (!take(&mapping, line))
                        continue;
                check_mapping(&mapping);
                mapping_deinit(&mapping);
        }
        free(text);
}

typedef struct Seen {
        uint32_t n_frames;
        size_t n_bytes;
} Seen;

static void see_frame(void *data, const StreamFrame *frame, const char *name, const char *module)
{
        Seen *seen = data;

        FUZZ_REQUIRE(frame->kind < _NAMED_KIND_MAX);
        seen->n_frames++;
        seen->n_bytes += strlen(name) + strlen(module);
}

static void see_sample(void *data, const StreamSample *sample, const char *comm, const char *event,
                       const uint32_t *frames, size_t n)
{
        Seen *seen = data;
        size_t i;

        seen->n_bytes += strlen(comm) + strlen(event);
        for (i = 0; i < n; i++)
                FUZZ_REQUIRE(frames[i] < seen->n_frames);
}

static void see_line(void *data, uint32_t line, const char *file)
{
        FUZZ_REQUIRE(line > 0 && *file);
}

static void see_checksum(void *data, const char *checksum)
{
        FUZZ_REQUIRE(*checksum && strspn(checksum, "0123456789abcdef") == strlen(checksum));
}

static void see_process(void *data, int32_t pid, const char *command)
{
        FUZZ_REQUIRE(*command);
}

static bool see_marker(void *data, const StreamMarker *marker, const char *text)
{
        Seen *seen = data;

        FUZZ_REQUIRE(marker->begin <= marker->end);
        seen->n_bytes += strlen(text);
        return true;
}

static void see_physical(void *data, const uint32_t *frames, size_t n)
{
        see_sample(data, NULL, "", "", frames, n);
        FUZZ_REQUIRE(n > 0);
}

static void read_stream(FuzzInput *input)
{
        static const StreamCalls CALLS = {see_frame,   see_sample, see_line,    see_checksum,
                                          see_process, see_marker, see_physical};
        size_t n_piece = fuzz_take(input, 1);
        Seen seen = {0};
        StreamReader *reader = stream_reader_new(&CALLS, &seen);
        bool ok = true;

        FUZZ_REQUIRE(reader);
        while (ok && input->n > 0) {
                FuzzInput piece = fuzz_take_part(input, n_piece + 1);

                ok = stream_reader_take(reader, piece.at, piece.n);
        }
        (void)stream_reader_is_whole(reader);
        stream_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const TakeLine TAKES[] = {mapping_take_line, mapping_take_map, mapping_take_line};
        FuzzInput input = {data, size};
        unsigned which = fuzz_take(&input, 1) & 3;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (which < 3)
                read_lines(&input, TAKES[which]);
        else
                read_stream(&input);
        return 0;
}

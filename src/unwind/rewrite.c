/* SPDX-License-Identifier: MIT */
#include "unwind/rewrite.h"

#include "perfdata/error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool rewrite_fail(GError **error)
{
        g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_SYSTEM,
                    "its stacks cannot be written: %s", g_strerror(errno));
        return false;
}

bool rewrite_open(Rewrite *ret_rewrite, const char *path, int fd, GError **error)
{
        ret_rewrite->output = fdopen(dup(fd), "w");
        if (!perf_data_open(&ret_rewrite->data, path, error))
                return false;
        return ret_rewrite->output || rewrite_fail(error);
}

void rewrite_deinit(Rewrite *rewrite)
{
        if (rewrite->output)
                fclose(rewrite->output);
        rewrite->output = NULL;
        perf_data_deinit(&rewrite->data);
}

bool rewrite_put(Rewrite *rewrite, const void *bytes, size_t n, GError **error)
{
        return fwrite(bytes, 1, n, rewrite->output) == n || rewrite_fail(error);
}

/* Copies N bytes of the old file from OFFSET on. */
static bool rewrite_copy(Rewrite *rewrite, uint64_t offset, uint64_t n, GError **error)
{
        uint8_t bytes[4096];

        while (n > 0) {
                const size_t part = (size_t)MIN(n, sizeof(bytes));

                if (!perf_data_read(&rewrite->data, offset, bytes, part, error) ||
                    !rewrite_put(rewrite, bytes, part, error))
                        return false;
                offset += part;
                n -= part;
        }
        return true;
}

bool rewrite_begin(Rewrite *rewrite, GError **error)
{
        const PerfFileHeader *header = &rewrite->data.header;

        /* Corrected bytes must not be among the records, which move. */
        if (header->data.offset < sizeof(*header) ||
            header->data.offset < header->attrs.offset + header->attrs.size) {
                g_set_error_literal(error, PERFDATA_ERROR, PERFDATA_ERROR_DAMAGED,
                                    "its records begin before its events are described");
                return false;
        }
        return rewrite_copy(rewrite, 0, header->data.offset, error);
}

/* The places of the features, then the features. All move by the same distance. */
static bool rewrite_put_features(Rewrite *rewrite, uint64_t new_end, GError **error)
{
        const PerfFileHeader *header = &rewrite->data.header;
        const uint64_t old_end = header->data.offset + header->data.size;
        uint64_t n = 0, i;

        for (i = 0; i < G_N_ELEMENTS(header->features); i++)
                n += (uint64_t)__builtin_popcountll(header->features[i]);
        for (i = 0; i < n; i++) {
                PerfSection section;

                if (!perf_data_read(&rewrite->data, old_end + i * sizeof(section), &section,
                                    sizeof(section), error))
                        return false;
                section.offset += new_end - old_end;
                if (!rewrite_put(rewrite, &section, sizeof(section), error))
                        return false;
        }
        i = old_end + n * sizeof(PerfSection);
        return rewrite_copy(rewrite, i, rewrite->data.size - i, error);
}

bool rewrite_end(Rewrite *rewrite, GError **error)
{
        PerfFileHeader header = rewrite->data.header;
        const PerfSection *records = &rewrite->data.header.data;
        const off_t end = ftello(rewrite->output);

        /* A recording that was killed has no size of its records, and no features. */
        if (records->size && records->size <= rewrite->data.size - records->offset &&
            !rewrite_put_features(rewrite, (uint64_t)end, error))
                return false;
        header.data.size = records->size ? (uint64_t)end - records->offset : 0;
        return rewrite_replace(rewrite, 0, &header, sizeof(header), error);
}

bool rewrite_replace(Rewrite *rewrite, uint64_t at, const void *bytes, size_t n, GError **error)
{
        return fseeko(rewrite->output, (off_t)at, SEEK_SET) == 0
                       ? rewrite_put(rewrite, bytes, n, error)
                       : rewrite_fail(error);
}

bool rewrite_finish(Rewrite *rewrite, GError **error)
{
        return fflush(rewrite->output) == 0 || rewrite_fail(error);
}

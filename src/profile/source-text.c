/* SPDX-License-Identifier: MIT */
#include "profile/source-text.h"

#include "util/fd.h"
#include "util/printable-string.h"
#include "util/rootfs.h"

#include <string.h>
#include <sys/stat.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define TAB             "    "

const char *source_state_text(SourceState state)
{
        static const char *const TEXTS[_SOURCE_STATE_MAX] = {
                [SOURCE_SHOWN] = "",
                [SOURCE_MISSING] = "not shown: it cannot be read here; --source-map FROM=TO shows "
                                   "where to look",
                [SOURCE_CHANGED] =
                        "not shown: its checksum differs from that in the PDB, so it was "
                        "changed since it was compiled",
                [SOURCE_UNVERIFIED] = "not shown: the PDB has no checksum of it",
                [SOURCE_LARGE] = "not shown: there is too much source for this page",
        };

        return TEXTS[state];
}

static SourceState source_read(const char *path, GByteArray *bytes)
{
        FD_AUTO int root = rootfs_open_root(0);
        FD_AUTO int fd = root >= 0 ? rootfs_open_file(root, path) : -1;
        struct stat status;
        ssize_t n = 1;

        if (*path != '/' || fd < 0 || fstat(fd, &status) < 0)
                return SOURCE_MISSING;
        if (status.st_size > (off_t)SOURCE_MAX_BYTES)
                return SOURCE_LARGE;
        g_byte_array_set_size(bytes, (guint)status.st_size);
        n = status.st_size ? pread(fd, bytes->data, (size_t)status.st_size, 0) : 0;
        return n == status.st_size ? SOURCE_SHOWN : SOURCE_MISSING;
}

static bool source_has_checksum(const GByteArray *bytes, const char *checksum)
{
        const GChecksumType type = strlen(checksum) == 40 ? G_CHECKSUM_SHA1 : G_CHECKSUM_SHA256;
        g_autofree char *found = g_compute_checksum_for_data(type, bytes->data, bytes->len);

        return g_str_equal(found, checksum);
}

static char *line_printable(const char *line, size_t n)
{
        g_autoptr(GString) text = g_string_new_len(line, (gssize)n);

        if (text->len && text->str[text->len - 1] == '\r')
                g_string_truncate(text, text->len - 1);
        g_string_replace(text, "\t", TAB, 0);
        return text_printable(text->str);
}

static GPtrArray *source_lines(const GByteArray *bytes)
{
        GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
        const char *at = (const char *)bytes->data, *end = at + bytes->len;

        if (bytes->len >= strlen(BYTE_ORDER_MARK) &&
            !memcmp(at, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
                at += strlen(BYTE_ORDER_MARK);
        while (at < end) {
                const char *newline = memchr(at, '\n', (size_t)(end - at));
                const char *stop = newline ? newline : end;

                g_ptr_array_add(lines, line_printable(at, (size_t)(stop - at)));
                at = newline ? newline + 1 : end;
        }
        return lines;
}

SourceState source_text_read(const char *path, const char *checksum, GPtrArray **ret_lines)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        SourceState state;

        if (!checksum || (strlen(checksum) != 40 && strlen(checksum) != 64))
                return SOURCE_UNVERIFIED;
        state = source_read(path, bytes);
        if (state != SOURCE_SHOWN)
                return state;
        if (!source_has_checksum(bytes, checksum))
                return SOURCE_CHANGED;
        *ret_lines = source_lines(bytes);
        return SOURCE_SHOWN;
}

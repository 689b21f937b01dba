/* SPDX-License-Identifier: MIT */
#include "journal/journal-file.h"

#include "wire/ingest.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC     "clrsym-journal"
#define READ_SIZE (1u << 20)

/*
 * The head of each entry, in the machine's byte order: a journal is for one machine and one boot.
 * Checks are CRC-32 (zlib's).
 */
typedef struct Head {
        uint32_t n; /* bytes of the entry */
        uint32_t connection;
        uint32_t kind;
        uint32_t check;      /* of the bytes */
        uint32_t head_check; /* of the offset in the file, u64, and the members above */
} Head;

static_assert(sizeof(Head) == 20 && offsetof(Head, connection) == 4 && offsetof(Head, kind) == 8 &&
                      offsetof(Head, check) == 12 && offsetof(Head, head_check) == 16,
              "the head of an entry changed: increment JOURNAL_OWN_FORMAT, then this");
static_assert(INGEST_VERSION == 1,
              "entries hold the protocol's frames: increment JOURNAL_OWN_FORMAT");

static const char *const BEGINS[_JOURNAL_BEGIN_MAX] = {
        [JOURNAL_FIRST] = "first",
        [JOURNAL_AFTER] = "after",
        [JOURNAL_CHECKPOINT] = "checkpoint",
};

static uint32_t journal_file_checksum(const void *bytes, size_t n)
{
        return (uint32_t)crc32_z(0, bytes, n);
}

static uint32_t head_checksum(const Head *head, uint64_t offset)
{
        uLong sum = crc32_z(0, (const Bytef *)&offset, sizeof(offset));

        return (uint32_t)crc32_z(sum, (const Bytef *)head, offsetof(Head, head_check));
}

static int64_t write_all(int fd, uint64_t offset, struct iovec *parts, int n_parts)
{
        int64_t n_written = 0;

        while (n_parts > 0) {
                ssize_t n = pwritev(fd, parts, n_parts, (off_t)offset + n_written);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                n_written += n;
                for (; n_parts > 0 && (size_t)n >= parts->iov_len; parts++, n_parts--)
                        n -= (ssize_t)parts->iov_len;
                if (n_parts > 0) {
                        parts->iov_base = (char *)parts->iov_base + n;
                        parts->iov_len -= (size_t)n;
                }
        }
        return n_written;
}

static char *line_text(const JournalLine *line)
{
        g_autofree char *text = g_strdup_printf(
                MAGIC " %u %s %s %" G_GUINT64_FORMAT " ", JOURNAL_FORMAT, line->boot_id,
                BEGINS[line->begin], (guint64)(line->begin == JOURNAL_AFTER ? line->after : 0));

        return g_strdup_printf("%s%08x\n", text, journal_file_checksum(text, strlen(text)));
}

int64_t journal_write_line(int fd, const JournalLine *line)
{
        g_autofree char *text = line_text(line);
        struct iovec part = {text, strlen(text)};

        return write_all(fd, 0, &part, 1);
}

int64_t journal_write_entry(int fd, uint64_t offset, const JournalEntry *entry)
{
        Head head = {.n = entry->n,
                     .connection = entry->connection,
                     .kind = entry->kind,
                     .check = journal_file_checksum(entry->bytes, entry->n)};
        struct iovec parts[] = {{&head, sizeof(head)}, {(void *)entry->bytes, entry->n}};

        head.head_check = head_checksum(&head, offset);
        return write_all(fd, offset, parts, entry->n ? 2 : 1);
}

struct JournalReader {
        int fd;
        uint64_t size;  /* of the file */
        uint8_t *bytes; /* owned: the file from offset `begin` on */
        uint64_t begin;
        size_t n_bytes, n_allocated;
        uint64_t offset; /* after the latest entry */
};

JournalReader *journal_reader_new(int fd)
{
        JournalReader *reader = g_new0(JournalReader, 1);
        struct stat st;

        reader->fd = fd;
        reader->size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
        return reader;
}

void journal_reader_free(JournalReader *reader)
{
        if (!reader)
                return;
        close(reader->fd);
        g_free(reader->bytes);
        g_free(reader);
}

/* N bytes from AT on, within the file; NULL if they cannot be read. */
static const uint8_t *reader_look_at(JournalReader *reader, uint64_t at, size_t n)
{
        size_t n_before = (size_t)(at - reader->begin);

        if (n_before + n <= reader->n_bytes)
                return reader->bytes + n_before;
        reader->n_bytes -= MIN(n_before, reader->n_bytes);
        if (reader->n_bytes)
                memmove(reader->bytes, reader->bytes + n_before, reader->n_bytes);
        reader->begin = at;
        if (reader->n_allocated < n) {
                reader->n_allocated = MAX(n, READ_SIZE);
                reader->bytes = g_realloc(reader->bytes, reader->n_allocated);
        }
        while (reader->n_bytes < n) {
                ssize_t n_read = pread(reader->fd, reader->bytes + reader->n_bytes,
                                       reader->n_allocated - reader->n_bytes,
                                       (off_t)(reader->begin + reader->n_bytes));

                if (n_read < 0 && errno == EINTR)
                        continue;
                if (n_read <= 0)
                        return NULL;
                reader->n_bytes += (size_t)n_read;
        }
        return reader->bytes;
}

static bool parse_line(const char *text, JournalLine *line)
{
        g_auto(GStrv) words = g_strsplit(text, " ", -1);
        g_autofree char *again = NULL;
        guint64 after;
        int i;

        if (g_strv_length(words) != 6 || strlen(words[2]) >= sizeof(line->boot_id) ||
            !g_ascii_string_to_unsigned(words[4], 10, 0, UINT64_MAX, &after, NULL))
                return false;
        for (i = 0; i < _JOURNAL_BEGIN_MAX; i++)
                if (!strcmp(words[3], BEGINS[i]))
                        break;
        if (i == _JOURNAL_BEGIN_MAX)
                return false;
        line->begin = (JournalBegin)i;
        line->after = after;
        g_strlcpy(line->boot_id, words[2], sizeof(line->boot_id));
        again = line_text(line);
        again[strlen(again) - 1] = '\0';
        return !strcmp(again, text);
}

JournalResult journal_reader_line(JournalReader *reader, JournalLine *ret_line)
{
        size_t n = (size_t)MIN(reader->size, JOURNAL_MAX_LINE);
        const uint8_t *bytes = n ? reader_look_at(reader, 0, n) : NULL, *newline;
        g_autofree char *text = NULL, *own = NULL;
        JournalLine line = {0};

        if (!n)
                return JOURNAL_TORN;
        if (!bytes)
                return JOURNAL_DAMAGED;
        newline = memchr(bytes, '\n', n);
        if (!newline)
                return reader->size < JOURNAL_MAX_LINE ? JOURNAL_TORN : JOURNAL_DAMAGED;
        text = g_strndup((const char *)bytes, (size_t)(newline - bytes));
        own = g_strdup_printf(MAGIC " %u ", JOURNAL_FORMAT);
        if (!g_str_has_prefix(text, own))
                return g_str_has_prefix(text, MAGIC " ") ? JOURNAL_FOREIGN : JOURNAL_DAMAGED;
        if (!parse_line(text, &line))
                return JOURNAL_DAMAGED;
        reader->offset = (uint64_t)(newline + 1 - bytes);
        *ret_line = line;
        return JOURNAL_OK;
}

JournalResult journal_reader_next(JournalReader *reader, JournalEntry *ret_entry)
{
        uint64_t left = reader->size - reader->offset;
        const uint8_t *bytes;
        Head head;

        if (!left)
                return JOURNAL_OVER;
        if (left < sizeof(head))
                return JOURNAL_TORN;
        bytes = reader_look_at(reader, reader->offset, sizeof(head));
        if (!bytes)
                return JOURNAL_DAMAGED;
        memcpy(&head, bytes, sizeof(head));
        if (head.head_check != head_checksum(&head, reader->offset) || !head.kind ||
            head.kind >= _JOURNAL_KIND_MAX)
                return JOURNAL_DAMAGED;
        if (left - sizeof(head) < head.n)
                return JOURNAL_TORN;
        bytes = reader_look_at(reader, reader->offset, sizeof(head) + head.n);
        if (!bytes || journal_file_checksum(bytes + sizeof(head), head.n) != head.check)
                return JOURNAL_DAMAGED;
        reader->offset += sizeof(head) + head.n;
        *ret_entry = (JournalEntry){(JournalKind)head.kind, head.connection, bytes + sizeof(head),
                                    head.n};
        return JOURNAL_OK;
}

uint64_t journal_reader_offset(const JournalReader *reader)
{
        return reader->offset;
}

/* SPDX-License-Identifier: MIT */
#include "nettrace/header.h"

#include "nettrace/cursor.h"

#include <time.h>

#define NS_PER_SECOND 1000000000
#define NS_PER_MS     1000000

/* Most texts: most of them do not concern the process. */
#define MAX_TEXTS 4096

/* Converts eight numbers in Windows' order to realtime in ns. False: the numbers are no time. */
static bool header_read_realtime(NettraceCursor *cursor, int64_t *ret_ns)
{
        unsigned year = nettrace_u16(cursor), month = nettrace_u16(cursor);
        unsigned weekday = nettrace_u16(cursor), day = nettrace_u16(cursor);
        unsigned hour = nettrace_u16(cursor), minute = nettrace_u16(cursor);
        unsigned second = nettrace_u16(cursor), ms = nettrace_u16(cursor);
        struct tm time = {.tm_year = (int)year - 1900,
                          .tm_mon = (int)month - 1,
                          .tm_mday = (int)day,
                          .tm_hour = (int)hour,
                          .tm_min = (int)minute,
                          .tm_sec = (int)second};

        if (year < 1970 || year > 2200 || month < 1 || month > 12 || weekday > 6 || day < 1 ||
            day > 31 || hour > 23 || minute > 59 || second > 60 || ms > 999)
                return false;
        *ret_ns = (int64_t)timegm(&time) * NS_PER_SECOND + (int64_t)ms * NS_PER_MS;
        return true;
}

static int32_t header_pid(uint64_t pid)
{
        return pid <= INT32_MAX ? (int32_t)pid : 0;
}

static bool header_key_is(const char *key, size_t n, const char *name)
{
        return n == strlen(name) && !memcmp(key, name, n);
}

/* Reads the texts of version 6. False: they are damaged. */
static bool header_read_texts(NettraceCursor *cursor, NettraceHeader *header)
{
        uint32_t n = nettrace_u32(cursor);

        for (; n > 0 && n <= MAX_TEXTS && !cursor->is_short; n--) {
                uint32_t n_key = nettrace_varint32(cursor);
                const char *key = (const char *)nettrace_bytes(cursor, n_key);
                uint32_t n_value = nettrace_varint32(cursor);
                const char *value = (const char *)nettrace_bytes(cursor, n_value);
                g_autofree char *text = NULL;
                guint64 number;

                if (!key || !value)
                        break;
                text = g_strndup(value, n_value);
                if (header_key_is(key, n_key, "ProcessId") &&
                    g_ascii_string_to_unsigned(text, 10, 0, INT32_MAX, &number, NULL))
                        header->pid = header_pid(number);
                if (header_key_is(key, n_key, "ExpectedCPUSamplingRate") &&
                    g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &number, NULL))
                        header->sample_ns = number;
        }
        return n == 0;
}

static void header_digest(const NettraceBlock *block, uint8_t ret_digest[16])
{
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        uint8_t digest[32];
        gsize n = sizeof(digest);

        g_checksum_update(checksum, block->bytes, (gssize)block->n_bytes);
        g_checksum_get_digest(checksum, digest, &n);
        memcpy(ret_digest, digest, 16);
}

bool nettrace_header_read(const NettraceBlock *block, unsigned version, NettraceHeader *ret_header)
{
        NettraceCursor cursor = nettrace_cursor(block->bytes, block->n_bytes);
        NettraceHeader header = {.version = version};
        uint64_t ticks;
        int64_t realtime;

        if (!header_read_realtime(&cursor, &realtime))
                return false;
        ticks = nettrace_u64(&cursor);
        header.frequency = nettrace_u64(&cursor);
        header.pointer_size = nettrace_u32(&cursor);
        if (version < 6)
                header.pid = header_pid(nettrace_u32(&cursor));
        else if (!header_read_texts(&cursor, &header))
                return false;
        if (cursor.is_short || ticks > INT64_MAX || !header.frequency)
                return false;
        header.begin = nettrace_header_ns(&header, ticks);
        if (header.begin > INT64_MAX)
                return false;
        header.clock_offset = realtime - (int64_t)header.begin;
        header_digest(block, header.digest);
        *ret_header = header;
        return true;
}

StreamIdentity *nettrace_header_identity(const NettraceHeader *header)
{
        StreamIdentity *identity = stream_identity_new();

        memcpy(identity->trace_uuid, header->digest, sizeof(identity->trace_uuid));
        if (header->pid) {
                identity->scheme = BUFFER_SCHEME_PER_PID;
                identity->pid = header->pid;
        }
        stream_identity_set_clock(identity, "monotonic", header->clock_offset);
        return identity;
}

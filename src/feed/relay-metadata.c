/* SPDX-License-Identifier: MIT */
#include "feed/relay-metadata.h"

#include "ctf/metadata.h"
#include "ctf/stream-identity.h"
#include "util/fd.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A packet of the metadata: magic, uuid, checksum, and its sizes in bits. */
#define PACKET_MAGIC 0x75D11D57
enum {
        PACKET_UUID = 4,
        PACKET_BITS = 28,
        PACKET_HEADER_SIZE = 37,
        /* Before each fragment of CTF 2 (RFC 7464). */
        RECORD_SEPARATOR = 0x1e,
};

static uint32_t get_native(const uint8_t *bytes)
{
        uint32_t value;

        memcpy(&value, bytes, sizeof(value));
        return value;
}

static bool is_packet(const uint8_t *bytes, size_t n)
{
        return n >= PACKET_HEADER_SIZE && get_native(bytes) == PACKET_MAGIC;
}

static size_t whole_packets(const uint8_t *bytes, size_t n)
{
        size_t at = 0;

        while (is_packet(bytes + at, n - at)) {
                uint32_t size = get_native(bytes + at + PACKET_BITS) / 8;

                if (size < PACKET_HEADER_SIZE || size > n - at)
                        break;
                at += size;
        }
        return at;
}

/* Do the braces of the JSON object close? */
static bool is_whole_object(const uint8_t *bytes, size_t n)
{
        bool is_text = false;
        size_t depth = 0, i;

        for (i = 0; i < n; i++) {
                if (is_text && bytes[i] == '\\')
                        i++;
                else if (bytes[i] == '"')
                        is_text = !is_text;
                else if (!is_text && bytes[i] == '{')
                        depth++;
                else if (!is_text && bytes[i] == '}' && depth > 0 && --depth == 0)
                        return true;
        }
        return false;
}

/* Nothing ends a fragment but the next one: of the last, the braces show it. */
static size_t whole_fragments(const uint8_t *bytes, size_t n)
{
        const uint8_t *last = memrchr(bytes, RECORD_SEPARATOR, n);
        size_t at = (size_t)(last - bytes);

        return is_whole_object(last, n - at) ? n : at;
}

/* LTTng ends each declaration with "};" on a line of its own, and indents what is in it. */
static size_t whole_declarations(const uint8_t *bytes, size_t n)
{
        static const char END[] = "\n};\n";
        const size_t n_end = sizeof(END) - 1;
        size_t i;

        for (i = n; i >= n_end; i--)
                if (!memcmp(bytes + i - n_end, END, n_end))
                        return i;
        return 0;
}

size_t relay_metadata_whole(const uint8_t *bytes, size_t n)
{
        if (is_packet(bytes, n))
                return whole_packets(bytes, n);
        if (n > 0 && bytes[0] == RECORD_SEPARATOR)
                return whole_fragments(bytes, n);
        return whole_declarations(bytes, n);
}

static bool read_at_start(int fd, uint8_t *bytes, size_t n)
{
        size_t got = 0;

        while (got < n) {
                ssize_t r = pread(fd, bytes + got, n - got, (off_t)got);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0)
                        return false;
                got += (size_t)r;
        }
        return true;
}

bool relay_metadata_identity(int fd, uint8_t ret_uuid[16])
{
        static const uint8_t NONE[16];
        g_autoptr(CtfTraceClass) trace = NULL;
        g_autofree uint8_t *bytes = NULL;
        uint8_t head[PACKET_HEADER_SIZE];
        struct stat st;
        size_t n;

        if (fstat(fd, &st) < 0 || st.st_size < PACKET_HEADER_SIZE ||
            st.st_size > CTF_METADATA_MAX || !read_at_start(fd, head, sizeof(head)))
                return false;
        if (is_packet(head, sizeof(head))) {
                uint32_t size = get_native(head + PACKET_BITS) / 8;

                if (size < PACKET_HEADER_SIZE || size > (uint64_t)st.st_size)
                        return false;
                memcpy(ret_uuid, head + PACKET_UUID, 16);
                return true;
        }
        n = (size_t)st.st_size;
        bytes = g_try_malloc(n);
        if (!bytes || !read_at_start(fd, bytes, n))
                return false;
        trace = ctf_metadata_parse(bytes, relay_metadata_whole(bytes, n), NULL);
        if (!trace)
                return false;
        ctf_trace_class_identity(trace, ret_uuid);
        return memcmp(ret_uuid, NONE, sizeof(NONE)) != 0;
}

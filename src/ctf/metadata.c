/* SPDX-License-Identifier: MIT */
#include "ctf/metadata.h"

#include "ctf/ctf2.h"
#include "ctf/error.h"
#include "ctf/resolve.h"
#include "ctf/tsdl.h"
#include "util/fd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The head of a metadata packet (CTF 1.8, section 7.1): everything except the checksums is
 * verified.
 */
enum {
        PACKET_MAGIC = 0x75d11d57,
        PACKET_HEAD = 37,
        AT_CONTENT_SIZE = 24,
        AT_PACKET_SIZE = 28,
        AT_SCHEMES = 32, /* compression, encryption, checksum: none */
        N_SCHEMES = 3,
        AT_MAJOR = 35,
        AT_MINOR = 36,
};

GQuark ctf_error_quark(void)
{
        return g_quark_from_static_string("clrsym-ctf");
}

static uint32_t metadata_u32(const uint8_t *bytes, bool is_big_endian)
{
        uint32_t word;

        memcpy(&word, bytes, sizeof(word));
        return is_big_endian ? GUINT32_FROM_BE(word) : GUINT32_FROM_LE(word);
}

/* The text in the packets. NULL with ERROR set. */
static GString *metadata_unpack(const uint8_t *bytes, size_t n, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        const bool is_big_endian = metadata_u32(bytes, true) == PACKET_MAGIC;
        static const uint8_t NONE[N_SCHEMES];

        while (n > 0) {
                uint32_t content, packet;

                if (n < PACKET_HEAD || metadata_u32(bytes, is_big_endian) != PACKET_MAGIC) {
                        g_set_error(error, CTF_ERROR, CTF_ERROR_DAMAGED,
                                    "metadata: a packet that does not begin as one");
                        return NULL;
                }
                content = metadata_u32(bytes + AT_CONTENT_SIZE, is_big_endian) / 8;
                packet = metadata_u32(bytes + AT_PACKET_SIZE, is_big_endian) / 8;
                if (content < PACKET_HEAD || content > packet || packet > n) {
                        g_set_error(error, CTF_ERROR, CTF_ERROR_DAMAGED,
                                    "metadata: a packet of %u bytes, with %u of them in use, where "
                                    "%zu are left",
                                    packet, content, n);
                        return NULL;
                }
                if (memcmp(bytes + AT_SCHEMES, NONE, N_SCHEMES) != 0 || bytes[AT_MAJOR] != 1 ||
                    bytes[AT_MINOR] != 8) {
                        g_set_error(error, CTF_ERROR, CTF_ERROR_UNSUPPORTED,
                                    "metadata: compressed, encrypted, with a checksum, or not of "
                                    "CTF 1.8");
                        return NULL;
                }
                g_string_append_len(text, (const char *)bytes + PACKET_HEAD, content - PACKET_HEAD);
                bytes += packet;
                n -= packet;
        }
        return g_steal_pointer(&text);
}

static CtfTraceClass *metadata_parse_language(const uint8_t *bytes, size_t n, GError **error)
{
        g_autoptr(GString) text = NULL;

        if (n == 0) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_DAMAGED, "metadata: the file is empty");
                return NULL;
        }
        if (bytes[0] == 0x1e || bytes[0] == '{')
                return ctf2_parse((const char *)bytes, n, error);
        if (n < sizeof(uint32_t) || (metadata_u32(bytes, false) != PACKET_MAGIC &&
                                     metadata_u32(bytes, true) != PACKET_MAGIC))
                return tsdl_parse((const char *)bytes, n, error);
        text = metadata_unpack(bytes, n, error);
        return text ? tsdl_parse(text->str, text->len, error) : NULL;
}

CtfTraceClass *ctf_metadata_parse(const uint8_t *bytes, size_t n, GError **error)
{
        g_autoptr(CtfTraceClass) trace = metadata_parse_language(bytes, n, error);

        return trace && ctf_resolve(trace, error) ? g_steal_pointer(&trace) : NULL;
}

CtfTraceClass *ctf_metadata_read(int directory_fd, GError **error)
{
        FD_AUTO int fd = openat(directory_fd, "metadata", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        g_autofree uint8_t *bytes = NULL;
        struct stat st;
        ssize_t got;
        size_t n = 0;

        if (fd < 0 || fstat(fd, &st) < 0) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "metadata: %s", g_strerror(errno));
                return NULL;
        }
        if (!S_ISREG(st.st_mode) || st.st_size > CTF_METADATA_MAX) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_UNSUPPORTED,
                            "metadata: not a file, or over %u MiB", CTF_METADATA_MAX >> 20);
                return NULL;
        }
        bytes = g_malloc((gsize)st.st_size + 1);
        while (n < (size_t)st.st_size) {
                got = pread(fd, bytes + n, (size_t)st.st_size - n, (off_t)n);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0) {
                        g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "metadata: %s",
                                    g_strerror(errno));
                        return NULL;
                }
                if (got == 0)
                        break;
                n += (size_t)got;
        }
        return ctf_metadata_parse(bytes, n, error);
}

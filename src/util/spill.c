/* SPDX-License-Identifier: MIT */
#include "util/spill.h"

#include "util/fd.h"
#include "util/free-space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct SpillBlock {
        size_t n;
        uint64_t tag;
} SpillBlock;

/* The file is a ring: byte K of all bytes so far is at K % max. */
struct Spill {
        int fd; /* -1: no file yet */
        uint64_t max;
        uint64_t begin, end; /* the bytes in the file, of all bytes so far */
        GQueue blocks;       /* of owned SpillBlock, the oldest first */
};

Spill *spill_new(uint64_t max)
{
        Spill *spill = g_new0(Spill, 1);

        spill->fd = -1;
        spill->max = max;
        g_queue_init(&spill->blocks);
        return spill;
}

void spill_free(Spill *spill)
{
        if (!spill)
                return;
        fd_clear(&spill->fd);
        g_queue_clear_full(&spill->blocks, g_free);
        g_free(spill);
}

/* Not every file system has O_TMPFILE. */
static int spill_open_named(const char *directory)
{
        g_autofree char *path = g_build_filename(directory, "clrsym-XXXXXX", NULL);
        int fd = mkostemp(path, O_CLOEXEC);

        if (fd < 0)
                return -errno;
        unlink(path);
        return fd;
}

static int spill_open(Spill *spill)
{
        const char *named = g_getenv("TMPDIR"), *directory = named && *named ? named : "/var/tmp";
        int fd = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

        if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
                fd = spill_open_named(directory);
        else if (fd < 0)
                fd = -errno;
        if (fd < 0)
                return fd;
        spill->fd = fd;
        return 0;
}

typedef ssize_t (*SpillTransfer)(int fd, void *bytes, size_t n, off_t at);

static ssize_t spill_write(int fd, void *bytes, size_t n, off_t at)
{
        return pwrite(fd, bytes, n, at);
}

/* N bytes from K on, in as many pieces as needed. */
static int spill_transfer(const Spill *spill, SpillTransfer transfer, uint64_t k, uint8_t *bytes,
                          size_t n)
{
        while (n) {
                const uint64_t at = k % spill->max;
                const size_t piece = (size_t)MIN(n, spill->max - at);
                ssize_t done = transfer(spill->fd, bytes, piece, (off_t)at);

                if (done < 0 && errno == EINTR)
                        continue;
                if (done <= 0)
                        return done < 0 ? -errno : -EIO;
                bytes += done;
                k += (uint64_t)done;
                n -= (size_t)done;
        }
        return 0;
}

int spill_put(Spill *spill, const uint8_t *bytes, size_t n, uint64_t tag)
{
        SpillBlock block = {n, tag};
        int r = 0;

        if (n > spill->max - spill_n_bytes(spill))
                return -ENOBUFS;
        if (spill->fd < 0)
                r = spill_open(spill);
        if (r == 0 && !free_space_allows(spill->fd, n))
                r = -ENOSPC;
        if (r == 0) /* only a read returns 0 */
                r = spill_transfer(spill, spill_write, spill->end, (uint8_t *)bytes, n);
        if (r < 0)
                return r;
        spill->end += n;
        g_queue_push_tail(&spill->blocks, g_memdup2(&block, sizeof(block)));
        return 0;
}

int spill_take(Spill *spill, GByteArray *out, uint64_t *ret_tag)
{
        g_autofree SpillBlock *block = g_queue_pop_head(&spill->blocks);
        const guint n_before = out->len;
        int r;

        *ret_tag = block->tag;
        g_byte_array_set_size(out, n_before + (guint)block->n);
        r = spill_transfer(spill, pread, spill->begin, out->data + n_before, block->n);
        if (r < 0)
                g_byte_array_set_size(out, n_before);
        spill->begin += block->n;
        if (spill_is_empty(spill)) {
                spill->begin = spill->end = 0;
                /* If that fails, the file keeps its size. */
                if (ftruncate(spill->fd, 0) < 0)
                        fd_clear(&spill->fd);
        }
        return r;
}

bool spill_is_empty(const Spill *spill)
{
        return !spill->blocks.length;
}

uint64_t spill_n_bytes(const Spill *spill)
{
        return spill->end - spill->begin;
}

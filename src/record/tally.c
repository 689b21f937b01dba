/* SPDX-License-Identifier: MIT */
#include "record/tally.h"

#include "perfdata/perf-data.h"
#include "util/fd.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The head of the file: its magic, and the place of its records. */
#define MAGIC           "PERFILE2"
#define OFFSET_POSITION 40
#define HEAD_SIZE       48
/* The place of the first event in the head, and of the sample type in the event: all events have
 * the same members before the pid. */
#define EVENTS_POSITION      24
#define SAMPLE_TYPE_POSITION 24

/* As in linux/perf_event.h; the records are in the byte order of this machine. */
#define RECORD_LOST   2
#define RECORD_SAMPLE 9

typedef struct TallyRecord {
        uint32_t type;
        uint16_t misc;
        uint16_t size; /* bytes of the record, its head included */
} TallyRecord;

/* After the head: the id of the event, and the number of lost samples. */
typedef struct TallyLost {
        uint64_t id, n;
} TallyLost;

/* More than a record can have. */
#define BUFFER_SIZE (128 * 1024)

struct Tally {
        char *path;         /* owned */
        int fd;             /* -1: none is open */
        uint64_t offset;    /* of the next record; 0: the head was not read yet */
        uint32_t too_large; /* samples of at least this size do not count; 0: all do */
        bool is_damaged;
        uint64_t n_samples, n_lost;
        uint64_t sample_type; /* of perf_event_attr */
        ProcessScope *scope;  /* owned or NULL */
        uint8_t *buffer;      /* owned */
};

Tally *tally_new(const char *path, uint32_t too_large, ProcessScope *scope)
{
        Tally *tally = g_new0(Tally, 1);

        tally->path = g_strdup(path);
        tally->too_large = too_large;
        tally->scope = scope;
        tally->fd = -1;
        tally->buffer = g_malloc(BUFFER_SIZE);
        return tally;
}

void tally_free(Tally *tally)
{
        if (!tally)
                return;
        fd_clear(&tally->fd);
        process_scope_free(tally->scope);
        g_free(tally->buffer);
        g_free(tally->path);
        g_free(tally);
}

/* False: perf has not written it yet. */
static bool tally_read_head(Tally *tally)
{
        uint8_t head[HEAD_SIZE];
        uint64_t events;

        if (pread(tally->fd, head, sizeof(head), 0) != sizeof(head))
                return false;
        memcpy(&tally->offset, head + OFFSET_POSITION, sizeof(tally->offset));
        memcpy(&events, head + EVENTS_POSITION, sizeof(events));
        if (events > INT64_MAX - SAMPLE_TYPE_POSITION ||
            pread(tally->fd, &tally->sample_type, sizeof(tally->sample_type),
                  (off_t)(events + SAMPLE_TYPE_POSITION)) != sizeof(tally->sample_type))
                tally->sample_type = 0;
        if (memcmp(head, MAGIC, strlen(MAGIC)) != 0 || tally->offset < HEAD_SIZE ||
            tally->offset > INT64_MAX)
                tally->is_damaged = true;
        return !tally->is_damaged;
}

/* At the end of the file. The forks of other CPUs can come later in the file, so the sample is not
 * counted yet. */
static bool tally_has(const Tally *tally, const TallyRecord *head, const uint8_t *record)
{
        const size_t at = perf_sample_pid_at(tally->sample_type);
        uint32_t pid;

        if (!tally->scope)
                return true;
        if (at + sizeof(pid) > head->size)
                return false;
        memcpy(&pid, record + at, sizeof(pid));
        return process_scope_has(tally->scope, (int32_t)pid, UINT64_MAX);
}

static void tally_count(Tally *tally, const TallyRecord *head, const uint8_t *record)
{
        TallyLost lost;

        if (head->type == RECORD_SAMPLE)
                tally->n_samples += (!tally->too_large || head->size < tally->too_large) &&
                                    tally_has(tally, head, record);
        if (tally->scope)
                process_scope_take(tally->scope,
                                   (const struct perf_event_header *)(const void *)record);
        if (head->type != RECORD_LOST || head->size < sizeof(*head) + sizeof(lost))
                return;
        memcpy(&lost, record + sizeof(*head), sizeof(lost));
        tally->n_lost += lost.n;
}

/* The bytes of the complete records among the first N of the buffer. */
static size_t tally_take(Tally *tally, size_t n)
{
        size_t at = 0;
        TallyRecord head;

        while (n - at >= sizeof(head)) {
                memcpy(&head, tally->buffer + at, sizeof(head));
                tally->is_damaged = head.size < sizeof(head);
                if (tally->is_damaged || n - at < head.size)
                        break;
                tally_count(tally, &head, tally->buffer + at);
                at += head.size;
        }
        return at;
}

static void tally_read(Tally *tally)
{
        ssize_t n;
        size_t n_taken = 0;

        if (tally->fd < 0 || tally->is_damaged || (!tally->offset && !tally_read_head(tally)))
                return;
        do {
                n = pread(tally->fd, tally->buffer, BUFFER_SIZE, (off_t)tally->offset);
                n_taken = n > 0 ? tally_take(tally, (size_t)n) : 0;
                tally->offset += n_taken;
        } while (n_taken && !tally->is_damaged);
}

/* True if another file has the path now. */
static bool tally_is_replaced(const Tally *tally)
{
        struct stat ours, there;

        return tally->fd < 0 || fstat(tally->fd, &ours) < 0 ||
               (stat(tally->path, &there) == 0 &&
                (ours.st_ino != there.st_ino || ours.st_dev != there.st_dev));
}

void tally_update(Tally *tally)
{
        const bool is_replaced = tally_is_replaced(tally);

        tally_read(tally);
        if (!is_replaced)
                return;
        fd_clear(&tally->fd);
        tally->fd = open(tally->path, O_RDONLY | O_CLOEXEC);
        tally->offset = 0;
        tally->is_damaged = false;
        tally_read(tally);
}

uint64_t tally_samples(const Tally *tally)
{
        return tally->n_samples;
}

uint64_t tally_lost(const Tally *tally)
{
        return tally->n_lost;
}

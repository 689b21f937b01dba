/* SPDX-License-Identifier: MIT */
#include "journal/replay-marker.h"

#include "util/fd.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define NAME "replaying"

/* Replays that end with the same entry before it is set aside. One could have been killed there by
 * chance. */
#define MAX_ENDS 2

/* The file, as it is in memory. */
typedef struct MarkerFile {
        char magic[16];
        uint64_t number;
        uint64_t offset;
        uint64_t n_ends; /* replays in a row that ended there, if this one does too */
} MarkerFile;

static_assert(sizeof(MarkerFile) == 40, "the file changed: change MAGIC");
static const char MAGIC[16] = "clrsym-replay 1";

struct ReplayMarker {
        int directory;     /* borrowed */
        MarkerFile before; /* of the replay before; n_ends 0: it did not end early */
        MarkerFile *file;  /* mapped, so that it is kept however the process ends; or NULL */
};

static MarkerFile marker_read(int directory)
{
        FD_AUTO int fd = openat(directory, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        MarkerFile file;

        if (fd < 0 || read(fd, &file, sizeof(file)) != sizeof(file) ||
            memcmp(file.magic, MAGIC, sizeof(MAGIC)) != 0)
                return (MarkerFile){0};
        return file;
}

static MarkerFile *marker_map(int directory)
{
        FD_AUTO int fd = -1;
        void *file;

        unlinkat(directory, NAME, 0);
        fd = openat(directory, NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        /* Without room, a write to the mapping would be SIGBUS. */
        if (fd < 0 || posix_fallocate(fd, 0, sizeof(MarkerFile)) != 0)
                return NULL;
        file = mmap(NULL, sizeof(MarkerFile), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return file == MAP_FAILED ? NULL : file;
}

ReplayMarker *replay_marker_new(const JournalDirectory *directory)
{
        ReplayMarker *marker = g_new0(ReplayMarker, 1);

        marker->directory = directory->fd;
        marker->before = marker_read(directory->fd);
        marker->file = marker_map(directory->fd);
        if (marker->file)
                *marker->file = marker->before;
        return marker;
}

void replay_marker_free(ReplayMarker *marker)
{
        if (marker->file)
                munmap(marker->file, sizeof(*marker->file));
        unlinkat(marker->directory, NAME, 0);
        g_free(marker);
}

static bool marker_is_at(const MarkerFile *file, uint64_t number, uint64_t offset)
{
        return file->n_ends && file->number == number && file->offset == offset;
}

bool replay_marker_is_poison(const ReplayMarker *marker, uint64_t number, uint64_t offset)
{
        return marker_is_at(&marker->before, number, offset) && marker->before.n_ends >= MAX_ENDS;
}

void replay_marker_set(ReplayMarker *marker, uint64_t number, uint64_t offset)
{
        bool is_again = marker_is_at(&marker->before, number, offset);

        if (!marker->file)
                return;
        *marker->file = (MarkerFile){.number = number,
                                     .offset = offset,
                                     .n_ends = is_again ? marker->before.n_ends + 1 : 1};
        memcpy(marker->file->magic, MAGIC, sizeof(MAGIC));
}

/* SPDX-License-Identifier: MIT */
#include "daemon/epoch.h"

#include "event/boot-id.h"
#include "util/atomic-file.h"
#include "util/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PER_SECOND_BITS 20
/* 2^29 s, 17 years. */
#define BOOT_SHIFT 49
/* Epochs from 2^51 on are higher than those of versions that took them from the clock. */
#define MIN_BOOT 4
#define MAX_BOOT 15
/* Epochs reserved at a time. */
#define RESERVED (UINT64_C(1) << 24)
#define MARGIN   (RESERVED / 2)

struct EpochStore {
        char *path;      /* owned or NULL */
        uint64_t first;  /* of this daemon */
        uint64_t limit;  /* in the file: all epochs below may have been used */
        bool has_failed; /* and the failure was logged */
};

uint64_t epoch_of_boot(const char *boot_id, uint64_t ns)
{
        uint64_t boot = MIN_BOOT + g_str_hash(boot_id) % (MAX_BOOT - MIN_BOOT + 1);
        uint64_t seconds = ns / 1000000000, rest = ns % 1000000000;

        return (boot << BOOT_SHIFT) + (seconds << PER_SECOND_BITS) +
               (rest << PER_SECOND_BITS) / 1000000000;
}

static uint64_t epoch_now(void)
{
        g_autofree char *boot_id = boot_id_read(/* error= */ NULL);

        return epoch_of_boot(boot_id ? boot_id : "", (uint64_t)clock_ns(CLOCK_BOOTTIME));
}

static uint64_t epoch_store_read(const EpochStore *store)
{
        g_autofree char *text = NULL;
        guint64 limit;

        if (!store->path || !g_file_get_contents(store->path, &text, NULL, NULL) ||
            !g_ascii_string_to_unsigned(g_strstrip(text), 10, 0, (UINT64_C(1) << 53) - 2 * RESERVED,
                                        &limit, NULL))
                return 0;
        return limit;
}

static int epoch_store_write(const EpochStore *store)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT "\n", (guint64)store->limit);
        int r = atomic_file_open(&file, store->path);

        if (r < 0)
                return r;
        fchmod(file.fd, 0600);
        r = atomic_file_write(&file, text, strlen(text));
        /* Synchronized to the disk, because the next boot needs it, too. */
        return r < 0 ? r : atomic_file_commit(&file, true);
}

static void epoch_store_reserve(EpochStore *store, uint64_t epoch)
{
        int r;

        store->limit = epoch + RESERVED;
        r = store->path ? epoch_store_write(store) : 0;
        if (r < 0 && !store->has_failed)
                g_warning("cannot write %s: %s", store->path, g_strerror(-r));
        store->has_failed = r < 0;
}

EpochStore *epoch_store_new(const char *directory)
{
        EpochStore *store = g_new0(EpochStore, 1);

        store->path = directory ? g_build_filename(directory, "epoch", NULL) : NULL;
        store->first = MAX(epoch_now(), epoch_store_read(store));
        epoch_store_reserve(store, store->first);
        return store;
}

void epoch_store_free(EpochStore *store)
{
        if (!store)
                return;
        g_free(store->path);
        g_free(store);
}

uint64_t epoch_store_first(const EpochStore *store)
{
        return store->first;
}

void epoch_store_note(EpochStore *store, uint64_t epoch)
{
        if (epoch + MARGIN > store->limit)
                epoch_store_reserve(store, epoch);
}

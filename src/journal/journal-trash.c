/* SPDX-License-Identifier: MIT */
#include "journal/journal-trash.h"

#include <unistd.h>

/* Bytes freed at once, which takes about 1 ms; and the ms in between. */
#define BIT         (4 << 20)
#define INTERVAL_MS 10

void journal_trash_init(JournalTrash *trash)
{
        *trash = (JournalTrash){.fds = g_array_new(FALSE, FALSE, sizeof(int))};
}

void journal_trash_deinit(JournalTrash *trash)
{
        guint i;

        g_clear_handle_id(&trash->source, g_source_remove);
        for (i = 0; i < trash->fds->len; i++)
                close(g_array_index(trash->fds, int, i));
        g_array_unref(trash->fds);
}

static gboolean journal_trash_on_interval(gpointer data)
{
        JournalTrash *trash = data;
        int fd = g_array_index(trash->fds, int, 0);
        off_t n = lseek(fd, 0, SEEK_END);

        if (n > BIT && ftruncate(fd, n - BIT) == 0)
                return G_SOURCE_CONTINUE;
        close(fd);
        g_array_remove_index(trash->fds, 0);
        if (trash->fds->len)
                return G_SOURCE_CONTINUE;
        trash->source = 0;
        return G_SOURCE_REMOVE;
}

int journal_trash_remove(JournalTrash *trash, const JournalDirectory *directory, JournalName name)
{
        int fd = journal_directory_append(directory, name), r;

        r = journal_directory_remove(directory, name);
        if (fd < 0)
                return r;
        g_array_append_val(trash->fds, fd);
        if (!trash->source)
                trash->source = g_timeout_add(INTERVAL_MS, journal_trash_on_interval, trash);
        return r;
}

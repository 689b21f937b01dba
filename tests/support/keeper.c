/* SPDX-License-Identifier: MIT */
#include "support/keeper.h"

#include "journal/journal-directory.h"

#include "support/suite.h"

#include <glib/gstdio.h>
#include <string.h>

GString *said;

static char *directory; /* the test's directory */

static GLogWriterOutput take_log(GLogLevelFlags level, const GLogField *fields, gsize n_fields,
                                 gpointer unused)
{
        gsize i;

        for (i = 0; i < n_fields; i++)
                if (!g_strcmp0(fields[i].key, "MESSAGE"))
                        g_string_append_printf(said, "%s\n", (const char *)fields[i].value);
        return G_LOG_WRITER_HANDLED;
}

/* Fails if damage was reported since the log was emptied. */
void check_whole(void)
{
        const char *damage = strstr(said->str, "damaged"), *gap = strstr(said->str, "gap");

        ck_assert_msg(!damage && !gap, "%.300s", damage ? damage : gap);
}

void take_logs(void)
{
        g_log_set_writer_func(take_log, NULL, NULL);
}

void keeper_set_up(void)
{
        /* Thousands of files are created and removed: use memory if possible. */
        g_autofree char *template = g_strdup("/dev/shm/test-journal-XXXXXX");

        said = g_string_new(NULL);
        if (g_mkdtemp(template))
                directory = g_steal_pointer(&template);
        else
                directory = g_dir_make_tmp("test-journal-XXXXXX", NULL);
        ck_assert_ptr_nonnull(directory);
}

void remove_all(const char *path)
{
        GDir *dir = g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *child = g_build_filename(path, name, NULL);

                remove_all(child);
        }
        if (dir)
                g_dir_close(dir);
        g_remove(path);
}

void keeper_tear_down(void)
{
        remove_all(directory);
        g_clear_pointer(&directory, g_free);
        g_string_free(said, TRUE);
}

char *path_of(const char *name)
{
        return g_build_filename(directory, name, NULL);
}

void write_file(const char *path, const char *bytes, gssize n)
{
        /* Remove it first: otherwise GLib may sync the new file, and truncate the old one. */
        g_remove(path);
        ck_assert(g_file_set_contents_full(path, bytes, n, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

/* Copies the present files. */
void copy_state(const char *from, const char *to)
{
        GDir *dir = g_dir_open(from, 0, NULL);
        const char *name;

        remove_all(to);
        ck_assert_int_eq(g_mkdir(to, 0700), 0);
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *source = g_build_filename(from, name, NULL);
                g_autofree char *target = g_build_filename(to, name, NULL);
                g_autofree char *bytes = NULL;
                gsize n;

                ck_assert(g_file_get_contents(source, &bytes, &n, NULL));
                write_file(target, bytes, (gssize)n);
        }
        g_dir_close(dir);
}

/* The number of files whose names end in SUFFIX. */
unsigned n_files(const char *path, const char *suffix)
{
        GDir *dir = g_dir_open(path, 0, NULL);
        unsigned n = 0;
        const char *name;

        while ((name = g_dir_read_name(dir)))
                n += g_str_has_prefix(name, "journal.") && g_str_has_suffix(name, suffix);
        g_dir_close(dir);
        return n;
}

static void *come(void *data, IngestConnection *session)
{
        return journal_connect(data, session);
}

static void leave(void *connection)
{
        journal_disconnect(connection);
}

void keeper_start(Keeper *keeper, const char *state, size_t budget, const TrackerHost *host)
{
        static const TrackerHost NOBODY;
        g_autoptr(GError) error = NULL;

        *keeper = (Keeper){.tracker = tracker_new()};
        tracker_set_budget(keeper->tracker, budget);
        keeper->journal = journal_new(state, keeper->tracker, host ? host : &NOBODY, &keeper->stats,
                                      NULL, &error);
        ck_assert_msg(keeper->journal, "%s", error ? error->message : "");
        fed_init(&keeper->fed, keeper->tracker);
        keeper->fed.come = come;
        keeper->fed.go = leave;
        keeper->fed.data = keeper->journal;
}

void keeper_stop(Keeper *keeper)
{
        fed_deinit(&keeper->fed);
        journal_free(keeper->journal);
        tracker_free(keeper->tracker);
}

/* The checkpoint of a daemon on a copy of STATE. */
GByteArray *image_after_kill(const char *state, size_t budget, char **ret_bodies)
{
        g_autofree char *copy = path_of("copy");
        GByteArray *image;
        Keeper keeper;

        copy_state(state, copy);
        keeper_start(&keeper, copy, budget, NULL);
        image = tracker_image(keeper.tracker);
        if (ret_bodies)
                *ret_bodies = tracker_bodies(keeper.tracker);
        keeper_stop(&keeper);
        return image;
}

bool is_same(const GByteArray *a, const GByteArray *b)
{
        return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* A tracker without a journal after the first N steps, without feeders. */
Tracker *reference(const GPtrArray *steps, guint n)
{
        Tracker *tracker = tracker_new();
        Fed fed;
        guint i;

        fed_init(&fed, tracker);
        for (i = 0; i < n; i++)
                fed_take(&fed, steps->pdata[i]);
        fed_deinit(&fed);
        return tracker;
}

GByteArray *reference_image(const GPtrArray *steps, guint n)
{
        Tracker *tracker = reference(steps, n);
        GByteArray *image = tracker_image(tracker);

        tracker_free(tracker);
        return image;
}

void keeper_wait(Keeper *keeper)
{
        while (journal_is_compacting(keeper->journal))
                g_main_context_iteration(NULL, TRUE);
}

char *only_file(const char *state)
{
        JournalDirectory opened;
        g_autoptr(GArray) names = NULL;
        char *path;

        ck_assert(journal_directory_open(&opened, state, NULL));
        names = journal_directory_list(&opened);
        ck_assert_uint_eq(names->len, 1);
        path = journal_directory_path(&opened, g_array_index(names, JournalName, 0));
        journal_directory_close(&opened);
        return path;
}

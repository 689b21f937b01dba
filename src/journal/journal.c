/* SPDX-License-Identifier: MIT */
#include "journal/journal-struct.h"

#include "event/boot-id.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LIMIT       (UINT64_C(64) << 20)
#define DEFAULT_PATIENCE_MS 60000
/* s between checks for files that were removed. */
#define GUARD_INTERVAL 5

static JournalPart *journal_last_part(const Journal *journal)
{
        return &g_array_index(journal->parts, JournalPart, journal->parts->len - 1);
}

void journal_note(Journal *journal)
{
        uint64_t n_bytes = 0;
        guint i;

        journal->n_others = 0;
        for (i = 0; i < journal->parts->len; i++) {
                uint64_t n = g_array_index(journal->parts, JournalPart, i).n_bytes;

                n_bytes += n;
                if (i + 1 < journal->parts->len)
                        journal->n_others += n;
        }
        journal->stats->has_journal = true;
        journal->stats->journal_bytes = n_bytes;
        journal->stats->journal_is_failed = journal->is_failed;
}

void journal_add_part(Journal *journal, JournalName name, uint64_t n_bytes)
{
        const JournalPart part = {name, n_bytes};
        guint i = journal->parts->len;

        while (i > 0 && g_array_index(journal->parts, JournalPart, i - 1).name.number > name.number)
                i--;
        g_array_insert_val(journal->parts, i, part);
        journal->last_number = MAX(journal->last_number, name.number);
        journal_note(journal);
}

void journal_drop_orphan(Journal *journal)
{
        if (!journal->is_failed || journal->fd < 0)
                return;
        journal_directory_remove(&journal->directory, journal_last_part(journal)->name);
        g_array_set_size(journal->parts, journal->parts->len - 1);
        close(journal->fd);
        journal->fd = -1;
}

/* Ends the last part after its last complete entry. */
static void journal_end_part(Journal *journal)
{
        JournalPart *part;

        if (journal->fd < 0)
                return;
        part = journal_last_part(journal);
        /* If even this fails, the replay finds the surplus. */
        if (ftruncate(journal->fd, (off_t)part->n_bytes) == 0 &&
            journal_directory_rename(&journal->directory, part->name, JOURNAL_PARTIAL) == 0)
                part->name.state = JOURNAL_PARTIAL;
        close(journal->fd);
        journal->fd = -1;
}

void journal_fail(Journal *journal, const char *what)
{
        if (!journal->is_failed)
                g_warning("the journal in %s cannot be written: %s. Events from now on are lost if "
                          "clrsymd is killed; it retries",
                          journal->directory.path, what);
        journal_drop_orphan(journal);
        journal_end_part(journal);
        journal_compact_stop(journal);
        journal->is_failed = true;
        journal_note(journal);
        journal_compact_later(journal);
}

void journal_append(Journal *journal, JournalKind kind, uint32_t connection, const void *bytes,
                    size_t n)
{
        const JournalEntry entry = {kind, connection, bytes, (uint32_t)n};
        JournalPart *part;
        int64_t n_written;

        if (journal->fd < 0)
                return;
        part = journal_last_part(journal);
        n_written = journal_write_entry(journal->fd, part->n_bytes, &entry);
        if (n_written < 0) {
                journal_fail(journal, g_strerror((int)-n_written));
                return;
        }
        part->n_bytes += (uint64_t)n_written;
        journal->stats->journal_bytes = journal->n_others + part->n_bytes;
}

int journal_begin_part(Journal *journal, uint64_t number, JournalBegin begin, uint64_t after)
{
        const JournalName name = {number, JOURNAL_WHOLE};
        JournalLine line = {.begin = begin, .after = after};
        int fd = journal_directory_create(&journal->directory, name);
        int64_t n;

        if (fd < 0)
                return fd;
        g_strlcpy(line.boot_id, journal->boot_id, sizeof(line.boot_id));
        n = journal_write_line(fd, &line);
        if (n < 0) {
                close(fd);
                journal_directory_remove(&journal->directory, name);
                return (int)n;
        }
        if (journal->fd >= 0)
                close(journal->fd);
        journal->fd = fd;
        journal_add_part(journal, name, (uint64_t)n);
        journal_host_begin_part(journal);
        return 0;
}

void journal_append_answers(Journal *journal)
{
        if (!journal->answers->len)
                return;
        journal_append(journal, JOURNAL_ANSWERS, 0, journal->answers->data,
                       journal->answers->len * sizeof(JournalAnswer));
        g_array_set_size(journal->answers, 0);
}

static void journal_connection_on_open(void *data, const uint8_t *frame, size_t n)
{
        JournalConnection *connection = data;

        journal_append(connection->journal, JOURNAL_OPEN, connection->number, frame, n);
}

static void journal_connection_on_batch(void *data, const uint8_t *frames, size_t n)
{
        JournalConnection *connection = data;

        journal_append(connection->journal, JOURNAL_BATCH, connection->number, frames, n);
}

static void journal_connection_on_applied(void *data)
{
        Journal *journal = ((JournalConnection *)data)->journal;

        journal_append_answers(journal);
        if (journal->stats->journal_bytes > MAX(journal->limit, 2 * journal->n_checkpoint))
                journal_compact(journal);
}

JournalConnection *journal_connect(Journal *journal, IngestConnection *ingest)
{
        JournalConnection *connection = g_new0(JournalConnection, 1);

        connection->journal = journal;
        connection->ingest = ingest;
        connection->number = ++journal->last_connection;
        connection->sink = (IngestSink){journal_connection_on_open, journal_connection_on_batch,
                                        journal_connection_on_applied, connection};
        ingest_connection_set_sink(ingest, &connection->sink);
        g_ptr_array_add(journal->connections, connection);
        return connection;
}

void journal_disconnect(JournalConnection *connection)
{
        Journal *journal = connection->journal;

        ingest_connection_set_sink(connection->ingest, NULL);
        journal_append(journal, JOURNAL_END, connection->number, NULL, 0);
        g_ptr_array_remove_fast(journal->connections, connection);
        g_free(connection);
}

void journal_end_process(Journal *journal, uint64_t serial, uint64_t time)
{
        const JournalEnded ended = {serial, time};

        if (tracker_end_process(journal->tracker, serial, time))
                journal_append(journal, JOURNAL_ENDED, 0, &ended, sizeof(ended));
}

void journal_set_command(Journal *journal, uint64_t serial, const char *command)
{
        g_autoptr(GByteArray) bytes = NULL;

        if (!tracker_set_command(journal->tracker, serial, command))
                return;
        bytes = g_byte_array_new();
        g_byte_array_append(bytes, (const guint8 *)&serial, sizeof(serial));
        g_byte_array_append(bytes, (const guint8 *)command, (guint)strlen(command));
        journal_append(journal, JOURNAL_COMMAND, 0, bytes->data, bytes->len);
}

void journal_age(Journal *journal, unsigned max_age)
{
        guint i;

        tracker_age(journal->tracker, max_age);
        for (i = 0; i < journal->forgotten->len; i++)
                journal_append(journal, JOURNAL_FORGET, 0,
                               &g_array_index(journal->forgotten, uint64_t, i), sizeof(uint64_t));
        g_array_set_size(journal->forgotten, 0);
}

/* Writes to a removed file succeed, so the journal checks that its files exist. */
static gboolean journal_on_guard(gpointer data)
{
        Journal *journal = data;
        struct stat st;

        if (journal->fd >= 0 && (fstat(journal->fd, &st) < 0 || !st.st_nlink))
                journal_fail(journal, "its files were removed");
        else if (journal->fd >= 0 && !journal_directory_is_there(&journal->directory))
                journal_fail(journal, "its directory was removed");
        return G_SOURCE_CONTINUE;
}

static bool journal_read_boot_id(Journal *journal, GError **error)
{
        g_autofree char *text = boot_id_read(error);

        if (text)
                g_strlcpy(journal->boot_id, text, sizeof(journal->boot_id));
        return text != NULL;
}

Journal *journal_new(const char *path, Tracker *tracker, const TrackerHost *host, QueryStats *stats,
                     const JournalProgress *progress, GError **error)
{
        Journal *journal = g_new0(Journal, 1);
        TrackerHost own;
        int r;

        journal->fd = -1;
        journal_trash_init(&journal->trash);
        journal->tracker = tracker;
        journal->stats = stats;
        journal->limit = DEFAULT_LIMIT;
        journal->patience = DEFAULT_PATIENCE_MS;
        if (progress)
                journal->progress = *progress;
        journal->host = *host;
        journal->parts = g_array_new(FALSE, FALSE, sizeof(JournalPart));
        journal->connections = g_ptr_array_new();
        journal->forgotten = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        journal->starts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        journal->answers = g_array_new(FALSE, FALSE, sizeof(JournalAnswer));
        if (!journal_read_boot_id(journal, error) ||
            !journal_directory_open(&journal->directory, path, error)) {
                journal->directory = (JournalDirectory){.fd = -1, .lock = -1};
                journal_free(journal);
                return NULL;
        }
        own = journal_host(journal);
        tracker_set_host(tracker, &own);
        r = journal_replay(journal);
        if (r < 0) {
                journal_directory_error(error, path, g_strerror(-r));
                journal_free(journal);
                return NULL;
        }
        tracker_log_forgotten(tracker, journal->forgotten);
        journal->guard = g_timeout_add_seconds(GUARD_INTERVAL, journal_on_guard, journal);
        return journal;
}

void journal_free(Journal *journal)
{
        if (!journal)
                return;
        journal_compact_stop(journal);
        g_clear_handle_id(&journal->guard, g_source_remove);
        tracker_log_forgotten(journal->tracker, NULL);
        tracker_set_host(journal->tracker, &journal->host);
        if (journal->fd >= 0)
                close(journal->fd);
        journal_trash_deinit(&journal->trash);
        journal_directory_close(&journal->directory);
        g_array_unref(journal->parts);
        g_ptr_array_unref(journal->connections);
        g_array_unref(journal->forgotten);
        g_hash_table_unref(journal->starts);
        g_array_unref(journal->answers);
        g_free(journal);
}

void journal_set_limit(Journal *journal, uint64_t n_bytes)
{
        journal->limit = n_bytes;
}

void journal_set_patience(Journal *journal, unsigned ms)
{
        journal->patience = ms;
}

bool journal_is_compacting(const Journal *journal)
{
        return journal->child != 0;
}

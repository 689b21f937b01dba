/* SPDX-License-Identifier: MIT */

/*
 * Checkpoints, which replace the parts before them
 *
 * The journal begins a new part and forks a child, which has the state of that moment. The child
 * writes the checkpoint, whose number is one less than the new part's. Until the checkpoint is
 * complete the older parts stay; without it, they and the new part are still the journal. If the
 * journal had failed, the older parts do not lead up to the new one. The new part then continues
 * the checkpoint alone, as its line states.
 */

#include "journal/journal-struct.h"

#include "tracker/checkpoint.h"
#include "util/libc-extras.h"
#include "wire/ingest.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Delay before a retry after a failure, ms; doubled after each further failure. */
#define RETRY_MS     1000
#define MAX_RETRY_MS 300000

typedef struct CheckpointFile {
        int fd;
        uint64_t n_bytes;
        int error; /* errno, or 0 */
} CheckpointFile;

static void checkpoint_put_entry(CheckpointFile *file, JournalKind kind, uint32_t connection,
                                 const void *bytes, size_t n)
{
        const JournalEntry entry = {kind, connection, bytes, (uint32_t)n};
        int64_t n_written = file->error ? 0 : journal_write_entry(file->fd, file->n_bytes, &entry);

        if (n_written < 0)
                file->error = (int)-n_written;
        else
                file->n_bytes += (uint64_t)n_written;
}

static bool checkpoint_put_piece(void *data, const uint8_t *bytes, size_t n)
{
        CheckpointFile *file = data;

        checkpoint_put_entry(file, JOURNAL_PIECE, 0, bytes, n);
        return !file->error;
}

static void checkpoint_put_connection(CheckpointFile *file, const JournalConnection *connection)
{
        static uint32_t numbers[INGEST_MAX_STREAMS];
        const GPtrArray *streams = ingest_connection_streams(connection->ingest);
        const Tracker *tracker = connection->journal->tracker;
        guint i;

        for (i = 0; i < streams->len; i++)
                numbers[i] = streams->pdata[i] ? tracker_stream_number(tracker, streams->pdata[i])
                                               : UINT32_MAX;
        checkpoint_put_entry(file, JOURNAL_CONNECTION, connection->number, numbers,
                             streams->len * sizeof(*numbers));
}

/* Returns 0 or an errno. */
static int journal_write_checkpoint(const Journal *journal, int fd, uint64_t *ret_n_bytes)
{
        CheckpointFile file = {.fd = fd};
        JournalLine line = {.begin = JOURNAL_CHECKPOINT};
        int64_t n;
        guint i;

        g_strlcpy(line.boot_id, journal->boot_id, sizeof(line.boot_id));
        n = journal_write_line(fd, &line);
        if (n < 0)
                return (int)-n;
        file.n_bytes = (uint64_t)n;
        if (!checkpoint_write(journal->tracker, checkpoint_put_piece, &file) && !file.error)
                file.error = ENOMEM;
        for (i = 0; i < journal->connections->len; i++)
                checkpoint_put_connection(&file, journal->connections->pdata[i]);
        checkpoint_put_entry(&file, JOURNAL_CHECKPOINT_END, journal->last_connection, NULL, 0);
        *ret_n_bytes = file.n_bytes;
        return file.error;
}

static gboolean journal_on_retry(gpointer data)
{
        Journal *journal = data;

        journal->retry = 0;
        journal_compact(journal);
        return G_SOURCE_REMOVE;
}

void journal_compact_later(Journal *journal)
{
        guint ms = MIN(RETRY_MS << MIN(journal->n_tries, 16), MAX_RETRY_MS);

        journal->n_tries++;
        if (!journal->retry)
                journal->retry = g_timeout_add(ms, journal_on_retry, journal);
}

static void journal_give_up_checkpoint(Journal *journal, const char *what)
{
        const JournalName name = {journal->child_number, JOURNAL_NEW};

        if (!journal->has_warned && !journal->is_failed)
                g_warning("the journal in %s cannot be made shorter: %s. It continues to grow; "
                          "clrsymd retries",
                          journal->directory.path, what);
        journal->has_warned = true;
        journal_directory_remove(&journal->directory, name);
        journal_compact_later(journal);
}

/* Removes the parts that the checkpoint replaces. */
static void journal_install_checkpoint(Journal *journal, uint64_t number, uint64_t n_bytes)
{
        guint i;

        for (i = journal->parts->len; i-- > 0;) {
                const JournalPart part = g_array_index(journal->parts, JournalPart, i);

                if (part.name.number >= number)
                        continue;
                /* A journal that has failed may need this room now. */
                if (journal->is_failed)
                        journal_directory_remove(&journal->directory, part.name);
                else
                        journal_trash_remove(&journal->trash, &journal->directory, part.name);
                g_array_remove_index(journal->parts, i);
        }
        journal->n_checkpoint = n_bytes;
        journal->n_tries = 0;
        journal->has_warned = false;
        if (journal->is_failed)
                g_message("the journal in %s can be written again", journal->directory.path);
        journal->is_failed = false;
        journal_add_part(journal, (JournalName){number, JOURNAL_WHOLE}, n_bytes);
}

static uint64_t journal_file_size(const Journal *journal, JournalName name)
{
        int fd = journal_directory_read(&journal->directory, name);
        off_t n = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

        if (fd >= 0)
                close(fd);
        return (uint64_t)MAX(n, 0);
}

static void journal_on_abandoned_child(GPid pid, gint status, gpointer data)
{
}

static void journal_on_child(GPid pid, gint status, gpointer data)
{
        Journal *journal = data;
        const JournalName name = {journal->child_number, JOURNAL_NEW};
        uint64_t n_bytes = journal_file_size(journal, name);
        int error = WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;

        journal->child = 0;
        journal->child_watch = 0;
        g_clear_handle_id(&journal->child_timer, g_source_remove);
        if (!error)
                error = -journal_directory_rename(&journal->directory, name, JOURNAL_WHOLE);
        if (error)
                journal_give_up_checkpoint(journal, WIFSIGNALED(status)
                                                            ? "the child process was killed"
                                                            : g_strerror(error));
        else
                journal_install_checkpoint(journal, journal->child_number, n_bytes);
}

/*
 * Gives up on the child; a retry follows. A child that waits for a broken disk cannot be killed; it
 * is abandoned.
 */
static void journal_abandon_child(Journal *journal)
{
        g_clear_handle_id(&journal->child_watch, g_source_remove);
        g_clear_handle_id(&journal->child_timer, g_source_remove);
        kill(journal->child, SIGKILL);
        g_child_watch_add(journal->child, journal_on_abandoned_child, NULL);
        journal->child = 0;
}

static gboolean journal_on_child_timer(gpointer data)
{
        Journal *journal = data;
        const JournalName name = {journal->child_number, JOURNAL_NEW};
        uint64_t n_bytes = journal_file_size(journal, name);

        if (n_bytes > journal->child_n_bytes) {
                journal->child_n_bytes = n_bytes;
                return G_SOURCE_CONTINUE;
        }
        journal->child_timer = 0;
        journal_abandon_child(journal);
        journal_give_up_checkpoint(journal, "the child process makes no progress");
        return G_SOURCE_REMOVE;
}

/*
 * Runs in the child. The child keeps no connection open, and ends with the daemon. Only the daemon
 * names files, so that a late child does not disturb the next daemon.
 */
static G_GNUC_NORETURN void journal_run_child(const Journal *journal, int fd, pid_t parent)
{
        uint64_t n_bytes;

        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                _exit(ECANCELED);
        if (dup2(fd, STDIN_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0u, 0) < 0)
                _exit(errno);
        _exit(journal_write_checkpoint(journal, STDIN_FILENO, &n_bytes));
}

/* If the directory was removed, makes a new one. */
static bool journal_restore_directory(Journal *journal)
{
        g_autofree char *path = g_strdup(journal->directory.path);
        g_autoptr(GError) error = NULL;
        g_autoptr(GArray) names = NULL;
        guint i;

        if (journal_directory_is_there(&journal->directory))
                return true;
        journal_directory_close(&journal->directory);
        if (!journal_directory_open(&journal->directory, path, &error)) {
                journal->directory.path = g_steal_pointer(&path);
                return false;
        }
        /* All files in it are older than the next part. */
        names = journal_directory_list(&journal->directory);
        if (!names)
                return false;
        for (i = 0; i < names->len; i++)
                journal->last_number =
                        MAX(journal->last_number, g_array_index(names, JournalName, i).number);
        return true;
}

/* Begins the part after the checkpoint, and the checkpoint's file: its descriptor, or -errno. */
static int journal_begin_checkpoint(Journal *journal, uint64_t before, uint64_t number)
{
        const JournalName name = {number, JOURNAL_NEW};
        int fd = journal_directory_create(&journal->directory, name), r;

        if (fd < 0)
                return fd;
        r = journal_begin_part(journal, number + 1, JOURNAL_AFTER,
                               journal->is_failed ? number : before);
        if (r < 0) {
                close(fd);
                return r;
        }
        return fd;
}

void journal_compact(Journal *journal)
{
        pid_t parent = getpid();
        uint64_t before;
        int fd;

        if (journal->child || journal->retry)
                return;
        journal_drop_orphan(journal);
        if (!journal_restore_directory(journal)) {
                journal_compact_later(journal);
                return;
        }
        before = journal->last_number;
        journal->child_number = before + 1;
        fd = journal_begin_checkpoint(journal, before, journal->child_number);
        if (fd < 0) {
                journal_give_up_checkpoint(journal, g_strerror(-fd));
                return;
        }
        journal->child = fork();
        if (journal->child == 0)
                journal_run_child(journal, fd, parent);
        close(fd);
        if (journal->child < 0) {
                journal->child = 0;
                journal_give_up_checkpoint(journal, g_strerror(errno));
                return;
        }
        journal->child_watch = g_child_watch_add(journal->child, journal_on_child, journal);
        journal->child_n_bytes = 0;
        journal->child_timer = g_timeout_add(journal->patience, journal_on_child_timer, journal);
}

bool journal_compact_now(Journal *journal)
{
        uint64_t number = journal->last_number + 1, n_bytes = 0;
        const JournalName name = {number, JOURNAL_NEW};
        int fd = journal_directory_create(&journal->directory, name), error = fd < 0 ? -fd : 0;

        if (!error) {
                error = journal_write_checkpoint(journal, fd, &n_bytes);
                close(fd);
        }
        if (!error)
                error = -journal_directory_rename(&journal->directory, name, JOURNAL_WHOLE);
        if (!error) {
                journal_install_checkpoint(journal, number, n_bytes);
                error = -journal_begin_part(journal, number + 1, JOURNAL_AFTER, number);
        }
        if (!error)
                return true;
        journal_directory_remove(&journal->directory, name);
        journal_fail(journal, g_strerror(error));
        return false;
}

void journal_compact_stop(Journal *journal)
{
        g_clear_handle_id(&journal->retry, g_source_remove);
        if (!journal->child)
                return;
        journal_abandon_child(journal);
        journal_directory_remove(&journal->directory,
                                 (JournalName){journal->child_number, JOURNAL_NEW});
}

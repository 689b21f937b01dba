/* SPDX-License-Identifier: MIT */

/*
 * Images in place of what came before
 *
 * A new part is begun, and a child is forked that has everything as it is at that moment: it writes
 * the image, which comes before the new part. Until it has, the older parts are there; if it never
 * does, they and the new one are the journal still. Only if the journal had failed, so that the
 * older parts do not lead up to it, is the new part worth nothing without the image: it says so.
 */

#include "service/journal-struct.h"

#include "core/image.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ms to the next try after a first failure: twice as long after each further one. */
#define RETRY_MS     1000
#define MAX_RETRY_MS 300000

typedef struct ImageFile {
        int fd;
        uint64_t n_bytes;
        int error; /* errno, or 0 */
} ImageFile;

static void put_entry(ImageFile *file, JournalKind kind, uint32_t connection, const void *bytes,
                      size_t n)
{
        const JournalEntry entry = {kind, connection, bytes, (uint32_t)n};
        int64_t n_written = file->error ? 0 : journal_write_entry(file->fd, file->n_bytes, &entry);

        if (n_written < 0)
                file->error = (int)-n_written;
        else
                file->n_bytes += (uint64_t)n_written;
}

static bool put_piece(void *data, const uint8_t *bytes, size_t n)
{
        ImageFile *file = data;

        put_entry(file, JOURNAL_PIECE, 0, bytes, n);
        return !file->error;
}

static void put_connection(ImageFile *file, const JournalConnection *connection)
{
        static uint32_t numbers[INGEST_MAX_STREAMS];
        const GPtrArray *streams = ingest_session_streams(connection->session);
        const Tracker *tracker = connection->journal->tracker;
        guint i;

        for (i = 0; i < streams->len; i++)
                numbers[i] = streams->pdata[i] ? tracker_stream_number(tracker, streams->pdata[i])
                                               : UINT32_MAX;
        put_entry(file, JOURNAL_CONNECTION, connection->number, numbers,
                  streams->len * sizeof(*numbers));
}

/* Returns 0 or an errno. */
static int write_image(const Journal *journal, int fd, uint64_t *ret_n_bytes)
{
        ImageFile file = {.fd = fd};
        JournalLine line = {.begin = JOURNAL_IMAGE};
        int64_t n;
        guint i;

        g_strlcpy(line.boot_id, journal->boot_id, sizeof(line.boot_id));
        n = journal_write_line(fd, &line);
        if (n < 0)
                return (int)-n;
        file.n_bytes = (uint64_t)n;
        if (!image_write(journal->tracker, put_piece, &file) && !file.error)
                file.error = ENOMEM;
        for (i = 0; i < journal->connections->len; i++)
                put_connection(&file, journal->connections->pdata[i]);
        put_entry(&file, JOURNAL_IMAGE_END, journal->last_connection, NULL, 0);
        *ret_n_bytes = file.n_bytes;
        return file.error;
}

static gboolean on_retry(gpointer data)
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
                journal->retry = g_timeout_add(ms, on_retry, journal);
}

static void give_up(Journal *journal, const char *what)
{
        const JournalName name = {journal->child_number, JOURNAL_NEW};

        if (!journal->has_told && !journal->is_failed)
                g_warning("the journal in %s cannot be made shorter: %s. It goes on growing; "
                          "clrsymd tries again",
                          journal->directory.path, what);
        journal->has_told = true;
        journal_directory_remove(&journal->directory, name);
        journal_compact_later(journal);
}

/* What the image stands for goes. */
static void install(Journal *journal, uint64_t number, uint64_t n_bytes)
{
        guint i;

        for (i = journal->parts->len; i-- > 0;) {
                const JournalPart part = g_array_index(journal->parts, JournalPart, i);

                if (part.name.number >= number)
                        continue;
                journal_directory_remove(&journal->directory, part.name);
                g_array_remove_index(journal->parts, i);
        }
        journal->n_image = n_bytes;
        journal->n_tries = 0;
        journal->has_told = false;
        if (journal->is_failed)
                g_message("the journal in %s is written again", journal->directory.path);
        journal->is_failed = false;
        journal_add_part(journal, (JournalName){number, JOURNAL_WHOLE}, n_bytes);
}

static uint64_t file_size(const Journal *journal, JournalName name)
{
        int fd = journal_directory_read(&journal->directory, name);
        off_t n = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

        if (fd >= 0)
                close(fd);
        return (uint64_t)MAX(n, 0);
}

static void on_child(GPid pid, gint status, gpointer data)
{
        Journal *journal = data;
        const JournalName name = {journal->child_number, JOURNAL_NEW};
        uint64_t n_bytes = file_size(journal, name);
        int error = WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;

        journal->child = 0;
        journal->child_watch = 0;
        if (!error)
                error = -journal_directory_rename(&journal->directory, name, JOURNAL_WHOLE);
        if (error)
                give_up(journal,
                        WIFSIGNALED(status) ? "the child process was killed" : g_strerror(error));
        else
                install(journal, journal->child_number, n_bytes);
}

/*
 * In the child. Nobody's connection must stay open because of it, and it ends with the daemon: the
 * daemon alone gives files their names, so that one that comes after it is not disturbed.
 */
static G_GNUC_NORETURN void run_child(const Journal *journal, int fd, pid_t parent)
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
        _exit(write_image(journal, STDIN_FILENO, &n_bytes));
}

/* The directory was removed: another one in its place. */
static bool restore_directory(Journal *journal)
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
        /* Whatever is in it is older than what will be. */
        names = journal_directory_list(&journal->directory);
        for (i = 0; i < names->len; i++)
                journal->last_number =
                        MAX(journal->last_number, g_array_index(names, JournalName, i).number);
        return true;
}

/* Begins the part behind the image, and the image's file. A descriptor, or -errno. */
static int begin(Journal *journal, uint64_t before, uint64_t image)
{
        const JournalName name = {image, JOURNAL_NEW};
        int fd = journal_directory_create(&journal->directory, name), r;

        if (fd < 0)
                return fd;
        r = journal_begin_part(journal, image + 1, JOURNAL_AFTER,
                               journal->is_failed ? image : before);
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
        if (!restore_directory(journal)) {
                journal_compact_later(journal);
                return;
        }
        before = journal->last_number;
        journal->child_number = before + 1;
        fd = begin(journal, before, journal->child_number);
        if (fd < 0) {
                give_up(journal, g_strerror(-fd));
                return;
        }
        journal->child = fork();
        if (journal->child == 0)
                run_child(journal, fd, parent);
        close(fd);
        if (journal->child < 0) {
                journal->child = 0;
                give_up(journal, g_strerror(errno));
                return;
        }
        journal->child_watch = g_child_watch_add(journal->child, on_child, journal);
}

bool journal_compact_now(Journal *journal)
{
        uint64_t image = journal->last_number + 1, n_bytes = 0;
        const JournalName name = {image, JOURNAL_NEW};
        int fd = journal_directory_create(&journal->directory, name), error = fd < 0 ? -fd : 0;

        if (!error) {
                error = write_image(journal, fd, &n_bytes);
                close(fd);
        }
        if (!error)
                error = -journal_directory_rename(&journal->directory, name, JOURNAL_WHOLE);
        if (!error) {
                install(journal, image, n_bytes);
                error = -journal_begin_part(journal, image + 1, JOURNAL_AFTER, image);
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
        g_clear_handle_id(&journal->child_watch, g_source_remove);
        kill(journal->child, SIGKILL);
        waitpid(journal->child, NULL, 0);
        journal->child = 0;
        journal_directory_remove(&journal->directory,
                                 (JournalName){journal->child_number, JOURNAL_NEW});
}

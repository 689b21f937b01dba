/* SPDX-License-Identifier: MIT */

/*
 * Reading it all back
 *
 * A replay begins at the last image, or where nothing was known, and goes on as long as one part
 * leads up to the next. The batches go through sessions like those they came through. If there is
 * damage, what comes behind it is not read: what is known is marked as lacking something from there
 * on, and a new image takes the place of everything.
 */

#include "service/journal-struct.h"

#include "core/image.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct File {
        JournalName name;
        JournalLine line;
        JournalResult result; /* of the line */
        bool is_bad;
        bool is_read; /* all of it */
} File;

typedef struct Replay {
        Journal *journal;
        GHashTable *sessions; /* connection -> owned IngestSession, of feeders that are not gone */
        GByteArray *batch;    /* that waits for what is told of it */
        uint32_t batch_connection; /* 0: none does */
        ImageReader *image;        /* or NULL: none is being read */
        uint64_t n_batches;
        uint64_t n_bytes; /* of the part read last: those that are good */
        bool is_lossy;    /* something is missing behind what was read */
} Replay;

static void session_destroy(gpointer session)
{
        ingest_session_free(session);
}

static IngestSession *session_of(Replay *replay, uint32_t connection)
{
        IngestSession *session =
                g_hash_table_lookup(replay->sessions, GUINT_TO_POINTER(connection));
        g_autoptr(GPtrArray) none = NULL;

        if (session)
                return session;
        none = g_ptr_array_new();
        session = ingest_session_new(replay->journal->tracker, false);
        ingest_session_restore(session, none);
        g_hash_table_insert(replay->sessions, GUINT_TO_POINTER(connection), session);
        replay->journal->last_connection = MAX(replay->journal->last_connection, connection);
        return session;
}

/* False if the session does not take it: it did then. */
static bool feed(Replay *replay, uint32_t connection, const uint8_t *bytes, size_t n, bool is_batch)
{
        IngestSession *session = session_of(replay, connection);
        g_autoptr(GByteArray) commit = g_byte_array_new();
        bool is_good = ingest_session_feed(session, bytes, n);

        if (is_batch) {
                ingest_put_empty(commit, INGEST_COMMIT);
                is_good = is_good && ingest_session_feed(session, commit->data, commit->len);
        }
        g_byte_array_set_size(ingest_session_output(session), 0);
        return is_good;
}

static bool apply_batch(Replay *replay)
{
        uint32_t connection = replay->batch_connection;

        if (!connection)
                return true;
        replay->batch_connection = 0;
        replay->n_batches++;
        return feed(replay, connection, replay->batch->data, replay->batch->len, true);
}

/* Streams by the numbers that they have now. */
static bool restore_connection(Replay *replay, const JournalEntry *entry)
{
        g_autoptr(GPtrArray) streams = g_ptr_array_new();
        IngestSession *session;
        uint32_t i, number;

        for (i = 0; i < entry->n / sizeof(number); i++) {
                TrackerStream *stream = NULL;

                memcpy(&number, entry->bytes + i * sizeof(number), sizeof(number));
                if (number != UINT32_MAX) {
                        stream = tracker_stream_by_number(replay->journal->tracker, number);
                        if (!stream)
                                return false;
                }
                g_ptr_array_add(streams, stream);
        }
        session = ingest_session_new(replay->journal->tracker, false);
        ingest_session_restore(session, streams);
        g_hash_table_insert(replay->sessions, GUINT_TO_POINTER(entry->connection), session);
        return true;
}

static bool end_image(Replay *replay)
{
        ImageReader *image = g_steal_pointer(&replay->image);

        return !image || image_reader_finish(image);
}

/* Of a part that is an image. IS_OVER: it is the last one that is to be there. */
static bool replay_image_entry(Replay *replay, const JournalEntry *entry, bool *is_over)
{
        if (entry->kind == JOURNAL_PIECE)
                return replay->image && image_reader_take(replay->image, entry->bytes, entry->n);
        if (!end_image(replay))
                return false;
        if (entry->kind == JOURNAL_CONNECTION)
                return restore_connection(replay, entry);
        replay->journal->last_connection = entry->connection;
        *is_over = true;
        return entry->kind == JOURNAL_IMAGE_END;
}

static bool replay_entry(Replay *replay, const JournalEntry *entry)
{
        Journal *journal = replay->journal;
        uint64_t serial;

        if (entry->kind == JOURNAL_ANSWERS) {
                journal_host_tell(journal, entry);
                return apply_batch(replay);
        }
        if (!apply_batch(replay))
                return false;
        g_array_set_size(journal->told, 0);
        switch ((int)entry->kind) {
        case JOURNAL_OPEN:
                return feed(replay, entry->connection, entry->bytes, entry->n, false);
        case JOURNAL_BATCH:
                g_byte_array_set_size(replay->batch, 0);
                g_byte_array_append(replay->batch, entry->bytes, entry->n);
                replay->batch_connection = entry->connection;
                return entry->connection != 0;
        case JOURNAL_END:
                g_hash_table_remove(replay->sessions, GUINT_TO_POINTER(entry->connection));
                journal->last_connection = MAX(journal->last_connection, entry->connection);
                return true;
        case JOURNAL_FORGET:
                if (entry->n != sizeof(serial))
                        return false;
                memcpy(&serial, entry->bytes, sizeof(serial));
                tracker_forget(journal->tracker, serial);
                return true;
        default:
                return false;
        }
}

/* All of a part. OVER: it is whole; TORN: but for a last entry; DAMAGED. */
static JournalResult replay_part(Replay *replay, const File *file, bool is_last)
{
        Journal *journal = replay->journal;
        bool is_image = file->line.begin == JOURNAL_IMAGE, is_over = false, is_good = true;
        int fd = journal_directory_read(&journal->directory, file->name);
        JournalReader *reader;
        JournalLine line;
        JournalEntry entry;
        JournalResult result;

        if (fd < 0)
                return JOURNAL_DAMAGED;
        journal_host_begin_part(journal);
        reader = journal_reader_new(fd);
        result = journal_reader_line(reader, &line);
        replay->n_bytes = journal_reader_offset(reader);
        while (result == JOURNAL_OK) {
                result = journal_reader_next(reader, &entry);
                if (result != JOURNAL_OK)
                        break;
                is_good = is_image ? !is_over && replay_image_entry(replay, &entry, &is_over)
                                   : replay_entry(replay, &entry);
                if (!is_good)
                        break;
                replay->n_bytes = journal_reader_offset(reader);
        }
        /* Killed before it wrote down what the host said of the last batch: it still says so. */
        journal->may_ask = is_last;
        is_good = apply_batch(replay) && is_good;
        journal->may_ask = false;
        if (!is_good || (is_image && (!is_over || result != JOURNAL_OVER)))
                result = JOURNAL_DAMAGED;
        journal_reader_free(reader);
        return result;
}

static void forget_all(Replay *replay)
{
        /* Sessions are of the tracker's streams. */
        g_hash_table_remove_all(replay->sessions);
        end_image(replay);
        replay->batch_connection = 0;
        g_array_set_size(replay->journal->answers, 0);
        g_array_set_size(replay->journal->told, 0);
        g_array_set_size(replay->journal->parts, 0);
        tracker_reset(replay->journal->tracker);
        replay->is_lossy = false;
}

/* From the I-th file on, an image or the first of all. False if that is no good at all. */
static bool replay_from(Replay *replay, GArray *files, guint i)
{
        Journal *journal = replay->journal;
        uint64_t last = g_array_index(files, File, i).name.number;
        guint first = i;

        forget_all(replay);
        if (g_array_index(files, File, i).line.begin == JOURNAL_IMAGE)
                replay->image = image_reader_new(journal->tracker);
        for (; i < files->len && !replay->is_lossy; i++) {
                File *file = &g_array_index(files, File, i);
                bool is_last = i + 1 == files->len;
                JournalResult result;

                /* An image that is no good: what it stands for is still there. */
                if (i > first && file->is_bad && file->line.begin == JOURNAL_IMAGE)
                        continue;
                if (file->is_bad ||
                    (i > first && (file->line.begin != JOURNAL_AFTER || file->line.after > last)))
                        break;
                result = replay_part(replay, file, is_last);
                file->is_bad = result == JOURNAL_DAMAGED;
                if (file->is_bad && file->line.begin == JOURNAL_IMAGE)
                        return false;
                file->is_read = !file->is_bad;
                journal_add_part(journal, file->name, replay->n_bytes);
                if (file->line.begin == JOURNAL_IMAGE)
                        journal->n_image = replay->n_bytes;
                replay->is_lossy = file->is_bad || file->name.state == JOURNAL_PARTIAL ||
                                   (result == JOURNAL_TORN && !is_last);
                last = file->name.number;
        }
        replay->is_lossy = replay->is_lossy || i < files->len;
        return true;
}

/* What there is of this boot; of others it goes. */
static GArray *list_files(Journal *journal)
{
        GArray *files = g_array_new(FALSE, TRUE, sizeof(File));
        g_autoptr(GArray) names = journal_directory_list(&journal->directory);
        unsigned n_others = 0;
        guint i;

        for (i = 0; i < names->len; i++) {
                File file = {.name = g_array_index(names, JournalName, i)};
                JournalReader *reader;
                int fd;

                journal->last_number = MAX(journal->last_number, file.name.number);
                if (file.name.state == JOURNAL_ASIDE)
                        continue;
                fd = journal_directory_read(&journal->directory, file.name);
                file.result = JOURNAL_DAMAGED;
                if (fd >= 0 && file.name.state != JOURNAL_NEW) {
                        reader = journal_reader_new(fd);
                        file.result = journal_reader_line(reader, &file.line);
                        journal_reader_free(reader);
                } else if (fd >= 0) {
                        close(fd);
                }
                /* A file that was begun when the daemon was killed has nothing yet. */
                if (file.name.state == JOURNAL_NEW ||
                    (file.result == JOURNAL_TORN && i + 1 == names->len)) {
                        journal_directory_remove(&journal->directory, file.name);
                } else if (file.result == JOURNAL_OK &&
                           strcmp(file.line.boot_id, journal->boot_id)) {
                        n_others++;
                        journal_directory_remove(&journal->directory, file.name);
                } else {
                        file.is_bad = file.result != JOURNAL_OK;
                        g_array_append_val(files, file);
                }
        }
        if (n_others)
                g_message("the journal in %s was of another boot of this machine, whose processes "
                          "are gone: it is removed",
                          journal->directory.path);
        return files;
}

static void put_aside(Journal *journal, const File *file)
{
        g_autofree char *path = journal_directory_path(&journal->directory, file->name);

        if (journal_directory_rename(&journal->directory, file->name, JOURNAL_ASIDE) < 0)
                return;
        g_warning("%s %s: it is kept as journal.%" G_GUINT64_FORMAT ".damaged", path,
                  file->result == JOURNAL_FOREIGN ? "is of another version of clrsymd"
                  : file->is_bad                  ? "is damaged"
                                                  : "comes behind what is missing",
                  (guint64)file->name.number);
}

/* Of those that were found in other times. */
static void remove_aside(Journal *journal)
{
        g_autoptr(GArray) names = journal_directory_list(&journal->directory);
        guint i;

        for (i = 0; i < names->len; i++)
                if (g_array_index(names, JournalName, i).state == JOURNAL_ASIDE)
                        journal_directory_remove(&journal->directory,
                                                 g_array_index(names, JournalName, i));
}

/* Those before the I-th, from which it was read, are of no use; nor are, without KEEP, those that
 * were read. What could not be read is kept for people. */
static void clean_up(Journal *journal, const GArray *files, guint first, bool keep)
{
        bool has_aside = false;
        guint i;

        for (i = 0; i < files->len; i++) {
                const File *file = &g_array_index(files, File, i);

                if (i < first || (file->is_read && !keep)) {
                        journal_directory_remove(&journal->directory, file->name);
                } else if (!file->is_read) {
                        if (!has_aside)
                                remove_aside(journal);
                        has_aside = true;
                        put_aside(journal, file);
                }
        }
}

/* Writes on where the last part ends. Returns 0 or -errno. */
static int go_on(Replay *replay, const GArray *files)
{
        Journal *journal = replay->journal;
        const File *last = NULL;
        GHashTableIter iter;
        gpointer connection;
        guint i;
        int r;

        for (i = 0; i < files->len; i++)
                if (g_array_index(files, File, i).is_read)
                        last = &g_array_index(files, File, i);
        if (!last || last->line.begin == JOURNAL_IMAGE) {
                r = journal_begin_part(journal, journal->last_number + 1,
                                       last ? JOURNAL_AFTER : JOURNAL_FIRST,
                                       last ? last->name.number : 0);
                if (r < 0)
                        return r;
        } else {
                journal->fd = journal_directory_append(&journal->directory, last->name);
                if (journal->fd < 0 || ftruncate(journal->fd, (off_t)replay->n_bytes) < 0)
                        return journal->fd < 0 ? journal->fd : -errno;
        }
        journal_append_answers(journal);
        g_hash_table_iter_init(&iter, replay->sessions);
        while (g_hash_table_iter_next(&iter, &connection, NULL))
                journal_append(journal, JOURNAL_END, GPOINTER_TO_UINT(connection), NULL, 0);
        return 0;
}

/* Everything anew, from an image of what could be read: it must be there before anything goes. */
static void begin_anew(Replay *replay, const GArray *files, guint first)
{
        Journal *journal = replay->journal;

        g_warning("the journal in %s lacks something: there is a gap behind what could be read",
                  journal->directory.path);
        g_hash_table_remove_all(replay->sessions);
        g_array_set_size(journal->answers, 0);
        g_array_set_size(journal->parts, 0);
        tracker_note_loss(journal->tracker);
        if (journal_compact_now(journal))
                clean_up(journal, files, first, false);
}

void journal_replay(Journal *journal)
{
        Replay replay = {.journal = journal, .batch = g_byte_array_new()};
        g_autoptr(GArray) files = list_files(journal);
        gint64 begin = g_get_monotonic_time();
        guint first;
        int r;

        replay.sessions = g_hash_table_new_full(NULL, NULL, NULL, session_destroy);
        journal->told = g_array_new(FALSE, FALSE, sizeof(JournalAnswer));
        for (first = files->len; first > 0; first--) {
                const File *file = &g_array_index(files, File, first - 1);

                if (!file->is_bad && file->line.begin != JOURNAL_AFTER &&
                    replay_from(&replay, files, first - 1))
                        break;
        }
        if (first == 0 && files->len) {
                forget_all(&replay);
                replay.is_lossy = true;
        }
        first = first ? first - 1 : 0;
        if (replay.is_lossy) {
                begin_anew(&replay, files, first);
        } else {
                r = go_on(&replay, files);
                if (r < 0)
                        journal_fail(journal, g_strerror(-r));
                clean_up(journal, files, first, true);
        }
        if (files->len)
                g_message("the journal in %s was read: batches=%" G_GUINT64_FORMAT
                          " bytes=%" G_GUINT64_FORMAT " ms=%" G_GINT64_FORMAT,
                          journal->directory.path, (guint64)replay.n_batches,
                          (guint64)journal->stats->journal_bytes,
                          (g_get_monotonic_time() - begin) / 1000);
        g_hash_table_unref(replay.sessions);
        g_byte_array_unref(replay.batch);
        g_clear_pointer(&journal->told, g_array_unref);
}

/* SPDX-License-Identifier: MIT */

/*
 * Replay of the journal
 *
 * The replay begins at the last checkpoint, or at the first part, and continues as long as one part
 * leads up to the next. Batches go through connections, as when they came. After damage nothing is
 * read: the tracker gets a gap there, and a new checkpoint replaces all files.
 */

#include "journal/journal-struct.h"
#include "journal/replay-marker.h"

#include "tracker/checkpoint.h"
#include "wire/ingest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define REPORT_INTERVAL_US G_TIME_SPAN_SECOND

typedef struct ReplayFile {
        JournalName name;
        JournalLine line;
        JournalResult result; /* of the line */
        bool is_bad;
        bool is_read; /* completely */
        uint64_t n_bytes;
} ReplayFile;

typedef struct Replay {
        Journal *journal;
        GHashTable *connections;      /* number -> owned IngestConnection, of connected feeders */
        GByteArray *batch;            /* waits for the host's answers that follow it */
        uint32_t batch_connection;    /* 0: no batch waits */
        uint64_t batch_offset;        /* in the part */
        ReplayMarker *marker;         /* owned */
        uint64_t number;              /* of the part being read */
        uint64_t n_total, n_done;     /* bytes of all parts, and of the parts before this one */
        gint64 reported;              /* us: time of the last report of progress */
        CheckpointReader *checkpoint; /* NULL unless a checkpoint is being read */
        uint64_t n_batches;
        uint64_t n_bytes; /* of the last part read: its good bytes */
        bool is_lossy;    /* entries after the last one read are missing */
        int error;        /* errno: a file could not be opened for lack of a resource */
} Replay;

static void ingest_destroy(gpointer ingest)
{
        ingest_connection_free(ingest);
}

static IngestConnection *replay_connection(Replay *replay, uint32_t connection)
{
        IngestConnection *ingest =
                g_hash_table_lookup(replay->connections, GUINT_TO_POINTER(connection));
        g_autoptr(GPtrArray) none = NULL;

        if (ingest)
                return ingest;
        none = g_ptr_array_new();
        ingest = ingest_connection_new(replay->journal->tracker, false);
        ingest_connection_restore(ingest, none);
        g_hash_table_insert(replay->connections, GUINT_TO_POINTER(connection), ingest);
        replay->journal->last_connection = MAX(replay->journal->last_connection, connection);
        return ingest;
}

/* True for a lack of a resource here: the file may be opened later. */
static bool errno_is_local(int error)
{
        return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* False if the connection rejects the bytes, which it once accepted. */
static bool replay_feed(Replay *replay, uint32_t connection, const uint8_t *bytes, size_t n,
                        bool is_batch)
{
        IngestConnection *ingest = replay_connection(replay, connection);
        g_autoptr(GByteArray) commit = g_byte_array_new();
        bool is_good = ingest_connection_feed(ingest, bytes, n);

        if (is_batch) {
                ingest_put_empty(commit, INGEST_COMMIT);
                is_good = is_good && ingest_connection_feed(ingest, commit->data, commit->len);
        }
        g_byte_array_set_size(ingest_connection_output(ingest), 0);
        return is_good;
}

static bool replay_apply_batch(Replay *replay)
{
        uint32_t connection = replay->batch_connection;

        if (!connection)
                return true;
        replay->batch_connection = 0;
        replay->n_batches++;
        replay_marker_set(replay->marker, replay->number, replay->batch_offset);
        return replay_feed(replay, connection, replay->batch->data, replay->batch->len, true);
}

/* Finds its streams by the tracker's numbers. */
static bool replay_restore_connection(Replay *replay, const JournalEntry *entry)
{
        g_autoptr(GPtrArray) streams = g_ptr_array_new();
        IngestConnection *ingest;
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
        ingest = ingest_connection_new(replay->journal->tracker, false);
        ingest_connection_restore(ingest, streams);
        g_hash_table_insert(replay->connections, GUINT_TO_POINTER(entry->connection), ingest);
        return true;
}

static bool replay_end_checkpoint(Replay *replay)
{
        CheckpointReader *checkpoint = g_steal_pointer(&replay->checkpoint);

        return !checkpoint || checkpoint_reader_finish(checkpoint);
}

/* An entry of a checkpoint. Sets IS_OVER at the entry that must be the last. */
static bool replay_checkpoint_entry(Replay *replay, const JournalEntry *entry, bool *is_over)
{
        if (entry->kind == JOURNAL_PIECE)
                return replay->checkpoint &&
                       checkpoint_reader_take(replay->checkpoint, entry->bytes, entry->n);
        if (!replay_end_checkpoint(replay))
                return false;
        if (entry->kind == JOURNAL_CONNECTION)
                return replay_restore_connection(replay, entry);
        replay->journal->last_connection = entry->connection;
        *is_over = true;
        return entry->kind == JOURNAL_CHECKPOINT_END;
}

static bool replay_ended(Replay *replay, const JournalEntry *entry)
{
        JournalEnded ended;

        if (entry->n != sizeof(ended))
                return false;
        memcpy(&ended, entry->bytes, sizeof(ended));
        tracker_end_process(replay->journal->tracker, ended.serial, ended.time);
        return true;
}

static bool replay_command(Replay *replay, const JournalEntry *entry)
{
        g_autofree char *command = NULL;
        uint64_t serial;

        if (entry->n < sizeof(serial))
                return false;
        memcpy(&serial, entry->bytes, sizeof(serial));
        command = g_strndup((const char *)entry->bytes + sizeof(serial), entry->n - sizeof(serial));
        tracker_set_command(replay->journal->tracker, serial, command);
        return true;
}

static bool replay_entry(Replay *replay, const JournalEntry *entry)
{
        Journal *journal = replay->journal;
        uint64_t serial;

        if (entry->kind == JOURNAL_ANSWERS) {
                journal_host_take_answers(journal, entry);
                return replay_apply_batch(replay);
        }
        if (!replay_apply_batch(replay))
                return false;
        g_array_set_size(journal->known_answers, 0);
        switch ((int)entry->kind) {
        case JOURNAL_OPEN:
                return replay_feed(replay, entry->connection, entry->bytes, entry->n, false);
        case JOURNAL_BATCH:
                g_byte_array_set_size(replay->batch, 0);
                g_byte_array_append(replay->batch, entry->bytes, entry->n);
                replay->batch_connection = entry->connection;
                replay->batch_offset = replay->n_bytes;
                return entry->connection != 0;
        case JOURNAL_END:
                g_hash_table_remove(replay->connections, GUINT_TO_POINTER(entry->connection));
                journal->last_connection = MAX(journal->last_connection, entry->connection);
                return true;
        case JOURNAL_FORGET:
                if (entry->n != sizeof(serial))
                        return false;
                memcpy(&serial, entry->bytes, sizeof(serial));
                tracker_forget(journal->tracker, serial);
                return true;
        case JOURNAL_ENDED:
                return replay_ended(replay, entry);
        case JOURNAL_COMMAND:
                return replay_command(replay, entry);
        default:
                return false;
        }
}

static void replay_report(Replay *replay)
{
        const JournalProgress *progress = &replay->journal->progress;
        gint64 now = g_get_monotonic_time();

        if (!progress->replayed ||
            (replay->reported && now - replay->reported < REPORT_INTERVAL_US))
                return;
        replay->reported = now;
        progress->replayed(progress->data, MIN(replay->n_done + replay->n_bytes, replay->n_total),
                           replay->n_total);
}

/* Replays a part. Returns OVER (complete), TORN (truncated in the last entry) or DAMAGED. */
static JournalResult replay_part(Replay *replay, const ReplayFile *file, bool is_last)
{
        Journal *journal = replay->journal;
        bool is_checkpoint = file->line.begin == JOURNAL_CHECKPOINT, is_over = false,
             is_good = true;
        int fd = journal_directory_read(&journal->directory, file->name);
        JournalReader *reader;
        JournalLine line;
        JournalEntry entry;
        JournalResult result;

        if (fd < 0 && errno_is_local(-fd))
                replay->error = -fd;
        if (fd < 0)
                return JOURNAL_DAMAGED;
        journal_host_begin_part(journal);
        reader = journal_reader_new(fd);
        result = journal_reader_line(reader, &line);
        replay->number = file->name.number;
        replay->n_bytes = journal_reader_offset(reader);
        while (result == JOURNAL_OK) {
                replay_report(replay);
                if (replay_marker_is_poison(replay->marker, replay->number, replay->n_bytes)) {
                        g_warning("the journal in %s has an entry at which clrsymd crashed, or was "
                                  "killed, several times",
                                  journal->directory.path);
                        is_good = false;
                        break;
                }
                result = journal_reader_next(reader, &entry);
                if (result != JOURNAL_OK)
                        break;
                is_good = is_checkpoint
                                  ? !is_over && replay_checkpoint_entry(replay, &entry, &is_over)
                                  : replay_entry(replay, &entry);
                if (!is_good)
                        break;
                replay->n_bytes = journal_reader_offset(reader);
        }
        /*
         * If the daemon was killed before it stored the host's answers for the last batch, ask the
         * host again.
         */
        journal->may_ask = is_last;
        is_good = replay_apply_batch(replay) && is_good;
        journal->may_ask = false;
        if (!is_good || (is_checkpoint && (!is_over || result != JOURNAL_OVER)))
                result = JOURNAL_DAMAGED;
        journal_reader_free(reader);
        replay->n_done += replay->n_bytes;
        return result;
}

static void replay_forget_all(Replay *replay)
{
        /* First, because the connections point to the tracker's streams. */
        g_hash_table_remove_all(replay->connections);
        replay_end_checkpoint(replay);
        replay->batch_connection = 0;
        g_array_set_size(replay->journal->answers, 0);
        g_array_set_size(replay->journal->known_answers, 0);
        g_array_set_size(replay->journal->parts, 0);
        tracker_reset(replay->journal->tracker);
        replay->is_lossy = false;
}

/* Begins at the I-th file, a checkpoint or the first file. False if the checkpoint is bad. */
static bool replay_from(Replay *replay, GArray *files, guint i)
{
        Journal *journal = replay->journal;
        uint64_t last = g_array_index(files, ReplayFile, i).name.number;
        guint first = i;

        replay_forget_all(replay);
        if (g_array_index(files, ReplayFile, i).line.begin == JOURNAL_CHECKPOINT)
                replay->checkpoint = checkpoint_reader_new(journal->tracker);
        for (; i < files->len && !replay->is_lossy; i++) {
                ReplayFile *file = &g_array_index(files, ReplayFile, i);
                bool is_last = i + 1 == files->len;
                JournalResult result;

                /* After a bad checkpoint: the parts that it should have replaced still exist. */
                if (i > first && file->is_bad && file->line.begin == JOURNAL_CHECKPOINT)
                        continue;
                if (file->is_bad ||
                    (i > first && (file->line.begin != JOURNAL_AFTER || file->line.after > last)))
                        break;
                result = replay_part(replay, file, is_last);
                file->is_bad = result == JOURNAL_DAMAGED;
                if (file->is_bad && file->line.begin == JOURNAL_CHECKPOINT)
                        return false;
                file->is_read = !file->is_bad;
                journal_add_part(journal, file->name, replay->n_bytes);
                if (file->line.begin == JOURNAL_CHECKPOINT)
                        journal->n_checkpoint = replay->n_bytes;
                replay->is_lossy = file->is_bad || file->name.state == JOURNAL_PARTIAL ||
                                   (result == JOURNAL_TORN && !is_last);
                last = file->name.number;
        }
        replay->is_lossy = replay->is_lossy || i < files->len;
        return true;
}

/*
 * Lists the files of this boot. Removes the files of other boots. NULL with RET_ERROR set to an
 * errno: some file cannot be opened now.
 */
static GArray *journal_list_files(Journal *journal, int *ret_error)
{
        g_autoptr(GArray) files = g_array_new(FALSE, TRUE, sizeof(ReplayFile));
        g_autoptr(GArray) names = journal_directory_list(&journal->directory);
        unsigned n_others = 0;
        guint i;

        if (!names) {
                *ret_error = errno;
                return NULL;
        }
        for (i = 0; i < names->len; i++) {
                ReplayFile file = {.name = g_array_index(names, JournalName, i)};
                JournalReader *reader;
                int fd;

                journal->last_number = MAX(journal->last_number, file.name.number);
                if (file.name.state == JOURNAL_ASIDE)
                        continue;
                fd = journal_directory_read(&journal->directory, file.name);
                if (fd < 0 && errno_is_local(-fd)) {
                        *ret_error = -fd;
                        return NULL;
                }
                file.result = JOURNAL_DAMAGED;
                if (fd >= 0 && file.name.state != JOURNAL_NEW) {
                        file.n_bytes = (uint64_t)MAX(lseek(fd, 0, SEEK_END), 0);
                        reader = journal_reader_new(fd);
                        file.result = journal_reader_line(reader, &file.line);
                        journal_reader_free(reader);
                } else if (fd >= 0) {
                        close(fd);
                }
                /* A file begun just before the daemon was killed is empty. */
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
        return g_steal_pointer(&files);
}

static void journal_set_aside(Journal *journal, const ReplayFile *file)
{
        g_autofree char *path = journal_directory_path(&journal->directory, file->name);

        if (journal_directory_rename(&journal->directory, file->name, JOURNAL_ASIDE) < 0)
                return;
        g_warning("%s %s: it is kept as journal.%" G_GUINT64_FORMAT ".damaged", path,
                  file->result == JOURNAL_FOREIGN ? "is of another version of clrsymd"
                  : file->is_bad                  ? "is damaged"
                                                  : "follows a missing part",
                  (guint64)file->name.number);
}

/* Removes files set aside by earlier replays. */
static void journal_remove_aside(Journal *journal)
{
        g_autoptr(GArray) names = journal_directory_list(&journal->directory);
        guint i;

        for (i = 0; names && i < names->len; i++)
                if (g_array_index(names, JournalName, i).state == JOURNAL_ASIDE)
                        journal_directory_remove(&journal->directory,
                                                 g_array_index(names, JournalName, i));
}

/*
 * Removes the files before FIRST, where the replay began, and without KEEP also the files read.
 * Unreadable files are set aside for people to inspect.
 */
static void journal_clean_up(Journal *journal, const GArray *files, guint first, bool keep)
{
        bool has_aside = false;
        guint i;

        for (i = 0; i < files->len; i++) {
                const ReplayFile *file = &g_array_index(files, ReplayFile, i);

                if (i < first || (file->is_read && !keep)) {
                        journal_directory_remove(&journal->directory, file->name);
                } else if (!file->is_read) {
                        if (!has_aside)
                                journal_remove_aside(journal);
                        has_aside = true;
                        journal_set_aside(journal, file);
                }
        }
}

/* Continues to write at the end of the last part. Returns 0 or -errno. */
static int replay_go_on(Replay *replay, const GArray *files)
{
        Journal *journal = replay->journal;
        const ReplayFile *last = NULL;
        GHashTableIter iter;
        gpointer connection;
        guint i;
        int r;

        for (i = 0; i < files->len; i++)
                if (g_array_index(files, ReplayFile, i).is_read)
                        last = &g_array_index(files, ReplayFile, i);
        if (!last || last->line.begin == JOURNAL_CHECKPOINT) {
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
        g_hash_table_iter_init(&iter, replay->connections);
        while (g_hash_table_iter_next(&iter, &connection, NULL))
                journal_append(journal, JOURNAL_END, GPOINTER_TO_UINT(connection), NULL, 0);
        return 0;
}

/*
 * Begins a new journal with a checkpoint of all data that could be read. The checkpoint is complete
 * before any other file is removed.
 */
static void replay_start_over(Replay *replay, const GArray *files, guint first)
{
        Journal *journal = replay->journal;

        g_warning("the journal in %s has lost a part: there is a gap after what could be read",
                  journal->directory.path);
        g_hash_table_remove_all(replay->connections);
        g_array_set_size(journal->answers, 0);
        g_array_set_size(journal->parts, 0);
        tracker_note_loss(journal->tracker);
        if (journal_compact_now(journal))
                journal_clean_up(journal, files, first, false);
}

/* Continues the journal, or begins a new one. FIRST: the file where the replay began. */
static void replay_finish(Replay *replay, const GArray *files, guint first)
{
        int r;

        if (replay->is_lossy) {
                replay_start_over(replay, files, first);
                return;
        }
        r = replay_go_on(replay, files);
        if (r < 0)
                journal_fail(replay->journal, g_strerror(-r));
        journal_clean_up(replay->journal, files, first, true);
}

int journal_replay(Journal *journal)
{
        Replay replay = {.journal = journal};
        g_autoptr(GArray) files = journal_list_files(journal, &replay.error);
        gint64 begin = g_get_monotonic_time();
        guint first;

        if (!files)
                return -replay.error;
        replay.batch = g_byte_array_new();
        replay.marker = replay_marker_new(&journal->directory);
        for (first = 0; first < files->len; first++)
                replay.n_total += g_array_index(files, ReplayFile, first).n_bytes;
        replay.connections = g_hash_table_new_full(NULL, NULL, NULL, ingest_destroy);
        journal->known_answers = g_array_new(FALSE, FALSE, sizeof(JournalAnswer));
        for (first = files->len; first > 0; first--) {
                const ReplayFile *file = &g_array_index(files, ReplayFile, first - 1);

                if (!file->is_bad && file->line.begin != JOURNAL_AFTER &&
                    replay_from(&replay, files, first - 1))
                        break;
        }
        if (first == 0 && files->len) {
                replay_forget_all(&replay);
                replay.is_lossy = true;
        }
        first = first ? first - 1 : 0;
        if (!replay.error)
                replay_finish(&replay, files, first);
        if (files->len && !replay.error)
                g_message("the journal in %s was read: batches=%" G_GUINT64_FORMAT
                          " bytes=%" G_GUINT64_FORMAT " ms=%" G_GINT64_FORMAT,
                          journal->directory.path, (guint64)replay.n_batches,
                          (guint64)journal->stats->journal_bytes,
                          (g_get_monotonic_time() - begin) / 1000);
        replay_marker_free(replay.marker);
        g_hash_table_unref(replay.connections);
        g_byte_array_unref(replay.batch);
        g_clear_pointer(&journal->known_answers, g_array_unref);
        return -replay.error;
}

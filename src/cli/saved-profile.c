/* SPDX-License-Identifier: MIT */
#include "cli/saved-profile.h"

#include "clrsym/clrsym.h"
#include "perf/stream.h"
#include "profile/data.h"
#include "profile/profile-file.h"
#include "profile/profile-marker.h"
#include "util/fd.h"
#include "util/gzip.h"
#include "util/message.h"
#include "util/printable-string.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SAVED_ERROR (g_quark_from_static_string("clrsym-saved-profile"))

#define N_MAGIC (sizeof(SAVED_MAGIC) - 1)
/* Maximum length of a title or of an event's name. */
#define MAX_TEXT 65536
/* Decompressed bytes; more than an hour of a large machine. */
#define MAX_SIZE (UINT64_C(4) << 30)
/*
 * Maximum decompressed bytes for each byte of the file, after the first FREE_BYTES. Samples of one
 * stack that differ in their times only reach 15. A file of zeros would reach 1,000, and need
 * memory for each.
 */
#define MAX_RATIO  64
#define FREE_BYTES (UINT64_C(64) << 20)

typedef struct SavedHeader {
        char magic[N_MAGIC];
        uint32_t order;
        uint32_t n_title, n_event;
        int64_t clock_offset;
} __attribute__((packed)) SavedHeader;

/* Writing */

static void saved_put(ProfileFile *file, const void *bytes, size_t n)
{
        g_string_append_len(file->text, bytes, (gssize)n);
}

static void saved_put_record(ProfileFile *file, StreamType type, size_t size)
{
        const StreamHeader header = {type, (uint32_t)size};

        saved_put(file, &header, sizeof(header));
}

static uint8_t saved_tier(const char *name)
{
        unsigned i;

        for (i = 0; name && i <= CLRSYM_TIER_READY_TO_RUN; i++)
                if (!strcmp(name, clrsym_tier_name((clrsym_tier)i)))
                        return (uint8_t)i;
        return CLRSYM_TIER_UNKNOWN;
}

static uint8_t saved_kind(FrameKind kind)
{
        switch (kind) {
        case FRAME_MANAGED:
                return NAMED_MANAGED;
        case FRAME_NATIVE:
                return NAMED_NATIVE;
        case FRAME_KERNEL:
                return NAMED_KERNEL;
        case FRAME_UNKNOWN:
        case FRAME_SESSION: /* a reader derives them from their callers' names */
        case _FRAME_KIND_MAX:
                break;
        }
        return NAMED_UNKNOWN;
}

static void saved_put_header(ProfileFile *file, const ProfileOptions *options)
{
        const char *title = options->title ? options->title : "";
        const char *event = options->event ? options->event : "";
        SavedHeader header = {.order = SAVED_ORDER,
                              .n_title = (uint32_t)MIN(strlen(title), MAX_TEXT),
                              .n_event = (uint32_t)MIN(strlen(event), MAX_TEXT),
                              .clock_offset = options->clock_offset};

        memcpy(header.magic, SAVED_MAGIC, N_MAGIC);
        saved_put(file, &header, sizeof(header));
        saved_put(file, title, header.n_title);
        saved_put(file, event, header.n_event);
        saved_put(file, STREAM_MAGIC, STREAM_N_MAGIC);
}

static void saved_put_line(ProfileFile *file, const Frame *frame)
{
        const StreamLine row = {frame->line};
        const size_t n = strlen(frame->file);

        if (frame->checksum) {
                saved_put_record(file, STREAM_CHECKSUM, strlen(frame->checksum));
                saved_put(file, frame->checksum, strlen(frame->checksum));
        }
        saved_put_record(file, STREAM_LINE, sizeof(row) + n);
        saved_put(file, &row, sizeof(row));
        saved_put(file, frame->file, n);
}

/* Writes a frame, or a thread's name, which the stream stores as a text. Frames and texts have
 * numbers of their own; *RET_NUMBER gets it. */
static void saved_put_frame(ProfileFile *file, const Frame *frame, uint32_t *n_frames,
                            uint32_t *n_texts, uint32_t *ret_number)
{
        const size_t n_name = strlen(frame->name);
        const size_t n_module = frame->module ? strlen(frame->module) : 0;
        const StreamFrame row = {.n_name = (uint32_t)n_name,
                                 .n_module = (uint32_t)n_module,
                                 .kind = saved_kind(frame->kind),
                                 .tier = saved_tier(frame->tier),
                                 .is_marked = frame->is_marked};

        if (frame->kind == FRAME_COMM) {
                saved_put_record(file, STREAM_TEXT, n_name);
                saved_put(file, frame->name, n_name);
                *ret_number = (*n_texts)++;
        } else {
                if (frame->file)
                        saved_put_line(file, frame);
                saved_put_record(file, STREAM_FRAME, sizeof(row) + n_name + n_module);
                saved_put(file, &row, sizeof(row));
                saved_put(file, frame->name, n_name);
                saved_put(file, frame->module, n_module);
                *ret_number = (*n_frames)++;
        }
        profile_file_flush(file);
}

/* STACK gets the numbers of NODE's stack, the leaf first; the thread's name is last. NUMBERS: by
 * frame. */
static void saved_set_stack(GArray *stack, const Profile *profile, uint32_t node,
                            const uint32_t *numbers)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;

        g_array_set_size(stack, 0);
        for (; node != PROFILE_ROOT; node = nodes[node].parent)
                g_array_append_val(stack, numbers[nodes[node].frame]);
}

static void saved_put_physical(ProfileFile *file, const GArray *stack)
{
        const size_t n_bytes = stack->len ? (stack->len - 1) * sizeof(uint32_t) : 0;

        if (!n_bytes)
                return;
        saved_put_record(file, STREAM_PHYSICAL, n_bytes);
        saved_put(file, stack->data, n_bytes);
}

static void saved_put_sample(ProfileFile *file, const Profile *profile, const Sample *sample,
                             const uint32_t *numbers, GArray *stack)
{
        const Thread *thread = &g_array_index(profile->threads, Thread, sample->thread);
        StreamSample row = {.time = sample->time,
                            .period = sample->period,
                            .pid = thread->pid,
                            .tid = thread->tid};
        size_t n_bytes;

        if (sample->physical != sample->node) {
                saved_set_stack(stack, profile, sample->physical, numbers);
                saved_put_physical(file, stack);
        }
        saved_set_stack(stack, profile, sample->node, numbers);
        if (!stack->len)
                return;
        row.comm = g_array_index(stack, uint32_t, stack->len - 1);
        row.event = row.comm;
        n_bytes = (stack->len - 1) * sizeof(uint32_t);
        saved_put_record(file, STREAM_SAMPLE, sizeof(row) + n_bytes);
        saved_put(file, &row, sizeof(row));
        saved_put(file, stack->data, n_bytes);
        profile_file_flush(file);
}

static void saved_put_processes(ProfileFile *file, const Profile *profile)
{
        GHashTableIter iter;
        gpointer pid, command;

        g_hash_table_iter_init(&iter, profile->commands);
        while (g_hash_table_iter_next(&iter, &pid, &command)) {
                const StreamProcess row = {GPOINTER_TO_INT(pid)};
                const size_t n = strlen(command);

                saved_put_record(file, STREAM_PROCESS, sizeof(row) + n);
                saved_put(file, &row, sizeof(row));
                saved_put(file, command, n);
        }
}

/* MARKERS: of ProfileMarker; NULL: not known. */
static void saved_put_markers(ProfileFile *file, const GArray *markers)
{
        guint i;

        for (i = 0; markers && i < MIN(markers->len, STREAM_MAX_MARKERS); i++) {
                const ProfileMarker *marker = &g_array_index(markers, ProfileMarker, i);
                const StreamMarker row = {.begin = marker->begin,
                                          .end = MAX(marker->begin, marker->end),
                                          .pid = marker->pid,
                                          .tid = marker->tid,
                                          .kind = marker->kind};
                const size_t n = strlen(marker->text);

                saved_put_record(file, STREAM_MARKER, sizeof(row) + n);
                saved_put(file, &row, sizeof(row));
                saved_put(file, marker->text, n);
                profile_file_flush(file);
        }
}

bool saved_profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                         GError **error)
{
        g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_autofree uint32_t *numbers = g_new(uint32_t, profile->frames->len + 1);
        uint32_t n_frames = 0, n_texts = 0;
        ProfileFile file;
        guint i;

        if (!profile_file_open(&file, path, /* gzip= */ true, error))
                return false;
        saved_put_header(&file, options);
        saved_put_processes(&file, profile);
        saved_put_markers(&file, options->markers);
        for (i = 0; i < profile->frames->len; i++)
                saved_put_frame(&file, &g_array_index(profile->frames, Frame, i), &n_frames,
                                &n_texts, &numbers[i]);
        for (i = 0; i < profile->samples->len; i++)
                saved_put_sample(&file, profile, &g_array_index(profile->samples, Sample, i),
                                 numbers, stack);
        saved_put_record(&file, STREAM_END, 0);
        return profile_file_close(&file, error);
}

void saved_profile_rescue(const Profile *profile, const ProfileOptions *options)
{
        /* Nobody else can have prepared the name: the replaced file is our own. */
        g_autofree char *path =
                g_build_filename(g_get_tmp_dir(), "clrsym-record-XXXXXX" SAVED_ENDING, NULL);
        FD_AUTO int fd = g_mkstemp_full(path, O_WRONLY | O_CLOEXEC, 0600);

        if (fd >= 0 && saved_profile_write(profile, path, options, /* error= */ NULL))
                message_print("clrsym",
                              "the named samples are in %s: clrsym report -i %s -o FILE writes "
                              "them",
                              path, path);
}

/* Reading */

static bool saved_set_damaged(const char *path, GError **error)
{
        g_clear_error(error);
        g_set_error(error, SAVED_ERROR, 0,
                    "%s is damaged, or was written on a machine of another byte order: record "
                    "again",
                    path);
        return false;
}

static bool saved_set_other(const char *path, GError **error)
{
        g_set_error(error, SAVED_ERROR, 0,
                    "%s was written by another version of clrsym: open it with that one, or record "
                    "again",
                    path);
        return false;
}

static bool saved_read_exactly(gzFile stream, void *bytes, size_t n)
{
        return gzread(stream, bytes, (unsigned)n) == (int)n;
}

/* Reads N bytes. False: the stream is shorter. For N 0, *RET_TEXT is NULL. */
static bool saved_read_text(gzFile stream, size_t n, char **ret_text)
{
        char *text = n ? g_malloc0(n + 1) : NULL;

        if (n && !saved_read_exactly(stream, text, n)) {
                g_free(text);
                return false;
        }
        *ret_text = text;
        return true;
}

/* RET_IS_OTHER: the file has another version. */
static bool saved_read_header(gzFile stream, SavedProfile *saved, bool *ret_is_other)
{
        SavedHeader header;
        bool is_own;

        if (!saved_read_exactly(stream, &header, sizeof(header)))
                return false;
        is_own = memcmp(header.magic, SAVED_MAGIC, N_MAGIC) == 0 ||
                 memcmp(header.magic, SAVED_SECOND_MAGIC, N_MAGIC) == 0 ||
                 memcmp(header.magic, SAVED_FIRST_MAGIC, N_MAGIC) == 0;
        *ret_is_other = !is_own && memcmp(header.magic, SAVED_KIND, strlen(SAVED_KIND)) == 0;
        if (!is_own || header.order != SAVED_ORDER || header.n_title > MAX_TEXT ||
            header.n_event > MAX_TEXT || !saved_read_text(stream, header.n_title, &saved->title) ||
            !saved_read_text(stream, header.n_event, &saved->event))
                return false;
        saved->options = (ProfileOptions){
                .title = saved->title, .event = saved->event, .clock_offset = header.clock_offset};
        return true;
}

/* A line and a checksum come before the frame that they belong to. */
typedef struct SavedReading {
        SampleSink sink;
        PerfProfile *samples; /* borrowed: of SINK */
        GArray *markers;      /* owned: of ProfileMarker; NULL: none in the file */
        GArray *physical;     /* owned: of uint32_t: physical stack of the next sample; empty: equal
                               * to its stack */
        char *file;           /* owned: source file of the next frame; NULL: not known */
        uint32_t line;
        char *checksum; /* owned: the same */
} SavedReading;

static void saved_take_frame(void *data, const StreamFrame *frame, const char *name,
                             const char *module)
{
        SavedReading *reading = data;
        const NamedFrame row = {
                .name = name,
                .module = module,
                .kind = (NamedKind)frame->kind,
                .tier = (clrsym_tier)frame->tier,
                .is_marked = frame->is_marked,
                .file = reading->file,
                .line = reading->line,
                .checksum = reading->checksum,
        };

        reading->sink.frame(reading->sink.data, &row);
        g_clear_pointer(&reading->file, g_free);
        g_clear_pointer(&reading->checksum, g_free);
}

static void saved_take_sample(void *data, const StreamSample *sample, const char *comm,
                              const char *event, const uint32_t *frames, size_t n)
{
        SavedReading *reading = data;
        const BatchSample row = {
                .pid = sample->pid,
                .tid = sample->tid,
                .time = sample->time,
                .period = sample->period,
        };

        reading->samples->known_physical =
                reading->physical->len ? (const uint32_t *)(const void *)reading->physical->data
                                       : NULL;
        reading->samples->n_known_physical = reading->physical->len;
        reading->sink.sample(reading->sink.data, &row, comm, event, frames, n);
        reading->samples->known_physical = NULL;
        g_array_set_size(reading->physical, 0);
}

static void saved_take_line(void *data, uint32_t line, const char *file)
{
        SavedReading *reading = data;

        g_free(reading->file);
        reading->file = g_strdup(file);
        reading->line = line;
}

static void saved_take_checksum(void *data, const char *checksum)
{
        SavedReading *reading = data;

        g_free(reading->checksum);
        reading->checksum = g_strdup(checksum);
}

static void saved_take_process(void *data, int32_t pid, const char *command)
{
        const SavedReading *reading = data;

        profile_set_command(reading->samples->profile, pid, command);
}

static bool saved_take_marker(void *data, const StreamMarker *marker, const char *text)
{
        SavedReading *reading = data;
        const ProfileMarker row = {.kind = (ProfileMarkerKind)marker->kind,
                                   .pid = marker->pid,
                                   .tid = marker->tid,
                                   .begin = marker->begin,
                                   .end = marker->end,
                                   .text = text_printable(text)};

        if (!reading->markers)
                reading->markers = profile_markers_new();
        g_array_append_val(reading->markers, row);
        return marker->kind < _PROFILE_MARKER_KIND_MAX;
}

static void saved_take_physical(void *data, const uint32_t *frames, size_t n)
{
        const SavedReading *reading = data;

        g_array_set_size(reading->physical, 0);
        g_array_append_vals(reading->physical, frames, (guint)n);
}

/* Reads to the end. */
static bool saved_read_stream(gzFile stream, StreamReader *reader)
{
        g_autofree char *bytes = g_malloc(65536);
        uint64_t n_read = 0;
        int n, status;

        while ((n = gzread(stream, bytes, 65536)) > 0) {
                n_read += (uint64_t)n;
                if (n_read > MAX_SIZE ||
                    n_read > FREE_BYTES + MAX_RATIO * (uint64_t)MAX(gzoffset(stream), 0) ||
                    !stream_reader_take(reader, bytes, (size_t)n))
                        return false;
        }
        /* gzread() does not report a truncated file, and from zlib 1.3.2 on no other function does:
         * see saved_has_end(). */
        gzerror(stream, &status);
        return n == 0 && status == Z_OK && stream_reader_is_whole(reader);
}

static bool saved_read_samples(gzFile stream, SavedProfile *saved)
{
        static const StreamCalls CALLS = {
                saved_take_frame,   saved_take_sample, saved_take_line,    saved_take_checksum,
                saved_take_process, saved_take_marker, saved_take_physical};
        SavedReading reading = {.sink = perf_profile_sink(&saved->samples),
                                .samples = &saved->samples,
                                .physical = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        StreamReader *reader = stream_reader_new(&CALLS, &reading);
        const bool ok = reader && saved_read_stream(stream, reader);

        stream_reader_free(reader);
        g_free(reading.file);
        g_free(reading.checksum);
        g_array_unref(reading.physical);
        saved->markers = reading.markers;
        saved->options.markers = reading.markers;
        return ok;
}

bool saved_profile_read_stream(gzFile stream, const char *path, const SavedTarget *target,
                               SavedProfile *ret_saved, GError **error)
{
        SavedProfile saved = {.title = NULL};
        bool is_other = false;

        perf_profile_init(&saved.samples, /* activity= */ NULL, target->into);
        saved.samples.is_before = target->is_before;
        saved.samples.has_logical = false; /* the saved stacks are logical already */
        /* A comparison needs one kind of stacks, because other recordings have only one. */
        saved.samples.has_physical = !target->into;
        if (saved_read_header(stream, &saved, &is_other)) {
                saved.samples.is_weighed = profile_event_unit(saved.event)->is_weighed;
                if (saved_read_samples(stream, &saved)) {
                        *ret_saved = saved;
                        return true;
                }
        }
        saved_profile_clear(&saved);
        return is_other ? saved_set_other(path, error) : saved_set_damaged(path, error);
}

bool saved_profile_is(const char *path)
{
        gzFile stream = gzopen(path, "rbe");
        char begin[sizeof(SAVED_KIND) - 1];
        const bool is_saved = stream && !gzdirect(stream) &&
                              gzread(stream, begin, sizeof(begin)) == (int)sizeof(begin) &&
                              memcmp(begin, SAVED_KIND, sizeof(begin)) == 0;

        if (stream)
                gzclose(stream);
        return is_saved;
}

/* A gzip file ends with the number of bytes that are packed in it, modulo 2^32 (RFC 1952). */
static bool saved_has_end(const char *path, uint32_t n)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
        off_t size = lseek(fd, 0, SEEK_END);
        uint32_t end;

        return size >= (off_t)sizeof(end) &&
               pread(fd, &end, sizeof(end), size - (off_t)sizeof(end)) == sizeof(end) &&
               GUINT32_FROM_LE(end) == n;
}

bool saved_profile_read(const char *path, const SavedTarget *target, SavedProfile *ret_saved,
                        GError **error)
{
        gzFile stream = gzopen(path, "rbe");
        bool is_read;
        z_off_t n;

        if (!stream) {
                g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                            "cannot read %s: %s", path, g_strerror(errno));
                return false;
        }
        is_read = saved_profile_read_stream(stream, path, target, ret_saved, error);
        n = gztell(stream);
        gzclose(stream);
        if (is_read && !saved_has_end(path, (uint32_t)n)) {
                saved_profile_clear(ret_saved);
                is_read = saved_set_damaged(path, error);
        }
        return is_read;
}

void saved_profile_clear(SavedProfile *saved)
{
        perf_profile_deinit(&saved->samples);
        g_clear_pointer(&saved->markers, g_array_unref);
        g_free(saved->title);
        g_free(saved->event);
}

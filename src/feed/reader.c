/* SPDX-License-Identifier: MIT */
#include "feed/reader.h"

#include "util/babeltrace-child.h"

/* ms. How long it may take to end after it has hung up. */
static const guint END_MS[] = {
        [INTAKE_LIVE] = 3000, /* nothing is live until the next one runs */
        /* What it has read counts only once it has ended, and the machine may be busy. */
        [INTAKE_DISK] = 30000,
        [INTAKE_PROBE] = 30000,
};

struct Reader {
        Merger *merger; /* borrowed */
        IntakeMode mode;
        const ReaderCalls *calls;
        void *data;
        BabeltraceChild *child; /* owned */
        Intake *intake;         /* owned; NULL: not connected */
        bool had_connected;
        guint end_timer;
};

static void reader_remove_intake(Reader *reader)
{
        merger_remove_reader(reader->merger, g_steal_pointer(&reader->intake));
}

static void reader_on_connected(void *data, int fd)
{
        Reader *reader = data;

        reader->had_connected = true;
        reader->intake = merger_add_reader(reader->merger, reader->mode, fd);
}

static void reader_on_ended(void *data, const char *reason)
{
        Reader *reader = data;
        g_autofree char *why = g_strdup(reason);

        reader_remove_intake(reader);
        reader->calls->ended(reader->data, reader, why);
}

static const BabeltraceChildCalls CHILD_CALLS = {
        .connected = reader_on_connected,
        .ended = reader_on_ended,
};

Reader *reader_start(Merger *merger, const ReaderSource *source, const char *directory,
                     const ReaderCalls *calls, void *data, GError **error)
{
        static const char *const NAMES[] = {
                [INTAKE_LIVE] = "live", [INTAKE_DISK] = "disk", [INTAKE_PROBE] = "probe"};
        const BabeltraceChildSettings settings = {
                .source = source->source,
                .directory = directory,
                .name = NAMES[source->mode],
                .is_live = source->mode == INTAKE_LIVE,
                .net = source->net,
                .jit_events = source->jit_events,
        };
        Reader *reader = g_new0(Reader, 1);

        reader->merger = merger;
        reader->mode = source->mode;
        reader->calls = calls;
        reader->data = data;
        reader->child = babeltrace_child_new(&settings, &CHILD_CALLS, reader, error);
        if (!reader->child) {
                reader_free(reader);
                return NULL;
        }
        return reader;
}

void reader_free(Reader *reader)
{
        if (!reader)
                return;
        g_clear_handle_id(&reader->end_timer, g_source_remove);
        babeltrace_child_free(reader->child);
        reader_remove_intake(reader);
        g_free(reader);
}

void reader_stop(Reader *reader)
{
        babeltrace_child_stop(reader->child);
}

void reader_kill(Reader *reader)
{
        babeltrace_child_kill(reader->child);
}

const Intake *reader_intake(const Reader *reader)
{
        return reader->intake;
}

bool reader_had_connected(const Reader *reader)
{
        return reader->had_connected;
}

static gboolean reader_on_end_timeout(gpointer data)
{
        Reader *reader = data;

        reader->end_timer = 0;
        babeltrace_child_kill(reader->child);
        return G_SOURCE_REMOVE;
}

bool reader_drop_intake(Reader *reader, Intake *intake, bool is_broken)
{
        if (reader->intake != intake)
                return false;
        reader_remove_intake(reader);
        if (!reader->end_timer)
                reader->end_timer = g_timeout_add(is_broken ? 0 : END_MS[reader->mode],
                                                  reader_on_end_timeout, reader);
        return true;
}

pid_t reader_pid(const Reader *reader)
{
        return babeltrace_child_pid(reader->child);
}

/* SPDX-License-Identifier: MIT */
#include "event/stream.h"

#include "event/decode.h"

#include <string.h>

#define UST_THREAD "-ust"

StreamIdentity *stream_identity_new(void)
{
        StreamIdentity *stream = g_new0(StreamIdentity, 1);

        stream->uid = UINT32_MAX;
        stream->hostname = g_string_new(NULL);
        stream->boot_id = g_string_new(NULL);
        stream->clock_name = g_string_new(NULL);
        stream->program = g_string_new(NULL);
        return stream;
}

void stream_identity_free(StreamIdentity *stream)
{
        if (!stream)
                return;
        g_string_free(stream->hostname, TRUE);
        g_string_free(stream->boot_id, TRUE);
        g_string_free(stream->clock_name, TRUE);
        g_string_free(stream->program, TRUE);
        g_free(stream);
}

static void string_set_valid_utf8(GString *out, const char *text)
{
        size_t n = strlen(text);

        g_string_set_size(out, 3 * n);
        g_string_set_size(out, utf8_make_valid((const uint8_t *)text, n, (uint8_t *)out->str));
}

/* lttng-ust reads the name in a thread of its own, which it has renamed NAME-ust before. */
static void stream_set_program(StreamIdentity *stream, const char *name)
{
        string_set_valid_utf8(stream->program, name);
        if (g_str_has_suffix(stream->program->str, UST_THREAD))
                g_string_truncate(stream->program, stream->program->len - strlen(UST_THREAD));
}

int32_t stream_identity_read_environment(StreamIdentity *stream,
                                         const TraceEnvironment *environment)
{
        const void *trace = environment->trace;
        const char *scheme = environment->text(trace, "tracer_buffering_scheme");
        int32_t pid = 0;
        int64_t id;

        string_set_valid_utf8(stream->hostname, environment->text(trace, "hostname"));
        if (environment->number(trace, "vpid", &id) && id > 0 && id <= INT32_MAX)
                pid = (int32_t)id;
        if (!strcmp(scheme, "uid")) {
                stream->scheme = BUFFER_SCHEME_PER_UID;
                if (environment->number(trace, "tracer_buffering_id", &id) && id >= 0 &&
                    id < UINT32_MAX)
                        stream->uid = (uint32_t)id;
        } else if (!strcmp(scheme, "pid")) {
                stream->scheme = BUFFER_SCHEME_PER_PID;
                stream->pid = pid;
                stream_set_program(stream, environment->text(trace, "procname"));
        }
        return pid;
}

void stream_identity_set_clock(StreamIdentity *stream, const char *name, int64_t offset)
{
        string_set_valid_utf8(stream->clock_name, name);
        stream->clock_offset = offset;
}

static char *trace_name_escape(const char *trace)
{
        return g_strescape(*trace ? trace : "(without a name)", NULL);
}

char *stream_clockless_reason(const char *trace)
{
        g_autofree char *name = trace_name_escape(trace);

        return g_strdup_printf(
                "The .NET events of trace \"%s\" have no time: their stream has no default clock. "
                "Record with lttng-ust, whose streams have one",
                name);
}

char *stream_unattributed_reason(const char *trace, const char *session)
{
        g_autofree char *name = trace_name_escape(trace);
        size_t n = strspn(session, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-");

        return g_strdup_printf(
                "The .NET events of trace \"%s\" do not name their process: there is no "
                "`vpid` context, and the buffers are not per process. Record again, with this "
                "before `lttng start`:\n"
                /*
                 * Short options, because babeltrace2 breaks lines at 80 columns, and users paste
                 * this line.
                 */
                "lttng add-context -u -s %s -t vpid -t vtid -t pid_ns",
                name, /* only if it needs no quotes */ n && !session[n] ? session : "SESSION");
}

const char *gap_kind_name(GapKind kind)
{
        return kind == GAP_EVENTS ? "(discarded events)" : "(discarded packets)";
}

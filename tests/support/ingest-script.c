/* SPDX-License-Identifier: MIT */
#include "support/ingest-script.h"

#include "query/query.h"
#include "wire/ingest.h"

#include <check.h>
#include <string.h>

void script_hello(GByteArray *out)
{
        ingest_put_hello(out, INGEST_VERSION, "test");
}

void script_commit(GByteArray *out)
{
        ingest_put_empty(out, INGEST_COMMIT);
}

void script_stream_open_as(GByteArray *out, uint32_t number, uint64_t stream_id)
{
        StreamIdentity *stream = stream_identity_new();

        memcpy(stream->trace_uuid, "0123456789abcdef", 16);
        stream->stream_id = stream_id;
        stream->scheme = BUFFER_SCHEME_PER_UID;
        g_string_assign(stream->clock_name, "monotonic");
        ingest_put_stream_open(out, number, stream);
        stream_identity_free(stream);
}

void script_stream_open(GByteArray *out, uint32_t number)
{
        script_stream_open_as(out, number, number);
}

void script_load(GByteArray *out, uint32_t stream, uint64_t time, uint64_t start)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);
        Record record = {.event = event, .time = time, .process = {0, 100}, .tid = 100};
        const Value name = {.data = (const uint8_t *)"Main", .n = 4};

        record.values[event_field(event, FIELD_MethodID)].u = start + 1;
        record.values[event_field(event, FIELD_MethodStartAddress)].u = start;
        record.values[event_field(event, FIELD_MethodSize)].u = 16;
        record.values[event_field(event, FIELD_MethodName)] = name;
        ck_assert(ingest_put_record(out, stream, &record));
}

void script_rundown_end(GByteArray *out, uint32_t stream, uint64_t time)
{
        const Record record = {.event = event_by_id(PROVIDER_RUNDOWN, 146, 0),
                               .time = time,
                               .process = {0, 100},
                               .tid = 100};

        ck_assert(ingest_put_record(out, stream, &record));
}

char *tracker_knowledge(const Tracker *tracker)
{
        static const char *const CALLS[] = {
                "{\"method\":\"org.clrsym.Symbolizer.ListProcesses\"}",
                "{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"all\":true}}",
                "{\"method\":\"org.clrsym.Symbolizer.Status\"}",
        };
        const QueryContext context = {
                .tracker = tracker, .is_final = true, .viewer = {.sees_all = true}};
        GString *text = g_string_new(NULL);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CALLS); i++) {
                QueryProgress progress = {0};

                query_call(&context, CALLS[i], strlen(CALLS[i]), &progress, text);
        }
        return g_string_free(text, FALSE);
}

/* SPDX-License-Identifier: MIT */
#include "support/script.h"

#include "support/suite.h"
#include "tracker/edits.h"

#include <string.h>

/*
 * Traces of 10 streams each: 0 to 3 of uid 1000; 4 of uid 2000; 5 in buffers of process 100; 6 of
 * process 100, whose feeder knows that its uid is 1000.
 */
enum { N_STREAMS = 70, OTHER_TRACE = 4, PROCESS_TRACE = 5, OWNED_TRACE = 6 };
enum { N_OWNED = 4096 };

typedef struct Script {
        Tracker *tracker;
        TrackerStream *streams[N_STREAMS];
        GPtrArray *values; /* owned bytes of the record in progress */
        const char *line;
} Script;

static const struct {
        const char *brief;
        const char *field;
} BRIEF[] = {
        {"id", "MethodID"},       {"start", "MethodStartAddress"}, {"size", "MethodSize"},
        {"rejit", "ReJITID"},     {"flags", "MethodFlags"},        {"module", "ModuleID"},
        {"name", "MethodName"},   {"ns", "MethodNamespace"},       {"token", "MethodToken"},
        {"path", "ModuleILPath"}, {"entry", "EntryPoint"},         {"ilversion", "ILVersionID"},
};

static uint64_t number(const Script *script, const char *text)
{
        char *end;
        uint64_t u = text ? g_ascii_strtoull(text, &end, 0) : 0;

        ck_assert_msg(text && *text && !*end, "not a number in: %s", script->line);
        return u;
}

static TrackerStream *open_stream(Script *script, unsigned n)
{
        StreamIdentity *identity = stream_identity_new();

        identity->trace_uuid[0] = (uint8_t)(1 + n / 10);
        identity->stream_id = n;
        identity->scheme = n / 10 >= PROCESS_TRACE ? BUFFER_SCHEME_PER_PID : BUFFER_SCHEME_PER_UID;
        if (n / 10 >= PROCESS_TRACE)
                identity->pid = 100;
        if (n / 10 != PROCESS_TRACE)
                identity->uid = n / 10 == OTHER_TRACE ? 2000 : 1000;
        g_string_assign(identity->boot_id, "this boot");
        script->streams[n] = tracker_stream_open(script->tracker, identity);
        stream_identity_free(identity);
        return script->streams[n];
}

static uint8_t *keep(const Script *script, gpointer bytes)
{
        g_ptr_array_add(script->values, bytes);
        return bytes;
}

/* "1,2,3" as packed numbers of SIZE bytes. */
static void set_array(const Script *script, Value *value, unsigned size, const char *text)
{
        g_auto(GStrv) parts = g_strsplit(text, ",", -1);
        guint i;

        value->n = g_strv_length(parts);
        value->data = keep(script, g_malloc0((gsize)size * MAX(value->n, 1)));
        for (i = 0; i < value->n; i++) {
                int64_t element = g_ascii_strtoll(parts[i], NULL, 0);

                memcpy((uint8_t *)value->data + (gsize)size * i, &element, size);
        }
}

/* Parses "ID/MODULE/TOKEN/FLAGS/ELEMENT[/ARGUMENT...],..." into the form of BulkType. */
static void set_types(const Script *script, Value *value, const char *text)
{
        static const uint8_t SIZES[] = {8, 8, 4, 4, 1};
        g_auto(GStrv) rows = g_strsplit(text, ",", -1);
        GByteArray *bytes = g_byte_array_new();
        guint i, k;

        for (i = 0; rows[i]; i++) {
                g_auto(GStrv) parts = g_strsplit(rows[i], "/", -1);
                uint32_t n = g_strv_length(parts) - G_N_ELEMENTS(SIZES);

                for (k = 0; parts[k]; k++) {
                        uint64_t part = number(script, parts[k]);

                        if (k == G_N_ELEMENTS(SIZES)) {
                                g_byte_array_append(bytes, (const uint8_t *)"\0", 2);
                                g_byte_array_append(bytes, (const uint8_t *)&n, sizeof(n));
                        }
                        g_byte_array_append(bytes, (const uint8_t *)&part,
                                            k < G_N_ELEMENTS(SIZES) ? SIZES[k] : 8);
                }
                if (!n)
                        g_byte_array_append(bytes, (const uint8_t *)"\0\0\0\0\0", 6);
        }
        value->n = bytes->len;
        value->data = keep(script, g_byte_array_free(bytes, FALSE));
}

static void set_field(const Script *script, Record *record, const char *name, const char *text)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(BRIEF); i++)
                if (!strcmp(name, BRIEF[i].brief))
                        name = BRIEF[i].field;
        for (i = 0; i < record->event->n_fields; i++) {
                const Field *field = &record->event->fields[i];
                Value *value = &record->values[i];

                if (strcmp(name, field_name(field->name)))
                        continue;
                if (field->type == FIELD_TYPE_TYPE_LIST) {
                        set_types(script, value, text);
                } else if (field_type_element_size(field->type)) {
                        set_array(script, value, field_type_element_size(field->type), text);
                } else if (field_type_is_string(field->type)) {
                        value->data = keep(script, g_strdup(text));
                        value->n = (uint32_t)strlen(text);
                } else {
                        value->u = number(script, text);
                }
                return;
        }
        ck_abort_msg("no field %s in: %s", name, script->line);
}

static void run_event(Script *script, TrackerStream *stream, char **words)
{
        Record record = {.time = number(script, words[0]), .process = {0, 100}, .tid = 100};
        g_autofree char *full = strchr(words[1], ':')
                                        ? g_strdup(words[1])
                                        : g_strconcat("DotNETRuntime:", words[1], NULL);
        unsigned i;

        record.event = event_by_name(full);
        ck_assert_msg(record.event, "no event in: %s", script->line);
        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"";
        for (words += 2; *words; words++) {
                char *value = strchr(*words, '=');

                ck_assert_msg(value, "no value in: %s", script->line);
                *value++ = '\0';
                if (!strcmp(*words, "pid"))
                        record.process.pid = (int32_t)number(script, value);
                else if (!strcmp(*words, "pid_ns"))
                        record.process.pid_ns = number(script, value);
                else if (!strcmp(*words, "tid"))
                        record.tid = (int32_t)number(script, value);
                else
                        set_field(script, &record, *words, value);
        }
        tracker_apply_record(script->tracker, stream, &record);
        g_ptr_array_set_size(script->values, 0);
}

static const char *body_name(const Process *process, const Body *body)
{
        const char *name = strtab_text(process->names, body->name);

        return name && *name ? name : "-";
}

static void run_question(Script *script, char **words)
{
        Viewer viewer = {.sees_all = true};
        Question question = {.pid = 100};
        g_autoptr(GString) got = g_string_new(NULL);
        g_autofree char *expected = NULL;
        const Body *body;
        Answer answer;

        if (g_str_has_prefix(*words, "uid="))
                viewer = (Viewer){.uid = (uint32_t)number(script, *words++ + 4)};
        if (g_str_has_prefix(*words, "pid="))
                question.pid = (int32_t)number(script, *words++ + 4);
        question.address = number(script, *words++);
        question.has_time = strcmp(*words, "=") != 0;
        if (question.has_time)
                question.time = number(script, *words++);
        ck_assert_msg(*words && !strcmp(*words, "="), "no '=' in: %s", script->line);
        answer_question(script->tracker, &viewer, &question, &answer);
        body = answer.body ? answer.body : answer.nearest;
        g_string_append(got, answer_status_name(answer.status));
        if (body)
                g_string_append_printf(got, " %s", body_name(answer.process, body));
        if (answer.status == ANSWER_AMBIGUOUS)
                g_string_append_printf(
                        got, " %u", answer.bodies ? (guint)answer.n_bodies : answer.processes->len);
        else if (answer.confidence != CONFIDENCE_EXACT)
                g_string_append_printf(got, " %s", confidence_name(answer.confidence));
        if (answer.body && edits_concern(answer.process, answer.body))
                g_string_append(got, " edited");
        answer_clear(&answer);
        expected = g_strjoinv(" ", words + 1);
        ck_assert_msg(!strcmp(got->str, expected), "got '%s' for: %s", got->str, script->line);
}

/* The host's programs, by pid. */
static struct {
        uint32_t uid; /* 0: no such program */
        uint64_t start;
} owners[N_OWNED];

static bool owner_of(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid)
{
        if (key->pid >= N_OWNED || !owners[key->pid].uid || owners[key->pid].start > time)
                return false;
        *ret_uid = owners[key->pid].uid;
        return true;
}

static void run_owner(Script *script, char **words)
{
        uint64_t pid = number(script, words[0]);

        ck_assert(pid < N_OWNED);
        owners[pid].uid = (uint32_t)number(script, words[1]);
        owners[pid].start = number(script, words[2]);
}

static void run_process_gap(Script *script, char **words)
{
        ProcessGap gap = {.process.pid = 100};

        for (; *words && strchr(*words, '='); words++) {
                if (g_str_has_prefix(*words, "pid="))
                        gap.process.pid = (int32_t)number(script, *words + 4);
                else if (g_str_has_prefix(*words, "pid_ns="))
                        gap.process.pid_ns = number(script, *words + 7);
        }
        gap.begin = number(script, words[0]);
        gap.end = g_str_equal(words[1], "-") ? UINT64_MAX : number(script, words[1]);
        tracker_apply_process_gap(script->tracker, &gap);
}

static uint64_t started;

static uint64_t start_time(void *data, int32_t pid)
{
        return started;
}

/* The feeder of the stream's trace reports that the stream is quiet. */
static void run_quiet(const Script *script, TrackerStream *stream, uint64_t time)
{
        g_autoptr(GPtrArray) streams = g_ptr_array_new();

        g_ptr_array_add(streams, NULL); /* a closed stream */
        g_ptr_array_add(streams, stream);
        tracker_apply_quiet(script->tracker, streams, (int64_t)time);
}

/* The host has found that the tracker's first process has ended. */
static void run_ended(const Script *script, uint64_t time)
{
        const Process *process = tracker_processes(script->tracker)->pdata[0];

        ck_assert(tracker_end_process(script->tracker, process->serial, time));
}

static void run_line(Script *script, char **words)
{
        unsigned n = 0;
        TrackerStream *stream;

        if (g_str_has_suffix(*words, ":"))
                n = (unsigned)atoi(*words++);
        ck_assert_uint_lt(n, N_STREAMS);
        stream = script->streams[n] ? script->streams[n] : open_stream(script, n);
        if (!strcmp(*words, "?"))
                run_question(script, words + 1);
        else if (!strcmp(*words, "gap"))
                tracker_apply_gap(script->tracker, stream,
                                  &(StreamGap){.begin = number(script, words[1]),
                                               .end = number(script, words[2]),
                                               .count = number(script, words[3])});
        else if (!strcmp(*words, "process-gap"))
                run_process_gap(script, words + 1);
        else if (!strcmp(*words, "started"))
                started = number(script, words[1]);
        else if (!strcmp(*words, "ended"))
                run_ended(script, number(script, words[1]));
        else if (!strcmp(*words, "progress"))
                tracker_apply_progress(script->tracker, stream, number(script, words[1]));
        else if (!strcmp(*words, "quiet"))
                run_quiet(script, stream, number(script, words[1]));
        else if (!strcmp(*words, "close"))
                tracker_stream_close(script->tracker, stream);
        else if (!strcmp(*words, "detach"))
                tracker_stream_detach(script->tracker, stream);
        else if (!strcmp(*words, "open"))
                open_stream(script, n);
        else if (!strcmp(*words, "owner"))
                run_owner(script, words + 1);
        else if (!strcmp(*words, "commit"))
                tracker_commit(script->tracker);
        else
                run_event(script, stream, words);
}

void script_go_on(Tracker *tracker, const char *text)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        Script script = {.tracker = tracker, .values = g_ptr_array_new_with_free_func(g_free)};
        guint i;

        for (i = 0; lines[i]; i++) {
                g_auto(GStrv) words = NULL;
                g_autofree char *line = g_strdup(g_strstrip(lines[i]));

                if (!*line || *line == '#')
                        continue;
                script.line = lines[i];
                words = g_strsplit(line, " ", -1);
                run_line(&script, words);
        }
        g_ptr_array_unref(script.values);
}

Tracker *script_tracker(const char *text)
{
        Tracker *tracker = tracker_new();

        started = 0;
        memset(owners, 0, sizeof(owners));
        tracker_set_host(tracker, &(TrackerHost){.start_time = start_time, .uid = owner_of});
        script_go_on(tracker, text);
        return tracker;
}

void script_run(const char *text)
{
        tracker_free(script_tracker(text));
}

/* SPDX-License-Identifier: MIT */
#include "cli/perf-recording.h"

#include "util/seconds-text.h"

#include <errno.h>
#include <string.h>

/* A file's time of change can be some milliseconds late, and the time of day may be adjusted. */
#define CHANGE_SLACK_NS (NS_PER_SECOND / 10)

static void process_free(gpointer data)
{
        RecordingProcess *process = data;

        g_free(process->comm);
        g_array_unref(process->addresses);
        g_free(process);
}

static void event_free(gpointer data)
{
        RecordingEvent *event = data;

        g_free(event->name);
        g_free(event);
}

static void mapping_clear(gpointer data)
{
        mapping_deinit(data);
}

static void binary_clear(gpointer data)
{
        g_free(((Binary *)data)->path);
}

Recording *recording_new(void)
{
        Recording *recording = g_new0(Recording, 1);

        recording->clock_id = RECORDING_OWN_CLOCK;
        recording->events = g_ptr_array_new_with_free_func(event_free);
        recording->processes = g_ptr_array_new_with_free_func(process_free);
        recording->mappings = g_array_new(FALSE, FALSE, sizeof(Mapping));
        g_array_set_clear_func(recording->mappings, mapping_clear);
        recording->binaries = g_array_new(FALSE, FALSE, sizeof(Binary));
        g_array_set_clear_func(recording->binaries, binary_clear);
        recording->paths = g_hash_table_new(g_str_hash, g_str_equal);
        recording->pid_ns = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        recording->by_pid = g_hash_table_new(NULL, NULL);
        return recording;
}

void recording_free(Recording *recording)
{
        if (!recording)
                return;
        g_ptr_array_unref(recording->events);
        g_ptr_array_unref(recording->processes);
        g_array_unref(recording->mappings);
        g_hash_table_unref(recording->paths);
        g_array_unref(recording->binaries);
        g_hash_table_unref(recording->pid_ns);
        g_hash_table_unref(recording->by_pid);
        g_free(recording->clock_name);
        g_free(recording->stacks);
        g_free(recording);
}

/*
 * A number in BASE at *TEXT and the character END after it ('\0': the text's end). Moves *TEXT
 * after both.
 */
static bool perf_recording_take_number(const char **text, unsigned base, char end, uint64_t *ret)
{
        char *rest;

        if (!g_ascii_isxdigit(**text))
                return false;
        errno = 0;
        *ret = g_ascii_strtoull(*text, &rest, base);
        if (errno || rest == *text || *rest != end)
                return false;
        *text = end ? rest + 1 : rest;
        return true;
}

/* "1795228331.045265 ": perf writes a fraction of 6 or 9 digits. */
static bool perf_recording_take_seconds(const char **text, uint64_t *ret_ns)
{
        const char *end = seconds_parse(*text, ret_ns);

        if (!end || *end != ' ' || !memchr(*text, '.', (size_t)(end - *text)) ||
            *ret_ns > G_MAXINT64)
                return false;
        *text = end;
        return true;
}

/* "2026-11-21 02:32:11.045265 = 1795228331.045265 (TOD) = 741.190938127 (monotonic)" */
static void take_reference(Recording *recording, const char *text)
{
        const char *tod = strstr(text, " = ");
        const char *clock = tod ? strstr(tod + 3, " = ") : NULL;

        if (!clock)
                return;
        tod += 3;
        clock += 3;
        recording->has_reference = perf_recording_take_seconds(&tod, &recording->reference_tod) &&
                                   perf_recording_take_seconds(&clock, &recording->reference_clock);
}

/* "monotonic (1)" */
static void perf_recording_take_clock(Recording *recording, const char *text)
{
        const char *end = strstr(text, " (");

        g_free(recording->clock_name);
        recording->clock_name = end ? g_strndup(text, (gsize)(end - text)) : g_strdup(text);
}

/* "... 123/123 - nr_namespaces: 7", and lines like "\t\t[0/net: 4/0xeffffff9, 3/pid: 4/0xef.." */
static void take_namespaces(Recording *recording, const char *line)
{
        static const char RECORD[] = "PERF_RECORD_NAMESPACES ", PID[] = "/pid: ";
        const char *at = strstr(line, RECORD), *inode;
        uint64_t u;

        if (at) {
                at += sizeof(RECORD) - 1;
                recording->namespaces_of =
                        perf_recording_take_number(&at, 10, '/', &u) && u <= G_MAXINT32 ? (int32_t)u
                                                                                        : 0;
                return;
        }
        at = line[0] == '\t' && recording->namespaces_of ? strstr(line, PID) : NULL;
        inode = at ? strchr(at + sizeof(PID) - 1, '/') : NULL;
        if (!inode || !g_str_has_prefix(inode, "/0x"))
                return;
        u = g_ascii_strtoull(inode + 3, NULL, 16);
        g_hash_table_insert(recording->pid_ns, GINT_TO_POINTER(recording->namespaces_of),
                            g_memdup2(&u, sizeof(u)));
}

static void recording_add_binary(Recording *recording, const Mapping *mapping)
{
        Binary binary = {.pid = mapping->pid};

        if (recording->binaries->len >= BINARIES_MAX ||
            g_hash_table_contains(recording->paths, mapping->path))
                return;
        binary.path = g_strdup(mapping->path);
        g_hash_table_add(recording->paths, binary.path);
        g_array_append_val(recording->binaries, binary);
}

static void take_mapping(Recording *recording, const char *line)
{
        Mapping mapping;

        if (!mapping_take_event(&mapping, line)) {
                mapping_deinit(&mapping);
                return;
        }
        if (!mapping_is_assembly(&mapping))
                recording_add_binary(recording, &mapping);
        if (mapping_may_have_assemblies(&mapping))
                g_array_append_val(recording->mappings, mapping);
        else
                mapping_deinit(&mapping);
}

static void take_lost(Recording *recording, const char *line)
{
        const char *at = strstr(line, "PERF_RECORD_LOST"), *end;
        uint64_t n;

        at = at ? strstr(at, " lost ") : NULL;
        if (!at)
                return;
        at += strlen(" lost ");
        end = at + strspn(at, "0123456789");
        if (perf_recording_take_number(&at, 10, *end, &n))
                recording->n_lost += n;
}

void recording_take_line(Recording *recording, const char *line)
{
        static const struct {
                const char *begin;
                void (*take)(Recording *recording, const char *rest);
        } HEADERS[] = {
                {"# reference time: ", take_reference},
                {"# clockid: ", perf_recording_take_clock},
        };
        size_t i;

        /* Later lines contain names that other programs chose, of files for example. */
        recording->has_events |= *line && *line != '#';
        for (i = 0; i < G_N_ELEMENTS(HEADERS) && !recording->has_events; i++)
                if (g_str_has_prefix(line, HEADERS[i].begin)) {
                        HEADERS[i].take(recording, line + strlen(HEADERS[i].begin));
                        return;
                }
        take_mapping(recording, line);
        take_namespaces(recording, line);
        take_lost(recording, line);
}

static bool survey_clock(Recording *recording, const char *text)
{
        recording->clock_id = atoi(text);
        return *text != '\0';
}

static bool survey_stacks(Recording *recording, const char *text)
{
        g_free(recording->stacks);
        recording->stacks = g_strdup(text);
        return *text != '\0';
}

static bool survey_event(Recording *recording, const char *text)
{
        RecordingEvent *event;
        uint64_t n;

        if (!perf_recording_take_number(&text, 10, ' ', &n))
                return false;
        event = g_new0(RecordingEvent, 1);
        event->n_samples = n;
        event->name = g_strdup(text);
        g_ptr_array_add(recording->events, event);
        return true;
}

/* perf has samples with pid -1 and 0 too: of no process, and of the idle one. */
static bool survey_process(Recording *recording, const char *text)
{
        bool is_negative = *text == '-';
        RecordingProcess *process;
        uint64_t pid, n, first, last;

        text += is_negative;
        if (!perf_recording_take_number(&text, 10, ' ', &pid) || pid > G_MAXINT32 ||
            !perf_recording_take_number(&text, 10, ' ', &n) ||
            !perf_recording_take_number(&text, 10, ' ', &first) ||
            !perf_recording_take_number(&text, 10, ' ', &last))
                return false;
        process = g_new0(RecordingProcess, 1);
        process->pid = is_negative ? -(int32_t)pid : (int32_t)pid;
        process->n_samples = n;
        process->first = first;
        process->last = last;
        process->comm = g_strdup(text);
        process->addresses = g_array_new(FALSE, FALSE, sizeof(RecordingAddress));
        g_ptr_array_add(recording->processes, process);
        g_hash_table_insert(recording->by_pid, GINT_TO_POINTER(process->pid), process);
        return true;
}

static bool survey_address(Recording *recording, const char *text)
{
        RecordingProcess *process;
        RecordingAddress address;
        uint64_t pid;

        if (!perf_recording_take_number(&text, 10, ' ', &pid) || pid > G_MAXINT32 ||
            !perf_recording_take_number(&text, 16, ' ', &address.address) ||
            !perf_recording_take_number(&text, 10, '\0', &address.time))
                return false;
        process = g_hash_table_lookup(recording->by_pid, GINT_TO_POINTER((gint)pid));
        if (process)
                g_array_append_val(process->addresses, address);
        return process != NULL;
}

bool recording_take_survey(Recording *recording, const char *line)
{
        static const struct {
                const char *begin;
                bool (*take)(Recording *recording, const char *rest);
        } ROWS[] = {
                {"clock ", survey_clock},     {"stacks ", survey_stacks},
                {"event ", survey_event},     {"process ", survey_process},
                {"address ", survey_address},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (g_str_has_prefix(line, ROWS[i].begin))
                        return ROWS[i].take(recording, line + strlen(ROWS[i].begin));
        return false;
}

void recording_finish(Recording *recording)
{
        guint i;

        for (i = 0; i < recording->processes->len; i++) {
                RecordingProcess *process = g_ptr_array_index(recording->processes, i);
                const uint64_t *pid_ns =
                        g_hash_table_lookup(recording->pid_ns, GINT_TO_POINTER(process->pid));

                if (pid_ns) {
                        process->has_pid_ns = true;
                        process->pid_ns = *pid_ns;
                }
        }
}

void recording_write_mappings(const Recording *recording, FILE *file)
{
        guint i;

        for (i = 0; i < recording->mappings->len; i++) {
                Mapping mapping = g_array_index(recording->mappings, Mapping, i);
                uint64_t later = mapping.time > recording->reference_clock
                                         ? mapping.time - recording->reference_clock
                                         : 0;

                /* The file was not changed later than that before the recording began, either. */
                mapping.since = recording->reference_tod + later;
                mapping.since -= MIN(mapping.since, CHANGE_SLACK_NS);
                mapping_write(&mapping, file);
        }
}

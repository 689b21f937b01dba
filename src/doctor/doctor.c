/* SPDX-License-Identifier: MIT */
#include "doctor/doctor.h"

#include "attach/holder-client.h"
#include "clrsym/clrsym.h"
#include "doctor/json-struct.h"
#include "util/proc.h"
#include "util/subprocess.h"

#include <string.h>
#include <unistd.h>

/* Timeout of clrsymd, and of the holder. */
#define DAEMON_TIMEOUT_S 5

#define FEEDERS      "clrsym_feeders"
#define LATER_EVENTS "clrsym_later_events_total"
/* The start of a process is known to a clock tick; its first event is later. */
#define START_SLACK_S 0.02

/* The report of the child that asks the daemon. */
typedef struct DaemonReport {
        char *version;     /* owned; NULL: it does not answer */
        char *error;       /* owned or NULL */
        double start;      /* of the process, in s of CLOCK_MONOTONIC; not reported */
        int64_t n_live;    /* living bodies of the process that the daemon knows; -1: unknown */
        int64_t n_feeders; /* -1: unknown; the same below */
        int64_t n_later;   /* events of a later version */
} DaemonReport;

static const JsonMember DAEMON_MEMBERS[] = {
        {"version", JSON_MEMBER_TEXT, offsetof(DaemonReport, version), NULL},
        {"error", JSON_MEMBER_TEXT, offsetof(DaemonReport, error), NULL},
        {"live", JSON_MEMBER_INT, offsetof(DaemonReport, n_live), NULL},
        {"feeders", JSON_MEMBER_INT, offsetof(DaemonReport, n_feeders), NULL},
        {"later", JSON_MEMBER_INT, offsetof(DaemonReport, n_later), NULL},
};
static const JsonStruct DAEMON_REPORT = {sizeof(DaemonReport), DAEMON_MEMBERS,
                                         G_N_ELEMENTS(DAEMON_MEMBERS)};

static int daemon_take_version(const char *parameters, size_t n, void *data)
{
        json_auto_t *info = json_loadb(parameters, n, 0, NULL);
        DaemonReport *report = data;

        g_free(report->version);
        report->version = g_strdup(json_string_value(json_object_get(info, "version")));
        return 0;
}

/* A running process with that pid, without an event before the start of ours, is ours. */
static int daemon_take_processes(const char *parameters, size_t n, void *data)
{
        json_auto_t *reply = json_loadb(parameters, n, 0, NULL);
        DaemonReport *report = data;
        json_t *process;
        size_t i;

        json_array_foreach(json_object_get(reply, "processes"), i, process)
        {
                const char *state = json_string_value(json_object_get(process, "state"));
                const char *since = json_string_value(json_object_get(process, "since"));

                if (state && !strcmp(state, "running") && since &&
                    g_ascii_strtod(since, NULL) >= report->start - START_SLACK_S)
                        report->n_live = json_integer_value(json_object_get(process, "live"));
        }
        return 0;
}

/* -1: TEXT has no such metric. */
static int64_t metrics_find(const char *text, const char *name)
{
        g_autofree char *begin = g_strdup_printf("\n%s ", name);
        const char *at = text ? strstr(text, begin) : NULL;

        return at ? g_ascii_strtoll(at + strlen(begin), NULL, 10) : -1;
}

/* Not every user may read metrics: then the numbers stay unknown. */
static int daemon_take_metrics(const char *parameters, size_t n, void *data)
{
        json_auto_t *reply = json_loadb(parameters, n, 0, NULL);
        const char *text = json_string_value(json_object_get(reply, "text"));
        DaemonReport *report = data;

        report->n_feeders = metrics_find(text, FEEDERS);
        report->n_later = metrics_find(text, LATER_EVENTS);
        return 0;
}

static void daemon_ask(clrsym *handle, pid_t pid, DaemonReport *report)
{
        g_autofree char *process = g_strdup_printf("{\"pid\":%d}", (int)pid);

        if (clrsym_call(handle, "org.varlink.service.GetInfo", NULL, 0, 0, daemon_take_version,
                        report) < 0)
                report->error = g_strdup(clrsym_message(handle));
        /* These calls may fail: the daemon may not know the process, and not every user may ask. */
        (void)clrsym_call(handle, "Metrics", NULL, 0, 0, daemon_take_metrics, report);
        if (pid)
                (void)clrsym_call(handle, "ListProcesses", process, CLRSYM_MORE, 0,
                                  daemon_take_processes, report);
}

/* In a child, because the daemon may not answer. */
static void daemon_write_report(int fd, void *data)
{
        const Doctor *doctor = data;
        const clrsym_options options = {.socket = doctor->socket, .reconnect_ms = -1};
        DaemonReport report = {.start = (double)proc_start_time(doctor->pid) / 1e9,
                               .n_live = -1,
                               .n_feeders = -1,
                               .n_later = -1};
        g_autofree char *message = NULL;
        json_auto_t *value = NULL;
        clrsym *handle;

        if (clrsym_open(&handle, &options, &message) < 0) {
                report.error = g_strdup(message ? message : "no memory");
        } else {
                daemon_ask(handle, doctor->pid, &report);
                clrsym_close(handle);
        }
        value = json_struct_write(&DAEMON_REPORT, &report);
        if (json_dumpfd(value, fd, JSON_COMPACT) < 0)
                _exit(1);
}

static void doctor_read_daemon(Doctor *doctor)
{
        g_autofree char *output = NULL;
        json_auto_t *value = NULL;
        DaemonReport report;

        if (subprocess_call(daemon_write_report, doctor, DAEMON_TIMEOUT_S, &output) ==
            SUBPROCESS_TIMEOUT) {
                doctor->daemon_error = g_strdup("the daemon does not answer");
                return;
        }
        value = output ? json_loads(output, 0, NULL) : NULL;
        if (!json_struct_read(&DAEMON_REPORT, value, &report))
                return;
        doctor->daemon_version = report.version;
        doctor->daemon_error = report.error;
        doctor->n_live = report.n_live;
        doctor->n_feeders = report.n_feeders;
        doctor->n_later = report.n_later;
}

/* In a child, too. Writes the process's attachment; nothing: there is none. */
static void holder_write_report(int fd, void *data)
{
        const Doctor *doctor = data;
        const Request request = {.verb = REQUEST_LIST};
        int holder = holder_client_ask(&request, /* is_starting= */ false, /* error= */ NULL);
        json_auto_t *reply = holder >= 0 ? holder_client_answer(holder, /* error= */ NULL) : NULL;
        json_t *attachment;
        size_t i;

        json_array_foreach(json_object_get(reply, "attachments"), i, attachment)
        {
                const char *state = json_string_value(json_object_get(attachment, "state"));
                const char *via = json_string_value(json_object_get(attachment, "via"));

                if (json_integer_value(json_object_get(attachment, "pid")) == doctor->pid &&
                    !g_strcmp0(state, "attached") && via && write(fd, via, strlen(via)) < 0)
                        _exit(1);
        }
}

static void doctor_read_holder(Doctor *doctor)
{
        g_autofree char *output = NULL;

        doctor->is_attached = subprocess_call(holder_write_report, doctor, DAEMON_TIMEOUT_S,
                                              &output) == SUBPROCESS_OK &&
                              *output;
        doctor->is_by_eventpipe = doctor->is_attached &&
                                  strstr(output, attach_via_name(ATTACH_VIA_EVENTPIPE)) != NULL;
}

void doctor_init(Doctor *doctor, const char *socket, pid_t pid)
{
        *doctor = (Doctor){
                .socket = socket, .pid = pid, .n_feeders = -1, .n_later = -1, .n_live = -1};
        doctor->inspection.pidfd = -1;
        sessiond_state_read(&doctor->sessiond);
        doctor->session = sessiond_state_best_session(&doctor->sessiond);
        if (pid) {
                inspection_read(pid, &doctor->inspection);
                doctor_read_holder(doctor);
        }
        doctor_read_daemon(doctor);
}

void doctor_deinit(Doctor *doctor)
{
        sessiond_state_clear(&doctor->sessiond);
        inspection_clear(&doctor->inspection);
        g_free(doctor->daemon_version);
        g_free(doctor->daemon_error);
}

bool doctor_is_inspected(const Doctor *doctor)
{
        return doctor->pid && doctor->inspection.state == INSPECTION_DONE;
}

bool doctor_has_runtime(const Doctor *doctor)
{
        return doctor->inspection.facts.runtime != NULL;
}

/* SPDX-License-Identifier: MIT */
#include "doctor/doctor.h"

#include "attach/client.h"
#include "clrsym/clrsym.h"
#include "daemon/proc.h"
#include "doctor/bounded.h"

#include <string.h>
#include <unistd.h>

/* Of asking clrsymd, and the holder of attachments. */
#define DAEMON_TIMEOUT_S 5

#define FEEDERS "clrsym_feeders"
/* Its start is known to a tick of the kernel's, its first event is later. */
#define START_SLACK_S 0.02

static int keep_version(const char *parameters, size_t n, void *data)
{
        json_t *info = json_loadb(parameters, n, 0, NULL);

        json_object_set(data, "version", json_object_get(info, "version"));
        json_decref(info);
        return 0;
}

/* One of the pid that still runs there, and was not heard of before it began, is the process. */
static int keep_live(const char *parameters, size_t n, void *data)
{
        json_t *reply = json_loadb(parameters, n, 0, NULL), *process;
        double start = json_real_value(json_object_get(data, "start"));
        size_t i;

        json_array_foreach(json_object_get(reply, "processes"), i, process)
        {
                const char *state = json_string_value(json_object_get(process, "state"));
                const char *since = json_string_value(json_object_get(process, "since"));

                if (state && !strcmp(state, "running") && since &&
                    g_ascii_strtod(since, NULL) >= start - START_SLACK_S)
                        json_object_set(data, "live", json_object_get(process, "live"));
        }
        json_decref(reply);
        return 0;
}

/* Not everybody is told: then it stays unknown. */
static int keep_feeders(const char *parameters, size_t n, void *data)
{
        json_t *reply = json_loadb(parameters, n, 0, NULL);
        const char *text = json_string_value(json_object_get(reply, "text"));
        const char *at = text ? strstr(text, "\n" FEEDERS " ") : NULL;

        if (at)
                json_object_set_new(
                        data, "feeders",
                        json_integer(g_ascii_strtoll(at + strlen(FEEDERS) + 2, NULL, 10)));
        json_decref(reply);
        return 0;
}

/* In a child: it may not answer. */
static void ask_daemon(int fd, void *data)
{
        const Doctor *doctor = data;
        g_autofree char *process = g_strdup_printf("{\"pid\":%d}", (int)doctor->pid);
        const clrsym_options options = {.socket = doctor->socket, .reconnect_ms = -1};
        json_t *said = json_pack("{s:f}", "start", (double)proc_start_time(doctor->pid) / 1e9);
        char *message = NULL, *text;
        clrsym *handle;

        if (clrsym_open(&handle, &options, &message) < 0) {
                json_object_set_new(said, "error", json_string(message ? message : "no memory"));
        } else {
                if (clrsym_call(handle, "org.varlink.service.GetInfo", NULL, 0, 0, keep_version,
                                said) < 0)
                        json_object_set_new(said, "error", json_string(clrsym_message(handle)));
                /* It may be another's, or not known. */
                (void)clrsym_call(handle, "Metrics", NULL, 0, 0, keep_feeders, said);
                if (doctor->pid)
                        (void)clrsym_call(handle, "ListProcesses", process, CLRSYM_MORE, 0,
                                          keep_live, said);
                clrsym_close(handle);
        }
        text = json_dumps(said, JSON_COMPACT);
        if (write(fd, text, strlen(text)) < 0)
                _exit(1);
}

static void look_at_daemon(Doctor *doctor)
{
        g_autofree char *said = NULL;
        json_t *value;

        if (bounded_call(ask_daemon, doctor, DAEMON_TIMEOUT_S, &said) == BOUNDED_TIMEOUT) {
                doctor->daemon_error = g_strdup("the daemon does not answer");
                return;
        }
        value = said ? json_loads(said, 0, NULL) : NULL;
        doctor->daemon_version = g_strdup(json_string_value(json_object_get(value, "version")));
        doctor->daemon_error = g_strdup(json_string_value(json_object_get(value, "error")));
        if (json_object_get(value, "live"))
                doctor->n_live = json_integer_value(json_object_get(value, "live"));
        if (json_object_get(value, "feeders"))
                doctor->n_feeders = json_integer_value(json_object_get(value, "feeders"));
        json_decref(value);
}

/* In a child, too. */
static void ask_holder(int fd, void *data)
{
        const Doctor *doctor = data;
        const Request request = {.verb = REQUEST_LIST};
        int holder = client_ask(&request, /* is_starting= */ false, /* error= */ NULL);
        json_t *answer = holder >= 0 ? client_answer(holder, /* error= */ NULL) : NULL, *one;
        bool is_attached = false;
        size_t i;

        json_array_foreach(json_object_get(answer, "attachments"), i, one)
        {
                const char *state = json_string_value(json_object_get(one, "state"));

                is_attached |= json_integer_value(json_object_get(one, "pid")) == doctor->pid &&
                               state && !strcmp(state, "attached");
        }
        json_decref(answer);
        if (is_attached && write(fd, "yes", 3) < 0)
                _exit(1);
}

static void look_at_holder(Doctor *doctor)
{
        g_autofree char *said = NULL;

        doctor->is_attached =
                bounded_call(ask_holder, doctor, DAEMON_TIMEOUT_S, &said) == BOUNDED_OK && *said;
}

void doctor_init(Doctor *doctor, const char *socket, pid_t pid)
{
        *doctor = (Doctor){.socket = socket, .pid = pid, .n_feeders = -1, .n_live = -1};
        doctor->inspection.pidfd = -1;
        facts_read(&doctor->facts);
        doctor->session = facts_best_session(&doctor->facts);
        if (pid) {
                inspection_read(pid, &doctor->inspection);
                look_at_holder(doctor);
        }
        look_at_daemon(doctor);
}

void doctor_deinit(Doctor *doctor)
{
        facts_clear(&doctor->facts);
        inspection_clear(&doctor->inspection);
        g_free(doctor->daemon_version);
        g_free(doctor->daemon_error);
}

bool doctor_has_shown(const Doctor *doctor)
{
        return doctor->inspection.shown != NULL;
}

bool doctor_has_runtime(const Doctor *doctor)
{
        return inspection_text(&doctor->inspection, "runtime") != NULL;
}

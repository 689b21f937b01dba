/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "cli/verbs.h"
#include "doctor/doctor.h"
#include "util/printable-string.h"

/* A goal of a user, which checks can hinder. */
typedef enum Purpose {
        PURPOSE_RECORD,
        PURPOSE_ATTACH,
        PURPOSE_LTTNG,
        _PURPOSE_MAX,
} Purpose;

static const char *const PURPOSES[_PURPOSE_MAX] = {
        [PURPOSE_RECORD] = "record",
        [PURPOSE_ATTACH] = "attach",
        [PURPOSE_LTTNG] = "live LTTng",
};

#define FOR(purpose) (1u << PURPOSE_##purpose)

typedef struct Check {
        const char *name;
        CheckFn run;
        bool is_of_process; /* the check examines the named process */
        unsigned purposes;  /* FOR(...): the purposes that need the check; 0: none */
} Check;

static const Check CHECKS[] = {
        {"process", check_process, true, FOR(RECORD) | FOR(ATTACH) | FOR(LTTNG)},
        {"runtime", check_runtime, true, FOR(LTTNG)},
        {"library", check_library, true, FOR(LTTNG)},
        {"provider", check_provider, true, FOR(LTTNG)},
        {"sessiond", check_sessiond, false, FOR(LTTNG)},
        {"registered", check_registered, true, FOR(LTTNG)},
        {"port", check_port, true, FOR(RECORD) | FOR(ATTACH)},
        {"events-on", check_switched_on, true, FOR(LTTNG)},
        {"clock", check_clock, true, FOR(RECORD) | FOR(ATTACH) | FOR(LTTNG)},
        {"session", check_session, false, FOR(LTTNG)},
        {"tracked", check_tracked, true, FOR(LTTNG)},
        {"events", check_events, false, FOR(LTTNG)},
        {"contexts", check_contexts, false, FOR(LTTNG)},
        {"losses", check_losses, false, FOR(LTTNG)},
        {"relayd", check_relay, false, FOR(LTTNG)},
        {"feed", check_feeder, false, FOR(LTTNG)},
        {"babeltrace2", check_babeltrace, false, 0},
        {"daemon", check_daemon, false, FOR(ATTACH) | FOR(LTTNG)},
        {"access", check_access, false, FOR(ATTACH)},
        {"perf", check_perf, false, FOR(RECORD)},
};

static const char *const MARKS[_FINDING_STATUS_MAX] = {
        [FINDING_OK] = "ok",
        [FINDING_PROBLEM] = "NO",
        [FINDING_NOTE] = "note",
        [FINDING_UNKNOWN] = "?",
};

/* Findings can contain text from other programs. */
static char *text_make_valid(const char *text)
{
        return text ? g_utf8_make_valid(text, -1) : NULL;
}

static void finding_print_text(const char *name, const Finding *finding)
{
        g_autofree char *text = text_make_valid(finding->text),
                        *fix = text_make_valid(finding->fix);
        g_autoptr(GString) line = g_string_new(NULL);

        g_string_append_printf(line, "%-4s %-11s ", MARKS[finding->status], name);
        printable_append(line, text);
        if (fix) {
                g_string_append_printf(line, "\n%17s-> ", "");
                printable_append(line, fix);
        }
        output_line(line->str, line->len);
}

static void finding_print_json(const char *name, const Finding *finding)
{
        g_autofree char *output = text_make_valid(finding->text),
                        *fix = text_make_valid(finding->fix);
        json_auto_t *object =
                json_pack("{s:s, s:s, s:s, s:s?}", "check", name, "status",
                          finding_status_name(finding->status), "text", output, "fix", fix);

        output_json(object);
}

/* Prints the last lines, for people: the possible purposes, and the result of all checks. HINDERED:
 * purposes with a problem, or undecided. */
static void print_result(const unsigned *counts, unsigned hindered)
{
        g_autoptr(GString) ready = g_string_new(NULL);
        Purpose purpose;

        for (purpose = 0; hindered && purpose < _PURPOSE_MAX; purpose++)
                if (!(hindered & 1u << purpose))
                        g_string_append_printf(ready, "%s%s", ready->len ? ", " : "",
                                               PURPOSES[purpose]);
        if (ready->len)
                output_print("%-4s %-11s %s\n", "", "ready for", ready->str);
        if (counts[FINDING_PROBLEM])
                output_print("%u problem%s found%s\n", counts[FINDING_PROBLEM],
                             counts[FINDING_PROBLEM] == 1 ? "" : "s",
                             counts[FINDING_UNKNOWN] ? ", and some checks are undecided" : "");
        else
                output_print("no problem found%s\n",
                             counts[FINDING_UNKNOWN] ? ", but some checks are undecided" : "");
}

/* False if there is a problem, or a check is undecided. */
static bool checks_run(const char *socket, pid_t pid, bool is_json)
{
        Finding findings[G_N_ELEMENTS(CHECKS)] = {};
        unsigned counts[_FINDING_STATUS_MAX] = {}, hindered = 0;
        Doctor doctor;
        bool is_over;
        size_t i;

        doctor_init(&doctor, socket, pid);
        for (i = 0; i < G_N_ELEMENTS(CHECKS); i++)
                CHECKS[i].run(&doctor, &findings[i]);
        /* If the process has ended, another one may have the pid. */
        is_over = doctor_is_inspected(&doctor) && inspection_is_over(&doctor.inspection);
        for (i = 0; i < G_N_ELEMENTS(CHECKS); i++) {
                if (is_over && CHECKS[i].is_of_process)
                        finding_clear(&findings[i]);
                if (is_over && CHECKS[i].run == check_process)
                        finding_set(&findings[i], FINDING_PROBLEM, "pgrep -a dotnet",
                                    "process %d has ended while it was looked at", (int)pid);
                if (!findings[i].text)
                        continue;
                if (findings[i].status == FINDING_PROBLEM || findings[i].status == FINDING_UNKNOWN)
                        hindered |= CHECKS[i].purposes;
                /* A problem of LTTng alone is a note if the process has EventPipe instead. */
                if (findings[i].status == FINDING_PROBLEM && doctor.is_by_eventpipe &&
                    CHECKS[i].purposes == FOR(LTTNG))
                        findings[i].status = FINDING_NOTE;
                counts[findings[i].status]++;
                if (is_json)
                        finding_print_json(CHECKS[i].name, &findings[i]);
                else
                        finding_print_text(CHECKS[i].name, &findings[i]);
                finding_clear(&findings[i]);
        }
        if (!is_json)
                print_result(counts, hindered);
        doctor_deinit(&doctor);
        return !counts[FINDING_PROBLEM] && !counts[FINDING_UNKNOWN];
}

static bool parse_pid(const char *text, guint64 *ret_pid)
{
        return g_ascii_string_to_unsigned(text, 10, 1, INT32_MAX, ret_pid, NULL);
}

const char *verb_doctor_check(const Options *options)
{
        guint64 pid;

        return *options->arguments && !parse_pid(*options->arguments, &pid)
                       ? "the argument is not a PID"
                       : NULL;
}

bool verb_doctor(const Options *options, GError **error)
{
        guint64 pid = 0;

        if (*options->arguments)
                parse_pid(*options->arguments, &pid);
        return checks_run(options->socket, (pid_t)pid, options_has(options, OPTION_JSON));
}

/* SPDX-License-Identifier: MIT */
#include "doctor/verb.h"

#include "doctor/doctor.h"
#include "profile/printable.h"
#include "session/command-line.h"

#include <stdio.h>

enum {
        EXIT_WELL,
        EXIT_PROBLEM,
        EXIT_USAGE,
};

typedef struct Check {
        const char *name;
        CheckFn run;
        bool is_of_process; /* of the one that was named */
} Check;

static const Check CHECKS[] = {
        {"process", check_process, true},
        {"runtime", check_runtime, true},
        {"library", check_library, true},
        {"provider", check_provider, true},
        {"sessiond", check_sessiond, false},
        {"registered", check_registered, true},
        {"port", check_port, true},
        {"events-on", check_switched_on, true},
        {"clock", check_clock, true},
        {"session", check_session, false},
        {"tracked", check_tracked, true},
        {"events", check_events, false},
        {"contexts", check_contexts, false},
        {"losses", check_losses, false},
        {"relayd", check_relay, false},
        {"feed", check_feeder, false},
        {"babeltrace2", check_babeltrace, false},
        {"daemon", check_daemon, false},
        {"access", check_access, false},
        {"perf", check_perf, false},
};

static const char *const MARKS[_FINDING_STATUS_MAX] = {
        [FINDING_OK] = "ok",
        [FINDING_PROBLEM] = "NO",
        [FINDING_NOTE] = "note",
        [FINDING_UNKNOWN] = "?",
};

/* Both parts of a finding can have in them what others chose. */
static char *valid(const char *text)
{
        return text ? g_utf8_make_valid(text, -1) : NULL;
}

static void print_text(const char *name, const Finding *finding)
{
        g_autofree char *text = valid(finding->text), *mend = valid(finding->mend);
        g_autoptr(GString) line = g_string_new(NULL);

        g_string_append_printf(line, "%-4s %-11s ", MARKS[finding->status], name);
        printable_append(line, text);
        if (mend) {
                g_string_append_printf(line, "\n%17s-> ", "");
                printable_append(line, mend);
        }
        puts(line->str);
}

static void print_json(const char *name, const Finding *finding)
{
        g_autofree char *said = valid(finding->text), *mend = valid(finding->mend);
        json_t *object =
                json_pack("{s:s, s:s, s:s, s:s?}", "check", name, "status",
                          finding_status_name(finding->status), "text", said, "mend", mend);
        char *text = json_dumps(object, JSON_COMPACT);

        puts(text);
        free(text);
        json_decref(object);
}

/* The last line, for people: how it is on the whole. */
static void print_sum(const unsigned *counts)
{
        if (counts[FINDING_PROBLEM])
                printf("%u thing%s in the way%s\n", counts[FINDING_PROBLEM],
                       counts[FINDING_PROBLEM] == 1 ? " stands" : "s stand",
                       counts[FINDING_UNKNOWN] ? ", and not all is known" : "");
        else
                puts(counts[FINDING_UNKNOWN] ? "not all is known" : "nothing stands in the way");
}

static int run(const char *socket, pid_t pid, bool is_json)
{
        Finding findings[G_N_ELEMENTS(CHECKS)] = {};
        unsigned counts[_FINDING_STATUS_MAX] = {};
        Doctor doctor;
        bool is_over;
        size_t i;

        doctor_init(&doctor, socket, pid);
        for (i = 0; i < G_N_ELEMENTS(CHECKS); i++)
                CHECKS[i].run(&doctor, &findings[i]);
        /* What was seen of it may be of another one that has its pid now. */
        is_over = doctor_has_shown(&doctor) && inspection_is_over(&doctor.inspection);
        for (i = 0; i < G_N_ELEMENTS(CHECKS); i++) {
                if (is_over && CHECKS[i].is_of_process)
                        finding_clear(&findings[i]);
                if (is_over && CHECKS[i].run == check_process)
                        finding_set(&findings[i], FINDING_PROBLEM, "pgrep -a dotnet",
                                    "process %d has ended while it was looked at", (int)pid);
                if (!findings[i].text)
                        continue;
                counts[findings[i].status]++;
                if (is_json)
                        print_json(CHECKS[i].name, &findings[i]);
                else
                        print_text(CHECKS[i].name, &findings[i]);
                finding_clear(&findings[i]);
        }
        if (!is_json)
                print_sum(counts);
        doctor_deinit(&doctor);
        return counts[FINDING_PROBLEM] || counts[FINDING_UNKNOWN] ? EXIT_PROBLEM : EXIT_WELL;
}

int doctor_main(int argc, char **argv)
{
        g_autofree char *socket = NULL;
        gboolean is_json = FALSE;
        const GOptionEntry entries[] = {
                {"socket", 0, 0, G_OPTION_ARG_FILENAME, &socket, "ask the daemon at PATH", "PATH"},
                {"json", 'j', 0, G_OPTION_ARG_NONE, &is_json, "one JSON object a line", NULL},
                {NULL},
        };
        const CommandLine line = {
                .program = "clrsym doctor",
                .arguments = "[PID]",
                .max_arguments = 1,
                .summary = "Says what stands in the way of names, of one process or in general, "
                           "and the line that mends it.",
                .entries = entries,
        };
        g_autofree char **arguments = NULL;
        CommandLineResult result = command_line_read(&line, argc, argv, &arguments);
        guint64 pid = 0;

        if (result != COMMAND_LINE_GO)
                return result == COMMAND_LINE_HELP ? EXIT_WELL : EXIT_USAGE;
        if (arguments[0] && !g_ascii_string_to_unsigned(arguments[0], 10, 1, INT32_MAX, &pid, NULL))
                return command_line_fail(&line, "its argument is no PID");
        return run(socket, (pid_t)pid, is_json);
}

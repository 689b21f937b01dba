/* SPDX-License-Identifier: MIT */

/* Checks of the programs that are installed, and that run, on this machine */

#include "doctor/doctor.h"
#include "util/build-tree.h"
#include "util/subprocess.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN               "babeltrace-plugin-clrsym.so"
#define BABELTRACE_TIMEOUT_S 10
/* Its members see all processes. */
#define GROUP "clrsym"
/* Above this value, users may not even sample their own processes. */
#define MAX_PARANOID 2
#define PARANOID     "/proc/sys/kernel/perf_event_paranoid"

void check_daemon(const Doctor *doctor, Finding *finding)
{
        const char *error = doctor->daemon_error ? doctor->daemon_error
                                                 : "the daemon's answer cannot be understood";
        const char *advice = g_str_has_prefix(error, "no daemon") ? strstr(error, ": ") : NULL;

        if (!doctor->daemon_version)
                finding_set(finding, FINDING_PROBLEM, "sudo systemctl start clrsymd.socket", "%.*s",
                            advice ? (int)(advice - error) : -1, error);
        else if (strcmp(doctor->daemon_version, CLRSYM_VERSION))
                finding_set(finding, FINDING_PROBLEM, "sudo systemctl restart clrsymd.service",
                            "clrsymd is %s, but clrsym is " CLRSYM_VERSION, doctor->daemon_version);
        else if (doctor->n_later > 0)
                finding_set(finding, FINDING_NOTE, "install a newer clrsym",
                            "clrsymd %s answers; %" G_GINT64_FORMAT
                            " events are of a later version than it knows: it uses the fields that "
                            "it knows",
                            doctor->daemon_version, doctor->n_later);
        else
                finding_set(finding, FINDING_OK, NULL, "clrsymd %s answers",
                            doctor->daemon_version);
}

static bool is_member(const char *name)
{
        const struct group *group = getgrnam(name);
        g_autofree gid_t *groups = NULL;
        int i, n = getgroups(0, NULL);

        if (!group || n < 0)
                return false;
        groups = g_new(gid_t, (gsize)n + 1);
        n = getgroups(n, groups);
        for (i = 0; i < n; i++)
                if (groups[i] == group->gr_gid)
                        return true;
        return getegid() == group->gr_gid;
}

void check_access(const Doctor *doctor, Finding *finding)
{
        const struct passwd *user = getpwuid(geteuid());
        g_autofree char *fix =
                g_strdup_printf("sudo adduser %s " GROUP, user ? user->pw_name : "USER");

        if (geteuid() == 0 || is_member(GROUP))
                finding_set(finding, FINDING_OK, NULL, "you see the processes of all users");
        else if (doctor->inspection.has_uid && doctor->inspection.uid != geteuid())
                finding_set(finding, FINDING_PROBLEM, fix,
                            "the process is another user's, and you are not in the group " GROUP);
        else
                finding_set(finding, FINDING_OK, NULL,
                            "you see your own processes (those of all users: %s)", fix);
}

/* The option by which babeltrace2 finds the plugin; NULL: the plugin is not found. */
static char *babeltrace_plugin_option(void)
{
        g_autofree char *built = build_tree_file("plugins/" PLUGIN);
        g_autofree char *directory = built ? g_path_get_dirname(built) : NULL;

        if (g_file_test(CLRSYM_PLUGIN_DIR "/" PLUGIN, G_FILE_TEST_EXISTS))
                return g_strdup("--plugin-path=" CLRSYM_PLUGIN_DIR);
        return directory ? g_strconcat("--plugin-path=", directory, NULL) : NULL;
}

void check_babeltrace(const Doctor *doctor, Finding *finding)
{
        g_autofree char *plugin = babeltrace_plugin_option(), *output = NULL;
        /* An option of babeltrace2, not of its command. */
        char *const command[] = {(char *)"babeltrace2", plugin ? plugin : (char *)"list-plugins",
                                 plugin ? (char *)"list-plugins" : NULL, NULL};

        switch (subprocess_run((char **)command, BABELTRACE_TIMEOUT_S, &output)) {
        case SUBPROCESS_NONE:
                finding_set(finding, FINDING_NOTE, "sudo apt install babeltrace2",
                            "babeltrace2 is not installed: only clrsym's plugin for it needs it");
                return;
        case SUBPROCESS_TIMEOUT:
                finding_set(finding, FINDING_PROBLEM, NULL,
                            "babeltrace2 does not end: babeltrace2 list-plugins");
                return;
        case SUBPROCESS_FAILED:
        case SUBPROCESS_OK:
                break;
        }
        if (strstr(output, "sink.clrsym.feed"))
                finding_set(finding, FINDING_OK, NULL, "babeltrace2 has clrsym's plugin");
        else
                finding_set(finding, FINDING_NOTE,
                            "install the package babeltrace2-plugin-clrsym, or set "
                            "BABELTRACE_PLUGIN_PATH to where babeltrace-plugin-clrsym.so is",
                            "babeltrace2 does not find clrsym's plugin");
}

void check_perf(const Doctor *doctor, Finding *finding)
{
        g_autofree char *text = NULL;
        gint64 paranoid;

        if (!g_file_get_contents(PARANOID, &text, NULL, NULL)) {
                finding_set(finding, FINDING_UNKNOWN, "ls " PARANOID,
                            "whether perf may record is unknown: " PARANOID " cannot be read");
                return;
        }
        paranoid = g_ascii_strtoll(text, NULL, 10);
        if (geteuid() != 0 && paranoid > MAX_PARANOID)
                finding_set(finding, FINDING_PROBLEM, "sudo sysctl kernel.perf_event_paranoid=1",
                            "perf_event_paranoid is %" G_GINT64_FORMAT
                            ": only root may record with perf",
                            paranoid);
        else
                finding_set(finding, FINDING_OK, NULL,
                            "you may record: perf record -k mono, for the clock of the events");
}

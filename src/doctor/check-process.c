/* SPDX-License-Identifier: MIT */

/*
 * Checks of the process that was named: what it runs on, and what that has loaded
 */

#include "doctor/doctor.h"
#include "doctor/elf-file.h"
#include "doctor/library.h"
#include "doctor/rooted.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROVIDER        "libcoreclrtraceptprovider.so"
#define DEFAULT_LIBRARY "liblttng-ust.so.0"
#define NEWER_LIBRARY   "liblttng-ust.so.1"

void check_process(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const struct passwd *user = inspection->has_uid ? getpwuid(inspection->uid) : NULL;
        const int pid = (int)doctor->pid;
        g_autofree char *as_root = g_strdup_printf("sudo clrsym doctor %d", pid);

        if (!pid)
                return;
        switch (inspection->state) {
        case INSPECTION_DONE:
                finding_set(finding, FINDING_OK, NULL, "process %d may be looked into", pid);
                break;
        case INSPECTION_NONE:
                finding_set(finding, FINDING_PROBLEM, "pgrep -a dotnet", "there is no process %d",
                            pid);
                break;
        case INSPECTION_REFUSED:
                if (geteuid() == 0)
                        finding_set(finding, FINDING_UNKNOWN,
                                    "run clrsym outside of this container",
                                    "process %d may not be looked into from here, not even by root",
                                    pid);
                else if (inspection->uid == geteuid())
                        finding_set(finding, FINDING_UNKNOWN, as_root,
                                    "process %d has more rights than you: what it is is unknown",
                                    pid);
                else
                        finding_set(finding, FINDING_UNKNOWN, as_root,
                                    "process %d is of user %s: what it is is unknown", pid,
                                    user ? user->pw_name : "?");
                break;
        case INSPECTION_UNCLEAR:
                finding_set(finding, FINDING_UNKNOWN, NULL, "process %d cannot be looked into: %s",
                            pid, inspection->reason);
                break;
        }
}

void check_runtime(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const char *error = inspection_text(inspection, "program_error");

        if (!doctor_has_shown(doctor))
                return;
        if (inspection_is(inspection, "mono"))
                finding_set(finding, FINDING_PROBLEM,
                            "publish it for CoreCLR: without UseMonoRuntime",
                            "it runs on Mono, which says nothing to LTTng");
        else if (inspection_is(inspection, "musl") && doctor_has_runtime(doctor))
                finding_set(finding, FINDING_PROBLEM,
                            "use an image with glibc: one whose tag does not end with -alpine",
                            "its runtime is built for musl, and has no LTTng provider");
        else if (inspection_is(inspection, "compiled"))
                finding_set(finding, FINDING_PROBLEM, "publish it without PublishAot",
                            "it was compiled ahead of time (NativeAOT): its runtime says nothing "
                            "to LTTng, and perf names its code without help");
        else if (inspection_is(inspection, "single_file"))
                finding_set(finding, FINDING_PROBLEM,
                            "publish it without PublishSingleFile, as files",
                            "it was published as a single file, without the LTTng provider");
        else if (doctor_has_runtime(doctor))
                finding_set(finding, FINDING_OK, NULL, "its runtime is %s/libcoreclr.so",
                            inspection_text(inspection, "runtime"));
        else if (error)
                finding_set(finding, FINDING_UNKNOWN, NULL,
                            "it has no libcoreclr.so, and its program cannot be read: %s", error);
        else
                finding_set(finding, FINDING_PROBLEM, "pgrep -a dotnet",
                            "it is no .NET process: it has no libcoreclr.so");
}

static void tell_library(Finding *finding, const char *wanted, bool is_there, bool has_newer,
                         const char *where)
{
        g_autofree char *mend = g_strdup_printf(
                "sudo apt install liblttng-ust0%s: see LIBRARY in clrsym-doctor(1)", where);

        if (is_there)
                finding_set(finding, FINDING_OK, NULL, "%s is there", wanted);
        else
                finding_set(finding, FINDING_PROBLEM, mend, "the runtime's provider wants %s, %s",
                            wanted,
                            has_newer ? "and only " NEWER_LIBRARY " is there"
                                      : "which is not installed");
}

/* For programs in general: as Microsoft builds the runtime. */
static void check_library_here(Finding *finding)
{
        int root = rooted_open_root(0);
        ElfKind kind;

        if (root < 0)
                return;
        if (elf_own_kind(&kind))
                tell_library(finding, DEFAULT_LIBRARY,
                             library_is_found(root, DEFAULT_LIBRARY, NULL, &kind),
                             library_is_found(root, NEWER_LIBRARY, NULL, &kind), "");
        close(root);
}

void check_library(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const char *wanted = inspection_text(inspection, "wanted");

        if (!doctor->pid)
                check_library_here(finding);
        else if (wanted)
                tell_library(finding, wanted, inspection_is(inspection, "has_wanted"),
                             inspection_is(inspection, "has_newer"), " in its root directory");
}

void check_provider(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const char *error = inspection_text(inspection, "provider_error");

        if (!doctor_has_runtime(doctor))
                return;
        if (inspection_is(inspection, "provider"))
                finding_set(finding, FINDING_OK, NULL, "it has loaded " PROVIDER);
        else if (inspection_is(inspection, "lttng_off"))
                finding_set(finding, FINDING_PROBLEM, "start it without DOTNET_LTTng=0",
                            "it was started with DOTNET_LTTng=0, and says nothing to LTTng");
        else if (error)
                finding_set(finding, FINDING_UNKNOWN, NULL,
                            "it has not loaded " PROVIDER ", which cannot be read: %s", error);
        else if (!inspection_is(inspection, "provider_file"))
                finding_set(finding, FINDING_PROBLEM, "install the runtime as Microsoft builds it",
                            "there is no " PROVIDER " beside its libcoreclr.so");
        else if (inspection_text(inspection, "wanted") && !inspection_is(inspection, "has_wanted"))
                finding_set(finding, FINDING_PROBLEM,
                            "mend the check \"library\", and start it again",
                            "it has not loaded " PROVIDER);
        else
                finding_set(finding, FINDING_PROBLEM,
                            "start it again, as: LD_DEBUG=libs dotnet ... 2>&1 | grep -i lttng",
                            "it has not loaded " PROVIDER ", though what that wants is there now");
}

/* A process of that pid: in which pid namespace the session daemon does not say. */
static bool is_registered(const Facts *facts, int32_t vpid)
{
        guint i;

        for (i = 0; i < facts->providers->len; i++)
                if (g_array_index(facts->providers, int32_t, i) == vpid)
                        return true;
        return false;
}

/* Why the session daemon that we talk to does not know it. */
static void tell_unregistered(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const Facts *facts = &doctor->facts;
        const char *socket = inspection_text(inspection, "app_socket");
        const char *home = inspection_text(inspection, "home");
        const struct passwd *user = getpwuid(inspection->uid);
        g_autofree char *own_home = facts_home();
        g_autofree char *mend = NULL;

        if (facts->daemon_uid == 0 && !g_strcmp0(socket, "none"))
                finding_set(finding, FINDING_PROBLEM,
                            "run the container with -v /run/lttng:/run/lttng and "
                            "-v /dev/shm:/dev/shm",
                            "there is no /run/lttng in its root directory, so it cannot reach "
                            "lttng-sessiond");
        else if (facts->daemon_uid == 0 && !g_strcmp0(socket, "refused"))
                finding_set(
                        finding, FINDING_PROBLEM,
                        "sudo chmod 755 /run/lttng && sudo chmod 666 /run/lttng/lttng-ust-sock-*",
                        "its user may not connect to lttng-sessiond in /run/lttng");
        else if (facts->daemon_uid != 0 && facts->daemon_uid != inspection->uid) {
                mend = g_strdup_printf("sudo lttng-sessiond --daemonize; sudo clrsym doctor %d",
                                       (int)doctor->pid);
                finding_set(finding, FINDING_PROBLEM, mend,
                            "lttng-sessiond is yours: a process of user %s cannot reach it, but "
                            "root's",
                            user ? user->pw_name : "?");
        } else if (facts->daemon_uid != 0 && g_strcmp0(home, own_home)) {
                g_autofree char *quoted = g_shell_quote(own_home);

                mend = g_strdup_printf("start it with LTTNG_HOME=%s", quoted);
                finding_set(finding, FINDING_PROBLEM, mend,
                            "it looks for lttng-sessiond in %s/.lttng, but that is in %s/.lttng",
                            home ? home : "", own_home);
        } else {
                finding_set(finding, FINDING_PROBLEM, "start it again",
                            "lttng-sessiond does not know it: they do not find each other");
        }
}

void check_registered(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const int vpid = (int)json_integer_value(json_object_get(inspection->shown, "vpid"));

        if (!doctor_has_runtime(doctor) || !inspection_is(inspection, "provider") ||
            !doctor->facts.has_daemon)
                return;
        if (!is_registered(&doctor->facts, vpid))
                tell_unregistered(doctor, finding);
        else if (inspection_is(inspection, "is_nested"))
                finding_set(finding, FINDING_OK, NULL,
                            "lttng-sessiond knows a process %d, which it is to itself", vpid);
        else
                finding_set(finding, FINDING_OK, NULL, "lttng-sessiond knows it");
}

/* SPDX-License-Identifier: MIT */

/* Checks of the given process: its runtime, and the files that it has loaded */

#include "doctor/doctor.h"

#include "attach/tracepoints.h"
#include "doctor/library.h"
#include "util/elf-file.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROVIDER        "libcoreclrtraceptprovider.so"
#define DEFAULT_LIBRARY "liblttng-ust.so.0"
#define NEWER_LIBRARY   "liblttng-ust.so.1"
/* Programs with DEFAULT_LIBRARY register at lttng-ust-sock-8. */
#define LAST_OLD_ABI 8

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
                finding_set(finding, FINDING_OK, NULL, "process %d can be inspected", pid);
                break;
        case INSPECTION_NONE:
                finding_set(finding, FINDING_PROBLEM, "pgrep -a dotnet", "there is no process %d",
                            pid);
                break;
        case INSPECTION_REFUSED:
                if (geteuid() == 0)
                        finding_set(
                                finding, FINDING_UNKNOWN, "run clrsym outside of this container",
                                "process %d cannot be inspected from here, not even by root", pid);
                else if (inspection->uid == geteuid())
                        finding_set(finding, FINDING_UNKNOWN, as_root,
                                    "process %d has more permissions than you: nothing is known "
                                    "about it",
                                    pid);
                else
                        finding_set(finding, FINDING_UNKNOWN, as_root,
                                    "process %d is of user %s: nothing is known about it", pid,
                                    user ? user->pw_name : "?");
                break;
        case INSPECTION_UNCLEAR:
                finding_set(finding, FINDING_UNKNOWN, NULL, "process %d cannot be inspected: %s",
                            pid, inspection->reason);
                break;
        case _INSPECTION_STATE_MAX:
                break;
        }
}

/* The status of a finding that prevents events by LTTng: no problem if the diagnostic port can
 * provide them. */
static FindingStatus lttng_status(const Doctor *doctor)
{
        return doctor->is_by_eventpipe || doctor->inspection.facts.has_port ? FINDING_NOTE
                                                                            : FINDING_PROBLEM;
}

void check_runtime(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;
        const char *error = facts->program_error;
        g_autofree char *attach = g_strdup_printf("clrsym attach %d", (int)doctor->pid);

        if (!doctor_is_inspected(doctor))
                return;
        if (facts->has_mono)
                finding_set(finding, FINDING_PROBLEM,
                            "publish it for CoreCLR: without UseMonoRuntime",
                            "it runs on Mono, which emits nothing to LTTng");
        else if (facts->has_musl && doctor_has_runtime(doctor) && !facts->has_provider &&
                 !facts->has_provider_file)
                finding_set(finding, lttng_status(doctor),
                            "take the files of Microsoft's pack for musl, which has one",
                            "its runtime is built for musl, and there is no LTTng provider beside "
                            "it");
        else if (facts->is_native_aot)
                finding_set(finding, FINDING_PROBLEM, "publish it without PublishAot",
                            "it was compiled ahead of time (NativeAOT): its runtime emits nothing "
                            "to LTTng, and perf names its code without help");
        else if (facts->is_single_file && facts->has_port)
                finding_set(finding, FINDING_NOTE, attach,
                            "it was published as a single file, without the LTTng provider: clrsym "
                            "record and clrsym attach name its methods, and live LTTng cannot");
        else if (facts->is_single_file)
                finding_set(finding, FINDING_PROBLEM,
                            "publish it without PublishSingleFile, as files",
                            "it was published as a single file, without the LTTng provider");
        else if (doctor_has_runtime(doctor))
                finding_set(finding, FINDING_OK, NULL, "its runtime is %s/libcoreclr.so",
                            facts->runtime);
        else if (error)
                finding_set(finding, FINDING_UNKNOWN, NULL,
                            "it has no libcoreclr.so, and its program cannot be read: %s", error);
        else
                finding_set(finding, FINDING_PROBLEM, "pgrep -a dotnet",
                            "it is not a .NET process: it has no libcoreclr.so");
}

/* From LTTng 2.15 on, no program with the library of 2.12 or before can register, and nothing is
 * logged: only the name of the socket shows this. */
static bool library_is_too_old(const Doctor *doctor, const char *wanted)
{
        return doctor->sessiond.app_abi > LAST_OLD_ABI && !strcmp(wanted, DEFAULT_LIBRARY);
}

/* The command that installs the library, for Debian and for Alpine, which has musl. */
static char *library_fix(const Doctor *doctor, const char *wanted, const char *attach)
{
        const char *where = doctor->pid ? " in its root directory" : "";

        if (!doctor->inspection.facts.has_musl)
                return g_strdup_printf("sudo apt install liblttng-ust%s%s: see LIBRARY in "
                                       "clrsym-doctor(1)",
                                       strrchr(wanted, '.') + 1, where);
        /* Alpine no longer has a package with the old library. */
        if (!strcmp(wanted, DEFAULT_LIBRARY))
                return g_strdup(attach);
        return g_strdup_printf("apk add lttng-ust%s: see LIBRARY in clrsym-doctor(1)", where);
}

static void library_set_finding(const Doctor *doctor, Finding *finding, const char *wanted,
                                bool is_there, bool has_newer)
{
        g_autofree char *attach = doctor->pid
                                          ? g_strdup_printf("clrsym attach %d", (int)doctor->pid)
                                          : g_strdup("clrsym attach PID, over its diagnostic port");
        g_autofree char *fix = library_fix(doctor, wanted, attach);

        if (library_is_too_old(doctor, wanted))
                finding_set(finding, lttng_status(doctor), attach,
                            "the runtime's provider wants %s, which cannot register with this "
                            "LTTng (lttng-ust-sock-%u)",
                            wanted, doctor->sessiond.app_abi);
        else if (is_there)
                finding_set(finding, FINDING_OK, NULL, "%s is there", wanted);
        else
                finding_set(finding, lttng_status(doctor), fix,
                            "the runtime's provider needs %s, %s", wanted,
                            has_newer ? "and only " NEWER_LIBRARY " is there"
                                      : "which is not installed");
}

/* Without a process: for Microsoft's builds of the runtime. */
static void check_library_here(const Doctor *doctor, Finding *finding)
{
        FD_AUTO int root = rootfs_open_root(0);
        ElfFileKind kind;

        if (root < 0)
                return;
        if (elf_file_own_kind(&kind))
                library_set_finding(doctor, finding, DEFAULT_LIBRARY,
                                    library_is_found(root, DEFAULT_LIBRARY, NULL, &kind),
                                    library_is_found(root, NEWER_LIBRARY, NULL, &kind));
}

void check_library(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;

        if (!doctor->pid)
                check_library_here(doctor, finding);
        else if (facts->library)
                library_set_finding(doctor, finding, facts->library, facts->has_library,
                                    facts->has_newer_library);
}

/* No problem if the events come in another way. */
static void lost_set_finding(const Doctor *doctor, Finding *finding)
{
        const bool is_served = doctor->is_attached || doctor->n_live > 0;
        g_autofree char *fix =
                g_strdup_printf("clrsym attach --via=eventpipe %d, or for LTTng start it again "
                                "with the variables of: clrsym env",
                                (int)doctor->pid);

        finding_set(finding, is_served ? FINDING_NOTE : FINDING_PROBLEM, fix, "%s",
                    TRACEPOINTS_LOST_REASON);
}

void check_provider(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;
        const char *error = facts->provider_error;

        if (!doctor_has_runtime(doctor))
                return;
        if (facts->has_lost_tracepoints)
                lost_set_finding(doctor, finding);
        else if (facts->has_provider)
                finding_set(finding, FINDING_OK, NULL, "it has loaded " PROVIDER);
        else if (facts->is_lttng_off)
                finding_set(finding, lttng_status(doctor), "start it without DOTNET_LTTng=0",
                            "it was started with DOTNET_LTTng=0, and emits nothing to LTTng");
        else if (error)
                finding_set(finding, FINDING_UNKNOWN, NULL,
                            "it has not loaded " PROVIDER ", which cannot be read: %s", error);
        else if (!facts->has_provider_file)
                finding_set(finding, lttng_status(doctor),
                            "install the runtime as Microsoft builds it",
                            "there is no " PROVIDER " beside its libcoreclr.so");
        else if (facts->library && !facts->has_library)
                finding_set(finding, lttng_status(doctor),
                            "fix the check \"library\", and start it again",
                            "it has not loaded " PROVIDER);
        else
                finding_set(finding, lttng_status(doctor),
                            "start it again, as: LD_DEBUG=libs dotnet ... 2>&1 | grep -i lttng",
                            "it has not loaded " PROVIDER
                            ", although the library that it needs is there now");
}

/* Compares pids only: the session daemon does not report pid namespaces. */
static bool sessiond_has_provider(const SessiondState *sessiond, int64_t vpid)
{
        const GArray *providers = sessiond->report.providers;
        guint i;

        for (i = 0; providers && i < providers->len; i++)
                if (g_array_index(providers, int64_t, i) == vpid)
                        return true;
        return false;
}

/* Why the session daemon does not know the process. */
static void unregistered_set_finding(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;
        const uid_t uid = doctor->inspection.uid, daemon_uid = doctor->sessiond.daemon_uid;
        const struct passwd *user = getpwuid(uid);
        g_autofree char *own_home = sessiond_home();
        g_autofree char *fix = NULL;

        if (daemon_uid == 0 && facts->roots_sessiond == SESSIOND_ACCESS_NO_SOCKET)
                finding_set(finding, FINDING_PROBLEM,
                            "run the container with -v /run/lttng:/run/lttng and "
                            "-v /dev/shm:/dev/shm",
                            "there is no /run/lttng in its root directory, so it cannot reach "
                            "lttng-sessiond");
        else if (daemon_uid == 0 && facts->roots_sessiond == SESSIOND_ACCESS_REFUSED)
                finding_set(
                        finding, FINDING_PROBLEM,
                        "sudo chmod 755 /run/lttng && sudo chmod 666 /run/lttng/lttng-ust-sock-*",
                        "its user may not connect to lttng-sessiond in /run/lttng");
        else if (daemon_uid != 0 && daemon_uid != uid) {
                fix = g_strdup_printf("sudo lttng-sessiond --daemonize; sudo clrsym doctor %d",
                                      (int)doctor->pid);
                finding_set(finding, FINDING_PROBLEM, fix,
                            "lttng-sessiond is yours: a process of user %s cannot reach it, but "
                            "can reach root's",
                            user ? user->pw_name : "?");
        } else if (daemon_uid != 0 && g_strcmp0(facts->lttng_home, own_home)) {
                g_autofree char *quoted = g_shell_quote(own_home);

                fix = g_strdup_printf("start it with LTTNG_HOME=%s", quoted);
                finding_set(finding, FINDING_PROBLEM, fix,
                            "it looks for lttng-sessiond in %s/.lttng, but that is in %s/.lttng",
                            facts->lttng_home ? facts->lttng_home : "", own_home);
        } else {
                finding_set(finding, FINDING_PROBLEM, "start it again",
                            "the process is not registered with lttng-sessiond");
        }
}

void check_registered(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;

        if (!doctor_has_runtime(doctor) || !facts->has_provider || facts->has_lost_tracepoints ||
            !doctor->sessiond.report.has_daemon)
                return;
        /* In a pid namespace of its own, it can have another pid for the session daemon. */
        if (!sessiond_has_provider(&doctor->sessiond, facts->vpid) &&
            !sessiond_has_provider(&doctor->sessiond, doctor->pid))
                unregistered_set_finding(doctor, finding);
        else if (facts->is_nested)
                finding_set(
                        finding, FINDING_OK, NULL,
                        "lttng-sessiond knows a process %d, which is its pid in its own namespace",
                        (int)facts->vpid);
        else
                finding_set(finding, FINDING_OK, NULL, "lttng-sessiond knows it");
}

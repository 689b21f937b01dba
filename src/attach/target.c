/* SPDX-License-Identifier: MIT */
#include "attach/target.h"

#include "attach/error.h"

#include "lines/bundle.h"
#include "util/elf-file.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc-stat.h"
#include "util/rootfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* In ms: how long a process may take to exit after its sockets are closed; a guess for a busy
 * machine. */
#define ENDING_MS 1000

/* Mapped files that reveal a property. */
static const struct {
        const char *name;
        size_t offset;
} MAPPED[] = {
        {"/libcoreclr.so", offsetof(Target, has_coreclr)},
        {"/libmonosgen-2.0.so", offsetof(Target, has_mono)},
        {"/libcoreclrtraceptprovider.so", offsetof(Target, has_provider)},
        {"/libicuuc.so.", offsetof(Target, has_icu)},
};

/* Variables that disable a feature if they are 0; with the prefix DOTNET_ or COMPlus_. */
static const struct {
        const char *name;
        size_t offset;
} SWITCHES[] = {
        {"EnableDiagnostics=", offsetof(Target, is_port_off)},
        {"EnableDiagnostics_IPC=", offsetof(Target, is_port_off)},
        {"LTTng=", offsetof(Target, is_lttng_off)},
};

#define TMPDIR       "TMPDIR="
#define LIBRARY_PATH "LD_LIBRARY_PATH="
#define INVARIANT    "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="

static const char *const PREFIXES[] = {"DOTNET_", "COMPlus_"};

static bool *target_flag(Target *target, size_t offset)
{
        return (bool *)((char *)target + offset);
}

/* The last column of each line is the file. */
void target_take_maps(Target *target, const char *text)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(MAPPED); i++)
                *target_flag(target, MAPPED[i].offset) = strstr(text, MAPPED[i].name) != NULL;
}

static const char *variable_without_prefix(const char *variable)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(PREFIXES); i++)
                if (g_str_has_prefix(variable, PREFIXES[i]))
                        return variable + strlen(PREFIXES[i]);
        return NULL;
}

/* Parses a setting as .NET does. */
static bool value_is(const char *value, bool wanted)
{
        return !strcmp(value, wanted ? "1" : "0") ||
               !g_ascii_strcasecmp(value, wanted ? "true" : "false");
}

void target_take_environment(Target *target, const char *text, size_t n)
{
        const char *end = text + n, *at;
        size_t i;

        for (at = text; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
                const char *own = variable_without_prefix(at);

                if (g_str_has_prefix(at, TMPDIR) && at[strlen(TMPDIR)]) {
                        g_free(target->directory);
                        target->directory = g_strdup(at + strlen(TMPDIR));
                }
                if (g_str_has_prefix(at, LIBRARY_PATH)) {
                        g_free(target->library_path);
                        target->library_path = g_strdup(at + strlen(LIBRARY_PATH));
                }
                if (g_str_has_prefix(at, INVARIANT)) {
                        target->is_invariant = value_is(at + strlen(INVARIANT), true);
                        target->is_never_invariant = value_is(at + strlen(INVARIANT), false);
                }
                for (i = 0; own && i < G_N_ELEMENTS(SWITCHES); i++)
                        if (g_str_has_prefix(own, SWITCHES[i].name) &&
                            !strcmp(own + strlen(SWITCHES[i].name), "0"))
                                *target_flag(target, SWITCHES[i].offset) = true;
        }
}

static void target_set_not_allowed(const Target *target, GError **error)
{
        const struct passwd *user = getpwuid(target->info.uid);

        if (geteuid() == 0)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_ALLOWED,
                            "process %d cannot be inspected from here, not even by root: run "
                            "clrsym outside of this container",
                            (int)target->info.host_pid);
        else if (target->info.uid == geteuid())
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_ALLOWED,
                            "process %d has more rights than you: run clrsym as root",
                            (int)target->info.host_pid);
        else
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_ALLOWED,
                            "process %d is of user %s: run clrsym as that user, or as root",
                            (int)target->info.host_pid, user ? user->pw_name : "?");
}

static bool target_set_no_process(pid_t pid, GError **error)
{
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PROCESS,
                    "there is no process %d: pgrep -a dotnet lists some", (int)pid);
        return false;
}

/* The maps or the environment of the target are unreadable, for ERROR_NUMBER. */
static bool target_set_unreadable(const Target *target, int error_number, GError **error)
{
        switch (error_number) {
        case EACCES:
        case EPERM:
                target_set_not_allowed(target, error);
                return false;
        case EFBIG:
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "process %d has too large an environment, or too many files mapped",
                            (int)target->info.host_pid);
                return false;
        default:
                return target_set_no_process(target->info.host_pid, error);
        }
}

bool target_open(pid_t pid, Target *ret_target, GError **error)
{
        g_auto(Target) target = {.pidfd = -1};
        g_autofree char *maps = NULL, *environment = NULL;
        size_t n_maps = 0, n = 0;
        ProcStat stat;

        target.pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
        if (target.pidfd < 0 || !proc_stat_read(pid, &stat) || stat.state == 'Z')
                return target_set_no_process(pid, error);
        target.start_ticks = stat.start_ticks;
        if (!proc_read(pid, &target.info)) {
                /* The process exists, but in a namespace that we may not inspect. */
                target.info.host_pid = pid;
                if (!proc_uid(pid, &target.info.uid))
                        return target_set_no_process(pid, error);
                target_set_not_allowed(&target, error);
                return false;
        }
        maps = proc_read_file(pid, "maps", PROC_MAX_MAPS, &n_maps);
        environment = maps ? proc_read_file(pid, "environ", PROC_MAX_ENVIRONMENT, &n) : NULL;
        if (!environment)
                return target_set_unreadable(&target, errno, error);
        target.directory = g_strdup("/tmp");
        target_take_maps(&target, maps);
        target_take_environment(&target, environment, n);
        /* If the process still runs, no other process had its pid meanwhile. */
        if (!proc_stat_read(pid, &stat) || stat.start_ticks != target.start_ticks ||
            target_has_ended(&target))
                return target_set_no_process(pid, error);
        *ret_target = target;
        target = (Target){.pidfd = -1};
        return true;
}

void target_close(Target *target)
{
        fd_clear(&target->pidfd);
        g_clear_pointer(&target->directory, g_free);
        g_clear_pointer(&target->library_path, g_free);
}

const ProcessKey *target_key(const Target *target)
{
        return &target->info.levels[target->info.n_levels - 1];
}

bool target_ends_within(const Target *target, int ms)
{
        struct pollfd fd = {.fd = target->pidfd, .events = POLLIN};

        return poll(&fd, 1, ms) != 0;
}

bool target_has_ended(const Target *target)
{
        return target_ends_within(target, 0);
}

bool target_is_ending(const Target *target)
{
        return target_ends_within(target, ENDING_MS);
}

bool target_has_started(const Target *target)
{
        const pid_t pid = target->info.host_pid;
        g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
        g_autoptr(GDir) threads = g_dir_open(path, 0, NULL);
        bool is_found = false;
        const char *entry;

        while (!is_found && threads && (entry = g_dir_read_name(threads))) {
                g_autofree char *name = proc_thread_name(pid, (pid_t)strtol(entry, NULL, 10));

                is_found = !g_strcmp0(name, ".NET Finalizer");
        }
        return is_found;
}

TargetProgram target_program_of_file(int fd)
{
        TargetProgram program = TARGET_PROGRAM_OTHER;
        ElfFile file;

        if (!elf_file_open(&file, fd))
                return TARGET_PROGRAM_OTHER;
        /* A single-file program exports the other symbol, too. */
        if (elf_file_exports(&file, "DotNetRuntimeInfo"))
                program = TARGET_PROGRAM_SINGLE_FILE;
        else if (elf_file_exports(&file, "DotNetRuntimeDebugHeader"))
                program = TARGET_PROGRAM_COMPILED;
        elf_file_close(&file);
        return program;
}

bool target_is_compiled(const Target *target)
{
        FD_AUTO int fd = rootfs_open_program(target->info.host_pid);

        return fd >= 0 && target_program_of_file(fd) == TARGET_PROGRAM_COMPILED;
}

bool target_is_packed(const Target *target)
{
        FD_AUTO int host = -1;

        /* The program contains its runtime, too. */
        if (target->has_coreclr || target->has_mono)
                return false;
        host = rootfs_open_program(target->info.host_pid);
        return host >= 0 && bundle_is_packed(host);
}

char *target_refuses_socket(const Target *target)
{
        g_autofree char *path =
                g_strdup_printf("%s/dotnet-diagnostic-%d-%" PRIu64 "-socket", target->directory,
                                target_key(target)->pid, target->start_ticks);
        FD_AUTO int root = rootfs_open_root(target->info.host_pid);
        FD_AUTO int directory =
                root >= 0 ? rootfs_open(root, target->directory, O_PATH | O_DIRECTORY) : -1;

        if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
                return g_strdup_printf("the path of its $TMPDIR, %s, is too long for a socket in "
                                       "there",
                                       target->directory);
        if (root >= 0 && directory < 0 && (errno == ENOENT || errno == ENOTDIR))
                return g_strdup_printf("its root directory has no directory %s, which is its "
                                       "$TMPDIR",
                                       target->directory);
        return NULL;
}

Tracepoints target_tracepoints(const Target *target)
{
        size_t n;
        g_autofree char *maps = proc_read_file(target->info.host_pid, "maps", PROC_MAX_MAPS, &n);

        return maps ? tracepoints_of_process(target->info.host_pid, maps) : TRACEPOINTS_UNKNOWN;
}

bool target_can_emit(const Target *target)
{
        return target->has_provider && target_tracepoints(target) != TRACEPOINTS_LOST;
}

bool target_check_provider(const Target *target, GError **error)
{
        g_autofree char *lost = NULL, *unloaded = NULL;
        const char *why;

        if (target_can_emit(target))
                return true;
        if (target->has_provider)
                why = lost = g_strdup_printf("%s: attach it with --via=eventpipe, or start it with "
                                             "the variables of clrsym env",
                                             TRACEPOINTS_LOST_REASON);
        else if (target->is_lttng_off)
                why = "it was started with DOTNET_LTTng=0: start it without";
        else if (target->has_mono)
                why = "it runs on Mono, which has no LTTng provider";
        else if (target->has_coreclr)
                why = unloaded = g_strdup_printf(
                        "its runtime has not loaded libcoreclrtraceptprovider.so: clrsym doctor "
                        "%d has the reason; or attach it with --via=eventpipe",
                        (int)target->info.host_pid);
        else
                why = "it was published as a single file or compiled ahead of time, without "
                      "libcoreclrtraceptprovider.so: publish it as files, or attach a single file "
                      "with --via=eventpipe";
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PROVIDER,
                    "process %d emits nothing to LTTng: %s", (int)target->info.host_pid, why);
        return false;
}

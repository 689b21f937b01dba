/* SPDX-License-Identifier: MIT */
#include "attach/target.h"

#include "attach/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of /proc/PID/stat, counted from the one behind the command. */
enum {
        FIELD_STATE = 0,
        FIELD_STARTTIME = 19,
};

/* A guess: from when the sockets of a process are closed until it has ended, on a busy machine. */
#define ENDING_MS 1000

/* Files that are mapped, and what they tell. */
static const struct {
        const char *name;
        size_t offset;
} MAPPED[] = {
        {"/libcoreclr.so", offsetof(Target, has_coreclr)},
        {"/libmonosgen-2.0.so", offsetof(Target, has_mono)},
        {"/libcoreclrtraceptprovider.so", offsetof(Target, has_provider)},
        {"/ld-musl-", offsetof(Target, has_musl)},
};

/* Variables that, being 0, switch something off; with the prefix DOTNET_ or COMPlus_. */
static const struct {
        const char *name;
        size_t offset;
} SWITCHES[] = {
        {"EnableDiagnostics=", offsetof(Target, is_port_off)},
        {"EnableDiagnostics_IPC=", offsetof(Target, is_port_off)},
        {"LTTng=", offsetof(Target, is_lttng_off)},
};

#define TMPDIR "TMPDIR="

static const char *const PREFIXES[] = {"DOTNET_", "COMPlus_"};

static bool read_proc(pid_t pid, const char *name, char **ret_text, gsize *ret_n)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
        g_autoptr(GError) error = NULL;

        *ret_text = NULL;
        if (g_file_get_contents(path, ret_text, ret_n, &error))
                return true;
        errno = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
                                g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_PERM)
                        ? EACCES
                        : ESRCH;
        return false;
}

bool target_state(pid_t pid, char *ret_state, uint64_t *ret_start_ticks)
{
        g_autofree char *text = NULL;
        g_auto(GStrv) fields = NULL;
        const char *behind;

        if (!read_proc(pid, "stat", &text, NULL))
                return false;
        behind = strrchr(text, ')'); /* the command may hold anything */
        fields = behind && behind[1] ? g_strsplit(behind + 2, " ", FIELD_STARTTIME + 2) : NULL;
        if (!fields || g_strv_length(fields) < FIELD_STARTTIME + 1)
                return false;
        *ret_state = *fields[FIELD_STATE];
        *ret_start_ticks = g_ascii_strtoull(fields[FIELD_STARTTIME], NULL, 10);
        return true;
}

static bool *member(Target *target, size_t offset)
{
        return (bool *)((char *)target + offset);
}

/* The last column of a map's lines is the file. */
static void read_maps(const char *maps, Target *target)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(MAPPED); i++)
                *member(target, MAPPED[i].offset) = strstr(maps, MAPPED[i].name) != NULL;
}

static const char *without_prefix(const char *variable)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(PREFIXES); i++)
                if (g_str_has_prefix(variable, PREFIXES[i]))
                        return variable + strlen(PREFIXES[i]);
        return NULL;
}

/* As it was when the process began: what the runtime read. */
static void read_environment(const char *text, gsize n, Target *target)
{
        const char *end = text + n, *at;
        size_t i;

        for (at = text; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
                const char *own = without_prefix(at);

                if (g_str_has_prefix(at, TMPDIR) && at[strlen(TMPDIR)]) {
                        g_free(target->directory);
                        target->directory = g_strdup(at + strlen(TMPDIR));
                }
                for (i = 0; own && i < G_N_ELEMENTS(SWITCHES); i++)
                        if (g_str_has_prefix(own, SWITCHES[i].name) &&
                            !strcmp(own + strlen(SWITCHES[i].name), "0"))
                                *member(target, SWITCHES[i].offset) = true;
        }
}

static void set_not_allowed(const Target *target, GError **error)
{
        const struct passwd *user = getpwuid(target->info.uid);

        if (geteuid() == 0)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_ALLOWED,
                            "process %d may not be looked into from here, not even by root: run "
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

static bool set_no_process(pid_t pid, GError **error)
{
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PROCESS,
                    "there is no process %d: pgrep -a dotnet lists some", (int)pid);
        return false;
}

bool target_open(pid_t pid, Target *ret_target, GError **error)
{
        g_auto(Target) target = {.pidfd = -1};
        g_autofree char *maps = NULL, *environment = NULL;
        gsize n = 0;
        uint64_t ticks = 0;
        char state;

        target.pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
        if (target.pidfd < 0 || !target_state(pid, &state, &target.start_ticks) || state == 'Z')
                return set_no_process(pid, error);
        if (!proc_read(pid, &target.info)) {
                /* There is one, but it is not shown to us: it is in another namespace. */
                target.info.host_pid = pid;
                if (!proc_uid(pid, &target.info.uid))
                        return set_no_process(pid, error);
                set_not_allowed(&target, error);
                return false;
        }
        if (!read_proc(pid, "maps", &maps, NULL) || !read_proc(pid, "environ", &environment, &n)) {
                if (errno != EACCES)
                        return set_no_process(pid, error);
                set_not_allowed(&target, error);
                return false;
        }
        target.directory = g_strdup("/tmp");
        read_maps(maps, &target);
        read_environment(environment, n, &target);
        /* All of that is of one process if it still runs: then its pid was nobody else's. */
        if (!target_state(pid, &state, &ticks) || ticks != target.start_ticks ||
            target_has_ended(&target))
                return set_no_process(pid, error);
        *ret_target = target;
        target = (Target){.pidfd = -1};
        return true;
}

void target_close(Target *target)
{
        if (target->pidfd >= 0)
                close(target->pidfd);
        target->pidfd = -1;
        g_clear_pointer(&target->directory, g_free);
}

const ProcessKey *target_key(const Target *target)
{
        return &target->info.levels[target->info.n_levels - 1];
}

static bool ends_within(const Target *target, int ms)
{
        struct pollfd fd = {.fd = target->pidfd, .events = POLLIN};

        return poll(&fd, 1, ms) != 0;
}

bool target_has_ended(const Target *target)
{
        return ends_within(target, 0);
}

bool target_is_ending(const Target *target)
{
        return ends_within(target, ENDING_MS);
}

bool target_check_provider(const Target *target, GError **error)
{
        const char *why;

        if (target->has_provider)
                return true;
        if (target->is_lttng_off)
                why = "it was started with DOTNET_LTTng=0: start it without";
        else if (target->has_mono)
                why = "it runs on Mono, which has no LTTng provider";
        else if (target->has_musl)
                why = "its runtime is built for musl, which has no LTTng provider";
        else if (target->has_coreclr)
                why = "its runtime could not load libcoreclrtraceptprovider.so: that needs "
                      "liblttng-ust.so.0 in the root directory of the process";
        else
                why = "it was published as a single file or compiled ahead of time, without "
                      "libcoreclrtraceptprovider.so: publish it as files";
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PROVIDER,
                    "process %d tells LTTng nothing: %s", (int)target->info.host_pid, why);
        return false;
}

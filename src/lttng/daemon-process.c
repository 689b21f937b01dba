/* SPDX-License-Identifier: MIT */
#include "lttng/daemon-process.h"

#include "lttng/errors.h"
#include "lttng/tcp-port.h"
#include "util/child.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc-stat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_TIMEOUT   (20 * G_TIME_SPAN_SECOND)
#define POLL_INTERVAL   (20 * G_TIME_SPAN_MILLISECOND)
#define STOP_TIMEOUT_MS 10000
/* Bytes from the end of its log that are shown when it fails. */
#define MAX_SHOWN 600

uint64_t daemon_process_start_ticks(pid_t pid)
{
        ProcStat stat;

        return pid > 0 && proc_stat_read(pid, &stat) && stat.state != 'Z' ? stat.start_ticks : 0;
}

bool daemon_process_is_running(const DaemonProcess *process)
{
        return process->pid > 0 && daemon_process_start_ticks(process->pid) == process->start_ticks;
}

/* In the child: only calls that are safe after fork(). */
static void G_GNUC_NORETURN child_exec(char **command, pid_t net, int log, int report)
{
        sigset_t none;
        int null, number, error;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (number = 1; number < NSIG; number++)
                signal(number, SIG_DFL);
        setsid();
        null = open("/dev/null", O_RDWR);
        if ((net == 0 || net_namespace_enter(net)) && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
            dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0 && chdir("/") == 0)
                execvp(command[0], command);
        error = errno;
        if (write(report, &error, sizeof(error)) < 0)
                _exit(126);
        _exit(127);
}

static char *log_tail(const char *log)
{
        g_autofree char *text = NULL;
        gsize n = 0;

        if (!g_file_get_contents(log, &text, &n, NULL) || n == 0)
                return g_strdup("it printed nothing");
        g_strchomp(text);
        n = strlen(text);
        return g_utf8_make_valid(n > MAX_SHOWN ? text + n - MAX_SHOWN : text, -1);
}

static void child_kill(pid_t pid)
{
        kill(pid, SIGKILL);
        child_wait(pid, G_MAXINT64, -1, NULL);
}

static bool child_wait_until_ready(pid_t pid, const char *name, const char *log,
                                   bool (*is_ready)(void *data), void *data, GError **error)
{
        gint64 deadline = g_get_monotonic_time() + READY_TIMEOUT;
        g_autofree char *output = NULL;

        while (!is_ready(data)) {
                if (child_wait(pid, g_get_monotonic_time() + POLL_INTERVAL, -1, NULL)) {
                        output = log_tail(log);
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED, "%s ended at once: %s",
                                    name, output);
                        return false;
                }
                if (g_get_monotonic_time() > deadline) {
                        child_kill(pid);
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                                    "%s was not ready in time: see %s", name, log);
                        return false;
                }
        }
        return true;
}

bool daemon_process_start(char **command, pid_t net, const char *log, bool (*is_ready)(void *data),
                          void *data, DaemonProcess *ret_service, GError **error)
{
        FD_AUTO int log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        FD_AUTO int report_in = -1, report_out = -1;
        int report[2], failed = 0;
        bool has_failed;
        pid_t pid;

        if (log_fd < 0 || pipe2(report, O_CLOEXEC) < 0) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED, "cannot write %s: %s", log,
                            g_strerror(errno));
                return false;
        }
        report_in = report[0];
        report_out = report[1];
        pid = fork();
        if (pid == 0)
                child_exec(command, net, log_fd, report_out);
        failed = pid < 0 ? errno : 0;
        /* exec() closes it, so that the parent reads the end of file. */
        fd_clear(&report_out);
        has_failed = pid < 0 || read(report_in, &failed, sizeof(failed)) == sizeof(failed);
        if (has_failed) {
                if (pid > 0)
                        child_wait(pid, G_MAXINT64, -1, NULL);
                g_set_error(error, LTTNG_ERROR,
                            failed == ENOENT ? LTTNG_ERROR_MISSING : LTTNG_ERROR_FAILED,
                            "cannot start %s: %s%s", command[0], g_strerror(failed),
                            failed == ENOENT ? ": apt install lttng-tools" : "");
                return false;
        }
        if (!child_wait_until_ready(pid, command[0], log, is_ready, data, error))
                return false;
        *ret_service = (DaemonProcess){.pid = pid, .start_ticks = daemon_process_start_ticks(pid)};
        return true;
}

bool daemon_process_stop(const DaemonProcess *process)
{
        FD_AUTO int fd = process->pid > 0 ? pidfd_open(process->pid, 0) : -1;
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        bool has_ended = true;

        /* The descriptor keeps the pid from being reused. */
        if (fd >= 0 && daemon_process_is_running(process)) {
                pidfd_send_signal(fd, SIGTERM, NULL, 0);
                if (poll(&poll_fd, 1, STOP_TIMEOUT_MS) == 0) {
                        has_ended = false;
                        pidfd_send_signal(fd, SIGKILL, NULL, 0);
                        poll(&poll_fd, 1, STOP_TIMEOUT_MS);
                }
                /* Reaps it, if it is our child. */
                waitpid(process->pid, NULL, WNOHANG);
        }
        return has_ended;
}

json_t *daemon_process_to_json(const DaemonProcess *process)
{
        return json_pack("{s:I, s:I}", "pid", (json_int_t)process->pid, "start",
                         (json_int_t)process->start_ticks);
}

DaemonProcess daemon_process_from_json(const json_t *value)
{
        json_int_t pid = json_integer_value(json_object_get(value, "pid"));
        json_int_t start = json_integer_value(json_object_get(value, "start"));

        if (pid <= 0 || pid > INT32_MAX || start <= 0)
                return (DaemonProcess){0};
        return (DaemonProcess){.pid = (pid_t)pid, .start_ticks = (uint64_t)start};
}

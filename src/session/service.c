/* SPDX-License-Identifier: MIT */
#include "session/service.h"

#include "session/session-error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of /proc/PID/stat, counted from the one behind the command. */
enum {
        FIELD_STATE = 0,
        FIELD_STARTTIME = 19,
};

#define READY_TIMEOUT   (20 * G_TIME_SPAN_SECOND)
#define POLL_INTERVAL   (20 * G_TIME_SPAN_MILLISECOND)
#define STOP_TIMEOUT_MS 10000
/* Of its output, that is shown if it fails. */
#define MAX_SAID 600

uint64_t service_start_ticks(pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid), *text = NULL;
        g_auto(GStrv) fields = NULL;
        const char *behind;

        if (pid <= 0 || !g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        behind = strrchr(text, ')'); /* the command may hold anything */
        fields = behind && behind[1] ? g_strsplit(behind + 2, " ", FIELD_STARTTIME + 2) : NULL;
        if (!fields || g_strv_length(fields) < FIELD_STARTTIME + 1 || *fields[FIELD_STATE] == 'Z')
                return 0;
        return g_ascii_strtoull(fields[FIELD_STARTTIME], NULL, 10);
}

bool service_is_running(const Service *service)
{
        return service->pid > 0 && service_start_ticks(service->pid) == service->start_ticks;
}

/* In the child: only calls that are safe after fork(). */
static void G_GNUC_NORETURN become(char **command, int log, int report)
{
        sigset_t none;
        int null, number, error;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (number = 1; number < NSIG; number++)
                signal(number, SIG_DFL);
        setsid();
        null = open("/dev/null", O_RDWR);
        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
            dup2(log, STDERR_FILENO) >= 0 && chdir("/") == 0)
                execvp(command[0], command);
        error = errno;
        if (write(report, &error, sizeof(error)) < 0)
                _exit(126);
        _exit(127);
}

static char *said(const char *log)
{
        g_autofree char *text = NULL;
        gsize n = 0;

        if (!g_file_get_contents(log, &text, &n, NULL) || n == 0)
                return g_strdup("it says nothing");
        g_strchomp(text);
        n = strlen(text);
        return g_utf8_make_valid(n > MAX_SAID ? text + n - MAX_SAID : text, -1);
}

static void end(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

static bool wait_until_ready(pid_t pid, const char *name, const char *log,
                             bool (*is_ready)(void *data), void *data, GError **error)
{
        gint64 deadline = g_get_monotonic_time() + READY_TIMEOUT;
        g_autofree char *words = NULL;

        while (!is_ready(data)) {
                if (waitpid(pid, NULL, WNOHANG) == pid) {
                        words = said(log);
                        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                                    "%s has ended at once: %s", name, words);
                        return false;
                }
                if (g_get_monotonic_time() > deadline) {
                        end(pid);
                        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                                    "%s was not ready in time: see %s", name, log);
                        return false;
                }
                g_usleep(POLL_INTERVAL);
        }
        return true;
}

bool service_start(char **command, const char *log, bool (*is_ready)(void *data), void *data,
                   Service *ret_service, GError **error)
{
        int report[2], log_fd, failed = 0;
        bool has_failed;
        pid_t pid;

        log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (log_fd < 0 || pipe2(report, O_CLOEXEC) < 0) {
                g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED, "cannot write %s: %s", log,
                            g_strerror(errno));
                if (log_fd >= 0)
                        close(log_fd);
                return false;
        }
        pid = fork();
        if (pid == 0)
                become(command, log_fd, report[1]);
        close(log_fd);
        close(report[1]);
        has_failed = pid < 0 || read(report[0], &failed, sizeof(failed)) == sizeof(failed);
        if (pid < 0)
                failed = errno;
        close(report[0]);
        if (has_failed) {
                if (pid > 0)
                        waitpid(pid, NULL, 0);
                g_set_error(error, SESSION_ERROR,
                            failed == ENOENT ? SESSION_ERROR_NO_LTTNG : SESSION_ERROR_FAILED,
                            "cannot start %s: %s%s", command[0], g_strerror(failed),
                            failed == ENOENT ? ": apt install lttng-tools" : "");
                return false;
        }
        if (!wait_until_ready(pid, command[0], log, is_ready, data, error))
                return false;
        *ret_service = (Service){.pid = pid, .start_ticks = service_start_ticks(pid)};
        return true;
}

bool service_stop(const Service *service)
{
        int fd = service->pid > 0 ? (int)syscall(SYS_pidfd_open, service->pid, 0) : -1;
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        bool has_ended = true;

        /* The pid is held by the descriptor from here on. */
        if (fd >= 0 && service_is_running(service)) {
                syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0);
                if (poll(&poll_fd, 1, STOP_TIMEOUT_MS) == 0) {
                        has_ended = false;
                        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
                        poll(&poll_fd, 1, STOP_TIMEOUT_MS);
                }
                /* It may be a child of ours. */
                waitpid(service->pid, NULL, WNOHANG);
        }
        if (fd >= 0)
                close(fd);
        return has_ended;
}

json_t *service_to_json(const Service *service)
{
        return json_pack("{s:I, s:I}", "pid", (json_int_t)service->pid, "start",
                         (json_int_t)service->start_ticks);
}

Service service_from_json(const json_t *value)
{
        json_int_t pid = json_integer_value(json_object_get(value, "pid"));
        json_int_t start = json_integer_value(json_object_get(value, "start"));

        if (pid <= 0 || pid > INT32_MAX || start <= 0)
                return (Service){0};
        return (Service){.pid = (pid_t)pid, .start_ticks = (uint64_t)start};
}

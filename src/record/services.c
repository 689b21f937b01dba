/* SPDX-License-Identifier: MIT */
#include "record/services.h"

#include "attach/holder-path.h"
#include "attach/async-log.h"
#include "attach/collection-log.h"
#include "attach/jit-log.h"
#include "record/spawn.h"
#include "util/build-tree.h"
#include "util/child.h"
#include "util/fd.h"
#include "util/runtime-path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* us */
#define START_LIMIT  (60 * G_TIME_SPAN_SECOND)
#define DETACH_LIMIT (40 * G_TIME_SPAN_SECOND) /* more than the holder gives its workers */
#define END_LIMIT    (10 * G_TIME_SPAN_SECOND)
#define START_MS     2

/* The directory of sockets for this user only. */
#define OWN "own"

static bool services_await_socket(const char *path, pid_t pid, const char *log, int wake_fd,
                                  GError **error)
{
        const gint64 deadline = g_get_monotonic_time() + START_LIMIT;
        g_autofree char *text = NULL;
        int status;

        while (access(path, F_OK) < 0) {
                const gint64 now = g_get_monotonic_time();

                if (child_wait(pid, now + START_MS * G_TIME_SPAN_MILLISECOND, wake_fd, &status) ||
                    now >= deadline || spawn_is_woken(wake_fd)) {
                        g_file_get_contents(log, &text, NULL, NULL);
                        g_set_error(error, SPAWN_ERROR, 0,
                                    "the program that makes %s does not start: %s", path,
                                    text && *text ? g_strchomp(text) : "it prints no reason");
                        return false;
                }
        }
        return true;
}

/* 0 with ERROR set. */
static pid_t services_start_one(const Scratch *scratch, const char *const *argv, const char *path,
                                int wake_fd, GError **error)
{
        g_autofree char *log = scratch_file(scratch, "log");
        FD_AUTO int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        /* In this order at the end, too: the holder's workers stop their sessions. */
        const SpawnSettings settings = {
                .death_signal = SIGTERM, .log_fd = log_fd, .kept = &scratch->life_fd, .n_kept = 1};
        pid_t pid = spawn_helper(argv, &settings, error);

        if (pid && !services_await_socket(path, pid, log, wake_fd, error))
                spawn_end(&pid, SIGKILL, 0, -1);
        return pid;
}

static char *services_daemon_program(void)
{
        const char *given = runtime_variable("CLRSYM_DAEMON");
        char *built = given ? NULL : build_tree_file("src/daemon/clrsymd");

        return built ? built : g_strdup(given ? given : CLRSYM_DAEMON_PATH);
}

/* Without its directory, nothing is logged. */
static bool services_make_directory(const char *path, GError **error)
{
        if (g_mkdir_with_parents(path, 0700) == 0)
                return true;
        g_set_error(error, SPAWN_ERROR, 0, "cannot make the directory %s: %s", path,
                    g_strerror(errno));
        return false;
}

Services *services_start(const Scratch *scratch, bool has_logs, bool has_async, int wake_fd,
                         GError **error)
{
        Services *services = g_new0(Services, 1);
        g_autofree char *directory = scratch_socket(scratch, OWN),
                        *ingest = g_build_filename(directory, "ingest", NULL),
                        *program = holder_path_program(), *daemon = services_daemon_program();
        const char *const daemon_argv[] = {daemon, "--ingest", ingest, "--query",
                                           NULL,   "--state",  "",     "--metrics-file",
                                           "",     NULL};
        const char *argv[G_N_ELEMENTS(daemon_argv)];

        services->query = g_build_filename(directory, "query", NULL);
        services->holder_path = g_build_filename(directory, "holder", NULL);
        services->port = scratch_socket(scratch, "port");
        memcpy(argv, daemon_argv, sizeof(argv));
        argv[4] = services->query;
        services->jit_logs = g_build_filename(services->holder_path, JIT_LOG_DIRECTORY, NULL);
        services->collection_logs =
                g_build_filename(services->holder_path, COLLECTION_LOG_DIRECTORY, NULL);
        services->async_logs = g_build_filename(services->holder_path, ASYNC_LOG_DIRECTORY, NULL);
        if (!services_make_directory(services->holder_path, error) ||
            (has_async && !services_make_directory(services->async_logs, error)) ||
            (has_logs && (!services_make_directory(services->jit_logs, error) ||
                          !services_make_directory(services->collection_logs, error)))) {
                services_free(services, wake_fd);
                return NULL;
        }
        services->daemon = services_start_one(scratch, argv, services->query, wake_fd, error);
        if (services->daemon) {
                const char *const holder_argv[] = {program,
                                                   "--directory",
                                                   services->holder_path,
                                                   "--port",
                                                   services->port,
                                                   "--ingest",
                                                   ingest,
                                                   NULL};

                services->holder =
                        services_start_one(scratch, holder_argv, services->port, wake_fd, error);
        }
        if (services->holder)
                return services;
        services_free(services, wake_fd);
        return NULL;
}

static bool service_is_there(pid_t *pid)
{
        int status;

        if (*pid && child_wait(*pid, 0, -1, &status))
                *pid = 0;
        return *pid != 0;
}

bool services_has_daemon(Services *services)
{
        return service_is_there(&services->daemon);
}

bool services_has_holder(Services *services)
{
        return service_is_there(&services->holder);
}

void services_detach(Services *services, int wake_fd)
{
        spawn_end(&services->holder, SIGTERM, DETACH_LIMIT, wake_fd);
}

void services_free(Services *services, int wake_fd)
{
        if (!services)
                return;
        services_detach(services, wake_fd);
        spawn_end(&services->daemon, SIGTERM, END_LIMIT, wake_fd);
        g_free(services->query);
        g_free(services->holder_path);
        g_free(services->port);
        g_free(services->jit_logs);
        g_free(services->collection_logs);
        g_free(services->async_logs);
        g_free(services);
}

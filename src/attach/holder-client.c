/* SPDX-License-Identifier: MIT */
#include "attach/holder-client.h"

#include "attach/holder-path.h"
#include "util/fd.h"
#include "util/runtime-path.h"
#include "util/unix-socket.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Retries until a new holder listens. */
#define START_TRIES    1500
#define START_RETRY_MS 20
/* A holder that finds another one exits at once, and that one may be about to exit. */
#define START_ATTEMPTS 3

/* ms; a rundown of a large process takes long. */
#define ANSWER_MS  180000
#define MAX_ANSWER (1u << 20)

/* Returns the connection; -1 without ERROR: no holder listens. */
static int holder_ask_at(const char *directory, const Request *request, GError **error)
{
        g_autofree char *control = holder_path_control(directory);
        int fd = request_send(request, control, /* flags= */ 0, ANSWER_MS);

        if (fd >= 0)
                return fd;
        if (fd != -ENOENT && fd != -ENOTDIR && fd != -ECONNREFUSED)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "cannot ask the holder at %s: %s", control, unix_socket_reason(fd));
        return -1;
}

static void holder_child_setup(gpointer unused)
{
        FD_AUTO int null = open("/dev/null", O_RDWR);

        /* Detaches the holder from our terminal and session. */
        setsid();
        if (null >= 0)
                dup2(null, STDIN_FILENO);
}

/* Its pid; 0 with ERROR set. */
static GPid holder_spawn(const char *directory, GError **error)
{
        g_autofree char *program = holder_path_program();
        const char *const argv[] = {program, "--directory", directory, NULL};
        GPid pid;

        if (g_spawn_async("/", (char **)argv, NULL,
                          G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL |
                                  G_SPAWN_DO_NOT_REAP_CHILD,
                          holder_child_setup, NULL, &pid, error))
                return pid;
        g_prefix_error(error, "cannot start clrsym-holder: ");
        return 0;
}

/* -1 with ERROR set. */
static int holder_start_and_ask(const char *directory, const Request *request, GError **error)
{
        GPid pid = holder_spawn(directory, error);
        unsigned n_ended = 0, i;

        for (i = 0; pid && i < START_TRIES; i++) {
                bool has_ended = waitpid(pid, NULL, WNOHANG) != 0;
                int fd = holder_ask_at(directory, request, NULL);

                if (fd >= 0)
                        return fd;
                if (!has_ended)
                        poll(NULL, 0, START_RETRY_MS);
                else if (++n_ended < START_ATTEMPTS)
                        pid = holder_spawn(directory, error);
                else
                        break;
        }
        if (pid)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "clrsym-holder does not start: see the output of "
                            "clrsym-holder --directory %s",
                            directory);
        return -1;
}

static int holder_find_or_start(const Request *request, bool is_starting, GError **error)
{
        g_autofree char *directory = holder_path_to_ask(error), *own = NULL;
        g_autoptr(GError) refusal = NULL;
        int fd;

        if (!directory)
                return -1;
        fd = holder_ask_at(directory, request, &refusal);
        if (refusal) {
                g_propagate_error(error, g_steal_pointer(&refusal));
                return -1;
        }
        if (fd >= 0 || !is_starting)
                return fd;
        own = holder_path_own(error);
        return own ? holder_start_and_ask(own, request, error) : -1;
}

/*
 * Sets the daemon that the user has chosen, or the user's own or the system's. Otherwise the holder
 * uses its own, which its service may set. A path that is too long is no socket's.
 */
static void request_set_ingest(Request *request)
{
        g_autofree char *path = runtime_path_find("CLRSYM_INGEST", RUNTIME_INGEST);
        const bool is_chosen = runtime_variable("CLRSYM_INGEST") ||
                               g_strcmp0(path, RUNTIME_SYSTEM "/" RUNTIME_INGEST) != 0;

        if (is_chosen && path && *path == '/' && strlen(path) < REQUEST_INGEST_SIZE)
                g_strlcpy(request->ingest, path, REQUEST_INGEST_SIZE);
}

int holder_client_ask(const Request *request, bool is_starting, GError **error)
{
        Request with_ingest = *request;

        request_set_ingest(&with_ingest);
        return holder_find_or_start(&with_ingest, is_starting, error);
}

int holder_client_ask_in(const char *directory, const Request *request, GError **error)
{
        return holder_ask_at(directory, request, error);
}

static bool holder_client_receive(int fd, GString *text, GError **error)
{
        char bytes[4096];

        while (text->len < MAX_ANSWER) {
                struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
                int r = poll(&poll_fd, 1, ANSWER_MS);
                ssize_t n = r > 0 ? recv(fd, bytes, sizeof(bytes), 0) : -1;

                if ((r < 0 || (r > 0 && n < 0)) && errno == EINTR)
                        continue;
                if (n <= 0)
                        break;
                g_string_append_len(text, bytes, n);
                if (bytes[n - 1] == '\n')
                        return true;
        }
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                    "clrsym-holder does not answer: try again");
        return false;
}

json_t *holder_client_answer(int fd, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        FD_AUTO int connection = fd;

        return holder_client_receive(connection, text, error)
                       ? reply_read(text->str, text->len, error)
                       : NULL;
}

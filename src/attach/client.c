/* SPDX-License-Identifier: MIT */
#include "attach/client.h"

#include "attach/places.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a holder that was started to listen. */
#define START_TRIES    1500
#define START_RETRY_MS 20
/* One gives up at once that finds another, which may be about to end. */
#define START_ATTEMPTS 3

/* A listing of everything may take long, but not for ever. */
#define ANSWER_MS  180000
#define MAX_ANSWER (1u << 20)

/* -1: nobody listens there, or with ERROR set, we may not ask. */
static int try_connect(const char *directory, GError **error)
{
        g_autofree char *control = places_control(directory);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd;

        if (g_strlcpy(address.sun_path, control, sizeof(address.sun_path)) >=
            sizeof(address.sun_path)) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "%s: longer than a socket's path can be", control);
                return -1;
        }
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
                return fd;
        if (errno != ENOENT && errno != ENOTDIR && errno != ECONNREFUSED)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "cannot ask the holder at %s: %s", control, g_strerror(errno));
        if (fd >= 0)
                close(fd);
        return -1;
}

static void in_child(gpointer unused)
{
        int null = open("/dev/null", O_RDWR);

        /* Our terminal and our session end; it stays. */
        setsid();
        if (null >= 0)
                dup2(null, STDIN_FILENO);
}

/* Its pid; 0 with ERROR set. */
static GPid start(const char *directory, GError **error)
{
        g_autofree char *program = places_program();
        const char *const argv[] = {program, "--directory", directory, NULL};
        GPid pid;

        if (g_spawn_async("/", (char **)argv, NULL,
                          G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL |
                                  G_SPAWN_DO_NOT_REAP_CHILD,
                          in_child, NULL, &pid, error))
                return pid;
        g_prefix_error(error, "cannot start the process that holds attachments: ");
        return 0;
}

/* -1 with ERROR set. */
static int start_and_connect(const char *directory, GError **error)
{
        GPid pid = start(directory, error);
        unsigned n_ended = 0, i;

        for (i = 0; pid && i < START_TRIES; i++) {
                bool has_ended = waitpid(pid, NULL, WNOHANG) != 0;
                int fd = try_connect(directory, NULL);

                if (fd >= 0)
                        return fd;
                if (!has_ended)
                        poll(NULL, 0, START_RETRY_MS);
                else if (++n_ended < START_ATTEMPTS)
                        pid = start(directory, error);
                else
                        break;
        }
        if (pid)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "the process that holds attachments does not start: see what "
                            "clrsym-holder --directory %s says",
                            directory);
        return -1;
}

static int connect_holder(bool is_starting, GError **error)
{
        g_autofree char *directory = places_to_ask(error);
        g_autoptr(GError) refusal = NULL;
        int fd;

        if (!directory)
                return -1;
        fd = try_connect(directory, &refusal);
        if (refusal) {
                g_propagate_error(error, g_steal_pointer(&refusal));
                return -1;
        }
        if (fd >= 0 || !is_starting)
                return fd;
        g_free(directory);
        directory = places_own(error);
        return directory ? start_and_connect(directory, error) : -1;
}

int client_ask(const Request *request, bool is_starting, GError **error)
{
        g_autofree char *line = request_format(request);
        int fd = connect_holder(is_starting, error);

        if (fd < 0)
                return -1;
        /* It is small: a new connection takes it whole. What went wrong shows with the answer. */
        if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 && errno != EPIPE) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED, "cannot ask the holder: %s",
                            g_strerror(errno));
                close(fd);
                return -1;
        }
        return fd;
}

static bool receive(int fd, GString *text, GError **error)
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
                    "the process that holds attachments does not answer: try again");
        return false;
}

json_t *client_answer(int fd, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        bool is_in = receive(fd, text, error);
        json_t *answer;

        close(fd);
        if (!is_in)
                return NULL;
        answer = json_loadb(text->str, text->len, 0, NULL);
        if (answer && request_check(answer, error))
                return answer;
        if (!answer)
                request_check(NULL, error);
        json_decref(answer);
        return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "record/scratch.h"

#include "record/spawn.h"
#include "util/child.h"
#include "util/fd.h"
#include "util/remove-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TEMPLATE "clrsym-record-XXXXXX"
/* Bytes of a socket's path, without the names below the directory. */
#define MAX_PATH 76
#define PROBE    "probe"

#define MODE_PRIVATE 0700
/* A user who knows a name can open it. */
#define MODE_PASSABLE 0711

/* The possible places, in this order. */
static const char *scratch_place(size_t i)
{
        const char *const places[] = {g_get_tmp_dir(), "/tmp", g_get_user_runtime_dir(), "/var/tmp",
                                      "/dev/shm"};

        return i < G_N_ELEMENTS(places) ? places[i] : NULL;
}

static bool directory_takes_sockets(const char *path)
{
        struct sockaddr_un probe = {.sun_family = AF_UNIX};
        FD_AUTO int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool is_taken;

        g_snprintf(probe.sun_path, sizeof(probe.sun_path), "%s/" PROBE, path);
        is_taken = fd >= 0 && bind(fd, (const struct sockaddr *)&probe, sizeof(probe)) == 0;
        if (is_taken)
                unlink(probe.sun_path);
        return is_taken;
}

/* For the runtime, a comma ends the path, and a semicolon ends the port; the path must be UTF-8. */
static bool path_is_plain(const char *path)
{
        return strlen(path) <= MAX_PATH && !strpbrk(path, ",;") && g_utf8_validate(path, -1, NULL);
}

/* NULL with errno set. */
static char *scratch_try_place(const char *place, mode_t mode)
{
        g_autofree char *path = g_build_filename(place, TEMPLATE, NULL);
        const bool has_sockets = mode != MODE_PRIVATE;

        if (has_sockets && !path_is_plain(path)) {
                errno = ENAMETOOLONG;
                return NULL;
        }
        if (!g_mkdtemp_full(path, (int)mode))
                return NULL;
        if (!has_sockets || (chmod(path, mode) == 0 && directory_takes_sockets(path)))
                return g_steal_pointer(&path);
        rmdir(path);
        return NULL;
}

static char *scratch_make_directory(mode_t mode, GError **error)
{
        const char *place;
        int reason = 0;
        size_t i;

        for (i = 0; (place = scratch_place(i)); i++) {
                char *path = scratch_try_place(place, mode);

                if (path)
                        return path;
                if (!reason)
                        reason = errno;
        }
        g_set_error(error, SPAWN_ERROR, 0,
                    "no directory can be made in %s (%s), nor in /tmp, /var/tmp, /dev/shm: set "
                    "$TMPDIR to one that you may write to",
                    g_get_tmp_dir(), g_strerror(reason));
        return NULL;
}

/* The keeper ignores signals to the process group until its work is done. */
static G_NORETURN void scratch_keep(const Scratch *scratch, int life_fd)
{
        sigset_t all;
        char byte;

        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        setsid();
        prctl(PR_SET_NAME, "clrsym-keeper");
        while (read(life_fd, &byte, 1) > 0)
                ;
        remove_tree(scratch->sockets);
        remove_tree(scratch->path);
        _exit(0);
}

/* The process that removes the directories; -1 with errno set. */
static pid_t scratch_start_keeper(Scratch *scratch)
{
        int fds[2] = {-1, -1};
        pid_t keeper = -1;

        if (pipe2(fds, O_CLOEXEC) == 0)
                keeper = fork();
        if (keeper == 0) {
                int null = open("/dev/null", O_RDWR | O_CLOEXEC);

                close(fds[1]);
                /* A program that reads our output must not wait for the keeper. */
                dup2(null, STDIN_FILENO);
                dup2(null, STDOUT_FILENO);
                dup2(null, STDERR_FILENO);
                scratch_keep(scratch, fds[0]);
        }
        fd_clear(&fds[0]);
        if (keeper < 0)
                fd_clear(&fds[1]);
        scratch->life_fd = fds[1];
        return keeper;
}

Scratch *scratch_new(GError **error)
{
        Scratch *scratch = g_new0(Scratch, 1);

        scratch->life_fd = -1;
        scratch->path = scratch_make_directory(MODE_PRIVATE, error);
        if (scratch->path)
                scratch->sockets = scratch_make_directory(MODE_PASSABLE, error);
        if (scratch->sockets) {
                scratch->keeper = scratch_start_keeper(scratch);
                if (scratch->keeper > 0)
                        return scratch;
                g_set_error(error, SPAWN_ERROR, 0, "no process for %s: %s", scratch->path,
                            g_strerror(errno));
                remove_tree(scratch->sockets);
        }
        if (scratch->path)
                remove_tree(scratch->path);
        g_free(scratch->sockets);
        g_free(scratch->path);
        g_free(scratch);
        return NULL;
}

void scratch_free(Scratch *scratch)
{
        if (!scratch)
                return;
        fd_clear(&scratch->life_fd);
        child_wait(scratch->keeper, G_MAXINT64, -1, NULL);
        g_free(scratch->sockets);
        g_free(scratch->path);
        g_free(scratch);
}

char *scratch_file(const Scratch *scratch, const char *name)
{
        return g_build_filename(scratch->path, name, NULL);
}

char *scratch_socket(const Scratch *scratch, const char *name)
{
        return g_build_filename(scratch->sockets, name, NULL);
}

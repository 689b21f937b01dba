/* SPDX-License-Identifier: MIT */
#include "record/scratch.h"

#include "record/spawn.h"
#include "util/fd.h"
#include "util/remove-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEMPLATE "clrsym-record-XXXXXX"
/* Bytes; what a socket's path may have, less the names below the directory. */
#define MAX_PATH 80

static char *scratch_make_directory(GError **error)
{
        g_autofree char *path = g_build_filename(g_get_tmp_dir(), TEMPLATE, NULL);

        if (strlen(path) > MAX_PATH) {
                g_free(path);
                path = g_strdup("/tmp/" TEMPLATE);
        }
        if (g_mkdtemp(path))
                return g_steal_pointer(&path);
        g_set_error(error, SPAWN_ERROR, 0, "cannot make a directory %s: %s", path,
                    g_strerror(errno));
        return NULL;
}

/* Whatever is sent to the process group, it stays until its work is done. */
static G_NORETURN void scratch_keep(const char *path, int life_fd)
{
        sigset_t all;
        char byte;

        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        setsid();
        prctl(PR_SET_NAME, "clrsym-keeper");
        while (read(life_fd, &byte, 1) > 0)
                ;
        remove_tree(path);
        _exit(0);
}

Scratch *scratch_new(GError **error)
{
        g_autofree char *path = scratch_make_directory(error);
        int fds[2] = {-1, -1};
        Scratch *scratch;
        pid_t keeper = -1;

        if (!path)
                return NULL;
        if (pipe2(fds, O_CLOEXEC) == 0)
                keeper = fork();
        if (keeper == 0) {
                int null = open("/dev/null", O_RDWR | O_CLOEXEC);

                close(fds[1]);
                /* Whoever reads our output does not wait for the keeper. */
                dup2(null, STDIN_FILENO);
                dup2(null, STDOUT_FILENO);
                dup2(null, STDERR_FILENO);
                scratch_keep(path, fds[0]);
        }
        fd_clear(&fds[0]);
        if (keeper < 0) {
                g_set_error(error, SPAWN_ERROR, 0, "no process for %s: %s", path,
                            g_strerror(errno));
                fd_clear(&fds[1]);
                remove_tree(path);
                return NULL;
        }
        scratch = g_new0(Scratch, 1);
        scratch->path = g_steal_pointer(&path);
        scratch->life_fd = fds[1];
        scratch->keeper = keeper;
        return scratch;
}

void scratch_free(Scratch *scratch)
{
        if (!scratch)
                return;
        fd_clear(&scratch->life_fd);
        while (waitpid(scratch->keeper, NULL, 0) < 0 && errno == EINTR)
                ;
        g_free(scratch->path);
        g_free(scratch);
}

char *scratch_file(const Scratch *scratch, const char *name)
{
        return g_build_filename(scratch->path, name, NULL);
}

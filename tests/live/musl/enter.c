/* SPDX-License-Identifier: MIT */

/*
 * Runs a program in a container: enter ROOT UID PROGRAM [ARGUMENT]...
 *
 * The program has its own namespaces for mounts, processes, System V IPC and the host's name, the
 * root directory ROOT, and the user UID. It ends with this program, which exits with its status.
 */

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int result, const char *what)
{
        if (result >= 0)
                return;
        fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
        exit(126);
}

static void enter_root(const char *root)
{
        check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
        check(mount(root, root, NULL, MS_BIND | MS_REC, NULL), root);
        check(chdir(root), root);
        check(mount("/dev", "dev", NULL, MS_BIND, NULL), "dev");
        check(mount("proc", "proc", "proc", 0, NULL), "proc");
        check((int)syscall(SYS_pivot_root, ".", "."), "pivot_root");
        check(umount2(".", MNT_DETACH), "the old root");
        check(chdir("/"), "/");
}

int main(int argc, char **argv)
{
        int status;
        uid_t user;
        pid_t pid;

        if (argc < 4) {
                fputs("usage: enter ROOT UID PROGRAM [ARGUMENT]...\n", stderr);
                return 125;
        }
        user = (uid_t)strtoul(argv[2], NULL, 10);
        check(unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS), "namespaces");
        pid = fork();
        check(pid, "fork");
        if (pid == 0) {
                enter_root(argv[1]);
                check(setgroups(0, NULL), "groups");
                check(setresgid(user, user, user), "group");
                check(setresuid(user, user, user), "user");
                /* Set it again, because a change of users clears it. */
                check(prctl(PR_SET_PDEATHSIG, SIGKILL), "signal");
                execv(argv[3], argv + 3);
                check(-1, argv[3]);
        }
        check(waitpid(pid, &status, 0), "wait");
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

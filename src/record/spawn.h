/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Spawn: a program that ends when this one does, even if this one is killed
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Maximum of descriptors that a program keeps. */
#define SPAWN_MAX_KEPT 4

typedef struct SpawnSettings {
        int death_signal; /* sent to it when this process dies */
        int log_fd;       /* its stdout and stderr */
        const int *kept;  /* descriptors that it keeps under their numbers */
        unsigned n_kept;
} SpawnSettings;

/* Starts ARGV[0], a path, in a process group of its own, so that Ctrl-C does not reach it. 0 with
 * ERROR set. */
pid_t spawn_helper(const char *const *argv, const SpawnSettings *settings, GError **error);

/* A command that waits for its start, with this program's terminal and process group. */
typedef struct SpawnCommand {
        pid_t pid; /* 0: none */
        int go_fd; /* of spawn_command_go() */
} SpawnCommand;

/*
 * ARGV[0] is looked for on PATH. ENVIRONMENT is borrowed. It is terminated when this process dies.
 */
bool spawn_command(char **argv, char **environment, SpawnCommand *ret_command, GError **error);
/* Lets it begin. False with ERROR set: it cannot be started; it has ended, and is reaped. */
bool spawn_command_go(SpawnCommand *command, const char *name, GError **error);

/* WAKE_FD, here and below: waiting ends when this is readable, because of a signal; -1: never. */
bool spawn_is_woken(int wake_fd);
/* Sends SIGNAL to *PID, waits LIMIT us, kills it and its process group if necessary, and sets *PID
 * to 0. */
void spawn_end(pid_t *pid, int signal_number, gint64 limit, int wake_fd);

#define SPAWN_ERROR (g_quark_from_static_string("clrsym-spawn"))

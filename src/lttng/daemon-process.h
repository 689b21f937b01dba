/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Daemon process: a program that clrsym starts and that outlives it, like lttng-relayd
 *
 * Its pid and its start time, in clock ticks since boot, identify it, so that no later process is
 * taken for it.
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct DaemonProcess {
        pid_t pid; /* 0: none */
        uint64_t start_ticks;
} DaemonProcess;

/* When the process was started; 0: it does not run (a zombie does not). */
uint64_t daemon_process_start_ticks(pid_t pid);

/*
 * Starts COMMAND in a session of its own, in the network namespace of process NET (0: ours), with
 * LOG as its output and no input, and waits until IS_READY returns true. False with ERROR set: it
 * could not be started, has ended, or was not ready in time, and does not run.
 */
bool daemon_process_start(char **command, pid_t net, const char *log, bool (*is_ready)(void *data),
                          void *data, DaemonProcess *ret_service, GError **error);
bool daemon_process_is_running(const DaemonProcess *process);
/* Sends SIGTERM to the process, and waits for its end. False: it had to be killed. */
bool daemon_process_stop(const DaemonProcess *process);

/* {"pid":..., "start":...}. The caller owns it. */
json_t *daemon_process_to_json(const DaemonProcess *process);
/* {0} if VALUE does not describe a process. */
DaemonProcess daemon_process_from_json(const json_t *value);

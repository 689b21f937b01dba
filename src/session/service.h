/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Service: a program that we start and that outlives us, like lttng-relayd
 *
 * It is remembered by its pid and its start, in clock ticks since boot: no later program can be
 * taken for it.
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Service {
        pid_t pid; /* 0: none */
        uint64_t start_ticks;
} Service;

/* When the process was started; 0: there is none, or it is a zombie. */
uint64_t service_start_ticks(pid_t pid);

/*
 * Starts COMMAND in a session of its own, with LOG as its output and no input, and waits until
 * IS_READY says so. False with ERROR set: it could not be started, has ended, or is not ready in
 * time; then it does not run any more.
 */
bool service_start(char **command, const char *log, bool (*is_ready)(void *data), void *data,
                   Service *ret_service, GError **error);
bool service_is_running(const Service *service);
/* Has it end, and waits for that. False: it had to be killed. */
bool service_stop(const Service *service);

/* {"pid":..., "start":...}; the caller's. */
json_t *service_to_json(const Service *service);
/* One that is none becomes {0}. */
Service service_from_json(const json_t *value);

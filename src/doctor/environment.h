/* SPDX-License-Identifier: MIT */
#pragma once

/* Environment: the variables with which a process was started, as its runtime reads them */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Environment {
        char *text; /* owned: strings, each with a NUL at its end */
        size_t n;
} Environment;

/* TEXT: N bytes as in /proc/PID/environ, which the process can have overwritten. */
void environment_init(Environment *environment, const char *text, size_t n);
void environment_clear(Environment *environment);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Environment, environment_clear)

/* The first variable of that name, as getenv() returns it, or NULL. Borrowed. */
const char *environment_get(const Environment *environment, const char *name);
/* A setting of the runtime: DOTNET_NAME, or else COMPlus_NAME. */
const char *environment_get_setting(const Environment *environment, const char *name);

/* In the runtime's way: the first is a decimal number, the second a hexadecimal one. */
bool environment_is_lttng_off(const Environment *environment);
bool environment_is_event_log_on(const Environment *environment);

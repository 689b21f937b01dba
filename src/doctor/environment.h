/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Environment: what a process began with, as its runtime reads it
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Environment {
        char *text; /* owned: strings, each with its NUL */
        size_t n;
} Environment;

/* TEXT: N bytes as of /proc/PID/environ, which the process can have overwritten. */
void environment_init(Environment *environment, const char *text, size_t n);
void environment_clear(Environment *environment);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Environment, environment_clear)

/* The first of that name, as getenv() has it, or NULL. Borrowed. */
const char *environment_get(const Environment *environment, const char *name);
/* One of the runtime's own: DOTNET_NAME, or COMPlus_NAME. */
const char *environment_get_setting(const Environment *environment, const char *name);

/* As the runtime takes them: the first is a decimal number, the second a hexadecimal one. */
bool environment_is_lttng_off(const Environment *environment);
bool environment_is_event_log_on(const Environment *environment);

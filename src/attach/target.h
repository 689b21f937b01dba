/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target: a running .NET process, as /proc shows it
 *
 * A process is told from a later one with its pid by its start, in clock ticks since boot: that
 * number stays the same however the machine's clocks go, unlike proc.h's.
 */

#include "daemon/proc.h"

#include <glib.h>

typedef struct Target {
        ProcInfo info;
        uint64_t start_ticks;
        int pidfd;       /* readable when it has ended */
        char *directory; /* owned: where it makes its sockets, as it sees it */
        bool has_coreclr;
        bool has_mono;
        bool has_musl;
        bool has_provider; /* the runtime's LTTng provider is loaded */
        bool is_port_off;  /* by its environment */
        bool is_lttng_off; /* by its environment */
} Target;

/* Looks at the process PID of our own pid namespace. */
bool target_open(pid_t pid, Target *ret_target, GError **error);
void target_close(Target *target);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Target, target_close)

/* The pid namespace that it is itself in, and its pid there. */
const ProcessKey *target_key(const Target *target);
bool target_has_ended(const Target *target);
/* For when it has hung up: the sockets of a process are closed a moment before it has ended, which
 * is waited for. */
bool target_is_ending(const Target *target);
/* False, with ERROR set: nothing of it comes to LTTng, and why. */
bool target_check_provider(const Target *target, GError **error);

/* 'R', 'S', 'T' ... of proc(5), and the start; false: there is none. */
bool target_state(pid_t pid, char *ret_state, uint64_t *ret_start_ticks);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * babeltrace2, as a child: how it finds clrsym's plugin, and why it failed
 */

#include <glib.h>
#include <stdbool.h>

#define BABELTRACE_MISSING "no babeltrace2, which reads traces: apt install babeltrace2"

#define BABELTRACE_NO_TRACE "no CTF trace in it: there is no file \"metadata\", here or below"

/* For people: before the reason why babeltrace2 reads a trace. */
#define BABELTRACE_NOTE "read by babeltrace2: "
/* The reason, if babeltrace_is_asked_for(). */
#define BABELTRACE_ASKED_FOR "CLRSYM_READER asks for it"

/* True if the environment asks for babeltrace2 as the reader of traces: CLRSYM_READER. */
bool babeltrace_is_asked_for(void);

/*
 * The beginning of its command line, up to the trace in DIRECTORY; owned strings, to be ended with
 * NULL. $BABELTRACE_PLUGIN_PATH takes precedence over the directory of the plugin that is known
 * here.
 */
GPtrArray *babeltrace_command(const char *directory);

/*
 * A GSpawnChildSetupFunc: the child is killed when its parent ends, and has 1 GiB of memory at
 * most. DATA is the parent's pid.
 */
void babeltrace_set_up_child(gpointer data);

/*
 * Why a babeltrace2 failed that ended with STATUS (of waitpid()) and wrote TEXT to its stderr, in
 * one line owned by the caller. NULL: it succeeded.
 */
char *babeltrace_reason(const char *text, int status);

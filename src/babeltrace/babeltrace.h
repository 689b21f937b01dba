/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * babeltrace2, as a child: how it finds clrsym's plugin, and why it failed
 */

#include <glib.h>

#define BABELTRACE_MISSING "no babeltrace2, which reads traces: apt install babeltrace2"

#define BABELTRACE_NO_TRACE "no CTF trace in it: there is no file \"metadata\", here or below"

/*
 * The beginning of its command line, up to the trace in DIRECTORY; owned strings, to be ended with
 * NULL. $BABELTRACE_PLUGIN_PATH goes before the place of the plugin that is known here.
 */
GPtrArray *babeltrace_command(const char *directory);

/* A GSpawnChildSetupFunc: whatever becomes of us, it does not outlive us. DATA is our pid. */
void babeltrace_tie_to_parent(gpointer data);

/*
 * What is wrong, in one line, with one that ended with STATUS (of waitpid()) and SAID that on its
 * stderr; NULL if nothing is. The caller's.
 */
char *babeltrace_reason(const char *said, int status);

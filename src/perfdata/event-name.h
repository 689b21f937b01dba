/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Names of perf's events
 */

#include <linux/perf_event.h>
#include <stdbool.h>

/* clrsym record's name for the event of threads that lose their CPU. */
#define OFF_CPU_EVENT "off-cpu"

/*
 * The name by the event's attributes, for files without perf's names, such as a recording of a
 * killed perf. "event TYPE/CONFIG" for an event that is not in the tables. The caller frees it.
 */
char *event_name_of_attr(const struct perf_event_attr *attr);

/* True if the event is "name", also with modifiers: "cpu-clock:u" is "cpu-clock". */
bool event_name_is(const char *event, const char *name);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The name of an event of perf by its attributes, for files in which perf did not note it, as those
 * of a recording that was killed
 */

#include <linux/perf_event.h>

/* The name that clrsym record gives the event of threads that lose their CPU. */
#define OFF_CPU_EVENT "off-cpu"

/* To be freed. "event TYPE/CONFIG" for an event that is not in the tables. */
char *event_name_of_attr(const struct perf_event_attr *attr);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder limits: use of the holder's limits by attached processes, for people and for metrics
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* The rows of this user's holder; NULL: no holder runs, or it does not answer. The caller owns
 * them. */
json_t *holder_limits_ask(void);

/* Prints a table of ROWS, after an empty line. */
void holder_limits_print(const json_t *rows);

/* Appends ROWS as OpenMetrics families, without the end marker. */
void holder_limits_append_metrics(GString *out, const json_t *rows);

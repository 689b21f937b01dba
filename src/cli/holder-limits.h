/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder limits: what attached processes take of what their holder has, for people and for metrics
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* The rows of the holder that this user asks; NULL: there is none, or it does not answer. The
 * caller owns them. */
json_t *holder_limits_ask(void);

/* A table of ROWS, with an empty line before it. */
void holder_limits_print(const json_t *rows);

/* Appends ROWS as OpenMetrics families, without the end of the text. */
void holder_limits_append_metrics(GString *out, const json_t *rows);

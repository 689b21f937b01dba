/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Filter: the parameters of a call that say which processes and bodies it is about
 */

#include "client/message.h"
#include "clrsym/clrsym.h"

#include <jansson.h>

/* Of FILTER, which may be NULL, what is about bodies only WITH_BODIES. RET is the caller's. */
int filter_parameters(const clrsym_filter *filter, bool with_bodies, json_t **ret,
                      Message *message);
/* On failure PARAMETERS are freed. */
int filter_add_text(json_t *parameters, const char *name, const char *text, Message *message);

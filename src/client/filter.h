/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Filter: the parameters of a call that select processes and bodies
 */

#include "client/message.h"
#include "clrsym/clrsym.h"

#include <jansson.h>

/*
 * The parameters for GIVEN, which may be NULL; those about bodies only WITH_BODIES. The caller
 * owns RET.
 */
int filter_parameters(const clrsym_filter *given, bool with_bodies, json_t **ret, Message *message);
int filter_add_text(json_t *parameters, const char *name, const char *text, Message *message);

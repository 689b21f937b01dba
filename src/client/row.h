/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Row: an element of a list that the daemon sent, as JSON and decoded
 */

#include "client/handle.h"

/* As clrsym_rows(), inside of a call with HANDLE. PARAMETERS NULL: an empty object. */
int rows_read(clrsym *handle, const char *method, const char *parameters, const char *member,
              unsigned wait_ms, clrsym_row_fn fn, void *data);

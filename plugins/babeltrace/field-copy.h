/* SPDX-License-Identifier: MIT */
#pragma once

/* Copies values of fields into fields of copied classes (class-copy.h) */

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* COPY, a structure, can have more members than ORIGINAL; they stay unchanged. False: no memory. */
bool field_copy(const bt_field *original, bt_field *copy);

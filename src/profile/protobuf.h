/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Protocol buffers' wire format: fields of a message, appended to its bytes
 */

#include <glib.h>
#include <stdint.h>

/* Appends a number as groups of seven bits, the lowest first. */
void pb_append_varint(GString *message, uint64_t value);
/* Omitted if 0, as readers expect. */
void pb_append_number(GString *message, unsigned field, uint64_t value);
/* Eight bytes; omitted if 0. */
void pb_append_fixed64(GString *message, unsigned field, uint64_t value);
/* N bytes: a text, an inner message, or packed numbers. */
void pb_append_bytes(GString *message, unsigned field, const char *bytes, size_t n);

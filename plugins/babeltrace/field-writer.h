/* SPDX-License-Identifier: MIT */
#pragma once

/* Writes the fields of babeltrace2 messages, from the bytes of a packet or from a decoded record */

#include "ctf/program.h"
#include "event/record.h"

#include <babeltrace2/babeltrace.h>

/* The bytes of one packet or event; ctf_program_run() has checked that they are complete. */
typedef struct FieldWriter {
        const uint8_t *window; /* borrowed */
        uint64_t window_begin; /* offset in the packet, in bytes */
        uint64_t at, end;      /* in bits of the packet */
        CtfSlot *
                slots; /* borrowed: lengths and selectors, including those of the packet's header */
        uint64_t n_elements; /* array elements written so far */
} FieldWriter;

/*
 * Reads a field of CLASS and writes its value to FIELD, of the class that field_class_new() made of
 * CLASS; FIELD NULL: only skips it. False: the bytes contradict CLASS, or an array has more than
 * FIELD_CLASSES_MAX elements.
 */
bool field_writer_write(FieldWriter *writer, const CtfClass *class, bt_field *field);

/*
 * Writes a structure of integers and texts to FIELD, of the class that field_class_new() made of
 * CLASS. SLOTS have the values of all members. False: no memory.
 */
bool kept_write(const CtfClass *class, const CtfSlot *slots, bt_field *field);

/* Writes a record's values to PAYLOAD, of field_class_of_row(). False: no memory. */
bool record_write(const Record *record, bt_field *payload);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writes the fields of babeltrace2 messages: from the bytes of a packet, or from a decoded record
 */

#include "ctf/program.h"
#include "event/record.h"

#include <babeltrace2/babeltrace.h>

/* The bytes of one packet or event, which ctf_program_run() has found whole. */
typedef struct FieldWriter {
        const uint8_t *window; /* borrowed */
        uint64_t window_begin; /* in bytes of the packet */
        uint64_t at, end;      /* bits of the packet */
        CtfSlot *slots;      /* borrowed: lengths and selectors, also those of the packet's head */
        uint64_t n_elements; /* of arrays, written so far */
} FieldWriter;

/*
 * Goes past a field of CLASS. FIELD, of the field class that field_class_new() made of CLASS, gets
 * its value; NULL: it is not shown. False: the bytes are not what CLASS says, or an array has more
 * than FIELD_CLASSES_MAX elements.
 */
bool field_writer_write(FieldWriter *writer, const CtfClass *class, bt_field *field);

/*
 * Writes a structure of integers and texts to FIELD, of the field class that field_class_new() made
 * of CLASS. SLOTS have the values of all of its members. False: not enough memory.
 */
bool kept_write(const CtfClass *class, const CtfSlot *slots, bt_field *field);

/* Writes a record's values to PAYLOAD, of field_class_of_row(). False: not enough memory. */
bool record_write(const Record *record, bt_field *payload);

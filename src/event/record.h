/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Record: one decoded event of one process at one time
 *
 * Times are ns of the clock of the stream: CLOCK_MONOTONIC of LTTng-UST, and of the runtime's
 * EventPipe on Linux.
 */

#include "event/event.h"
#include "util/process-key.h"

#include <glib.h>

/*
 * One field's value. Numbers and booleans: u. Strings: data = n bytes of UTF-8, possibly without a
 * NUL at the end. GUID: data = 16 raw bytes. Arrays: data = n elements, little-endian, unaligned.
 * data is borrowed: from the decoder's scratch or from the frame that the record was read from.
 */
typedef struct Value {
        uint64_t u;
        const uint8_t *data;
        uint32_t n;
} Value;

typedef struct Record {
        const Event *event;
        uint64_t time;
        ProcessKey process;
        int32_t tid;   /* 0: not recorded */
        Value program; /* text: the name of the thread that emitted it, without a thread of the
                          program; n 0: not recorded */
        Value values[EVENT_MAX_FIELDS];
} Record;

/* Bytes of the data of field I; 0 for a number. */
static inline size_t record_value_size(const Record *record, unsigned i)
{
        unsigned size = field_type_element_size(record->event->fields[i].type);

        return (size_t)record->values[i].n * MAX(size, 1);
}

/* The value of a named field, or NULL if the event's row has no such field. */
static inline const Value *record_value(const Record *record, FieldName name)
{
        int i = event_field(record->event, name);

        return i < 0 ? NULL : &record->values[i];
}

/* A number field; 0 if the row has no such field. */
static inline uint64_t record_u64(const Record *record, FieldName name)
{
        const Value *value = record_value(record, name);

        return value ? value->u : 0;
}

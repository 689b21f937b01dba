/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Layout: the compiled programs of one stream class, and the fields of each .NET event
 *
 * The field source of the decoder (event/decode.h) over raw CTF is here. Both encodings of every
 * row of the event table are accepted: plain CTF fields by name, or one packed blob. The encoding
 * is determined once for each event class.
 */

#include "ctf/program.h"
#include "event/decode.h"
#include "event/event-counts.h"

typedef enum CtfEncoding {
        CTF_ENCODING_PLAIN,
        CTF_ENCODING_PACKED,
        CTF_ENCODING_MISMATCH, /* the event class cannot carry the row */
} CtfEncoding;

typedef struct CtfEventLayout {
        const CtfEventClass *class; /* borrowed */
        CtfProgram *program;        /* owned: specific context and payload */
        EventCounts *counts;        /* borrowed; NULL: not a .NET event */
        const Event *event;         /* the row; NULL: not wanted */
        bool is_later;              /* of a later version than the row */
        CtfEncoding encoding;
        const CtfClass *fields[EVENT_MAX_FIELDS]; /* PLAIN, in the row's order; borrowed */
        bool has_elements;                        /* PLAIN: one of them is a text or an array */
        const CtfClass *length, *data;            /* PACKED */
        void *user;                               /* for the owner of the reader */
} CtfEventLayout;

typedef struct CtfLayout {
        const CtfTraceClass *trace;   /* borrowed */
        const CtfStreamClass *stream; /* borrowed */
        GHashTable *siblings; /* borrowed: id of a stream class -> CtfLayout, of the trace */
        CtfProgram *packet_header, *packet_context, *event_header, *event_context; /* owned */
        /* Members of the event context; NULL: it has none. */
        const CtfClass *vpid, *vtid, *pid_ns, *procname;
        bool is_context_kept; /* all members of the event context are integers or texts in slots */
        GHashTable *events;   /* borrowed id -> owned CtfEventLayout */
        CtfEventLayout *dense[1024]; /* borrowed: the same, of small ids */
        uint64_t event_id;           /* of events without an id: the only class, or 0 */
        uint32_t n_head_slots;       /* of the packet header and context */
        uint32_t n_slots;
} CtfLayout;

/*
 * Compiles a stream class. STREAM's nodes are marked, so each can be compiled for one use only.
 * COUNTS is a table of event_counts_new().
 */
CtfLayout *ctf_layout_new(CtfTraceClass *trace, CtfStreamClass *stream, EventUse use,
                          GHashTable *counts);
void ctf_layout_free(CtfLayout *layout);

/* Compiles all stream classes of a trace: borrowed id -> owned CtfLayout. */
GHashTable *ctf_layouts_new(CtfTraceClass *trace, EventUse use, GHashTable *counts);

static inline CtfEventLayout *ctf_layout_event(const CtfLayout *layout, uint64_t id)
{
        return id < G_N_ELEMENTS(layout->dense) ? layout->dense[id]
                                                : g_hash_table_lookup(layout->events, &id);
}

/*
 * Decodes the payload of an event whose values are in SLOTS. The record's views are valid while
 * SCRATCH and the bytes behind the slots are.
 */
DecodeResult ctf_layout_decode(const CtfEventLayout *layout, const CtfSlot *slots,
                               DecodeScratch *scratch, Record *record);

/* The most bytes that ctf_layout_decode() reserves from its scratch. */
size_t ctf_layout_decode_size(const CtfEventLayout *layout, const CtfSlot *slots);

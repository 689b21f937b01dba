/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Field source over babeltrace2 events
 *
 * The places and kinds of a row's fields are looked up once for each CTF event class; its events
 * are then read by index. Both encodings of a row are accepted: plain CTF fields by name, or one
 * packed blob.
 */

#include "event/decode.h"

#include <babeltrace2/babeltrace.h>

typedef enum MemberKind {
        MEMBER_NONE,
        MEMBER_UNSIGNED,
        MEMBER_SIGNED,
        MEMBER_BOOL,
        MEMBER_STRING,
        MEMBER_UNSIGNED_ARRAY,
        MEMBER_SIGNED_ARRAY,
} MemberKind;

/* A member of a structure field class. */
typedef struct Member {
        uint32_t index;
        MemberKind kind;
} Member;

/* The member NAME; kind MEMBER_NONE: there is none, or its kind is not supported. */
Member member_find(const bt_field_class *structure, const char *name);

/* Reads an integer member, sign-extended. False: not an integer. */
bool member_read_integer(Member member, const bt_field *structure, int64_t *ret_value);

/* A text member, valid as long as the event; NULL: not a text. */
const char *member_read_text(Member member, const bt_field *structure);

typedef enum Encoding {
        ENCODING_PLAIN,
        ENCODING_PACKED,
        ENCODING_MISMATCH, /* the event class cannot carry the row */
} Encoding;

/* The places of a row's fields in the payload of an event class. */
typedef struct Layout {
        const Event *event;
        bool is_later; /* the payload is of a later version than the row */
        Encoding encoding;
        Member fields[EVENT_MAX_FIELDS]; /* PLAIN */
        Member length;                   /* PACKED: size of the blob */
        Member data;                     /* PACKED: the blob */
} Layout;

/* PAYLOAD NULL: an event without fields. IS_LATER: the payload is of a later version than EVENT. */
void layout_init(Layout *layout, const Event *event, bool is_later, const bt_field_class *payload);

/* The buffers of decoding, reused for each event. */
typedef struct BtDecoder {
        DecodeScratch scratch;
        uint8_t *blob;
        size_t n_blob_allocated;
} BtDecoder;

void bt_decoder_deinit(BtDecoder *decoder);

/*
 * Decodes the payload of an event of the layout's class. The record's views are valid until the
 * next call.
 */
DecodeResult bt_decoder_decode(BtDecoder *decoder, const Layout *layout, const bt_field *payload,
                               Record *record);

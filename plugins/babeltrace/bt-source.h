/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Field source over babeltrace2 events
 *
 * Where a row's fields are in a CTF event class, and of which kinds, is looked up once; events of
 * that class are then read by index. Both encodings of every row are accepted: plain CTF fields by
 * name, or one packed blob.
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

/* The member of that name; kind MEMBER_NONE if there is none, or if its kind is not read. */
Member member_find(const bt_field_class *structure, const char *name);

/* An integer member as it is, sign-extended; false if the member is not an integer. */
bool member_read_integer(Member member, const bt_field *structure, int64_t *ret_value);

/* A text member, valid as long as the event; NULL if the member is not a text. */
const char *member_read_text(Member member, const bt_field *structure);

typedef enum Encoding {
        ENCODING_PLAIN,
        ENCODING_PACKED,
        ENCODING_MISMATCH, /* the event class cannot carry the row */
} Encoding;

/* Where the fields of a row are in the payload of one event class. */
typedef struct Layout {
        const Event *event;
        bool is_later; /* the payload is of a later version than the row */
        Encoding encoding;
        Member fields[EVENT_MAX_FIELDS]; /* PLAIN */
        Member length;                   /* PACKED: size of the blob, once more */
        Member data;                     /* PACKED: the blob */
} Layout;

/* PAYLOAD may be NULL: an event without fields. IS_LATER: it is of a later version than EVENT. */
void layout_init(Layout *layout, const Event *event, bool is_later, const bt_field_class *payload);

/* The buffers of decoding, used again for every event. */
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

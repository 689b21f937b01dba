/* SPDX-License-Identifier: MIT */
#include "event/decode-walk.h"
#include "event/method-flags.h"
#include "event/type-list.h"
#include "util/bytes.h"

#include <string.h>

/*
 * A blob as the runtime packs it: fields in manifest order, little-endian, unaligned, with nothing
 * in between. No size in it is trusted: each read first checks that it has the bytes.
 */

/* Larger blobs are refused; the runtime's own are under 64 KiB, an LTTng event is under 2 GiB. */
#define PACKED_MAX_BYTES (64u << 20)

enum {
        GUID_SIZE = 16,
        BOOL_SIZE = 4,
};

typedef struct PackedSource {
        Source source;
        const Event *event;
        const uint8_t *bytes;
        size_t n_bytes;
        size_t position;
        DecodeScratch *scratch;
        bool is_later;         /* bytes may be left over */
        bool is_helper;        /* of a JIT helper, and its NULL strings are not determined yet */
        bool has_null_strings; /* the sizes match only without them */
} PackedSource;

/* Bytes of the string at BYTES without its NUL unit, or -1 if there is no NUL in N bytes. */
static ssize_t wstring_size(const uint8_t *bytes, size_t n)
{
        size_t i = 0;

        /* Four units at a time until one of them is 0. */
        for (; i + 8 <= n; i += 8) {
                uint64_t units;

                memcpy(&units, bytes + i, sizeof(units));
                if ((units - UINT64_C(0x0001000100010001)) & ~units & UINT64_C(0x8000800080008000))
                        break;
        }
        for (; i + 2 <= n; i += 2)
                if (!bytes[i] && !bytes[i + 1])
                        return (ssize_t)i;
        return -1;
}

static ssize_t astring_size(const uint8_t *bytes, size_t n)
{
        const uint8_t *end = n > 0 ? memchr(bytes, 0, n) : NULL;

        return end ? end - bytes : -1;
}

/* Bytes of the types that are one number. */
static const uint8_t NUMBER_SIZES[_FIELD_TYPE_MAX] = {
        [FIELD_TYPE_U8] = 1,  [FIELD_TYPE_U16] = 2,          [FIELD_TYPE_U32] = 4,
        [FIELD_TYPE_U64] = 8, [FIELD_TYPE_BOOL] = BOOL_SIZE,
};

/*
 * Bytes of a field of that type at BYTES, with the NUL of a string; -1: it does not end within N
 * bytes.
 */
static ssize_t field_size(FieldType type, uint32_t count, const uint8_t *bytes, size_t n)
{
        uint64_t size = NUMBER_SIZES[type];
        ssize_t length;

        switch (type) {
        case FIELD_TYPE_GUID:
                size = GUID_SIZE;
                break;
        case FIELD_TYPE_WSTRING:
                length = wstring_size(bytes, n);
                return length < 0 ? -1 : length + 2;
        case FIELD_TYPE_ASTRING:
                length = astring_size(bytes, n);
                return length < 0 ? -1 : length + 1;
        case FIELD_TYPE_TYPE_LIST:
                return type_list_size(bytes, n, count);
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
                size = (uint64_t)count * field_type_element_size(type);
                break;
        default: /* a number */
                break;
        }
        return size > n ? -1 : (ssize_t)size;
}

/*
 * True if the fields from INDEX on take exactly the remaining bytes. No row has both strings that
 * can be NULL and an array.
 */
static bool packed_rest_fits(const PackedSource *packed, unsigned index, bool has_null_strings)
{
        const Event *event = packed->event;
        size_t position = packed->position;

        for (; index < event->n_fields; index++) {
                const Field *field = &event->fields[index];
                ssize_t size;

                if (has_null_strings && field->role == FIELD_ROLE_NULL_IN_HELPERS)
                        continue;
                size = field_size(field->type, 0, packed->bytes + position,
                                  packed->n_bytes - position);
                if (size < 0)
                        return false;
                position += (size_t)size;
        }
        return position == packed->n_bytes;
}

/* The room that packed_decode() has reserved, see packed_decode_size(). */
static uint8_t *packed_room(const PackedSource *packed)
{
        return packed->scratch->bytes + packed->scratch->n_bytes;
}

static void packed_set_string(PackedSource *packed, size_t n, Value *ret_value)
{
        ret_value->data = packed_room(packed);
        ret_value->n = (uint32_t)n;
        packed->scratch->n_bytes += n;
}

static DecodeResult packed_read_wstring(PackedSource *packed, const uint8_t *bytes, size_t left,
                                        Value *ret_value)
{
        /* Nearly all names are ASCII. */
        size_t n_ascii = utf16le_ascii_to_utf8(bytes, left / 2, packed_room(packed));
        size_t n = n_ascii, n_done = 2 * n_ascii;
        ssize_t size = 0;

        if (left - n_done < 2 || bytes[n_done] || bytes[n_done + 1])
                size = wstring_size(bytes + n_done, left - n_done);
        if (size < 0)
                return DECODE_TRUNCATED;
        if (size)
                n += utf16le_to_utf8(bytes + n_done, (size_t)size / 2,
                                     packed_room(packed) + n_ascii);
        packed->position += n_done + (size_t)size + 2;
        packed_set_string(packed, n, ret_value);
        return DECODE_OK;
}

static DecodeResult packed_read_astring(PackedSource *packed, const uint8_t *bytes, size_t left,
                                        Value *ret_value)
{
        ssize_t size = astring_size(bytes, left);

        if (size < 0)
                return DECODE_TRUNCATED;
        packed->position += (size_t)size + 1;
        packed_set_string(packed, utf8_make_valid(bytes, (size_t)size, packed_room(packed)),
                          ret_value);
        return DECODE_OK;
}

static inline DecodeResult packed_read_number(PackedSource *packed, size_t size,
                                              uint64_t *ret_value)
{
        const uint8_t *bytes = packed->bytes + packed->position;
        size_t left = packed->n_bytes - packed->position;

        if (size > left)
                return DECODE_TRUNCATED;
        /* There are usually eight bytes: a copy of eight is one instruction. */
        *ret_value = left >= 8 ? bytes_number(bytes, 8) & UINT64_MAX >> (64 - 8 * size)
                               : bytes_number(bytes, (unsigned)size);
        packed->position += size;
        return DECODE_OK;
}

/* A GUID, an array of COUNT elements or a list of COUNT types: N elements or bytes. */
static DecodeResult packed_read_elements(PackedSource *packed, FieldType type, uint32_t count,
                                         Value *ret_value)
{
        const uint8_t *bytes = packed->bytes + packed->position;
        ssize_t size = field_size(type, count, bytes, packed->n_bytes - packed->position);

        if (size < 0)
                return DECODE_TRUNCATED;
        packed->position += (size_t)size;
        ret_value->data = bytes;
        ret_value->n = field_type_element_size(type) ? count : (uint32_t)size;
        return DECODE_OK;
}

/* Reads a string that can be NULL in the event of a JIT helper; true if it is NULL. */
static bool packed_read_null(PackedSource *packed, unsigned index, Value *ret_value)
{
        /* The first such string decides for all others of the event. */
        if (packed->is_helper)
                packed->has_null_strings = !packed_rest_fits(packed, index, false) &&
                                           packed_rest_fits(packed, index, true);
        packed->is_helper = false;
        if (packed->has_null_strings)
                *ret_value = (Value){.data = (const uint8_t *)""};
        return packed->has_null_strings;
}

static inline DecodeResult packed_read(Source *source, unsigned index, FieldType type,
                                       uint32_t count, Value *ret_value)
{
        PackedSource *packed = (PackedSource *)source;
        FieldRole role = packed->event->fields[index].role;
        const uint8_t *bytes = packed->bytes + packed->position;
        size_t left = packed->n_bytes - packed->position;

        if (NUMBER_SIZES[type]) {
                DecodeResult result = packed_read_number(packed, NUMBER_SIZES[type], &ret_value->u);

                if (type == FIELD_TYPE_BOOL)
                        ret_value->u = ret_value->u != 0;
                if (role == FIELD_ROLE_METHOD_FLAGS)
                        packed->is_helper = ret_value->u & METHOD_FLAG_JIT_HELPER;
                return packed->is_helper && packed->is_later ? DECODE_MISMATCH : result;
        }
        if (role == FIELD_ROLE_NULL_IN_HELPERS && packed_read_null(packed, index, ret_value))
                return DECODE_OK;
        if (type == FIELD_TYPE_WSTRING)
                return packed_read_wstring(packed, bytes, left, ret_value);
        if (type == FIELD_TYPE_ASTRING)
                return packed_read_astring(packed, bytes, left, ret_value);
        return packed_read_elements(packed, type, count, ret_value);
}

static inline DecodeResult packed_finish(Source *source)
{
        const PackedSource *packed = (const PackedSource *)source;

        return packed->position == packed->n_bytes || packed->is_later ? DECODE_OK
                                                                       : DECODE_LEFTOVER;
}

DecodeResult packed_decode(const Event *event, bool is_later, const uint8_t *bytes, size_t n_bytes,
                           DecodeScratch *scratch, Record *record)
{
        PackedSource packed = {
                .event = event,
                .is_later = is_later,
                .bytes = bytes ? bytes : (const uint8_t *)"",
                .n_bytes = n_bytes,
                .scratch = scratch,
        };

        if (n_bytes > PACKED_MAX_BYTES)
                return DECODE_MISMATCH;
        decode_scratch_reserve(scratch, packed_decode_size(n_bytes));
        return decode_walk(event, &packed.source, packed_read, packed_finish, record);
}

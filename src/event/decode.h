/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Decoder: walks a row of the event table over a field source
 */

#include "event/record.h"

#include <glib.h>

/* Outcomes of decoding; all except OK are counted, none is fatal. */
typedef enum DecodeResult {
        DECODE_OK,
        DECODE_TRUNCATED, /* the bytes end inside a field */
        DECODE_LEFTOVER,  /* bytes are left after the last field */
        DECODE_MISMATCH,  /* the CTF field differs from the row */
        _DECODE_RESULT_MAX,
} DecodeResult;

const char *decode_result_name(DecodeResult result);

/*
 * The memory of decoded strings and arrays, until the next decode_record() with the same scratch.
 */
typedef struct DecodeScratch {
        uint8_t *bytes;
        size_t n_bytes;
        size_t n_allocated;
} DecodeScratch;

#define DECODE_SCRATCH_INIT ((DecodeScratch){0})

void decode_scratch_deinit(DecodeScratch *scratch);
void decode_scratch_reset(DecodeScratch *scratch);
/*
 * Makes room for N more bytes. This may move the scratch and its contents. A source therefore
 * reserves the room for a whole event before it reads the first field.
 */
void decode_scratch_reserve(DecodeScratch *scratch, size_t n);
uint8_t *decode_scratch_take(DecodeScratch *scratch, size_t n);

/*
 * A field source hands out fields in manifest order. COUNT is the number of elements for an array
 * type, else 0. VALUE is written only on DECODE_OK.
 */
typedef struct Source Source;
struct Source {
        DecodeResult (*read)(Source *source, unsigned index, FieldType type, uint32_t count,
                             Value *ret_value);
        DecodeResult (*finish)(Source *source);
};

/* Sets the record's event and values from the source; the other members stay. */
DecodeResult decode_record(const Event *event, Source *source, Record *record);

/*
 * Decodes a packed event (its `__data__`): BYTES have the fields in manifest order, little-endian,
 * without padding. For a NULL string the runtime writes no byte at all; such a string reads as
 * empty. Only the events of JIT helpers have NULL strings (flag METHOD_FLAG_JIT_HELPER: namespace
 * and signature). IS_LATER: the bytes are of a later version than EVENT, so bytes may be left over.
 * The event of a JIT helper is a mismatch then, because only the number of its bytes shows which
 * strings are NULL. Decoded GUIDs and arrays borrow from BYTES, strings from SCRATCH. While the
 * record is in use, BYTES must stay, and SCRATCH must be neither reset nor reserved from.
 */
DecodeResult packed_decode(const Event *event, bool is_later, const uint8_t *bytes, size_t n_bytes,
                           DecodeScratch *scratch, Record *record);

/*
 * Decodes a compact event: every number is LEB128 of 64 bits; a text is the u16 number of its
 * bytes, then the bytes. Writers append fields without a new version, so bytes may be left over.
 * Else like packed_decode().
 */
DecodeResult compact_decode(const Event *event, const uint8_t *bytes, size_t n_bytes,
                            DecodeScratch *scratch, Record *record);

/*
 * The most bytes that packed_decode() reserves: a byte of text can become a character of three
 * bytes.
 */
static inline size_t packed_decode_size(size_t n_bytes)
{
        return 3 * n_bytes;
}

/* UTF-16LE of N_UNITS code units to UTF-8: unpaired surrogates become U+FFFD. Returns bytes
 * written; OUT must have room for 3 bytes a unit. */
size_t utf16le_to_utf8(const uint8_t *in, size_t n_units, uint8_t *out);
/*
 * Converts the ASCII units, except NUL, at the start of N_UNITS, and returns their number. OUT must
 * have room for N_UNITS bytes; the bytes after the converted ones are undefined.
 */
size_t utf16le_ascii_to_utf8(const uint8_t *in, size_t n_units, uint8_t *out);

/*
 * Copies N bytes of text; each byte outside of well-formed UTF-8 becomes U+FFFD. Returns bytes
 * written; OUT must have room for 3 bytes a byte.
 */
size_t utf8_make_valid(const uint8_t *in, size_t n, uint8_t *out);

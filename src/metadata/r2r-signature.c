/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-signature.h"

/* No real type is as deep as that. */
#define MAX_DEPTH 32u
/* Elements of one list. */
#define MAX_LIST 1024u

/* ReadyToRun's flags of a method. */
enum {
        METHOD_INSTANTIATION = 0x04,
        METHOD_SLOT = 0x08,
        METHOD_MEMBER_REF = 0x10,
        METHOD_CONSTRAINED = 0x20,
        METHOD_OWNER = 0x40,
        METHOD_MODULE = 0x80,
};

/* Element types of ECMA-335 (II.23.1.16), and those that ReadyToRun adds. */
enum {
        TYPE_STRING = 0x0e,
        TYPE_POINTER = 0x0f,
        TYPE_BY_REF = 0x10,
        TYPE_VALUE = 0x11,
        TYPE_CLASS = 0x12,
        TYPE_PARAMETER = 0x13,
        TYPE_ARRAY = 0x14,
        TYPE_GENERIC = 0x15,
        TYPE_TYPED_REFERENCE = 0x16,
        TYPE_INT = 0x18,
        TYPE_UINT = 0x19,
        TYPE_FUNCTION = 0x1b,
        TYPE_OBJECT = 0x1c,
        TYPE_VECTOR = 0x1d,
        TYPE_METHOD_PARAMETER = 0x1e,
        TYPE_REQUIRED_MODIFIER = 0x1f,
        TYPE_OPTIONAL_MODIFIER = 0x20,
        TYPE_NATIVE_VALUE = 0x3d,
        TYPE_CANONICAL = 0x3e,
        TYPE_OF_MODULE = 0x3f,
        TYPE_PINNED = 0x45,
};

static bool skip_type(ByteCursor *cursor, unsigned depth);

static bool skip_numbers(ByteCursor *cursor)
{
        uint32_t n = byte_cursor_unsigned(cursor);

        if (n > MAX_LIST)
                return false;
        while (n--)
                byte_cursor_unsigned(cursor);
        return !cursor->has_failed;
}

static bool skip_types(ByteCursor *cursor, uint32_t n, unsigned depth)
{
        if (n > MAX_LIST)
                return false;
        while (n--)
                if (!skip_type(cursor, depth))
                        return false;
        return true;
}

static bool skip_array(ByteCursor *cursor, unsigned depth)
{
        if (!skip_type(cursor, depth))
                return false;
        byte_cursor_unsigned(cursor); /* its rank */
        return skip_numbers(cursor) && skip_numbers(cursor);
}

/* Its arguments, and what it returns. */
static bool skip_function(ByteCursor *cursor, unsigned depth)
{
        uint8_t convention = byte_cursor_u8(cursor);

        if (convention & 0x10) /* it is generic */
                byte_cursor_unsigned(cursor);
        return skip_types(cursor, byte_cursor_unsigned(cursor) + 1, depth);
}

static bool skip_generic(ByteCursor *cursor, unsigned depth)
{
        return skip_type(cursor, depth) && skip_types(cursor, byte_cursor_unsigned(cursor), depth);
}

static bool skip_type(ByteCursor *cursor, unsigned depth)
{
        uint8_t type = byte_cursor_u8(cursor);

        if (cursor->has_failed || !depth--)
                return false;
        switch (type) {
        case TYPE_POINTER:
        case TYPE_BY_REF:
        case TYPE_VECTOR:
        case TYPE_NATIVE_VALUE:
        case TYPE_PINNED:
                return skip_type(cursor, depth);
        case TYPE_VALUE:
        case TYPE_CLASS:
        case TYPE_PARAMETER:
        case TYPE_METHOD_PARAMETER:
                byte_cursor_unsigned(cursor);
                return !cursor->has_failed;
        case TYPE_REQUIRED_MODIFIER:
        case TYPE_OPTIONAL_MODIFIER:
        case TYPE_OF_MODULE:
                byte_cursor_unsigned(cursor);
                return skip_type(cursor, depth);
        case TYPE_ARRAY:
                return skip_array(cursor, depth);
        case TYPE_GENERIC:
                return skip_generic(cursor, depth);
        case TYPE_FUNCTION:
                return skip_function(cursor, depth);
        case TYPE_TYPED_REFERENCE:
        case TYPE_INT:
        case TYPE_UINT:
        case TYPE_OBJECT:
        case TYPE_CANONICAL:
                return true;
        default:
                return type && type <= TYPE_STRING;
        }
}

/* The module of a type that begins with one, or 0. */
static uint32_t type_module(ByteCursor cursor)
{
        return byte_cursor_u8(&cursor) == TYPE_OF_MODULE ? byte_cursor_unsigned(&cursor) : 0;
}

bool r2r_signature_read(ByteCursor cursor, R2RInstance *ret)
{
        const uint8_t *begin = cursor.at;
        uint32_t flags = byte_cursor_unsigned(&cursor);

        if (flags & (METHOD_SLOT | METHOD_CONSTRAINED))
                return false;
        ret->module = flags & METHOD_MODULE  ? byte_cursor_unsigned(&cursor)
                      : flags & METHOD_OWNER ? type_module(cursor)
                                             : 0;
        if (flags & METHOD_OWNER && !skip_type(&cursor, MAX_DEPTH))
                return false;
        ret->rid = byte_cursor_unsigned(&cursor);
        ret->is_member_ref = flags & METHOD_MEMBER_REF;
        if (flags & METHOD_INSTANTIATION &&
            !skip_types(&cursor, byte_cursor_unsigned(&cursor), MAX_DEPTH))
                return false;
        ret->n = (size_t)(cursor.at - begin);
        return !cursor.has_failed;
}

/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-signature.h"

#include "metadata/metadata-names.h"

#include <string.h>

/* Limit of nesting: real types nest less. */
#define MAX_DEPTH 32u
/* Maximum of elements of a list. */
#define MAX_LIST 1024u
/* Limit of a type's name without its arguments, in bytes. */
#define MAX_NAME 1024u

/* ReadyToRun's flags of a method. */
enum {
        METHOD_UNBOXING_STUB = 0x01,
        METHOD_INSTANTIATING_STUB = 0x02,
        METHOD_INSTANTIATION = 0x04,
        METHOD_SLOT = 0x08,
        METHOD_MEMBER_REF = 0x10,
        METHOD_CONSTRAINED = 0x20,
        METHOD_OWNER = 0x40,
        METHOD_MODULE = 0x80,
        METHOD_ASYNC_VARIANT = 0x100, /* from version 26 on */
};

/* Element types of ECMA-335 (II.23.1.16), and ReadyToRun's own. */
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

/* One-word element types, in reflection's spelling. */
static const char *const WORDS[] = {
        [0x01] = "System.Void",
        [0x02] = "System.Boolean",
        [0x03] = "System.Char",
        [0x04] = "System.SByte",
        [0x05] = "System.Byte",
        [0x06] = "System.Int16",
        [0x07] = "System.UInt16",
        [0x08] = "System.Int32",
        [0x09] = "System.UInt32",
        [0x0a] = "System.Int64",
        [0x0b] = "System.UInt64",
        [0x0c] = "System.Single",
        [0x0d] = "System.Double",
        [TYPE_STRING] = "System.String",
        [TYPE_TYPED_REFERENCE] = "System.TypedReference",
        [TYPE_INT] = "System.IntPtr",
        [TYPE_UINT] = "System.UIntPtr",
        [TYPE_OBJECT] = "System.Object",
        [TYPE_CANONICAL] = "System.__Canon",
};

/* A signature being read, and its text. */
typedef struct TypeReader {
        ByteCursor cursor;
        const R2RModules *modules;
        R2RText *text; /* NULL: types are skipped */
} TypeReader;

/* The modules of a type's tokens. NULL: not known. */
typedef struct TypeScope {
        const Metadata *own;  /* of the type itself */
        const Metadata *args; /* of its arguments */
} TypeScope;

static uint32_t reader_number(TypeReader *reader)
{
        return byte_cursor_unsigned(&reader->cursor);
}

static void text_put(R2RText *text, const char *bytes, size_t n)
{
        if (text->has_failed || n >= text->size - text->n) {
                text->has_failed = true;
                return;
        }
        memcpy(text->buffer + text->n, bytes, n);
        text->n += n;
        text->buffer[text->n] = '\0';
}

static void reader_put(TypeReader *reader, const char *text)
{
        if (reader->text)
                text_put(reader->text, text, strlen(text));
}

/* Marks the text as failed, because the type has no name. */
static void reader_put_unknown(TypeReader *reader)
{
        if (reader->text)
                reader->text->has_failed = true;
}

/* Reads a type by its token. */
static bool read_class(TypeReader *reader, const Metadata *metadata)
{
        uint32_t token = reader_number(reader), rid;
        MetadataTable table;
        char name[MAX_NAME];

        if (!reader->text)
                return !reader->cursor.has_failed;
        if (metadata && metadata_decode(METADATA_TYPE_DEF_OR_REF, token, &table, &rid) &&
            metadata_type_name(metadata, table, rid, name, sizeof(name)))
                reader_put(reader, name);
        else
                reader_put_unknown(reader);
        return !reader->cursor.has_failed;
}

static bool read_type(TypeReader *reader, TypeScope scope, unsigned depth);

static bool read_numbers(TypeReader *reader, bool *ret_are_zero)
{
        uint32_t n = reader_number(reader);

        if (n > MAX_LIST)
                return false;
        while (n--)
                if (reader_number(reader))
                        *ret_are_zero = false;
        return !reader->cursor.has_failed;
}

/* Reads N types, separated by commas. */
static bool read_types(TypeReader *reader, TypeScope scope, uint32_t n, unsigned depth)
{
        uint32_t i;

        if (n > MAX_LIST)
                return false;
        for (i = 0; i < n; i++) {
                reader_put(reader, i ? "," : "");
                if (!read_type(reader, scope, depth))
                        return false;
        }
        return true;
}

/* Reads an array. Bounds that compilers never write have no name. */
static bool read_array(TypeReader *reader, TypeScope scope, unsigned depth)
{
        bool are_zero = true;
        uint32_t rank, i;

        if (!read_type(reader, scope, depth))
                return false;
        rank = reader_number(reader);
        if (!read_numbers(reader, &are_zero) || !read_numbers(reader, &are_zero))
                return false;
        if (rank < 2 || rank > MAX_DEPTH || !are_zero)
                reader_put_unknown(reader);
        reader_put(reader, "[");
        for (i = 1; i < rank && i < MAX_DEPTH; i++)
                reader_put(reader, ",");
        reader_put(reader, "]");
        return true;
}

/* Skips arguments and result, because a function has no name. */
static bool read_function(TypeReader *reader, TypeScope scope, unsigned depth)
{
        uint8_t convention = byte_cursor_u8(&reader->cursor);

        reader_put_unknown(reader);
        if (convention & 0x10) /* it is generic */
                reader_number(reader);
        return read_types(reader, scope, reader_number(reader) + 1, depth);
}

/* Reads a generic type. The tokens of its arguments belong to the module of the whole signature. */
static bool read_generic(TypeReader *reader, TypeScope scope, unsigned depth)
{
        if (!read_type(reader, scope, depth))
                return false;
        reader_put(reader, "[");
        if (!read_types(reader, (TypeScope){scope.args, scope.args}, reader_number(reader), depth))
                return false;
        reader_put(reader, "]");
        return true;
}

static bool read_suffixed(TypeReader *reader, TypeScope scope, const char *suffix, unsigned depth)
{
        if (!read_type(reader, scope, depth))
                return false;
        reader_put(reader, suffix);
        return true;
}

static const Metadata *reader_module(TypeReader *reader, uint32_t module)
{
        const R2RModules *modules = reader->modules;

        return reader->text && modules ? modules->find(modules->data, module) : NULL;
}

static bool read_type(TypeReader *reader, TypeScope scope, unsigned depth)
{
        uint8_t type = byte_cursor_u8(&reader->cursor);

        if (reader->cursor.has_failed || !depth--)
                return false;
        if (type < sizeof(WORDS) / sizeof(*WORDS) && WORDS[type]) {
                reader_put(reader, WORDS[type]);
                return true;
        }
        switch (type) {
        case TYPE_POINTER:
                return read_suffixed(reader, scope, "*", depth);
        case TYPE_BY_REF:
                return read_suffixed(reader, scope, "&", depth);
        case TYPE_VECTOR:
                return read_suffixed(reader, scope, "[]", depth);
        case TYPE_VALUE:
        case TYPE_CLASS:
                return read_class(reader, scope.own);
        case TYPE_OF_MODULE:
                scope.own = reader_module(reader, reader_number(reader));
                return read_type(reader, scope, depth);
        case TYPE_ARRAY:
                return read_array(reader, scope, depth);
        case TYPE_GENERIC:
                return read_generic(reader, scope, depth);
        case TYPE_FUNCTION:
                return read_function(reader, scope, depth);
        case TYPE_PARAMETER:
        case TYPE_METHOD_PARAMETER:
                reader_put_unknown(reader);
                reader_number(reader);
                return !reader->cursor.has_failed;
        case TYPE_REQUIRED_MODIFIER:
        case TYPE_OPTIONAL_MODIFIER:
                reader_number(reader);
                reader_put_unknown(reader);
                return read_type(reader, scope, depth);
        case TYPE_NATIVE_VALUE:
        case TYPE_PINNED:
                reader_put_unknown(reader);
                return read_type(reader, scope, depth);
        default:
                return false;
        }
}

/* The module, if the type begins with one; else 0. */
static uint32_t type_module(ByteCursor cursor)
{
        return byte_cursor_u8(&cursor) == TYPE_OF_MODULE ? byte_cursor_unsigned(&cursor) : 0;
}

/* Writes a list of types to TEXT, or skips it if TEXT is NULL. */
static bool signature_types(TypeReader *reader, TypeScope scope, R2RText *text, uint32_t n)
{
        reader->text = text;
        return read_types(reader, scope, n, MAX_DEPTH);
}

static bool signature_read(TypeReader *reader, TypeScope scope, R2RInstance *ret, R2RText *owner,
                           R2RText *args)
{
        const uint8_t *begin = reader->cursor.at;
        uint32_t flags = reader_number(reader);

        if (flags & (METHOD_SLOT | METHOD_CONSTRAINED))
                return false;
        ret->is_async = flags & METHOD_ASYNC_VARIANT;
        ret->is_stub = flags & (METHOD_UNBOXING_STUB | METHOD_INSTANTIATING_STUB);
        ret->module = flags & METHOD_MODULE  ? reader_number(reader)
                      : flags & METHOD_OWNER ? type_module(reader->cursor)
                                             : 0;
        if (flags & METHOD_MODULE && reader->modules) {
                scope.own = reader->modules->find(reader->modules->data, ret->module);
                scope.args = scope.own;
        }
        if (flags & METHOD_OWNER && !signature_types(reader, scope, owner, 1))
                return false;
        ret->rid = reader_number(reader);
        ret->is_member_ref = flags & METHOD_MEMBER_REF;
        if (flags & METHOD_INSTANTIATION &&
            !signature_types(reader, scope, args, reader_number(reader)))
                return false;
        ret->n = (size_t)(reader->cursor.at - begin);
        return !reader->cursor.has_failed;
}

bool r2r_signature_read(ByteCursor cursor, R2RInstance *ret)
{
        TypeReader reader = {.cursor = cursor};

        return signature_read(&reader, (TypeScope){0}, ret, NULL, NULL);
}

bool r2r_signature_name(ByteCursor cursor, const R2RModules *modules, R2RText *owner, R2RText *args)
{
        TypeReader reader = {.cursor = cursor, .modules = modules};
        const Metadata *own = modules->find(modules->data, 0);
        R2RInstance instance;

        return signature_read(&reader, (TypeScope){own, own}, &instance, owner, args) &&
               !owner->has_failed && !args->has_failed;
}

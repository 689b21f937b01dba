/* SPDX-License-Identifier: MIT */
#include "metadata/method-signature.h"

#include <stdio.h>
#include <string.h>

/* Limit of nesting: real types nest less. */
#define MAX_DEPTH 32u
/* Maximum of arguments of a method, or of a type. */
#define MAX_LIST 1024u

/* The first byte of a method's signature. */
enum {
        CONVENTION_KIND = 0x0f, /* 0: managed */
        CONVENTION_GENERIC = 0x10,
        CONVENTION_INSTANCE = 0x20,
        CONVENTION_EXPLICIT = 0x40,
};

/* Element types of ECMA-335 (II.23.1.16). */
enum {
        TYPE_POINTER = 0x0f,
        TYPE_BY_REF = 0x10,
        TYPE_VALUE = 0x11,
        TYPE_CLASS = 0x12,
        TYPE_PARAMETER = 0x13,
        TYPE_ARRAY = 0x14,
        TYPE_GENERIC = 0x15,
        TYPE_FUNCTION = 0x1b,
        TYPE_VECTOR = 0x1d,
        TYPE_METHOD_PARAMETER = 0x1e,
        TYPE_REQUIRED_MODIFIER = 0x1f,
};

/* One-word element types, in the runtime's spelling. */
static const char *const WORDS[] = {
        [0x01] = "void",           [0x02] = "bool",
        [0x03] = "wchar",          [0x04] = "int8",
        [0x05] = "unsigned int8",  [0x06] = "int16",
        [0x07] = "unsigned int16", [0x08] = "int32",
        [0x09] = "unsigned int32", [0x0a] = "int64",
        [0x0b] = "unsigned int64", [0x0c] = "float32",
        [0x0d] = "float64",        [0x0e] = "class System.String",
        [0x16] = "refany",         [0x18] = "int",
        [0x19] = "unsigned int",   [0x1c] = "class System.Object",
};

/* The begin of a pointer to a function, by the function's calling convention. */
static const char *const FUNCTIONS[] = {
        [0x00] = "fnptr ",
        [0x01] = "fnptr unmanaged cdecl ",
        [0x02] = "fnptr unmanaged stdcall ",
        [0x03] = "fnptr unmanaged thiscall ",
        [0x04] = "fnptr unmanaged fastcall ",
        [0x09] = "fnptr ", /* the platform's default */
};

/* The text being written, and its source. */
typedef struct SignatureWriter {
        const Metadata *metadata;
        ByteCursor cursor;
        char *buffer;
        size_t n, n_used;
        bool has_failed;
} SignatureWriter;

static void signature_add(SignatureWriter *writer, const char *text)
{
        size_t n = strlen(text);

        if (writer->has_failed || n >= writer->n - writer->n_used) {
                writer->has_failed = true;
                return;
        }
        memcpy(writer->buffer + writer->n_used, text, n + 1);
        writer->n_used += n;
}

static uint32_t signature_number(SignatureWriter *writer)
{
        unsigned bits;

        return byte_cursor_compressed(&writer->cursor, &bits);
}

/* Writes a type parameter: "!0". */
static void signature_add_parameter(SignatureWriter *writer, const char *prefix)
{
        char number[16];

        snprintf(number, sizeof(number), "%u", (unsigned)signature_number(writer));
        signature_add(writer, prefix);
        signature_add(writer, number);
}

/*
 * Writes the name only: metadata has no namespace of a nested type, and the runtime does not write
 * its outer type.
 */
static void signature_add_name(SignatureWriter *writer)
{
        MetadataTable table;
        const char *name_space, *name;
        bool is_ref;
        uint32_t rid;

        if (!metadata_decode(METADATA_TYPE_DEF_OR_REF, signature_number(writer), &table, &rid) ||
            (table != METADATA_TYPE_DEF && table != METADATA_TYPE_REF)) {
                writer->has_failed = true;
                return;
        }
        is_ref = table == METADATA_TYPE_REF;
        name_space = metadata_cell_string(writer->metadata, table, rid,
                                          is_ref ? TYPE_REF_NAMESPACE : TYPE_DEF_NAMESPACE);
        name = metadata_cell_string(writer->metadata, table, rid,
                                    is_ref ? TYPE_REF_NAME : TYPE_DEF_NAME);
        if (!name_space || !name) {
                writer->has_failed = true;
                return;
        }
        signature_add(writer, name_space);
        signature_add(writer, *name_space ? "." : "");
        signature_add(writer, name);
}

static void signature_add_type(SignatureWriter *writer, unsigned depth);

/* Writes N types, separated by commas. */
static void signature_add_types(SignatureWriter *writer, uint32_t n, unsigned depth)
{
        uint32_t i;

        if (n > MAX_LIST)
                writer->has_failed = true;
        for (i = 0; i < n && !writer->has_failed; i++) {
                signature_add(writer, i ? "," : "");
                signature_add_type(writer, depth);
        }
}

static void signature_add_class(SignatureWriter *writer, uint8_t type)
{
        signature_add(writer, type == TYPE_VALUE ? "value class " : "class ");
        signature_add_name(writer);
}

static void signature_add_generic(SignatureWriter *writer, unsigned depth)
{
        uint8_t type = byte_cursor_u8(&writer->cursor);

        if (type != TYPE_VALUE && type != TYPE_CLASS)
                writer->has_failed = true;
        signature_add_class(writer, type);
        signature_add(writer, "<");
        signature_add_types(writer, signature_number(writer), depth);
        signature_add(writer, ">");
}

/*
 * Writes an array of several dimensions. Only arrays from 0 on without sizes are accepted;
 * compilers make no others.
 */
static void signature_add_array(SignatureWriter *writer, unsigned depth)
{
        uint32_t rank, n_bounds, i;

        signature_add_type(writer, depth);
        rank = signature_number(writer);
        if (rank < 2 || rank > MAX_LIST || signature_number(writer) != 0)
                writer->has_failed = true;
        n_bounds = signature_number(writer);
        for (i = 0; i < n_bounds && !writer->has_failed && !writer->cursor.has_failed; i++)
                if (signature_number(writer) != 0)
                        writer->has_failed = true;
        signature_add(writer, "[");
        for (i = 1; i < rank && !writer->has_failed; i++)
                signature_add(writer, ",");
        signature_add(writer, "]");
}

static void signature_add_function(SignatureWriter *writer, unsigned depth)
{
        uint8_t convention = byte_cursor_u8(&writer->cursor);
        uint32_t n = signature_number(writer);

        if (convention < sizeof(FUNCTIONS) / sizeof(*FUNCTIONS) && FUNCTIONS[convention])
                signature_add(writer, FUNCTIONS[convention]);
        else
                writer->has_failed = true;
        signature_add_type(writer, depth);
        signature_add(writer, "(");
        signature_add_types(writer, n, depth);
        signature_add(writer, ")");
}

/* Writes a type and a suffix. */
static void signature_add_suffixed(SignatureWriter *writer, const char *suffix, unsigned depth)
{
        signature_add_type(writer, depth);
        signature_add(writer, suffix);
}

static void signature_add_type(SignatureWriter *writer, unsigned depth)
{
        uint8_t type = byte_cursor_u8(&writer->cursor);

        if (writer->cursor.has_failed || !depth--)
                writer->has_failed = true;
        if (writer->has_failed)
                return;
        if (type < sizeof(WORDS) / sizeof(*WORDS) && WORDS[type]) {
                signature_add(writer, WORDS[type]);
                return;
        }
        switch (type) {
        case TYPE_POINTER:
                signature_add_suffixed(writer, "*", depth);
                break;
        case TYPE_BY_REF:
                signature_add_suffixed(writer, "&", depth);
                break;
        case TYPE_VECTOR:
                signature_add_suffixed(writer, "[]", depth);
                break;
        case TYPE_VALUE:
        case TYPE_CLASS:
                signature_add_class(writer, type);
                break;
        case TYPE_PARAMETER:
                signature_add_parameter(writer, "!");
                break;
        case TYPE_METHOD_PARAMETER:
                signature_add_parameter(writer, "!!");
                break;
        case TYPE_GENERIC:
                signature_add_generic(writer, depth);
                break;
        case TYPE_ARRAY:
                signature_add_array(writer, depth);
                break;
        case TYPE_FUNCTION:
                signature_add_function(writer, depth);
                break;
        case TYPE_REQUIRED_MODIFIER:
                signature_add(writer, "required_modifier ");
                signature_add_name(writer);
                signature_add(writer, " ");
                signature_add_type(writer, depth);
                break;
        default:
                writer->has_failed = true;
        }
}

static void signature_write(SignatureWriter *writer)
{
        uint8_t convention = byte_cursor_u8(&writer->cursor);
        uint32_t n;

        if (convention & (CONVENTION_KIND | CONVENTION_EXPLICIT))
                writer->has_failed = true;
        signature_add(writer, convention & CONVENTION_INSTANCE ? "instance " : "");
        if (convention & CONVENTION_GENERIC) {
                signature_add(writer, "generic ");
                signature_number(writer);
        }
        n = signature_number(writer);
        signature_add_type(writer, MAX_DEPTH);
        signature_add(writer, "  (");
        signature_add_types(writer, n, MAX_DEPTH);
        signature_add(writer, ")");
        if (writer->cursor.has_failed || writer->cursor.n)
                writer->has_failed = true;
}

bool metadata_method_signature(const Metadata *metadata, uint32_t method, char *buffer, size_t n)
{
        SignatureWriter writer = {.metadata = metadata, .buffer = buffer, .n = n};
        MetadataSpan blob;
        uint32_t cell;

        if (!n)
                return false;
        *buffer = '\0';
        if (!metadata_cell(metadata, METADATA_METHOD_DEF, method, METHOD_DEF_SIGNATURE, &cell) ||
            !metadata_blob(metadata, cell, &blob))
                return false;
        writer.cursor = (ByteCursor){.at = blob.at, .n = blob.n};
        signature_write(&writer);
        if (writer.has_failed)
                *buffer = '\0';
        return !writer.has_failed;
}

/* Bytes from the opening bracket at TEXT to its closing bracket; 0: none. */
static size_t generic_length(const char *text)
{
        size_t depth = 0, i;

        for (i = 0; text[i]; i++) {
                depth += text[i] == '<';
                depth -= text[i] == '>';
                if (!depth)
                        return i + 1;
        }
        return 0;
}

void method_signature_unwrap_task(char *signature)
{
        static const char *const TASKS[] = {"class System.Threading.Tasks.Task",
                                            "value class System.Threading.Tasks.ValueTask"};
        static const char *const BEFORE[] = {"instance ", "generic "};
        static const char GENERIC[] = "`1<", NOTHING[] = "void";
        char *begin = signature, *at = NULL;
        size_t i, n;

        for (i = 0; i < sizeof(BEFORE) / sizeof(BEFORE[0]); i++)
                if (!strncmp(begin, BEFORE[i], strlen(BEFORE[i])))
                        begin += strlen(BEFORE[i]);
        for (i = 0; i < sizeof(TASKS) / sizeof(TASKS[0]) && !at; i++)
                if (!strncmp(begin, TASKS[i], strlen(TASKS[i])))
                        at = begin + strlen(TASKS[i]);
        if (at && *at == ' ') {
                memmove(begin + strlen(NOTHING), at, strlen(at) + 1);
                memcpy(begin, NOTHING, strlen(NOTHING));
                return;
        }
        n = at && !strncmp(at, GENERIC, sizeof(GENERIC) - 1) ? generic_length(at + 2) : 0;
        if (!n) {
                *signature = '\0';
                return;
        }
        /* Move the argument, without its brackets, to the begin; the rest follows. */
        memmove(begin, at + sizeof(GENERIC) - 1, n - 2);
        memmove(begin + n - 2, at + 2 + n, strlen(at + 2 + n) + 1);
}

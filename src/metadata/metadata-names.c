/* SPDX-License-Identifier: MIT */
#include "metadata/metadata-names.h"

#include <string.h>

#define MAX_NESTING 32u

/*
 * The number of rows of TABLE with a value below VALUE in COLUMN, by which the table must be
 * sorted. The result for an unsorted table is any number up to its number of rows.
 */
static uint32_t count_below(const Metadata *metadata, MetadataTable table, unsigned column,
                            uint32_t value)
{
        uint32_t low = 0, high = metadata_n_rows(metadata, table);

        while (low < high) {
                uint32_t middle = low + (high - low) / 2, cell = 0;

                metadata_cell(metadata, table, middle + 1, column, &cell);
                if (cell < value)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

uint32_t metadata_method_type(const Metadata *metadata, uint32_t method)
{
        uint32_t rid, first;

        if (!method || method > metadata_n_rows(metadata, METADATA_METHOD_DEF))
                return 0;
        /*
         * Take the last type whose methods begin at or before METHOD: earlier types with the same
         * begin have no methods.
         */
        rid = count_below(metadata, METADATA_TYPE_DEF, TYPE_DEF_METHODS, method + 1);
        return metadata_cell(metadata, METADATA_TYPE_DEF, rid, TYPE_DEF_METHODS, &first) &&
                               first <= method
                       ? rid
                       : 0;
}

const char *metadata_method_name(const Metadata *metadata, uint32_t method)
{
        return metadata_cell_string(metadata, METADATA_METHOD_DEF, method, METHOD_DEF_NAME);
}

/* The enclosing type of a nested type, in the same table; 0: not nested. */
static uint32_t type_enclosing(const Metadata *metadata, MetadataTable table, uint32_t rid)
{
        MetadataTable scope = METADATA_MODULE;
        uint32_t row, value = 0, enclosing = 0;

        if (table == METADATA_TYPE_REF) {
                return metadata_cell(metadata, table, rid, TYPE_REF_SCOPE, &value) &&
                                       metadata_decode(METADATA_RESOLUTION_SCOPE, value, &scope,
                                                       &enclosing) &&
                                       scope == METADATA_TYPE_REF
                               ? enclosing
                               : 0;
        }
        row = count_below(metadata, METADATA_NESTED_CLASS, NESTED_CLASS_NESTED, rid) + 1;
        return metadata_cell(metadata, METADATA_NESTED_CLASS, row, NESTED_CLASS_NESTED, &value) &&
                               value == rid &&
                               metadata_cell(metadata, METADATA_NESTED_CLASS, row,
                                             NESTED_CLASS_ENCLOSING, &enclosing)
                       ? enclosing
                       : 0;
}

/* A name, written from its end. */
typedef struct NameWriter {
        char *buffer;
        size_t begin; /* of the written text */
} NameWriter;

static bool name_prepend(NameWriter *writer, const char *text)
{
        size_t n = text ? strlen(text) : 0;

        if (!text || n > writer->begin)
                return false;
        writer->begin -= n;
        memcpy(writer->buffer + writer->begin, text, n);
        return true;
}

/* Escapes characters with a meaning in names of types by a backslash. */
static bool name_prepend_escaped(NameWriter *writer, const char *text)
{
        size_t i = text ? strlen(text) : 0;

        if (!text)
                return false;
        for (; i; i--) {
                if (!writer->begin)
                        return false;
                writer->buffer[--writer->begin] = text[i - 1];
                if (strchr(",[]&*+\\", text[i - 1]) && !name_prepend(writer, "\\"))
                        return false;
        }
        return true;
}

static bool name_prepend_type(NameWriter *writer, const Metadata *metadata, MetadataTable table,
                              uint32_t rid)
{
        bool is_ref = table == METADATA_TYPE_REF;
        const char *name_space;
        unsigned depth;

        for (depth = 0; depth < MAX_NESTING; depth++) {
                uint32_t enclosing = type_enclosing(metadata, table, rid);

                if (!name_prepend_escaped(
                            writer, metadata_cell_string(metadata, table, rid,
                                                         is_ref ? TYPE_REF_NAME : TYPE_DEF_NAME)))
                        return false;
                if (!enclosing) {
                        name_space = metadata_cell_string(metadata, table, rid,
                                                          is_ref ? TYPE_REF_NAMESPACE
                                                                 : TYPE_DEF_NAMESPACE);
                        return name_space &&
                               (!*name_space || (name_prepend(writer, ".") &&
                                                 name_prepend_escaped(writer, name_space)));
                }
                if (!name_prepend(writer, "+"))
                        return false;
                rid = enclosing;
        }
        return false;
}

bool metadata_type_name(const Metadata *metadata, MetadataTable table, uint32_t rid, char *buffer,
                        size_t n)
{
        NameWriter writer = {.buffer = buffer, .begin = n};

        if (!n)
                return false;
        writer.begin--;
        buffer[writer.begin] = '\0';
        if ((table == METADATA_TYPE_DEF || table == METADATA_TYPE_REF) &&
            name_prepend_type(&writer, metadata, table, rid)) {
                memmove(buffer, buffer + writer.begin, n - writer.begin);
                return true;
        }
        buffer[0] = '\0';
        return false;
}

/* The coded index of the owner of generic parameters. */
static uint32_t generic_owner(MetadataTable table, uint32_t rid)
{
        return rid << 1 | (table == METADATA_METHOD_DEF);
}

static bool is_param_of(const Metadata *metadata, uint32_t row, uint32_t owner)
{
        uint32_t value;

        return metadata_cell(metadata, METADATA_GENERIC_PARAM, row, GENERIC_PARAM_OWNER, &value) &&
               value == owner;
}

const char *metadata_generic_param(const Metadata *metadata, MetadataTable table, uint32_t rid,
                                   uint32_t i)
{
        uint32_t owner = generic_owner(table, rid), number, row;

        row = count_below(metadata, METADATA_GENERIC_PARAM, GENERIC_PARAM_OWNER, owner) + 1;
        for (; is_param_of(metadata, row, owner); row++)
                if (metadata_cell(metadata, METADATA_GENERIC_PARAM, row, GENERIC_PARAM_NUMBER,
                                  &number) &&
                    number == i)
                        return metadata_cell_string(metadata, METADATA_GENERIC_PARAM, row,
                                                    GENERIC_PARAM_NAME);
        return NULL;
}

uint32_t metadata_n_generic_params(const Metadata *metadata, MetadataTable table, uint32_t rid)
{
        uint32_t owner = generic_owner(table, rid), n = 0, row;

        row = count_below(metadata, METADATA_GENERIC_PARAM, GENERIC_PARAM_OWNER, owner) + 1;
        while (is_param_of(metadata, row + n, owner))
                n++;
        return n;
}

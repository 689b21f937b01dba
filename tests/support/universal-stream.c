/* SPDX-License-Identifier: MIT */
#include "support/universal-stream.h"

#include "support/nettrace-stream.h"

#include <string.h>

enum {
        VERSION = 6,
        ALL_FLAGS = 0xdf, /* the recorder's flags: all but related activities; sorted */
        TYPE_NUMBER = 21,
        TYPE_TEXT = 23,
        OPTIONAL_VERSION = 9,
};

/* Rows of metadata; their ids are their numbers, from 1. */
static const struct {
        const char *provider, *name;
        uint32_t id;
        const char *fields[7];
        unsigned version;
} ROWS[] = {
        {"Universal.Events", "cpu", 1, {"Value"}, 0},
        {"Universal.Events", "cswitch", 2, {"Value"}, 0},
        {"Universal.System", "ExistingProcess", 0, {"NamespaceId", "Name", "NamespaceName"}, 0},
        {"Universal.System", "ProcessExit", 2, {NULL}, 0},
        {"Universal.System",
         "ProcessMapping",
         3,
         {"Id", "StartAddress", "EndAddress", "FileOffset", "FileName", "MetadataId", "Later"},
         0},
        {"Universal.System",
         "ProcessSymbol",
         4,
         {"Id", "MappingId", "StartAddress", "EndAddress", "Name"},
         0},
        /* Unknown rows: a version, an event, an order of fields. */
        {"Universal.System", "ProcessCreate", 1, {"NamespaceId", "Name", "NamespaceName"}, 1},
        {"Universal.Events", "page-fault", 3, {"Value"}, 0},
        {"Universal.System",
         "ProcessMappingMetadata",
         5,
         {"Id", "VersionMetadata", "SymbolMetadata"},
         0},
};

static void put_rows(GByteArray *out)
{
        GByteArray *block = g_byte_array_new();
        unsigned i, j, n;

        nettrace_put(block, 0, 2);
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) row = g_byte_array_new();

                for (n = 0; n < G_N_ELEMENTS(ROWS[i].fields) && ROWS[i].fields[n];)
                        n++;
                nettrace_put_varint(row, i + 1);
                nettrace_put_text(row, ROWS[i].provider);
                nettrace_put_varint(row, ROWS[i].id);
                nettrace_put_text(row, ROWS[i].name);
                nettrace_put(row, n, 2);
                for (j = 0; j < n; j++) {
                        nettrace_put(row, strlen(ROWS[i].fields[j]) + 2, 2);
                        nettrace_put_text(row, ROWS[i].fields[j]);
                        nettrace_put(row,
                                     strstr(ROWS[i].fields[j], "Name") ? TYPE_TEXT : TYPE_NUMBER,
                                     1);
                }
                nettrace_put(row, ROWS[i].version ? 2 : 0, 2);
                if (ROWS[i].version) {
                        nettrace_put(row, OPTIONAL_VERSION, 1);
                        nettrace_put(row, ROWS[i].version, 1);
                }
                nettrace_put(block, row->len, 2);
                nettrace_put_bytes(block, row->data, row->len);
        }
        nettrace_put_block(out, VERSION, NETTRACE_BLOCK_METADATA, block);
}

/* Two threads: index 1 is 5/6, index 2 is an idle CPU. */
static void put_threads(GByteArray *out)
{
        static const unsigned THREADS[][3] = {{1, 5, 6}, {2, 0, 0}};
        GByteArray *block = g_byte_array_new();
        unsigned i;

        for (i = 0; i < G_N_ELEMENTS(THREADS); i++) {
                nettrace_put(block, 5, 2);
                nettrace_put_varint(block, THREADS[i][0]);
                nettrace_put(block, 2, 1);
                nettrace_put_varint(block, THREADS[i][1]);
                nettrace_put(block, 3, 1);
                nettrace_put_varint(block, THREADS[i][2]);
        }
        nettrace_put_block(out, VERSION, NETTRACE_BLOCK_THREAD, block);
}

static void put_stack(GByteArray *out)
{
        GByteArray *block = g_byte_array_new();

        nettrace_put(block, 1, 4);
        nettrace_put(block, 1, 4);
        nettrace_put(block, 16, 4);
        nettrace_put(block, 0x1000, 8);
        nettrace_put(block, 0xffffffff81000000, 8);
        nettrace_put_block(out, VERSION, NETTRACE_BLOCK_STACK, block);
}

static void put_event(GByteArray *block, const UniversalTestEvent *event)
{
        const size_t n = strlen(event->payload) / 2;
        size_t i;

        nettrace_put(block, ALL_FLAGS, 1);
        nettrace_put_varint(block, event->row + 1);
        nettrace_put_varint(block, 0);
        nettrace_put_varint(block, 0);
        nettrace_put_varint(block, 3); /* processor */
        nettrace_put_varint(block, event->thread);
        nettrace_put_varint(block, event->has_stack);
        nettrace_put_varint(block, 2000);
        nettrace_put_varint(block, 1); /* labels */
        nettrace_put_varint(block, n);
        for (i = 0; i < n; i++)
                nettrace_put(block,
                             (uint64_t)(g_ascii_xdigit_value(event->payload[2 * i]) << 4 |
                                        g_ascii_xdigit_value(event->payload[2 * i + 1])),
                             1);
}

GByteArray *universal_stream(const UniversalTestEvent *events, size_t n)
{
        GByteArray *stream = nettrace_stream_new(VERSION), *block = nettrace_block_new(true);
        size_t i;

        put_rows(stream);
        nettrace_put_point(stream, VERSION, 1000, 1, NULL, 0);
        put_stack(stream);
        put_threads(stream);
        for (i = 0; i < n; i++)
                put_event(block, &events[i]);
        nettrace_put_block(stream, VERSION, NETTRACE_BLOCK_EVENT, block);
        nettrace_stream_end(stream, VERSION);
        return stream;
}

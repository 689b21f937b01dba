/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer fields: the members of a native code body, described once for all forms of an answer
 *
 * The lists below generate the JSON of answers, lists and events, its reader in libclrsym, both
 * ends of the binary form, and the text of the Varlink interface.
 *
 * To add a field:
 *     - a member at the end of BulkAnswer (wire/bulk.h);
 *     - answer_row_fill() in query/answer-row.c, which sets it;
 *     - a member of clrsym_body (clrsym.h);
 *     - a line below, at its place in the JSON;
 *     - src/client/python/clrsym/types.py, and clrsym-protocol(7).
 * If the code map does not know it yet, also a member of Body, and what checkpoint-layout.h says.
 *
 * Plain C, without GLib: the client library is built from it too.
 */

#include "clrsym/clrsym.h"
#include "wire/bulk.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum AnswerType {
        ANSWER_TEXT,   /* string; in rows the id of a name, 0: null */
        ANSWER_ID,     /* u64, "0x1f" */
        ANSWER_TOKEN,  /* u32, "0x0000001f" */
        ANSWER_NUMBER, /* u32 or u64 */
        ANSWER_TIME,   /* ns, "1.000000000" */
        ANSWER_JIT_MS, /* in rows us, in clrsym.h ns, in JSON ms with three decimals */
        ANSWER_TIER,   /* clrsym_tier, by name */
        ANSWER_SOURCE, /* clrsym_source, by name */
        ANSWER_GUID,   /* 16 bytes, in JSON text */
        /* Objects, with members of their own. */
        ANSWER_METHOD,
        ANSWER_STUB,
        ANSWER_VERSION,
        ANSWER_MODULE,
        /* JSON only: computed from the other members, or from the address asked about. */
        ANSWER_SYMBOL,
        ANSWER_FLAG_NAMES,
        ANSWER_OFFSET,
        ANSWER_IL_OFFSET,
        ANSWER_IL_KIND,
        ANSWER_LINE_IL_OFFSET,
        ANSWER_INLINED, /* array of objects */
} AnswerType;

/* The condition of null in the JSON. Rows and clrsym.h then have 0, except for a life's end. */
typedef enum AnswerNull {
        ANSWER_NEVER,
        ANSWER_IF_ZERO,
        ANSWER_IF_ALIVE,     /* the value is CLRSYM_ALIVE */
        ANSWER_IF_R2R_ENTRY, /* the source is CLRSYM_SOURCE_R2R_ENTRY */
        ANSWER_IF_NO_IL_MAP, /* the row lacks BULK_ANSWER_IL_VERSION */
        ANSWER_IF_NONE,      /* of an object: the object is missing */
} AnswerNull;

/*
 * FIELD(name in JSON, type, null, member of BulkAnswer, member of clrsym_body) OTHER(name in JSON,
 * type, null): an object, or a member of JSON only
 */
#define ANSWER_METHOD_FIELDS(FIELD, OTHER)                                                         \
        FIELD("id", ID, NEVER, method_id, method_id)                                               \
        FIELD("namespace", TEXT, IF_ZERO, name_space, name_space)                                  \
        FIELD("name", TEXT, IF_ZERO, name, name)                                                   \
        FIELD("signature", TEXT, IF_ZERO, signature, signature)                                    \
        FIELD("token", TOKEN, IF_R2R_ENTRY, token, token)                                          \
        OTHER("stub_for", STUB, IF_NONE)                                                           \
        FIELD("il_size", NUMBER, IF_ZERO, il_size, il_size)                                        \
        FIELD("type_args", TEXT, IF_ZERO, type_args, type_args)

/* FIELD(name in JSON, type, null, member of BulkStub, member of clrsym_body) */
#define ANSWER_STUB_FIELDS(FIELD)                                                                  \
        FIELD("namespace", TEXT, IF_ZERO, name_space, stub_name_space)                             \
        FIELD("name", TEXT, IF_ZERO, name, stub_name)                                              \
        FIELD("signature", TEXT, IF_ZERO, signature, stub_signature)

#define ANSWER_VERSION_FIELDS(FIELD)                                                               \
        FIELD("rejit_id", NUMBER, NEVER, rejit_id, rejit_id)                                       \
        FIELD("il_version", NUMBER, IF_NO_IL_MAP, il_version, il_version)                          \
        FIELD("tier", TIER, NEVER, tier, tier)

#define ANSWER_MODULE_FIELDS(FIELD)                                                                \
        FIELD("id", ID, NEVER, module_id, module_id)                                               \
        FIELD("path", TEXT, IF_ZERO, module_path, module_path)                                     \
        FIELD("pdb_guid", GUID, IF_ZERO, module_pdb, module_pdb_guid)                              \
        FIELD("pdb_path", TEXT, IF_ZERO, module_pdb_path, module_pdb_path)

#define ANSWER_BODY_FIELDS(FIELD, OTHER)                                                           \
        OTHER("symbol", SYMBOL, NEVER)                                                             \
        OTHER("method", METHOD, NEVER)                                                             \
        FIELD("start", ID, NEVER, start, start)                                                    \
        FIELD("size", NUMBER, IF_ZERO, size, size)                                                 \
        OTHER("offset", OFFSET, NEVER)                                                             \
        FIELD("flags", NUMBER, IF_R2R_ENTRY, method_flags, flags)                                  \
        OTHER("flag_names", FLAG_NAMES, IF_R2R_ENTRY)                                              \
        OTHER("version", VERSION, NEVER)                                                           \
        OTHER("module", MODULE, IF_NONE)                                                           \
        OTHER("il_offset", IL_OFFSET, IF_NO_IL_MAP)                                                \
        OTHER("il_kind", IL_KIND, IF_NO_IL_MAP)                                                    \
        OTHER("line_il_offset", LINE_IL_OFFSET, IF_NO_IL_MAP)                                      \
        OTHER("inlined", INLINED, IF_NONE)                                                         \
        FIELD("jit_ms", JIT_MS, IF_ZERO, jit_us, jit_ns)                                           \
        FIELD("loaded", TIME, IF_ZERO, loaded, loaded)                                             \
        FIELD("unloaded", TIME, IF_ALIVE, unloaded, unloaded)                                      \
        FIELD("source", SOURCE, NEVER, source, source)

/* All members of BulkAnswer that belong to a body. */
#define ANSWER_ROW_FIELDS(FIELD, OTHER)                                                            \
        ANSWER_METHOD_FIELDS(FIELD, OTHER)                                                         \
        ANSWER_VERSION_FIELDS(FIELD)                                                               \
        ANSWER_MODULE_FIELDS(FIELD)                                                                \
        ANSWER_BODY_FIELDS(FIELD, OTHER)

/* A row of the lists, for code that walks them. */
typedef struct AnswerField {
        const char *name; /* NULL: the end */
        AnswerType type;
        AnswerNull null;
        uint16_t row, row_size; /* offset in BulkAnswer, or BulkStub */
        uint16_t api, api_size; /* offset in clrsym_body */
} AnswerField;

/* The members of a body, in the order of the JSON. */
extern const AnswerField answer_body_fields[];
/* The members of an object; NULL for a type that is not an object. */
const AnswerField *answer_type_fields(AnswerType type);
/* True if lists and events lack such a field, because no address was asked about. */
bool answer_type_needs_address(AnswerType type);

/* The field's number in a row or in a clrsym_body. */
uint64_t answer_field_load(const void *base, uint16_t offset, uint16_t size);
void answer_field_store(void *base, uint16_t offset, uint16_t size, uint64_t value);

/* SPDX-License-Identifier: MIT */
#include "wire/answer-fields.h"

#include <string.h>

#define SIZE(type, member) sizeof(((type *)0)->member)

/* A field has room for its type's values in both structs. */
#define FITS_TEXT(row, api)   ((row) == sizeof(uint32_t) && (api) == sizeof(const char *))
#define FITS_ID(row, api)     ((row) == sizeof(uint64_t) && (api) == sizeof(uint64_t))
#define FITS_TOKEN(row, api)  ((row) == sizeof(uint32_t) && (api) == sizeof(uint32_t))
#define FITS_NUMBER(row, api) ((row) >= sizeof(uint32_t) && (api) == (row))
#define FITS_TIME(row, api)   ((row) == sizeof(uint64_t) && (api) == sizeof(uint64_t))
#define FITS_JIT_MS(row, api) ((row) == sizeof(uint32_t) && (api) == sizeof(uint64_t))
#define FITS_TIER(row, api)   ((row) == sizeof(uint8_t) && (api) == sizeof(clrsym_tier))
#define FITS_SOURCE(row, api) ((row) == sizeof(uint8_t) && (api) == sizeof(clrsym_source))

#define FITS_GUID(row, api) ((row) == 16 && (api) == 16)

#define CHECK(name, type, null, row, api)                                                          \
        static_assert(FITS_##type(SIZE(BulkAnswer, row), SIZE(clrsym_body, api)), name);
#define CHECK_STUB(name, type, null, row, api)                                                     \
        static_assert(FITS_##type(SIZE(BulkStub, row), SIZE(clrsym_body, api)), name);
#define NOTHING(name, type, null)

ANSWER_ROW_FIELDS(CHECK, NOTHING)
ANSWER_STUB_FIELDS(CHECK_STUB)

#define MEMBER(type, member) offsetof(type, member), SIZE(type, member)
#define FIELD(name, type, null, row, api)                                                          \
        {name, ANSWER_##type, ANSWER_##null, MEMBER(BulkAnswer, row), MEMBER(clrsym_body, api)},
#define STUB_FIELD(name, type, null, row, api)                                                     \
        {name, ANSWER_##type, ANSWER_##null, MEMBER(BulkStub, row), MEMBER(clrsym_body, api)},
#define OTHER(name, type, null) {name, ANSWER_##type, ANSWER_##null, 0, 0, 0, 0},
#define END                                                                                        \
        {                                                                                          \
                NULL, ANSWER_TEXT, ANSWER_NEVER, 0, 0, 0, 0                                        \
        }

const AnswerField answer_body_fields[] = {ANSWER_BODY_FIELDS(FIELD, OTHER) END};

static const AnswerField METHOD[] = {ANSWER_METHOD_FIELDS(FIELD, OTHER) END};
static const AnswerField STUB[] = {ANSWER_STUB_FIELDS(STUB_FIELD) END};
static const AnswerField VERSION[] = {ANSWER_VERSION_FIELDS(FIELD) END};
static const AnswerField MODULE[] = {ANSWER_MODULE_FIELDS(FIELD) END};

const AnswerField *answer_type_fields(AnswerType type)
{
        switch (type) {
        case ANSWER_METHOD:
                return METHOD;
        case ANSWER_STUB:
                return STUB;
        case ANSWER_VERSION:
                return VERSION;
        case ANSWER_MODULE:
                return MODULE;
        default:
                return NULL;
        }
}

bool answer_type_needs_address(AnswerType type)
{
        return type == ANSWER_OFFSET || type == ANSWER_IL_OFFSET || type == ANSWER_IL_KIND ||
               type == ANSWER_LINE_IL_OFFSET || type == ANSWER_INLINED;
}

uint64_t answer_field_load(const void *base, uint16_t offset, uint16_t size)
{
        uint64_t value = 0;

        /* Little-endian, see wire/bulk.h; of a longer value, its begin. */
        memcpy(&value, (const char *)base + offset, size < sizeof(value) ? size : sizeof(value));
        return value;
}

void answer_field_store(void *base, uint16_t offset, uint16_t size, uint64_t value)
{
        memcpy((char *)base + offset, &value, size);
}

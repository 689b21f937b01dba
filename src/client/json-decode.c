/* SPDX-License-Identifier: MIT */
#include "client/json-decode.h"

#include "wire/enum-names.h"
#include "util/guid-text.h"
#include "util/seconds-text.h"
#include "wire/answer-fields.h"

#include <string.h>

/* An object whose members are read one by one. `wrong` has the first wrong one. */
typedef struct Row {
        const json_t *object;
        const char *wrong; /* name of a member, or NULL */
} Row;

static bool is_given(const Row *row, const char *name)
{
        const json_t *value = json_object_get(row->object, name);

        return value && !json_is_null(value);
}

static void set_wrong(Row *row, const char *name)
{
        if (!row->wrong)
                row->wrong = name;
}

static uint64_t json_take_number(Row *row, const char *name, uint64_t max)
{
        const json_t *value = json_object_get(row->object, name);
        json_int_t i = json_is_integer(value) ? json_integer_value(value) : -1;

        if (i >= 0 && (uint64_t)i <= max)
                return (uint64_t)i;
        set_wrong(row, name);
        return 0;
}

static bool take_bool(Row *row, const char *name)
{
        const json_t *value = json_object_get(row->object, name);

        if (!json_is_boolean(value))
                set_wrong(row, name);
        return json_is_true(value);
}

/* NULL for null. */
static const char *json_take_text(Row *row, const char *name)
{
        const json_t *value = json_object_get(row->object, name);

        if (!json_is_string(value) && !json_is_null(value))
                set_wrong(row, name);
        return json_string_value(value);
}

/* "0x..." */
static uint64_t take_hex(Row *row, const char *name, uint64_t max)
{
        static const char DIGITS[] = "0123456789abcdef";
        const char *text = json_take_text(row, name), *digit;
        uint64_t u = 0;
        size_t n;

        if (text && !strncmp(text, "0x", 2)) {
                text += 2;
                for (n = 0; n < 16 && text[n] && (digit = strchr(DIGITS, text[n])); n++)
                        u = u << 4 | (uint64_t)(digit - DIGITS);
                if (n > 0 && !text[n] && u <= max)
                        return u;
        }
        set_wrong(row, name);
        return 0;
}

/* NONE for null. */
static uint64_t json_take_time(Row *row, const char *name, uint64_t none)
{
        const char *text = json_take_text(row, name);
        uint64_t time;

        if (!text)
                return none;
        if (seconds_from_text(text, &time))
                return time;
        set_wrong(row, name);
        return 0;
}

static unsigned take_enum(Row *row, const char *name, EnumKind kind)
{
        const char *text = json_take_text(row, name);
        unsigned i;

        if (text && enum_from_name(kind, text, &i))
                return i;
        set_wrong(row, name);
        return 0;
}

/* The member NAME, which must be an object. */
static Row take_object(Row *row, const char *name)
{
        Row part = {.object = json_object_get(row->object, name)};

        if (!json_is_object(part.object))
                set_wrong(row, name);
        return part;
}

static void take_key(Row *row, int32_t *pid, uint64_t *pid_ns, uint32_t *generation)
{
        *pid = (int32_t)json_take_number(row, "pid", INT32_MAX);
        *pid_ns = json_take_number(row, "pid_ns", INT64_MAX);
        *generation = (uint32_t)json_take_number(row, "generation", UINT32_MAX);
}

const char *json_decode_process(const json_t *object, clrsym_process *ret)
{
        Row row = {.object = object};
        clrsym_process_state state =
                (clrsym_process_state)take_enum(&row, "state", ENUM_PROCESS_STATE);

        *ret = (clrsym_process){
                .is_running = state == CLRSYM_RUNNING,
                .is_from_start = take_bool(&row, "from_start"),
                .runtime = json_take_text(&row, "runtime"),
                .runtime_path = json_take_text(&row, "runtime_path"),
                .command = json_take_text(&row, "command"),
                .n_bodies = json_take_number(&row, "bodies", INT64_MAX),
                .n_live = json_take_number(&row, "live", INT64_MAX),
                .n_modules = json_take_number(&row, "modules", INT64_MAX),
                .since = json_take_time(&row, "since", CLRSYM_NO_TIME),
                .last = json_take_time(&row, "last", CLRSYM_NO_TIME),
                .exited = json_take_time(&row, "exited", CLRSYM_ALIVE),
                .horizon = json_take_time(&row, "horizon", CLRSYM_NO_TIME),
                .epoch = json_take_number(&row, "epoch", INT64_MAX),
                .state = state,
        };
        take_key(&row, &ret->pid, &ret->pid_ns, &ret->generation);
        return row.wrong;
}

/* A number with three decimals, or null; in ns. */
static uint64_t take_ms(Row *row, const char *name)
{
        const json_t *value = json_object_get(row->object, name);
        double ms = json_number_value(value);

        /* 3e10 ms are a year. */
        if ((!json_is_number(value) && !json_is_null(value)) || !(ms >= 0 && ms < 3e10))
                set_wrong(row, name);
        else
                return (uint64_t)(ms * 1000 + 0.5) * 1000;
        return 0;
}

/* All zero for null, or if an older daemon does not have it. */
static void take_guid(Row *row, const char *name, uint8_t ret_guid[GUID_SIZE])
{
        const char *text = is_given(row, name) ? json_take_text(row, name) : NULL;

        if (is_given(row, name) && (!text || !guid_from_text(text, strlen(text), ret_guid)))
                set_wrong(row, name);
}

static uint64_t take_field(Row *row, const AnswerField *field)
{
        /* A daemon of another version may lack a member, which then counts as null. */
        bool is_null = field->null != ANSWER_NEVER && !is_given(row, field->name);

        switch (field->type) {
        case ANSWER_ID:
                return take_hex(row, field->name, UINT64_MAX);
        case ANSWER_TOKEN:
                return is_null ? 0 : take_hex(row, field->name, UINT32_MAX);
        case ANSWER_NUMBER:
                return is_null ? 0
                               : json_take_number(row, field->name,
                                                  field->api_size == sizeof(uint32_t) ? UINT32_MAX
                                                                                      : INT64_MAX);
        case ANSWER_TIME:
                return json_take_time(row, field->name,
                                      field->null == ANSWER_IF_ALIVE ? CLRSYM_ALIVE
                                                                     : CLRSYM_NO_TIME);
        case ANSWER_JIT_MS:
                return take_ms(row, field->name);
        case ANSWER_TIER:
                return take_enum(row, field->name, ENUM_TIER);
        case ANSWER_SOURCE:
                return take_enum(row, field->name, ENUM_SOURCE);
        default: /* not in clrsym_body */
                return 0;
        }
}

static void take_fields(Row *row, const AnswerField *fields, clrsym_body *ret)
{
        const AnswerField *field;

        for (field = fields; field->name; field++) {
                const AnswerField *members = answer_type_fields(field->type);

                if (members && (field->null == ANSWER_NEVER || is_given(row, field->name))) {
                        Row part = take_object(row, field->name);

                        if (!row->wrong)
                                take_fields(&part, members, ret);
                        set_wrong(row, part.wrong);
                } else if (field->type == ANSWER_TEXT) {
                        /* An older daemon lacks the later rows. */
                        bool is_read = field->row < BULK_ANSWER_MIN || is_given(row, field->name);
                        const char *text = is_read ? json_take_text(row, field->name) : NULL;

                        memcpy((char *)ret + field->api, &text, sizeof(text));
                } else if (field->type == ANSWER_GUID) {
                        take_guid(row, field->name, (uint8_t *)ret + field->api);
                } else if (field->api_size) {
                        answer_field_store(ret, field->api, field->api_size,
                                           take_field(row, field));
                }
        }
}

static const char *take_body(Row *row, clrsym_body *ret)
{
        const json_t *version = json_object_get(row->object, "version");

        *ret = (clrsym_body){.has_il_version =
                                     json_is_integer(json_object_get(version, "il_version"))};
        take_fields(row, answer_body_fields, ret);
        if (ret->size && ret->start > UINT64_MAX - (ret->size - 1))
                set_wrong(row, "size");
        return row->wrong;
}

const char *json_decode_body(const json_t *object, clrsym_process *ret_process,
                             clrsym_body *ret_body)
{
        Row row = {.object = object};

        *ret_process = (clrsym_process){0};
        take_key(&row, &ret_process->pid, &ret_process->pid_ns, &ret_process->generation);
        return take_body(&row, ret_body);
}

/* -1 for null. */
static int32_t take_il_offset(Row *row, const char *name)
{
        return is_given(row, name) ? (int32_t)json_take_number(row, name, INT32_MAX) : -1;
}

/* The nearest body, and how far it is away. */
static void take_nearest(Row *row, clrsym_answer *ret)
{
        Row part = take_object(row, "nearest");
        const json_t *seconds = json_object_get(part.object, "distance");
        const double ns = json_number_value(seconds) * 1e9;

        ret->has_body = true;
        set_wrong(row, take_body(&part, &ret->body));
        /* 2^62 ns are 146 years. */
        if (!json_is_number(seconds) || !(ns > -0x1p62 && ns < 0x1p62))
                set_wrong(row, "distance");
        else
                ret->distance = (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* The body at the address, and the place in it. */
static void take_place(Row *row, clrsym_answer *ret)
{
        const json_t *inlined = json_object_get(row->object, "inlined");

        ret->has_body = true;
        take_body(row, &ret->body);
        ret->offset = json_take_number(row, "offset", INT64_MAX);
        if (ret->offset >= (ret->body.size ? ret->body.size : 1))
                set_wrong(row, "offset");
        if (is_given(row, "il_kind"))
                ret->il_kind = (clrsym_il_kind)take_enum(row, "il_kind", ENUM_IL_KIND);
        if (ret->il_kind == CLRSYM_IL_EXACT)
                ret->il_offset = (int32_t)json_take_number(row, "il_offset", INT32_MAX);
        ret->line_il_offset = take_il_offset(row, "line_il_offset");
        if (json_array_size(inlined) <= UINT32_MAX)
                ret->n_inlined = (uint32_t)json_array_size(inlined);
        else
                set_wrong(row, "inlined");
}

const char *json_decode_answer(const json_t *object, clrsym_answer *ret)
{
        Row row = {.object = object};

        *ret = (clrsym_answer){
                .status = (clrsym_status)take_enum(&row, "status", ENUM_STATUS),
                .has_process = is_given(&row, "confidence"),
                .line_il_offset = -1,
        };
        if (ret->has_process) {
                ret->confidence = (clrsym_confidence)take_enum(&row, "confidence", ENUM_CONFIDENCE);
                ret->pid = (int32_t)json_take_number(&row, "pid", INT32_MAX);
                ret->pid_ns = json_take_number(&row, "pid_ns", INT64_MAX);
                ret->horizon = json_take_time(&row, "horizon", CLRSYM_NO_TIME);
                ret->epoch = json_take_number(&row, "epoch", INT64_MAX);
        }
        if (is_given(&row, "n_candidates"))
                ret->n_candidates = (uint32_t)json_take_number(&row, "n_candidates", UINT32_MAX);
        if (is_given(&row, "nearest"))
                take_nearest(&row, ret);
        else if (ret->status == CLRSYM_OK)
                take_place(&row, ret);
        return row.wrong;
}

const char *json_decode_inlined(const json_t *object, clrsym_inlined *ret)
{
        const json_t *inlined = json_object_get(object, "inlined");
        size_t i;

        for (i = 0; i < json_array_size(inlined); i++) {
                Row row = {.object = json_array_get(inlined, i)};

                ret[i] = (clrsym_inlined){.method = json_take_text(&row, "method"),
                                          .il_offset = take_il_offset(&row, "il_offset")};
                if (row.wrong)
                        return row.wrong;
        }
        return NULL;
}

const char *json_decode_event(const json_t *object, clrsym_event *ret)
{
        static const char *const TYPES[] = {
                [CLRSYM_EVENT_LOAD] = "load",
                [CLRSYM_EVENT_UNLOAD] = "unload",
                [CLRSYM_EVENT_EPOCH] = "epoch",
                [CLRSYM_EVENT_RESYNC] = "resync",
        };
        Row row = {.object = object};
        const char *type = json_take_text(&row, "event");
        size_t i = 0;

        while (i < sizeof(TYPES) / sizeof(TYPES[0]) && (!type || strcmp(type, TYPES[i])))
                i++;
        if (i == sizeof(TYPES) / sizeof(TYPES[0]))
                return "event";
        *ret = (clrsym_event){.type = (clrsym_event_type)i};
        if (ret->type == CLRSYM_EVENT_RESYNC)
                return row.wrong;
        take_key(&row, &ret->pid, &ret->pid_ns, &ret->generation);
        ret->epoch = json_take_number(&row, "epoch", INT64_MAX);
        ret->has_body = ret->type == CLRSYM_EVENT_LOAD || ret->type == CLRSYM_EVENT_UNLOAD;
        return ret->has_body ? take_body(&row, &ret->body) : row.wrong;
}

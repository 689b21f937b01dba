/* SPDX-License-Identifier: MIT */
#include "client/row.h"

#include "client/words.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* An object whose members are taken one by one; the first that is wrong is remembered. */
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

static uint64_t take_number(Row *row, const char *name, uint64_t max)
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
static const char *take_text(Row *row, const char *name)
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
        const char *text = take_text(row, name), *digit;
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

bool row_time_from_text(const char *text, uint64_t *ret_time)
{
        uint64_t s = 0, ns = 0;
        size_t n;

        for (n = 0; text[n] >= '0' && text[n] <= '9'; n++)
                if (__builtin_mul_overflow(s, 10, &s) ||
                    __builtin_add_overflow(s, (uint64_t)(text[n] - '0'), &s))
                        return false;
        if (n == 0 || text[n] != '.')
                return false;
        text += n + 1;
        for (n = 0; n < 9 && text[n] >= '0' && text[n] <= '9'; n++)
                ns = 10 * ns + (uint64_t)(text[n] - '0');
        return n == 9 && !text[n] && !__builtin_mul_overflow(s, NS_PER_S, &s) &&
               !__builtin_add_overflow(s, ns, ret_time);
}

/* NONE for null. */
static uint64_t take_time(Row *row, const char *name, uint64_t none)
{
        const char *text = take_text(row, name);
        uint64_t time;

        if (!text)
                return none;
        if (row_time_from_text(text, &time))
                return time;
        set_wrong(row, name);
        return 0;
}

static unsigned take_word(Row *row, const char *name, Words words)
{
        const char *text = take_text(row, name);
        unsigned i;

        if (text && words_find(words, text, &i))
                return i;
        set_wrong(row, name);
        return 0;
}

/* A part of the row that is an object; without members, which is wrong, if it is none. */
static Row take_object(Row *row, const char *name)
{
        Row part = {.object = json_object_get(row->object, name)};

        if (!json_is_object(part.object))
                set_wrong(row, name);
        return part;
}

static void take_key(Row *row, int32_t *pid, uint64_t *pid_ns, uint32_t *generation)
{
        *pid = (int32_t)take_number(row, "pid", INT32_MAX);
        *pid_ns = take_number(row, "pid_ns", INT64_MAX);
        *generation = (uint32_t)take_number(row, "generation", UINT32_MAX);
}

const char *row_process(const json_t *object, clrsym_process *ret)
{
        Row row = {.object = object};
        const char *state = take_text(&row, "state");

        *ret = (clrsym_process){
                .is_running = state && !strcmp(state, "running"),
                .is_from_start = take_bool(&row, "from_start"),
                .runtime = take_text(&row, "runtime"),
                .runtime_path = take_text(&row, "runtime_path"),
                .command = take_text(&row, "command"),
                .n_bodies = take_number(&row, "bodies", INT64_MAX),
                .n_live = take_number(&row, "live", INT64_MAX),
                .n_modules = take_number(&row, "modules", INT64_MAX),
                .since = take_time(&row, "since", CLRSYM_NO_TIME),
                .last = take_time(&row, "last", CLRSYM_NO_TIME),
                .exited = take_time(&row, "exited", CLRSYM_ALIVE),
                .horizon = take_time(&row, "horizon", CLRSYM_NO_TIME),
                .epoch = take_number(&row, "epoch", INT64_MAX),
        };
        take_key(&row, &ret->pid, &ret->pid_ns, &ret->generation);
        return row.wrong;
}

/* "jit_ms" is a number with three decimals, or null. */
static uint64_t take_jit_ns(Row *row)
{
        const json_t *value = json_object_get(row->object, "jit_ms");
        double ms = json_number_value(value);

        /* A compilation of a year is none. */
        if ((!json_is_number(value) && !json_is_null(value)) || !(ms >= 0 && ms < 3e10))
                set_wrong(row, "jit_ms");
        else
                return (uint64_t)(ms * 1000 + 0.5) * 1000;
        return 0;
}

static const char *take_body(Row *row, clrsym_body *ret)
{
        Row method = take_object(row, "method"), version = take_object(row, "version");
        Row module = {0}, stub = {0};

        if (is_given(row, "module"))
                module = take_object(row, "module");
        if (is_given(&method, "stub_for"))
                stub = take_object(&method, "stub_for");
        *ret = (clrsym_body){
                .name_space = take_text(&method, "namespace"),
                .name = take_text(&method, "name"),
                .signature = take_text(&method, "signature"),
                .module_path = module.object ? take_text(&module, "path") : NULL,
                .module_id = module.object ? take_hex(&module, "id", UINT64_MAX) : 0,
                .method_id = take_hex(&method, "id", UINT64_MAX),
                .start = take_hex(row, "start", UINT64_MAX),
                .size = is_given(row, "size") ? (uint32_t)take_number(row, "size", UINT32_MAX) : 0,
                .flags = is_given(row, "flags") ? (uint32_t)take_number(row, "flags", UINT32_MAX)
                                                : 0,
                .token = is_given(&method, "token")
                                 ? (uint32_t)take_hex(&method, "token", UINT32_MAX)
                                 : 0,
                .rejit_id = (uint32_t)take_number(&version, "rejit_id", UINT32_MAX),
                .has_il_version = is_given(&version, "il_version"),
                .tier = (clrsym_tier)take_word(&version, "tier", WORDS_TIER),
                .source = (clrsym_source)take_word(row, "source", WORDS_SOURCE),
                .jit_ns = take_jit_ns(row),
                .loaded = take_time(row, "loaded", CLRSYM_NO_TIME),
                .unloaded = take_time(row, "unloaded", CLRSYM_ALIVE),
                .stub_name_space = stub.object ? take_text(&stub, "namespace") : NULL,
                .stub_name = stub.object ? take_text(&stub, "name") : NULL,
                .stub_signature = stub.object ? take_text(&stub, "signature") : NULL,
        };
        if (ret->has_il_version)
                ret->il_version = take_number(&version, "il_version", INT64_MAX);
        if (ret->size && ret->start > UINT64_MAX - (ret->size - 1))
                set_wrong(row, "size");
        return row->wrong      ? row->wrong
               : method.wrong  ? method.wrong
               : version.wrong ? version.wrong
               : module.wrong  ? module.wrong
                               : stub.wrong;
}

const char *row_body(const json_t *object, clrsym_process *ret_process, clrsym_body *ret_body)
{
        Row row = {.object = object};

        *ret_process = (clrsym_process){0};
        take_key(&row, &ret_process->pid, &ret_process->pid_ns, &ret_process->generation);
        return take_body(&row, ret_body);
}

const char *row_event(const json_t *object, clrsym_event *ret)
{
        static const char *const TYPES[] = {
                [CLRSYM_EVENT_LOAD] = "load",
                [CLRSYM_EVENT_UNLOAD] = "unload",
                [CLRSYM_EVENT_EPOCH] = "epoch",
                [CLRSYM_EVENT_RESYNC] = "resync",
        };
        Row row = {.object = object};
        const char *type = take_text(&row, "event");
        size_t i = 0;

        while (i < sizeof(TYPES) / sizeof(TYPES[0]) && (!type || strcmp(type, TYPES[i])))
                i++;
        if (i == sizeof(TYPES) / sizeof(TYPES[0]))
                return "event";
        *ret = (clrsym_event){.type = (clrsym_event_type)i};
        if (ret->type == CLRSYM_EVENT_RESYNC)
                return row.wrong;
        take_key(&row, &ret->pid, &ret->pid_ns, &ret->generation);
        ret->epoch = take_number(&row, "epoch", INT64_MAX);
        ret->has_body = ret->type == CLRSYM_EVENT_LOAD || ret->type == CLRSYM_EVENT_UNLOAD;
        return ret->has_body ? take_body(&row, &ret->body) : row.wrong;
}

/* SPDX-License-Identifier: MIT */
#include "ctf/tsdl.h"

#include "ctf/tsdl-parser.h"

#include <limits.h>
#include <string.h>

/* The declaration made by a block: a type or a value for each of its keys. */
typedef struct TsdlBlock TsdlBlock;
struct TsdlBlock {
        bool (*set_type)(TsdlParser *parser, TsdlBlock *block, const char *key, CtfClass *class);
        bool (*set_value)(TsdlParser *parser, TsdlBlock *block, const char *key,
                          const TsdlValue *value);
        CtfClock *clock;
        CtfStreamClass stream; /* the declared stream class, without its table */
        CtfEventClass event;
        bool has_event_stream_id;
        uint64_t event_stream_id;
};

static bool tsdl_block(TsdlParser *parser, TsdlBlock *block)
{
        const guint n_types = parser->types->len;
        g_autoptr(GString) key = g_string_new(NULL);

        if (!tsdl_expect(parser, '{'))
                return false;
        while (!tsdl_is(parser, '}')) {
                CtfClass *class;
                TsdlValue value;

                if (tsdl_is_word(parser, "typealias")) {
                        if (!tsdl_advance(parser) || !tsdl_typealias(parser))
                                return false;
                        continue;
                }
                g_string_truncate(key, 0);
                if (!tsdl_path(parser, key))
                        return false;
                g_strdelimit(key->str, (char[]){CTF_PATH_SEPARATOR, 0}, '.');
                if (parser->token.type == TSDL_TYPE_ASSIGN) {
                        if (!tsdl_advance(parser))
                                return false;
                        class = tsdl_type(parser);
                        if (!class ||
                            (block->set_type && !block->set_type(parser, block, key->str, class)))
                                return false;
                } else if (parser->token.type == TSDL_ASSIGN) {
                        if (!tsdl_advance(parser) || !tsdl_value(parser, &value) ||
                            (block->set_value &&
                             !block->set_value(parser, block, key->str, &value)))
                                return false;
                } else {
                        return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected '=' or ':='");
                }
                if (!tsdl_expect(parser, ';'))
                        return false;
        }
        g_array_set_size(parser->types, n_types);
        return tsdl_advance(parser);
}

/* The role of a member by its name, from the specification. */
typedef struct TsdlRole {
        const char *name;
        CtfRole role;
} TsdlRole;

static bool tsdl_set_roles(TsdlParser *parser, CtfClass *structure, const TsdlRole *roles,
                           size_t n_roles)
{
        size_t i;

        if (structure->kind != CTF_KIND_STRUCTURE)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a structure");
        for (i = 0; i < n_roles; i++) {
                const CtfMember *member = ctf_class_member(structure, roles[i].name);

                if (member)
                        member->class->role = roles[i].role;
        }
        return true;
}

static bool tsdl_set_packet_header(TsdlParser *parser, TsdlBlock *block, const char *key,
                                   CtfClass *class)
{
        static const TsdlRole ROLES[] = {
                {"magic", CTF_ROLE_MAGIC},
                {"uuid", CTF_ROLE_UUID},
                {"stream_id", CTF_ROLE_STREAM_CLASS_ID},
                {"stream_instance_id", CTF_ROLE_STREAM_ID},
        };

        if (strcmp(key, "packet.header"))
                return true;
        parser->trace->packet_header = class;
        return tsdl_set_roles(parser, class, ROLES, G_N_ELEMENTS(ROLES));
}

static bool tsdl_set_trace(TsdlParser *parser, TsdlBlock *block, const char *key,
                           const TsdlValue *value)
{
        CtfTraceClass *trace = parser->trace;
        uint64_t number;

        if (!strcmp(key, "byte_order")) {
                g_array_set_size(parser->seen, 0);
                return tsdl_byte_order(parser, value, &trace->is_big_endian);
        }
        if (!strcmp(key, "uuid")) {
                trace->has_uuid = value->is_string && ctf_uuid_from_text(value->text, trace->uuid);
                trace->has_packet_uuid = trace->has_uuid;
                memcpy(trace->packet_uuid, trace->uuid, sizeof(trace->uuid));
                return trace->has_uuid ||
                       tsdl_fail(parser, CTF_ERROR_DAMAGED, "a trace's UUID that is not one");
        }
        if (!strcmp(key, "major"))
                return (tsdl_unsigned(parser, value, UINT32_MAX, &number) && number == 1) ||
                       tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "not CTF 1.8");
        return true;
}

static bool tsdl_set_environment(TsdlParser *parser, TsdlBlock *block, const char *key,
                                 const TsdlValue *value)
{
        int64_t number = 0;

        if (value->is_integer && !tsdl_signed(parser, value, &number))
                return false;
        ctf_trace_class_set_environment(parser->trace, key, value->text, number);
        return true;
}

static bool tsdl_set_clock(TsdlParser *parser, TsdlBlock *block, const char *key,
                           const TsdlValue *value)
{
        CtfClock *clock = block->clock;

        if (!strcmp(key, "name") && value->text)
                clock->name = ctf_arena_name(&parser->trace->arena, value->text);
        else if (!strcmp(key, "uuid") && value->text)
                clock->uid = ctf_arena_name(&parser->trace->arena, value->text);
        else if (!strcmp(key, "freq"))
                return (tsdl_unsigned(parser, value, UINT64_MAX, &clock->frequency) &&
                        clock->frequency > 0) ||
                       tsdl_fail(parser, CTF_ERROR_DAMAGED, "a clock's frequency that is not one");
        else if (!strcmp(key, "offset_s"))
                return tsdl_signed(parser, value, &clock->offset_seconds);
        else if (!strcmp(key, "offset"))
                return tsdl_unsigned(parser, value, UINT64_MAX, &clock->offset_cycles);
        else if (!strcmp(key, "absolute"))
                return tsdl_boolean(parser, value, &clock->is_absolute);
        return true;
}

static bool tsdl_set_stream_type(TsdlParser *parser, TsdlBlock *block, const char *key,
                                 CtfClass *class)
{
        static const TsdlRole CONTEXT_ROLES[] = {
                {"timestamp_begin", CTF_ROLE_TIMESTAMP},
                {"timestamp_end", CTF_ROLE_TIMESTAMP_END},
                {"content_size", CTF_ROLE_CONTENT_SIZE},
                {"packet_size", CTF_ROLE_PACKET_SIZE},
                {"packet_seq_num", CTF_ROLE_SEQUENCE_NUMBER},
                {"events_discarded", CTF_ROLE_DISCARDED},
        };

        if (class->kind != CTF_KIND_STRUCTURE)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a structure");
        if (!strcmp(key, "packet.context")) {
                block->stream.packet_context = class;
                return tsdl_set_roles(parser, class, CONTEXT_ROLES, G_N_ELEMENTS(CONTEXT_ROLES));
        }
        if (!strcmp(key, "event.header"))
                block->stream.event_header = class;
        else if (!strcmp(key, "event.context"))
                block->stream.event_context = class;
        return true;
}

static bool tsdl_set_stream_value(TsdlParser *parser, TsdlBlock *block, const char *key,
                                  const TsdlValue *value)
{
        if (strcmp(key, "id"))
                return true;
        return tsdl_unsigned(parser, value, UINT64_MAX, &block->stream.id);
}

static bool tsdl_set_event_type(TsdlParser *parser, TsdlBlock *block, const char *key,
                                CtfClass *class)
{
        if (class->kind != CTF_KIND_STRUCTURE)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a structure");
        if (!strcmp(key, "fields"))
                block->event.payload = class;
        else if (!strcmp(key, "context"))
                block->event.specific_context = class;
        return true;
}

static bool tsdl_set_event_value(TsdlParser *parser, TsdlBlock *block, const char *key,
                                 const TsdlValue *value)
{
        int64_t level;

        if (!strcmp(key, "name") && value->text)
                block->event.name = ctf_arena_name(&parser->trace->arena, value->text);
        else if (!strcmp(key, "id"))
                return tsdl_unsigned(parser, value, UINT64_MAX, &block->event.id);
        else if (!strcmp(key, "stream_id")) {
                block->has_event_stream_id = true;
                return tsdl_unsigned(parser, value, UINT64_MAX, &block->event_stream_id);
        } else if (!strcmp(key, "loglevel") && value->is_integer) {
                if (!tsdl_signed(parser, value, &level))
                        return false;
                block->event.log_level = (int)CLAMP(level, INT_MIN, INT_MAX);
        }
        return true;
}

/* In an event's header, integers named "id" select the event's class, even inside of a variant. */
static void tsdl_set_header_roles(CtfClass *class)
{
        guint i;

        for (i = 0; class && class->members && i < class->members->len; i++) {
                const CtfMember *member = &g_array_index(class->members, CtfMember, i);

                if (member->class->kind != CTF_KIND_INTEGER)
                        tsdl_set_header_roles(member->class);
                else if (!strcmp(member->name, "id"))
                        member->class->role = CTF_ROLE_EVENT_CLASS_ID;
                else if (member->class->clock || !strcmp(member->name, "timestamp"))
                        member->class->role = CTF_ROLE_TIMESTAMP;
        }
}

static bool tsdl_trace_block(TsdlParser *parser)
{
        TsdlBlock block = {.set_type = tsdl_set_packet_header, .set_value = tsdl_set_trace};

        return tsdl_block(parser, &block);
}

static bool tsdl_environment_block(TsdlParser *parser)
{
        TsdlBlock block = {.set_value = tsdl_set_environment};

        return tsdl_block(parser, &block);
}

static bool tsdl_clock_block(TsdlParser *parser)
{
        TsdlBlock block = {.set_value = tsdl_set_clock,
                           .clock = ctf_trace_class_add_clock(parser->trace)};

        block.clock->is_absolute = false;
        return tsdl_block(parser, &block);
}

static bool tsdl_stream_block(TsdlParser *parser)
{
        TsdlBlock block = {.set_type = tsdl_set_stream_type, .set_value = tsdl_set_stream_value};
        CtfStreamClass *stream;

        if (!tsdl_block(parser, &block))
                return false;
        stream = ctf_trace_class_stream(parser->trace, block.stream.id);
        if (stream && stream->is_declared)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "two streams have one id");
        if (!stream)
                stream = ctf_trace_class_add_stream(parser->trace, block.stream.id);
        stream->is_declared = true;
        stream->packet_context = block.stream.packet_context;
        stream->event_header = block.stream.event_header;
        stream->event_context = block.stream.event_context;
        tsdl_set_header_roles(stream->event_header);
        return true;
}

/* The id of the only declared stream, else 0. */
static uint64_t tsdl_only_stream_id(const CtfTraceClass *trace)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, trace->streams);
        return g_hash_table_size(trace->streams) == 1 && g_hash_table_iter_next(&iter, NULL, &value)
                       ? ((const CtfStreamClass *)value)->id
                       : 0;
}

static bool tsdl_event_block(TsdlParser *parser)
{
        TsdlBlock block = {.set_type = tsdl_set_event_type,
                           .set_value = tsdl_set_event_value,
                           .event = {.name = "", .log_level = INT_MIN}};
        CtfStreamClass *stream;
        CtfEventClass *event;

        if (!tsdl_block(parser, &block))
                return false;
        if (!block.has_event_stream_id)
                block.event_stream_id = tsdl_only_stream_id(parser->trace);
        /* lttng-sessiond can write a stream's events before the stream. */
        stream = ctf_trace_class_stream(parser->trace, block.event_stream_id);
        if (!stream)
                stream = ctf_trace_class_add_stream(parser->trace, block.event_stream_id);
        if (ctf_stream_class_event(stream, block.event.id))
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "two events have one id");
        event = ctf_stream_class_add_event(stream, block.event.id);
        *event = block.event;
        return true;
}

static bool tsdl_callsite_block(TsdlParser *parser)
{
        TsdlBlock block = {0};

        return tsdl_block(parser, &block);
}

static bool tsdl_top(TsdlParser *parser)
{
        static const struct {
                const char *word;
                bool (*parse)(TsdlParser *parser);
        } BLOCKS[] = {
                {"trace", tsdl_trace_block}, {"env", tsdl_environment_block},
                {"clock", tsdl_clock_block}, {"stream", tsdl_stream_block},
                {"event", tsdl_event_block}, {"callsite", tsdl_callsite_block},
        };
        size_t i;

        if (tsdl_accept(parser, ';'))
                return true;
        if (tsdl_is_word(parser, "typealias"))
                return tsdl_advance(parser) && tsdl_typealias(parser);
        for (i = 0; i < G_N_ELEMENTS(BLOCKS); i++)
                if (tsdl_is_word(parser, BLOCKS[i].word))
                        return tsdl_advance(parser) && BLOCKS[i].parse(parser) &&
                               tsdl_expect(parser, ';');
        if (tsdl_is_word(parser, "struct") || tsdl_is_word(parser, "variant") ||
            tsdl_is_word(parser, "enum"))
                return tsdl_type(parser) && tsdl_expect(parser, ';');
        return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "a declaration that clrsym does not know");
}

/*
 * Finds the clock that CLASS is mapped to. A stream has one clock; *CLOCK is the clock known so
 * far.
 */
static bool tsdl_find_clock(TsdlParser *parser, const CtfTraceClass *trace, const CtfClass *class,
                            const CtfClock **clock)
{
        const CtfClock *own;
        guint i;

        if (!class)
                return true;
        if (class->clock) {
                own = ctf_trace_class_clock(trace, class->clock);
                if (!own)
                        return tsdl_fail(parser, CTF_ERROR_DAMAGED,
                                         "an integer that is mapped to a clock that is not "
                                         "declared");
                if (*clock && *clock != own)
                        return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                                         "a stream of more than one clock");
                *clock = own;
        }
        for (i = 0; class->members && i < class->members->len; i++)
                if (!tsdl_find_clock(parser, trace,
                                     g_array_index(class->members, CtfMember, i).class, clock))
                        return false;
        return tsdl_find_clock(parser, trace, class->element, clock);
}

static bool tsdl_has_time(const CtfClass *class)
{
        guint i;

        if (!class)
                return false;
        if (class->role == CTF_ROLE_TIMESTAMP || class->role == CTF_ROLE_TIMESTAMP_END)
                return true;
        for (i = 0; class->members && i < class->members->len; i++)
                if (tsdl_has_time(g_array_index(class->members, CtfMember, i).class))
                        return true;
        return false;
}

/* Times without a mapping belong to the only clock, or to a new one in ns. */
static bool tsdl_only_clock(TsdlParser *parser, CtfTraceClass *trace, const CtfClock **ret_clock)
{
        CtfClock *clock;

        if (trace->clocks->len > 1)
                return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                                 "times that are mapped to none of several clocks");
        if (trace->clocks->len == 0) {
                clock = ctf_trace_class_add_clock(trace);
                clock->name = "default";
                clock->is_absolute = false;
        }
        *ret_clock = trace->clocks->pdata[0];
        return true;
}

/* True if a clock is mapped to a field of CLASS. The reader updates clocks only at times. */
static bool tsdl_has_clock(const CtfClass *class)
{
        guint i;

        if (!class)
                return false;
        if (class->clock)
                return true;
        for (i = 0; class->members && i < class->members->len; i++)
                if (tsdl_has_clock(g_array_index(class->members, CtfMember, i).class))
                        return true;
        return tsdl_has_clock(class->element);
}

static bool tsdl_has_clock_elsewhere(const CtfStreamClass *stream)
{
        GHashTableIter iter;
        void *value;
        guint i;

        for (i = 0; stream->packet_context && i < stream->packet_context->members->len; i++) {
                const CtfClass *class =
                        g_array_index(stream->packet_context->members, CtfMember, i).class;

                if (class->role != CTF_ROLE_TIMESTAMP && class->role != CTF_ROLE_TIMESTAMP_END &&
                    tsdl_has_clock(class))
                        return true;
        }
        g_hash_table_iter_init(&iter, stream->events);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const CtfEventClass *event = value;

                if (tsdl_has_clock(event->specific_context) || tsdl_has_clock(event->payload))
                        return true;
        }
        return tsdl_has_clock(stream->event_context);
}

/* TSDL names no default clock: a stream's clock is the one of its times. */
static bool tsdl_set_clock_of(TsdlParser *parser, CtfTraceClass *trace, CtfStreamClass *stream)
{
        const CtfClock *clock = NULL;

        if (!tsdl_find_clock(parser, trace, stream->packet_context, &clock) ||
            !tsdl_find_clock(parser, trace, stream->event_header, &clock))
                return false;
        if (!clock &&
            (tsdl_has_time(stream->packet_context) || tsdl_has_time(stream->event_header)) &&
            !tsdl_only_clock(parser, trace, &clock))
                return false;
        if (tsdl_has_clock_elsewhere(stream))
                return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                                 "a clock's value that is not the time of an event or a packet");
        stream->clock = clock;
        return true;
}

static bool tsdl_set_clocks(TsdlParser *parser, CtfTraceClass *trace)
{
        const CtfEnvironment *tracer = ctf_trace_class_environment(trace, "tracer_name");
        GHashTableIter iter;
        void *value;
        guint i;

        /* Old LTTng does not declare that its clock is absolute. */
        for (i = 0; tracer && tracer->text && g_str_has_prefix(tracer->text, "lttng") &&
                    i < trace->clocks->len;
             i++) {
                CtfClock *clock = trace->clocks->pdata[i];

                clock->is_absolute |= !strcmp(clock->name, "monotonic");
        }
        g_hash_table_iter_init(&iter, trace->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                CtfStreamClass *stream = value;

                if (!stream->is_declared)
                        return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                                         "events of a stream that is not declared");
                if (!tsdl_set_clock_of(parser, trace, stream))
                        return false;
        }
        return true;
}

CtfTraceClass *tsdl_parse(const char *text, size_t n, GError **error)
{
        g_autoptr(CtfTraceClass) trace = ctf_trace_class_new();
        TsdlParser parser = {
                .trace = trace,
                .types = g_array_new(FALSE, FALSE, sizeof(TsdlType)),
                .seen = g_array_new(FALSE, FALSE, sizeof(TsdlSeenInteger)),
                .key = g_string_new(NULL),
                .error = error,
        };
        bool is_ok;

        trace->major = 1;
        tsdl_lexer_init(&parser.lexer, text, n);
        is_ok = tsdl_advance(&parser);
        while (is_ok && parser.token.type != TSDL_END)
                is_ok = tsdl_top(&parser);
        is_ok = is_ok && tsdl_set_clocks(&parser, trace);
        tsdl_lexer_deinit(&parser.lexer);
        g_array_unref(parser.types);
        g_array_unref(parser.seen);
        g_string_free(parser.key, TRUE);
        return is_ok ? g_steal_pointer(&trace) : NULL;
}

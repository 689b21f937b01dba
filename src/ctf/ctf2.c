/* SPDX-License-Identifier: MIT */
#include "ctf/ctf2.h"

#include "ctf/error.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>

#define RECORD_SEPARATOR '\x1e'

typedef struct Ctf2Parser {
        CtfTraceClass *trace;
        GHashTable *aliases; /* owned name -> owned JSON field class */
        unsigned fragment;   /* from 1 */
        unsigned depth;
        GError **error;
} Ctf2Parser;

static bool ctf2_fail(Ctf2Parser *parser, CtfError code, const char *format, const char *what)
{
        g_autofree char *text = g_strdup_printf(format, what);

        if (parser->error && !*parser->error)
                g_set_error(parser->error, CTF_ERROR, code, "metadata, fragment %u: %s",
                            parser->fragment, text);
        return false;
}

static uint64_t ctf2_number(const json_t *value)
{
        double real;

        if (json_is_integer(value))
                return (uint64_t)json_integer_value(value);
        /*
         * A double, because the text has a number over INT64_MAX (see ctf2_load()), which is
         * UINT64_MAX or close to it.
         */
        real = json_real_value(value);
        if (real < 0)
                return (uint64_t)(real <= (double)INT64_MIN ? INT64_MIN : (int64_t)real);
        return real >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)real;
}

static bool ctf2_unsigned(Ctf2Parser *parser, const json_t *object, const char *name,
                          uint64_t missing, uint64_t max, uint64_t *ret_value)
{
        const json_t *value = json_object_get(object, name);

        *ret_value = missing;
        if (!value)
                return true;
        if (!json_is_number(value) || json_number_value(value) < 0 || ctf2_number(value) > max)
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "\"%s\" is out of range", name);
        *ret_value = ctf2_number(value);
        return true;
}

static const char *ctf2_text(const json_t *object, const char *name)
{
        return json_string_value(json_object_get(object, name));
}

static const char *ctf2_name(Ctf2Parser *parser, const char *text)
{
        return text ? ctf_arena_name(&parser->trace->arena, text) : NULL;
}

static CtfClass *ctf2_class(Ctf2Parser *parser, const json_t *json);

/* Extensions can change any meaning: a reader must refuse unknown ones. */
static bool ctf2_check_extensions(Ctf2Parser *parser, const json_t *json)
{
        const json_t *spaces = json_object_get(json, "extensions"), *extensions;
        const char *space, *name;
        json_t *value;

        json_object_foreach((json_t *)spaces, space, extensions)
        {
                json_object_foreach((json_t *)extensions, name, value)
                {
                        return ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "extension \"%s\"", name);
                }
        }
        return true;
}

static CtfClass *ctf2_new(Ctf2Parser *parser, CtfKind kind)
{
        CtfClass *class = ctf_class_new(&parser->trace->arena, kind);

        if (!class)
                ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "%s", "too many fields");
        return class;
}

static bool ctf2_alignment(Ctf2Parser *parser, const json_t *json, const char *name,
                           unsigned *ret_align)
{
        uint64_t align;

        if (!ctf2_unsigned(parser, json, name, 1, 1u << 16, &align))
                return false;
        if (align == 0 || align & (align - 1))
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "\"%s\" is not a power of two", name);
        *ret_align = (unsigned)align;
        return true;
}

static void ctf2_roles(const json_t *json, CtfClass *class)
{
        static const struct {
                const char *name;
                CtfRole role;
        } ROLES[] = {
                {"packet-magic-number", CTF_ROLE_MAGIC},
                {"metadata-stream-uuid", CTF_ROLE_UUID},
                {"data-stream-class-id", CTF_ROLE_STREAM_CLASS_ID},
                {"data-stream-id", CTF_ROLE_STREAM_ID},
                {"default-clock-timestamp", CTF_ROLE_TIMESTAMP},
                {"packet-end-default-clock-timestamp", CTF_ROLE_TIMESTAMP_END},
                {"packet-content-length", CTF_ROLE_CONTENT_SIZE},
                {"packet-total-length", CTF_ROLE_PACKET_SIZE},
                {"packet-sequence-number", CTF_ROLE_SEQUENCE_NUMBER},
                {"discarded-event-record-counter-snapshot", CTF_ROLE_DISCARDED},
                {"event-record-class-id", CTF_ROLE_EVENT_CLASS_ID},
        };
        const json_t *roles = json_object_get(json, "roles"), *role;
        size_t i, k;

        json_array_foreach((json_t *)roles, i,
                           role) for (k = 0; k < G_N_ELEMENTS(ROLES);
                                      k++) if (!g_strcmp0(json_string_value(role),
                                                          ROLES[k].name)) class->role =
                ROLES[k].role;
}

/* [LOW, HIGH] */
static CtfRange ctf2_range(const json_t *json)
{
        return (CtfRange){ctf2_number(json_array_get(json, 0)),
                          ctf2_number(json_array_get(json, 1))};
}

static CtfClass *ctf2_fixed_length(Ctf2Parser *parser, const json_t *json, CtfKind kind)
{
        CtfClass *class = ctf2_new(parser, kind);
        const char *order = ctf2_text(json, "byte-order"), *bits = ctf2_text(json, "bit-order");
        uint64_t size, base;

        if (!class || !ctf2_unsigned(parser, json, "length", 0, 64, &size) ||
            !ctf2_unsigned(parser, json, "preferred-display-base", 10, 16, &base) ||
            !ctf2_alignment(parser, json, "alignment", &class->align))
                return NULL;
        if (size == 0 || (kind == CTF_KIND_FLOAT && size != 32 && size != 64)) {
                ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "%s",
                          "a number of a length that clrsym "
                          "does not know");
                return NULL;
        }
        class->size = (unsigned)size;
        class->base = (unsigned)base;
        class->is_big_endian = !g_strcmp0(order, "big-endian");
        if (bits && !strcmp(bits, class->is_big_endian ? "first-to-last" : "last-to-first")) {
                ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "bit order \"%s\"", bits);
                return NULL;
        }
        ctf2_roles(json, class);
        return class;
}

/* {NAME: [[LOW, HIGH], ...], ...}: the labels of an enumeration */
static CtfClass *ctf2_integer(Ctf2Parser *parser, const json_t *json)
{
        const json_t *mappings = json_object_get(json, "mappings"), *ranges;
        CtfClass *class = ctf2_fixed_length(parser, json, CTF_KIND_INTEGER);
        const char *name;
        size_t i;

        if (!class || json_object_size(mappings) == 0)
                return class;
        class->labels = g_array_new(FALSE, FALSE, sizeof(CtfLabel));
        json_object_foreach((json_t *)mappings, name, ranges)
        {
                const char *own = ctf2_name(parser, name);

                for (i = 0; i < json_array_size(ranges); i++) {
                        const CtfLabel label = {own, ctf2_range(json_array_get(ranges, i))};

                        g_array_append_val(class->labels, label);
                }
        }
        return class;
}

static CtfClass *ctf2_signed_integer(Ctf2Parser *parser, const json_t *json)
{
        CtfClass *class = ctf2_integer(parser, json);

        if (class)
                class->is_signed = true;
        return class;
}

static CtfClass *ctf2_bits(Ctf2Parser *parser, const json_t *json, CtfBits bits)
{
        CtfClass *class = ctf2_fixed_length(parser, json, CTF_KIND_INTEGER);

        if (class)
                class->bits = bits;
        return class;
}

static CtfClass *ctf2_boolean(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bits(parser, json, CTF_BITS_BOOLEAN);
}

static CtfClass *ctf2_bit_array(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bits(parser, json, CTF_BITS_ARRAY);
}

static CtfClass *ctf2_bit_map(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bits(parser, json, CTF_BITS_MAP);
}

static CtfClass *ctf2_float(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_fixed_length(parser, json, CTF_KIND_FLOAT);
}

static bool ctf2_check_encoding(Ctf2Parser *parser, const json_t *json)
{
        const char *encoding = ctf2_text(json, "encoding");

        return !encoding || !strcmp(encoding, "utf-8") ||
               ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "text in %s", encoding);
}

static CtfClass *ctf2_string(Ctf2Parser *parser, const json_t *json)
{
        CtfClass *class = ctf2_new(parser, CTF_KIND_STRING);

        if (!class || !ctf2_check_encoding(parser, json))
                return NULL;
        class->align = 8;
        return class;
}

/* {"origin": "event-record-payload", "path": ["length"]} */
static bool ctf2_location(Ctf2Parser *parser, const json_t *json, const char *name, CtfClass *class)
{
        static const char *const ORIGINS[_CTF_SCOPE_MAX] = {
                [CTF_SCOPE_PACKET_HEADER] = "packet-header",
                [CTF_SCOPE_PACKET_CONTEXT] = "packet-context",
                [CTF_SCOPE_EVENT_HEADER] = "event-record-header",
                [CTF_SCOPE_EVENT_CONTEXT] = "event-record-common-context",
                [CTF_SCOPE_SPECIFIC_CONTEXT] = "event-record-specific-context",
                [CTF_SCOPE_PAYLOAD] = "event-record-payload",
        };
        const json_t *location = json_object_get(json, name), *element;
        const json_t *path = json_object_get(location, "path");
        const char *origin = ctf2_text(location, "origin");
        g_autoptr(GString) text = g_string_new(NULL);
        size_t i;

        for (class->origin = 0; origin && class->origin < _CTF_SCOPE_MAX; class->origin++)
                if (!strcmp(origin, ORIGINS[class->origin]))
                        break;
        if (!origin)
                class->origin = _CTF_SCOPE_MAX;
        else if (class->origin == _CTF_SCOPE_MAX)
                return ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "origin \"%s\"", origin);
        json_array_foreach((json_t *)path, i, element)
        {
                if (!json_is_string(element))
                        return ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "%s",
                                         "a path that goes up to a parent");
                g_string_append_printf(text, "%s%s", i ? (char[]){CTF_PATH_SEPARATOR, 0} : "",
                                       json_string_value(element));
        }
        class->path = ctf2_name(parser, text->str);
        return text->len || ctf2_fail(parser, CTF_ERROR_DAMAGED, "no \"%s\"", name);
}

/* Bytes as elements of an array or a sequence. */
static CtfClass *ctf2_bytes(Ctf2Parser *parser, const json_t *json, CtfKind kind, bool is_text)
{
        CtfClass *class = ctf2_new(parser, kind);

        if (!class || (is_text && !ctf2_check_encoding(parser, json)) ||
            (kind == CTF_KIND_ARRAY
                     ? !ctf2_unsigned(parser, json, "length", 0, INT64_MAX, &class->length)
                     : !ctf2_location(parser, json, "length-field-location", class)))
                return NULL;
        class->element = ctf2_new(parser, CTF_KIND_INTEGER);
        if (!class->element)
                return NULL;
        class->align = class->element->align = 8;
        class->element->size = 8;
        class->element->is_text = is_text;
        ctf2_roles(json, class);
        return class;
}

static CtfClass *ctf2_static_string(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bytes(parser, json, CTF_KIND_ARRAY, true);
}

static CtfClass *ctf2_dynamic_string(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bytes(parser, json, CTF_KIND_SEQUENCE, true);
}

static CtfClass *ctf2_static_blob(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bytes(parser, json, CTF_KIND_ARRAY, false);
}

static CtfClass *ctf2_dynamic_blob(Ctf2Parser *parser, const json_t *json)
{
        return ctf2_bytes(parser, json, CTF_KIND_SEQUENCE, false);
}

static CtfClass *ctf2_elements(Ctf2Parser *parser, const json_t *json, CtfClass *class)
{
        unsigned align;

        class->element = ctf2_class(parser, json_object_get(json, "element-field-class"));
        if (!class->element || !ctf2_alignment(parser, json, "minimum-alignment", &align))
                return NULL;
        class->align = MAX(align, class->element->align);
        return class;
}

static CtfClass *ctf2_static_array(Ctf2Parser *parser, const json_t *json)
{
        CtfClass *class = ctf2_new(parser, CTF_KIND_ARRAY);

        if (!class || !ctf2_unsigned(parser, json, "length", 0, INT64_MAX, &class->length))
                return NULL;
        return ctf2_elements(parser, json, class);
}

static CtfClass *ctf2_dynamic_array(Ctf2Parser *parser, const json_t *json)
{
        CtfClass *class = ctf2_new(parser, CTF_KIND_SEQUENCE);

        if (!class || !ctf2_location(parser, json, "length-field-location", class))
                return NULL;
        return ctf2_elements(parser, json, class);
}

static CtfClass *ctf2_structure(Ctf2Parser *parser, const json_t *json)
{
        CtfClass *class = ctf2_new(parser, CTF_KIND_STRUCTURE);
        const json_t *members = json_object_get(json, "member-classes"), *entry;
        size_t i;

        if (!class || !ctf2_alignment(parser, json, "minimum-alignment", &class->align))
                return NULL;
        json_array_foreach((json_t *)members, i, entry)
        {
                const char *name = ctf2_name(parser, ctf2_text(entry, "name"));
                CtfClass *member = ctf2_class(parser, json_object_get(entry, "field-class"));

                if (!name || !member) {
                        ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s",
                                  "a member without name or class");
                        return NULL;
                }
                ctf_class_add_member(class, name, name, member);
                class->align = MAX(class->align, member->align);
        }
        return class;
}

/* [[LOW, HIGH], ...] */
static GArray *ctf2_ranges(const json_t *json)
{
        GArray *ranges = g_array_new(FALSE, FALSE, sizeof(CtfRange));
        const json_t *entry;
        size_t i;

        json_array_foreach((json_t *)json, i, entry)
        {
                const CtfRange range = ctf2_range(entry);

                g_array_append_val(ranges, range);
        }
        return ranges;
}

static CtfClass *ctf2_variant(Ctf2Parser *parser, const json_t *json)
{
        CtfClass *class = ctf2_new(parser, CTF_KIND_VARIANT);
        const json_t *options = json_object_get(json, "options"), *entry;
        size_t i;

        if (!class || !ctf2_location(parser, json, "selector-field-location", class))
                return NULL;
        json_array_foreach((json_t *)options, i, entry)
        {
                const char *name = ctf2_text(entry, "name");
                CtfClass *option = ctf2_class(parser, json_object_get(entry, "field-class"));

                if (!option)
                        return NULL;
                name = ctf2_name(parser, name ? name : "");
                ctf_class_add_member(class, name, name, option);
                g_array_index(class->members, CtfMember, class->members->len - 1).ranges =
                        ctf2_ranges(json_object_get(entry, "selector-field-ranges"));
        }
        return class;
}

static CtfClass *ctf2_class(Ctf2Parser *parser, const json_t *json)
{
        static const struct {
                const char *type;
                CtfClass *(*parse)(Ctf2Parser *parser, const json_t *json);
        } TYPES[] = {
                {"fixed-length-unsigned-integer", ctf2_integer},
                {"fixed-length-signed-integer", ctf2_signed_integer},
                {"fixed-length-bit-array", ctf2_bit_array},
                {"fixed-length-bit-map", ctf2_bit_map},
                {"fixed-length-boolean", ctf2_boolean},
                {"fixed-length-floating-point-number", ctf2_float},
                {"null-terminated-string", ctf2_string},
                {"static-length-string", ctf2_static_string},
                {"dynamic-length-string", ctf2_dynamic_string},
                {"static-length-blob", ctf2_static_blob},
                {"dynamic-length-blob", ctf2_dynamic_blob},
                {"static-length-array", ctf2_static_array},
                {"dynamic-length-array", ctf2_dynamic_array},
                {"structure", ctf2_structure},
                {"variant", ctf2_variant},
        };
        const char *type;
        CtfClass *class = NULL;
        unsigned n;
        size_t i;

        /* An alias can be the name of another alias. The limit ends cycles. */
        for (n = 0; json_is_string(json) && n < CTF_MAX_DEPTH; n++)
                json = g_hash_table_lookup(parser->aliases, json_string_value(json));
        type = ctf2_text(json, "type");
        if (!type) {
                ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", "a field class without a type");
                return NULL;
        }
        if (!ctf2_check_extensions(parser, json))
                return NULL;
        if (++parser->depth > CTF_MAX_DEPTH) {
                ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "%s", "fields that are nested too deep");
                return NULL;
        }
        for (i = 0; i < G_N_ELEMENTS(TYPES); i++)
                if (!strcmp(type, TYPES[i].type))
                        break;
        if (i == G_N_ELEMENTS(TYPES))
                ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "fields of type \"%s\"", type);
        else
                class = TYPES[i].parse(parser, json);
        parser->depth--;
        return class;
}

/* A structure that may be missing. */
static bool ctf2_root(Ctf2Parser *parser, const json_t *fragment, const char *name,
                      CtfClass **ret_class)
{
        const json_t *json = json_object_get(fragment, name);

        *ret_class = NULL;
        if (!json)
                return true;
        *ret_class = ctf2_class(parser, json);
        return *ret_class &&
               ((*ret_class)->kind == CTF_KIND_STRUCTURE ||
                ctf2_fail(parser, CTF_ERROR_DAMAGED, "\"%s\" is not a structure", name));
}

static bool ctf2_preamble(Ctf2Parser *parser, const json_t *fragment)
{
        const json_t *uuid = json_object_get(fragment, "uuid");
        CtfTraceClass *trace = parser->trace;
        uint64_t version;
        size_t i;

        trace->has_packet_uuid = json_array_size(uuid) == sizeof(trace->packet_uuid);
        for (i = 0; trace->has_packet_uuid && i < sizeof(trace->packet_uuid); i++)
                trace->packet_uuid[i] = (uint8_t)ctf2_number(json_array_get(uuid, i));

        if (!ctf2_unsigned(parser, fragment, "version", 0, UINT64_MAX, &version))
                return false;
        return version == 2 ||
               ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "%s", "another version than CTF 2");
}

static bool ctf2_alias(Ctf2Parser *parser, const json_t *fragment)
{
        const char *name = ctf2_text(fragment, "name");
        json_t *class = json_object_get(fragment, "field-class");

        if (!name || !class)
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", "an alias without name or class");
        g_hash_table_insert(parser->aliases, g_strdup(name), json_incref(class));
        return true;
}

static bool ctf2_trace(Ctf2Parser *parser, const json_t *fragment)
{
        CtfTraceClass *trace = parser->trace;
        const json_t *environment = json_object_get(fragment, "environment"), *value;
        const char *key;

        trace->uid = ctf2_name(parser, ctf2_text(fragment, "uid"));
        trace->trace_name = ctf2_name(parser, ctf2_text(fragment, "name"));
        trace->name_space = ctf2_name(parser, ctf2_text(fragment, "namespace"));
        trace->has_uuid = trace->uid && ctf_uuid_from_text(trace->uid, trace->uuid);
        json_object_foreach((json_t *)environment, key,
                            value) if (json_is_string(value) || json_is_number(value))
                ctf_trace_class_set_environment(trace, key, json_string_value(value),
                                                (int64_t)ctf2_number(value));
        return ctf2_root(parser, fragment, "packet-header-field-class", &trace->packet_header);
}

static bool ctf2_clock(Ctf2Parser *parser, const json_t *fragment)
{
        CtfClock *clock = ctf_trace_class_add_clock(parser->trace);
        const json_t *offset = json_object_get(fragment, "offset-from-origin");
        const char *id = ctf2_text(fragment, "id"), *name = ctf2_text(fragment, "name");
        const json_t *origin = json_object_get(fragment, "origin");

        if (!ctf2_unsigned(parser, fragment, "frequency", 1000000000, UINT64_MAX,
                           &clock->frequency) ||
            !ctf2_unsigned(parser, offset, "cycles", 0, INT64_MAX, &clock->offset_cycles))
                return false;
        if (clock->frequency == 0)
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", "a clock that stands still");
        clock->name = ctf2_name(parser, id ? id : name ? name : "");
        clock->uid = ctf2_name(parser, ctf2_text(fragment, "uid"));
        clock->offset_seconds = json_integer_value(json_object_get(offset, "seconds"));
        clock->is_absolute = !g_strcmp0(json_string_value(origin), "unix-epoch");
        return true;
}

static bool ctf2_stream(Ctf2Parser *parser, const json_t *fragment)
{
        CtfTraceClass *trace = parser->trace;
        const char *clock = ctf2_text(fragment, "default-clock-class-id");
        CtfStreamClass *stream;
        uint64_t id;

        if (!clock)
                clock = ctf2_text(fragment, "default-clock-class-name");
        if (!ctf2_unsigned(parser, fragment, "id", 0, UINT64_MAX, &id))
                return false;
        if (ctf_trace_class_stream(trace, id))
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", "two streams have one id");
        stream = ctf_trace_class_add_stream(trace, id);
        if (clock) {
                stream->clock = ctf_trace_class_clock(trace, clock);
                if (!stream->clock)
                        return ctf2_fail(parser, CTF_ERROR_DAMAGED, "no clock \"%s\"", clock);
        }
        return ctf2_root(parser, fragment, "packet-context-field-class", &stream->packet_context) &&
               ctf2_root(parser, fragment, "event-record-header-field-class",
                         &stream->event_header) &&
               ctf2_root(parser, fragment, "event-record-common-context-field-class",
                         &stream->event_context);
}

static int ctf2_log_level(const json_t *fragment)
{
        static const char *const LEVELS[] = {
                "emergency",    "alert",      "critical",       "error",         "warning",
                "notice",       "info",       "debug:system",   "debug:program", "debug:process",
                "debug:module", "debug:unit", "debug:function", "debug:line",    "debug"};
        const json_t *attributes = json_object_get(fragment, "attributes"), *own;
        const char *key, *level = NULL;
        size_t i;

        json_object_foreach((json_t *)attributes, key, own) if (!level) level =
                ctf2_text(own, "log-level");
        for (i = 0; level && i < G_N_ELEMENTS(LEVELS); i++)
                if (!strcmp(level, LEVELS[i]))
                        return (int)i;
        return INT_MIN;
}

static bool ctf2_event(Ctf2Parser *parser, const json_t *fragment)
{
        const char *name = ctf2_name(parser, ctf2_text(fragment, "name"));
        CtfStreamClass *stream;
        CtfEventClass *event;
        uint64_t id, stream_id;

        if (!ctf2_unsigned(parser, fragment, "id", 0, UINT64_MAX, &id) ||
            !ctf2_unsigned(parser, fragment, "data-stream-class-id", 0, UINT64_MAX, &stream_id))
                return false;
        stream = ctf_trace_class_stream(parser->trace, stream_id);
        if (!stream)
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s",
                                 "an event of a stream that is not declared");
        if (ctf_stream_class_event(stream, id))
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", "two events have one id");
        event = ctf_stream_class_add_event(stream, id);
        event->name = name ? name : "";
        event->log_level = ctf2_log_level(fragment);
        return ctf2_root(parser, fragment, "specific-context-field-class",
                         &event->specific_context) &&
               ctf2_root(parser, fragment, "payload-field-class", &event->payload);
}

static bool ctf2_fragment(Ctf2Parser *parser, const json_t *fragment)
{
        static const struct {
                const char *type;
                bool (*parse)(Ctf2Parser *parser, const json_t *fragment);
        } TYPES[] = {
                {"preamble", ctf2_preamble},        {"field-class-alias", ctf2_alias},
                {"trace-class", ctf2_trace},        {"clock-class", ctf2_clock},
                {"data-stream-class", ctf2_stream}, {"event-record-class", ctf2_event},
        };
        const char *type = ctf2_text(fragment, "type");
        size_t i;

        if (parser->fragment == 1 && g_strcmp0(type, "preamble"))
                return ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", "no preamble");
        if (!ctf2_check_extensions(parser, fragment))
                return false;
        for (i = 0; type && i < G_N_ELEMENTS(TYPES); i++)
                if (!strcmp(type, TYPES[i].type))
                        return TYPES[i].parse(parser, fragment);
        return ctf2_fail(parser, CTF_ERROR_UNSUPPORTED, "a fragment of type \"%s\"",
                         type ? type : "");
}

/* Parses N bytes of JSON. If a number is over INT64_MAX, all numbers become doubles. */
static json_t *ctf2_load(Ctf2Parser *parser, const char *text, size_t n)
{
        json_error_t reason;
        json_t *json = json_loadb(text, n, 0, &reason);

        if (!json && json_error_code(&reason) == json_error_numeric_overflow)
                json = json_loadb(text, n, JSON_DECODE_INT_AS_REAL, &reason);
        if (!json)
                ctf2_fail(parser, CTF_ERROR_DAMAGED, "%s", reason.text);
        return json;
}

static void ctf2_free_json(void *data)
{
        json_decref(data);
}

CtfTraceClass *ctf2_parse(const char *text, size_t n, GError **error)
{
        g_autoptr(CtfTraceClass) trace = ctf_trace_class_new();
        Ctf2Parser parser = {
                .trace = trace,
                .aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, ctf2_free_json),
                .error = error,
        };
        const char *at = text, *end = text + n, *next;
        bool is_ok = true;

        trace->major = 2;
        for (; is_ok && at < end; at = next) {
                json_auto_t *fragment = NULL;

                at += *at == RECORD_SEPARATOR;
                next = memchr(at, RECORD_SEPARATOR, (size_t)(end - at));
                next = next ? next : end;
                if (next - at == 0)
                        continue;
                parser.fragment++;
                fragment = ctf2_load(&parser, at, (size_t)(next - at));
                is_ok = fragment && ctf2_fragment(&parser, fragment);
        }
        if (is_ok && parser.fragment == 0)
                is_ok = ctf2_fail(&parser, CTF_ERROR_DAMAGED, "%s", "it is empty");
        g_hash_table_destroy(parser.aliases);
        return is_ok ? g_steal_pointer(&trace) : NULL;
}

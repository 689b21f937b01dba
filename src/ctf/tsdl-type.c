/* SPDX-License-Identifier: MIT */
#include "ctf/tsdl-parser.h"

#include <string.h>

static CtfClass *tsdl_new(TsdlParser *parser, CtfKind kind)
{
        CtfClass *class = ctf_class_new(&parser->trace->arena, kind);

        if (!class)
                tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "too many fields");
        return class;
}

/* Each use of a name is a new field class, with its own role and value. */
static CtfClass *tsdl_copy(TsdlParser *parser, const CtfClass *class)
{
        CtfClass *copy = tsdl_new(parser, class->kind);
        GArray *members;
        guint i;

        if (!copy)
                return NULL;
        members = copy->members;
        *copy = *class;
        copy->members = members;
        if (class->labels)
                copy->labels = g_array_ref(class->labels);
        for (i = 0; class->members && i < class->members->len; i++) {
                CtfMember member = g_array_index(class->members, CtfMember, i);

                member.class = tsdl_copy(parser, member.class);
                if (!member.class)
                        return NULL;
                g_array_append_val(copy->members, member);
        }
        if (class->element) {
                copy->element = tsdl_copy(parser, class->element);
                if (!copy->element)
                        return NULL;
        }
        return copy;
}

static const TsdlType *tsdl_find(const TsdlParser *parser, TsdlNameSpace name_space,
                                 const char *name)
{
        guint i;

        for (i = parser->types->len; i-- > 0;) {
                const TsdlType *type = &g_array_index(parser->types, TsdlType, i);

                if (type->name_space == name_space && !strcmp(type->name, name))
                        return type;
        }
        return NULL;
}

static void tsdl_declare(TsdlParser *parser, TsdlNameSpace name_space, const char *name,
                         CtfClass *class)
{
        const TsdlType type = {name_space, ctf_arena_name(&parser->trace->arena, name), class};

        g_array_append_val(parser->types, type);
}

static CtfClass *tsdl_named(TsdlParser *parser, TsdlNameSpace name_space, const char *name)
{
        const TsdlType *type = tsdl_find(parser, name_space, name);

        if (!type) {
                g_autofree char *what = g_strdup_printf("no type \"%s\"", name);

                tsdl_fail(parser, CTF_ERROR_DAMAGED, what);
                return NULL;
        }
        return tsdl_copy(parser, type->class);
}

static bool tsdl_align(TsdlParser *parser, uint64_t align, unsigned *ret_align)
{
        if (align == 0 || align > 1u << 16 || align & (align - 1))
                return tsdl_fail(parser, CTF_ERROR_DAMAGED,
                                 "an alignment that is not a power of "
                                 "two");
        *ret_align = (unsigned)align;
        return true;
}

typedef struct TsdlInteger {
        CtfClass *class;
        bool has_align;
} TsdlInteger;

static bool tsdl_base(TsdlParser *parser, const TsdlValue *value, unsigned *ret_base)
{
        static const struct {
                const char *name;
                unsigned base;
        } NAMES[] = {{"decimal", 10},     {"dec", 10}, {"d", 10}, {"i", 10},     {"u", 10},
                     {"hexadecimal", 16}, {"hex", 16}, {"x", 16}, {"X", 16},     {"p", 16},
                     {"octal", 8},        {"oct", 8},  {"o", 8},  {"binary", 2}, {"b", 2}};
        uint64_t base;
        size_t i;

        if (value->is_integer) {
                if (!tsdl_unsigned(parser, value, 16, &base))
                        return false;
                *ret_base = (unsigned)base;
                return true;
        }
        for (i = 0; i < G_N_ELEMENTS(NAMES); i++)
                if (!strcmp(value->text, NAMES[i].name))
                        *ret_base = NAMES[i].base;
        return true;
}

/* "clock.NAME.value" */
static bool tsdl_map(TsdlParser *parser, const TsdlValue *value, const char **ret_clock)
{
        g_auto(GStrv) names = g_strsplit(value->is_integer ? "" : value->text,
                                         (char[]){CTF_PATH_SEPARATOR, 0}, -1);

        if (g_strv_length(names) != 3 || strcmp(names[0], "clock") != 0 ||
            strcmp(names[2], "value") != 0)
                return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                                 "an integer that is mapped to something else than a clock");
        *ret_clock = ctf_arena_name(&parser->trace->arena, names[1]);
        return true;
}

static bool tsdl_set_integer(TsdlParser *parser, const char *key, const TsdlValue *value,
                             void *data)
{
        TsdlInteger *integer = data;
        CtfClass *class = integer->class;
        uint64_t number;

        if (!strcmp(key, "size")) {
                if (!tsdl_unsigned(parser, value, 64, &number) || number == 0)
                        return tsdl_fail(parser, CTF_ERROR_DAMAGED, "a size that is out of range");
                class->size = (unsigned)number;
        } else if (!strcmp(key, "align")) {
                integer->has_align = true;
                return tsdl_unsigned(parser, value, UINT32_MAX, &number) &&
                       tsdl_align(parser, number, &class->align);
        } else if (!strcmp(key, "signed")) {
                return tsdl_boolean(parser, value, &class->is_signed);
        } else if (!strcmp(key, "byte_order")) {
                return tsdl_byte_order(parser, value, &class->is_big_endian);
        } else if (!strcmp(key, "base")) {
                return tsdl_base(parser, value, &class->base);
        } else if (!strcmp(key, "encoding")) {
                class->is_text = !value->is_integer && g_ascii_strcasecmp(value->text, "none");
        } else if (!strcmp(key, "map")) {
                return tsdl_map(parser, value, &class->clock);
        }
        return true; /* others are for people */
}

/* Most attributes kept: LTTng repeats them with each field, and there are few different ones. */
#define MAX_SEEN 64

/* Takes the next attributes, if their text is among those kept. */
static bool tsdl_integer_seen(TsdlParser *parser, CtfClass *class)
{
        TsdlLexer *lexer = &parser->lexer;
        guint i;

        if (!tsdl_is(parser, '{'))
                return false;
        for (i = 0; i < parser->seen->len; i++) {
                const TsdlSeenInteger *seen = &g_array_index(parser->seen, TsdlSeenInteger, i);

                if (seen->n > (size_t)(lexer->end - lexer->at) ||
                    memcmp(seen->text, lexer->at, seen->n) != 0)
                        continue;
                *class = seen->class;
                lexer->at += seen->n;
                lexer->line += seen->n_lines;
                return true;
        }
        return false;
}

static CtfClass *tsdl_integer(TsdlParser *parser)
{
        TsdlInteger integer = {.class = tsdl_new(parser, CTF_KIND_INTEGER)};
        TsdlSeenInteger seen = {.text = parser->lexer.at, .n_lines = parser->lexer.line};

        if (!integer.class)
                return NULL;
        if (tsdl_integer_seen(parser, integer.class))
                return tsdl_advance(parser) ? integer.class : NULL;
        integer.class->is_big_endian = parser->trace->is_big_endian;
        if (!tsdl_attributes(parser, tsdl_set_integer, &integer))
                return NULL;
        if (integer.class->size == 0) {
                tsdl_fail(parser, CTF_ERROR_DAMAGED, "an integer without a size");
                return NULL;
        }
        if (!integer.has_align)
                integer.class->align = integer.class->size % 8 ? 1 : 8;
        if (parser->seen->len < MAX_SEEN) {
                seen.n = (size_t)(parser->lexer.at - seen.text);
                seen.n_lines = parser->lexer.line - seen.n_lines;
                seen.class = *integer.class;
                g_array_append_val(parser->seen, seen);
        }
        return tsdl_advance(parser) ? integer.class : NULL;
}

static bool tsdl_set_float(TsdlParser *parser, const char *key, const TsdlValue *value, void *data)
{
        CtfClass *class = data;
        uint64_t number;

        if (!strcmp(key, "exp_dig") || !strcmp(key, "mant_dig")) {
                if (!tsdl_unsigned(parser, value, 64, &number))
                        return false;
                class->size += (unsigned)number;
        } else if (!strcmp(key, "align")) {
                return tsdl_unsigned(parser, value, UINT32_MAX, &number) &&
                       tsdl_align(parser, number, &class->align);
        } else if (!strcmp(key, "byte_order")) {
                return tsdl_byte_order(parser, value, &class->is_big_endian);
        }
        return true;
}

static CtfClass *tsdl_float(TsdlParser *parser)
{
        CtfClass *class = tsdl_new(parser, CTF_KIND_FLOAT);

        if (!class)
                return NULL;
        class->is_big_endian = parser->trace->is_big_endian;
        if (!tsdl_attributes(parser, tsdl_set_float, class))
                return NULL;
        if (class->size != 32 && class->size != 64) {
                tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                          "a floating point number that has not 32 "
                          "or 64 bits");
                return NULL;
        }
        return tsdl_advance(parser) ? class : NULL;
}

static bool tsdl_ignore(TsdlParser *parser, const char *key, const TsdlValue *value, void *data)
{
        return true;
}

static CtfClass *tsdl_string(TsdlParser *parser)
{
        CtfClass *class = tsdl_new(parser, CTF_KIND_STRING);

        if (!class)
                return NULL;
        class->align = 8;
        if (tsdl_is(parser, '{') &&
            (!tsdl_attributes(parser, tsdl_ignore, NULL) || !tsdl_advance(parser)))
                return NULL;
        return class;
}

/*
 * Parses NAME[LENGTH]... after a type: the class of the field. The first dimension is the
 * outermost.
 */
static CtfClass *tsdl_dimensions(TsdlParser *parser, CtfClass *element)
{
        CtfClass *class;

        if (!tsdl_is(parser, '['))
                return element;
        if (++parser->depth > CTF_MAX_DEPTH) {
                tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "fields that are nested too deep");
                return NULL;
        }
        if (!tsdl_advance(parser))
                return NULL;
        if (parser->token.type == TSDL_INTEGER) {
                class = tsdl_new(parser, CTF_KIND_ARRAY);
                if (!class)
                        return NULL;
                class->length = parser->token.integer;
                if (!tsdl_advance(parser))
                        return NULL;
        } else {
                g_autoptr(GString) path = g_string_new(NULL);

                class = tsdl_new(parser, CTF_KIND_SEQUENCE);
                if (!class || !tsdl_path(parser, path))
                        return NULL;
                class->origin = _CTF_SCOPE_MAX;
                class->path = ctf_arena_name(&parser->trace->arena, path->str);
        }
        if (!tsdl_expect(parser, ']'))
                return NULL;
        class->element = tsdl_dimensions(parser, element);
        parser->depth--;
        if (!class->element)
                return NULL;
        class->align = class->element->align;
        return class;
}

static const char *tsdl_without_underscore(const char *name)
{
        return name[0] == '_' ? name + 1 : name;
}

/* "typealias TYPE := NAMES;" and "typedef TYPE NAME;" after their first word. */
bool tsdl_typealias(TsdlParser *parser)
{
        g_autoptr(GString) name = g_string_new(NULL);
        CtfClass *class = tsdl_type(parser);

        if (!class)
                return false;
        if (parser->token.type != TSDL_TYPE_ASSIGN)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected ':='");
        if (!tsdl_advance(parser))
                return false;
        for (; parser->token.type == TSDL_IDENTIFIER;) {
                g_string_append_printf(name, "%s%s", name->len ? " " : "", parser->token.text);
                if (!tsdl_advance(parser))
                        return false;
        }
        tsdl_declare(parser, TSDL_ALIAS, name->str, class);
        return tsdl_expect(parser, ';');
}

/* "TYPE NAME...;": a type of one or more words, of which the last can be the field's name. */
static bool tsdl_declaration(TsdlParser *parser, const char **ret_name, CtfClass **ret_class)
{
        static const char *const SPECIFIERS[] = {"integer", "floating_point", "string",
                                                 "struct",  "variant",        "enum"};
        CtfClass *class = NULL;
        const char *name = NULL;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SPECIFIERS); i++)
                if (tsdl_is_word(parser, SPECIFIERS[i]))
                        break;
        if (i < G_N_ELEMENTS(SPECIFIERS)) {
                class = tsdl_type(parser);
                if (!class)
                        return false;
                if (parser->token.type != TSDL_IDENTIFIER)
                        return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "a field without a name");
                name = parser->token.text;
                if (!tsdl_advance(parser))
                        return false;
        } else {
                g_autoptr(GString) words = g_string_new(NULL);

                for (; parser->token.type == TSDL_IDENTIFIER;) {
                        if (name)
                                g_string_append_printf(words, "%s%s", words->len ? " " : "", name);
                        name = parser->token.text;
                        if (!tsdl_advance(parser))
                                return false;
                }
                if (!name || !words->len)
                        return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED,
                                         "expected a type and a "
                                         "name");
                class = tsdl_named(parser, TSDL_ALIAS, words->str);
        }
        class = class ? tsdl_dimensions(parser, class) : NULL;
        *ret_name = name;
        *ret_class = class;
        return class && tsdl_expect(parser, ';');
}

/* "{ TYPE NAME; ... }" of a structure or a variant */
static bool tsdl_members(TsdlParser *parser, CtfClass *class)
{
        const guint n_types = parser->types->len;

        if (++parser->depth > CTF_MAX_DEPTH)
                return tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "fields that are nested too deep");
        if (!tsdl_expect(parser, '{'))
                return false;
        while (!tsdl_is(parser, '}')) {
                const char *name = NULL, *declared;
                CtfClass *member = NULL;

                if (tsdl_is_word(parser, "typealias")) {
                        if (!tsdl_advance(parser) || !tsdl_typealias(parser))
                                return false;
                        continue;
                }
                if (!tsdl_declaration(parser, &name, &member))
                        return false;
                declared = ctf_arena_name(&parser->trace->arena, name);
                ctf_class_add_member(class, tsdl_without_underscore(declared), declared, member);
                if (class->kind == CTF_KIND_STRUCTURE)
                        class->align = MAX(class->align, member->align);
        }
        g_array_set_size(parser->types, n_types);
        parser->depth--;
        return tsdl_advance(parser);
}

static bool tsdl_explicit_align(TsdlParser *parser, CtfClass *class)
{
        unsigned align = 1;

        if (!tsdl_is_word(parser, "align"))
                return true;
        if (!tsdl_advance(parser) || !tsdl_expect(parser, '('))
                return false;
        if (parser->token.type != TSDL_INTEGER)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a number");
        if (!tsdl_align(parser, parser->token.integer, &align) || !tsdl_advance(parser) ||
            !tsdl_expect(parser, ')'))
                return false;
        class->align = MAX(class->align, align);
        return true;
}

/* An optional name after "struct", "variant" or "enum". */
static bool tsdl_tag(TsdlParser *parser, const char **ret_name)
{
        *ret_name = NULL;
        if (parser->token.type != TSDL_IDENTIFIER)
                return true;
        *ret_name = parser->token.text;
        return tsdl_advance(parser);
}

static CtfClass *tsdl_struct(TsdlParser *parser)
{
        CtfClass *class;
        const char *name;

        if (!tsdl_tag(parser, &name))
                return NULL;
        if (!tsdl_is(parser, '{'))
                return name ? tsdl_named(parser, TSDL_STRUCT, name) : NULL;
        class = tsdl_new(parser, CTF_KIND_STRUCTURE);
        if (!class || !tsdl_members(parser, class) || !tsdl_explicit_align(parser, class))
                return NULL;
        if (name)
                tsdl_declare(parser, TSDL_STRUCT, name, class);
        return class;
}

static CtfClass *tsdl_variant(TsdlParser *parser)
{
        g_autoptr(GString) path = g_string_new(NULL);
        CtfClass *class;
        const char *name;

        if (!tsdl_tag(parser, &name))
                return NULL;
        if (tsdl_is(parser, '<') &&
            (!tsdl_advance(parser) || !tsdl_path(parser, path) || !tsdl_expect(parser, '>')))
                return NULL;
        if (!tsdl_is(parser, '{')) {
                class = name ? tsdl_named(parser, TSDL_VARIANT, name) : NULL;
        } else {
                class = tsdl_new(parser, CTF_KIND_VARIANT);
                if (!class || !tsdl_members(parser, class))
                        return NULL;
                if (name)
                        tsdl_declare(parser, TSDL_VARIANT, name, class);
        }
        if (class && path->len) {
                class->origin = _CTF_SCOPE_MAX;
                class->path = ctf_arena_name(&parser->trace->arena, path->str);
        }
        return class;
}

/* "{ NAME, NAME = NUMBER, NAME = NUMBER ... NUMBER, }" */
static bool tsdl_labels(TsdlParser *parser, CtfClass *class)
{
        uint64_t next = 0;

        class->labels = g_array_new(FALSE, FALSE, sizeof(CtfLabel));
        if (!tsdl_expect(parser, '{'))
                return false;
        while (!tsdl_is(parser, '}')) {
                CtfLabel label;
                TsdlValue value;
                int64_t number;

                if (parser->token.type != TSDL_IDENTIFIER && parser->token.type != TSDL_STRING)
                        return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a label");
                label = (CtfLabel){ctf_arena_name(&parser->trace->arena, parser->token.text),
                                   {next, next}};
                if (!tsdl_advance(parser))
                        return false;
                if (parser->token.type == TSDL_ASSIGN) {
                        if (!tsdl_advance(parser) || !tsdl_value(parser, &value))
                                return false;
                        if (value.is_negative) {
                                if (!tsdl_signed(parser, &value, &number))
                                        return false;
                                label.range.low = (uint64_t)number;
                        } else if (!tsdl_unsigned(parser, &value, UINT64_MAX, &label.range.low)) {
                                return false;
                        }
                        label.range.high = label.range.low;
                        if (parser->token.type == TSDL_ELLIPSIS) {
                                if (!tsdl_advance(parser) || !tsdl_value(parser, &value))
                                        return false;
                                if (!value.is_integer)
                                        return tsdl_fail(parser, CTF_ERROR_DAMAGED,
                                                         "expected a number");
                                label.range.high =
                                        value.is_negative ? -value.integer : value.integer;
                        }
                }
                next = label.range.high + 1;
                g_array_append_val(class->labels, label);
                if (!tsdl_is(parser, '}') && !tsdl_expect(parser, ','))
                        return false;
        }
        return tsdl_advance(parser);
}

static CtfClass *tsdl_enum(TsdlParser *parser)
{
        CtfClass *class;
        const char *name;

        if (!tsdl_tag(parser, &name))
                return NULL;
        if (tsdl_is(parser, ':')) {
                if (!tsdl_advance(parser))
                        return NULL;
                class = tsdl_type(parser);
        } else if (tsdl_is(parser, '{')) {
                class = tsdl_named(parser, TSDL_ALIAS, "int");
        } else {
                return name ? tsdl_named(parser, TSDL_ENUM, name) : NULL;
        }
        if (!class)
                return NULL;
        if (class->kind != CTF_KIND_INTEGER || class->labels) {
                tsdl_fail(parser, CTF_ERROR_DAMAGED,
                          "an enumeration of something else than "
                          "integers");
                return NULL;
        }
        if (!tsdl_labels(parser, class))
                return NULL;
        if (name)
                tsdl_declare(parser, TSDL_ENUM, name, class);
        return class;
}

static CtfClass *tsdl_alias(TsdlParser *parser)
{
        g_autoptr(GString) words = g_string_new(NULL);

        while (parser->token.type == TSDL_IDENTIFIER) {
                g_string_append_printf(words, "%s%s", words->len ? " " : "", parser->token.text);
                if (!tsdl_advance(parser))
                        return NULL;
        }
        if (!words->len) {
                tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a type");
                return NULL;
        }
        return tsdl_named(parser, TSDL_ALIAS, words->str);
}

CtfClass *tsdl_type(TsdlParser *parser)
{
        static const struct {
                const char *word;
                CtfClass *(*parse)(TsdlParser *parser);
        } SPECIFIERS[] = {
                {"integer", tsdl_integer}, {"floating_point", tsdl_float}, {"string", tsdl_string},
                {"struct", tsdl_struct},   {"variant", tsdl_variant},      {"enum", tsdl_enum},
        };
        CtfClass *class = NULL;
        size_t i;

        if (++parser->depth > CTF_MAX_DEPTH) {
                tsdl_fail(parser, CTF_ERROR_UNSUPPORTED, "fields that are nested too deep");
                return NULL;
        }
        for (i = 0; i < G_N_ELEMENTS(SPECIFIERS); i++)
                if (tsdl_is_word(parser, SPECIFIERS[i].word))
                        break;
        if (i == G_N_ELEMENTS(SPECIFIERS))
                class = tsdl_alias(parser);
        else if (tsdl_advance(parser))
                class = SPECIFIERS[i].parse(parser);
        if (!class)
                tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a type");
        parser->depth--;
        return class;
}

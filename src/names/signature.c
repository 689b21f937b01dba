/* SPDX-License-Identifier: MIT */
#include "names/signature.h"

#include "names/generated.h"
#include "names/keywords.h"

#include <string.h>

#define REQUIRED "required_modifier "
#define OPTIONAL "optional_modifier "
#define INTEROP  "System.Runtime.InteropServices."

/* Calling conventions; C# writes them after the keyword. */
static const struct {
        const char *raw, *shown;
} CONVENTIONS[] = {
        {"unmanaged cdecl ", " unmanaged[Cdecl]"},
        {"unmanaged stdcall ", " unmanaged[Stdcall]"},
        {"unmanaged thiscall ", " unmanaged[Thiscall]"},
        {"unmanaged fastcall ", " unmanaged[Fastcall]"},
        {"native vararg ", " native vararg"},
        {"vararg ", " vararg"},
};

/* C# keywords of references with a modifier. */
static const struct {
        const char *modifier, *shown;
} REFERENCES[] = {
        {INTEROP "InAttribute", "in "},
        {INTEROP "OutAttribute", "out "},
};

static TypeAppend type_append;

/* Finds the "(...)" at the end; RET_ARGUMENTS lacks the parentheses. */
static bool find_arguments(Span text, Span *ret_arguments)
{
        const char *at = text.end;
        size_t depth = 0;

        if (text.at == text.end || text.end[-1] != ')')
                return false;
        while (at-- > text.at) {
                if (*at == ')')
                        depth++;
                else if (*at == '(' && !--depth) {
                        *ret_arguments = span_of(at + 1, text.end - 1);
                        return true;
                }
        }
        return false;
}

static const char *skip_convention(Span *text)
{
        size_t i;

        for (i = 0; i < sizeof(CONVENTIONS) / sizeof(CONVENTIONS[0]); i++)
                if (span_skip(text, CONVENTIONS[i].raw))
                        return CONVENTIONS[i].shown;
        return "";
}

void signature_parse(const char *text, Signature *ret_signature)
{
        Signature signature = {0};
        Span rest = span_of_text(text);

        signature.has_arguments = find_arguments(rest, &signature.arguments);
        if (signature.has_arguments) {
                if (signature.arguments.at < signature.arguments.end)
                        signature.n_arguments = list_count(signature.arguments);
                rest.end = signature.arguments.at - 1;
                while (rest.end > rest.at && rest.end[-1] == ' ')
                        rest.end--;
                signature.is_instance = span_skip(&rest, "instance ");
                signature.is_generic = span_skip(&rest, "generic ");
                skip_convention(&rest);
                signature.has_result = rest.at < rest.end;
                signature.result = rest;
        }
        *ret_signature = signature;
}

bool signature_returns(const Signature *signature, const char *type)
{
        return signature->has_result && span_equal(signature->result, type);
}

/* Takes a class's name off REST. Only a class that is not nested has a namespace. */
static Span class_name(Span *rest)
{
        Span name = *rest;

        for (;;) {
                const char *end = generated_source_end(*rest);

                if (end)
                        rest->at = end;
                else if (span_first(*rest) == '<')
                        rest->at = rest->end;
                while (rest->at < rest->end && !strchr(".<>[]&*,() ", *rest->at))
                        rest->at++;
                if (span_first(*rest) != '.')
                        break;
                rest->at++;
        }
        name.end = rest->at;
        return name;
}

/* Takes "<...>" off REST; RET_ARGS is its inside, at NULL: none. False: not closed. */
static bool take_args(Span *rest, Span *ret_args)
{
        const char *end;

        *ret_args = (Span){0};
        if (span_first(*rest) != '<')
                return true;
        end = generated_source_end(*rest);
        if (!end)
                return false;
        *ret_args = span_of(rest->at + 1, end - 1);
        rest->at = end;
        return true;
}

/*
 * Writes "?<T1>." for an outer type, which has no name in the signature: takes the arguments beyond
 * ARITY off ARGS.
 */
static bool outer_append(Writer *writer, Span *args, unsigned arity)
{
        unsigned n = args->at ? list_count(*args) : arity;
        Generic outer = {.arity = n - arity, .args = *args, .append = type_append};
        unsigned i;

        if (n < arity)
                return false;
        if (n == arity)
                return true;
        for (i = 0; i < n - arity; i++)
                outer.args.end = list_next(args).end;
        text_add(&writer->text, "?");
        if (!generic_append(writer, &outer))
                return false;
        text_add(&writer->text, ".");
        return true;
}

static bool class_append(Writer *writer, Span *rest)
{
        Span name = class_name(rest), args, part;
        Generic generic = {.append = type_append};
        Generated generated;
        bool is_alone = !memchr(name.at, '.', span_length(name));

        if (!take_args(rest, &args) || !arity_split(&name, &generic.arity))
                return false;
        /* No nested type has a namespace. */
        if (args.at && !generic.arity && !is_alone && span_first(name) != '<')
                return false;
        if (!outer_append(writer, &args, generic.arity))
                return false;
        generic.args = args;
        if (generated_parse(name, &generated)) {
                generated.generic = generic;
                return generated_append(writer, &generated, NULL, "machine");
        }
        for (part = span_of(name.at, name.at); part.at <= name.end; part.at = part.end + 1) {
                const char *dot = memchr(part.at, '.', (size_t)(name.end - part.at));

                part.end = dot ? dot : name.end;
                if (!name_is_plain(part))
                        return false;
                if (part.at > name.at)
                        text_add(&writer->text, ".");
                name_append(writer, part, is_alone ? KEYWORD_TYPE : 0);
                if (!dot)
                        break;
        }
        return generic_append(writer, &generic);
}

/* Maximum of a name in bytes; a longer name is replaced by "T1". */
#define MAX_PARAMETER 48u

/* Name NUMBER, from 0, of LIST; empty: missing, not plain, or too long. */
static Span parameter_name(Span list, unsigned number)
{
        Span name = {0};

        if (!list.at || number >= WRITER_ARITY_MAX)
                return name;
        for (number++; number > 0; number--)
                name = list_next(&list);
        return span_length(name) <= MAX_PARAMETER && name_is_plain(name)
                       ? name
                       : span_of(name.at, name.at);
}

/* Writes "T1" for "!0", "M1" for "!!0", or the source's name. */
static bool parameter_append(Writer *writer, Span *rest)
{
        bool is_of_method = span_skip(rest, "!!");
        unsigned number;
        Span name;

        if ((!is_of_method && !span_skip(rest, "!")) || !span_skip_number(rest, &number))
                return false;
        name = parameter_name(is_of_method ? writer->method_params : writer->type_params, number);
        if (name.at < name.end) {
                name_append(writer, name, KEYWORD_TYPE);
                return true;
        }
        text_add(&writer->text, is_of_method ? "M" : "T");
        text_add_number(&writer->text, number + 1);
        return true;
}

/* "pMT: 0x7f12<int32>" */
static bool handle_append(Writer *writer, Span *rest)
{
        Span number = *rest, args;
        Generic generic = {.append = type_append};

        if (!span_skip(&number, "0x"))
                return false;
        while (number.at < number.end && strchr("0123456789abcdefABCDEF", *number.at))
                number.at++;
        number = span_of(rest->at, number.at);
        rest->at = number.end;
        if (!take_args(rest, &args))
                return false;
        text_add(&writer->text, "type:");
        text_add_span(&writer->text, number);
        if (args.at) {
                generic.arity = list_count(args);
                generic.args = args;
        }
        return generic_append(writer, &generic);
}

/* Takes a modifier off TYPE: "required_modifier A.B int32". */
static bool modifier_append(Writer *writer, Span *type, const char **reference)
{
        bool is_required = span_skip(type, REQUIRED);
        Span name;
        size_t i;

        if (!is_required && !span_skip(type, OPTIONAL))
                return false;
        name = class_name(type);
        if (name.at == name.end || !span_skip(type, " "))
                return false;
        for (i = 0; i < sizeof(REFERENCES) / sizeof(REFERENCES[0]); i++)
                if (is_required && *reference && span_equal(name, REFERENCES[i].modifier)) {
                        *reference = REFERENCES[i].shown;
                        return true;
                }
        text_add(&writer->text, is_required ? "modreq(" : "modopt(");
        text_add_span(&writer->text, name);
        text_add(&writer->text, ") ");
        return true;
}

/* "fnptr int32(bool)": C# writes the result last, so the text is parsed twice. */
static bool pointer_append(Writer *writer, Span *rest)
{
        const char *convention = skip_convention(rest);
        const Writer before = *writer;
        const char *nothing = NULL, *at;
        Span result = *rest, arguments;
        size_t depth = 1;

        if (writer->n_pointers >= WRITER_POINTERS_MAX)
                return false;
        writer->n_pointers++;
        while (modifier_append(writer, rest, &nothing))
                continue;
        if (!type_append(writer, rest))
                return false;
        span_skip(rest, "&");
        result.end = rest->at;
        *writer = before;
        writer->n_pointers++;

        if (!span_skip(rest, "("))
                return false;
        for (at = rest->at; at < rest->end; at++) {
                depth += *at == '(' ? 1 : 0;
                if (*at == ')' && !--depth)
                        break;
        }
        if (at == rest->end)
                return false;
        arguments = span_of(rest->at, at);
        rest->at = at + 1;

        text_add(&writer->text, "delegate*");
        text_add(&writer->text, convention);
        text_add(&writer->text, "<");
        while (arguments.at < arguments.end) {
                bool is_last;
                Span argument = list_next(&arguments);

                is_last = argument.end == arguments.end;
                if (!argument_append(writer, argument) ||
                    (!is_last && arguments.at == arguments.end))
                        return false;
                text_add(&writer->text, ", ");
        }
        if (!argument_append(writer, result))
                return false;
        text_add(&writer->text, ">");
        writer->n_pointers--;
        return true;
}

static bool word_append(Writer *writer, Span *rest)
{
        const char *end = rest->at, *word;

        while (end < rest->end && !strchr("<>[]&*,()", *end))
                end++;
        word = keyword_of_signature(span_of(rest->at, end));
        if (!word)
                return false;
        rest->at = end;
        text_add(&writer->text, word);
        return true;
}

static bool element_append(Writer *writer, Span *rest)
{
        if (span_first(*rest) == '!')
                return parameter_append(writer, rest);
        if (span_skip(rest, "pMT: "))
                return handle_append(writer, rest);
        if (span_skip(rest, "fnptr "))
                return pointer_append(writer, rest);
        if (word_append(writer, rest))
                return true;
        return (span_skip(rest, "value class ") || span_skip(rest, "class ")) &&
               class_append(writer, rest);
}

static bool type_append(Writer *writer, Span *rest)
{
        bool is_understood;

        if (writer->depth >= WRITER_DEPTH_MAX)
                return false;
        writer->depth++;
        if (span_skip(rest, "native "))
                text_add(&writer->text, "native ");
        is_understood = element_append(writer, rest);
        while (is_understood) {
                if (span_skip(rest, "*"))
                        text_add(&writer->text, "*");
                else if (!arrays_append(writer, rest))
                        break;
        }
        writer->depth--;
        return is_understood;
}

bool argument_append(Writer *writer, Span type)
{
        bool is_reference = type.at < type.end && type.end[-1] == '&';
        const char *reference = is_reference ? "ref " : NULL;
        bool is_first = true;

        if (is_reference)
                type.end--;
        if (span_equal(type, "...")) {
                text_add(&writer->text, "...");
                return !is_reference;
        }
        for (; span_first(type) == 'r' || span_first(type) == 'o'; is_first = false) {
                const char *nothing = NULL;

                if (span_equal(type, "refany"))
                        break;
                if (!modifier_append(writer, &type, is_first ? &reference : &nothing))
                        return false;
        }
        if (reference)
                text_add(&writer->text, reference);
        return type_append(writer, &type) && type.at == type.end;
}

void arguments_append(Writer *writer, const Signature *signature)
{
        Span rest = signature->arguments;

        if (!signature->has_arguments) {
                text_add(&writer->text, "?");
                return;
        }
        while (rest.at < rest.end) {
                const Writer before = *writer;
                Span argument = list_next(&rest);

                if (!argument_append(writer, argument)) {
                        *writer = before;
                        text_add_quoted(&writer->text, argument);
                }
                if (argument.end < rest.end)
                        text_add(&writer->text, ", ");
                if (argument.end < rest.end && rest.at == rest.end)
                        text_add_quoted(&writer->text, rest);
        }
}

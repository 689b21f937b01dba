/* SPDX-License-Identifier: MIT */
#include "names/member.h"

#include "names/interface.h"
#include "names/path.h"
#include "names/signature.h"
#include "names/keywords.h"

#include <string.h>

/* The namespace of methods without metadata. */
#define DYNAMIC "dynamicClass"

/*
 * Signatures that make "get_X" an accessor: C# compiles no other method to that name and signature.
 */
static const struct {
        const char *prefix;
        const char *item; /* name of an indexer, which has one more argument */
        unsigned n_arguments;
        const char *result; /* NULL: any type except void */
        const char *shown;
} ACCESSORS[] = {
        {"get_", "Item", 0, NULL, "get"},
        {"set_", "Item", 1, "void", "set"},
        {"set_", "Item", 1, "required_modifier System.Runtime.CompilerServices.IsExternalInit void",
         "init"},
        {"add_", NULL, 1, "void", "add"},
        {"remove_", NULL, 1, "void", "remove"},
};

static const struct {
        const char *raw, *shown;
} CONVERSIONS[] = {
        {"op_Implicit", "implicit operator "},
        {"op_Explicit", "explicit operator "},
        {"op_CheckedExplicit", "explicit operator checked "},
};

static bool accessor_append(Writer *writer, Span name, const Signature *signature)
{
        size_t i;

        for (i = 0; i < sizeof(ACCESSORS) / sizeof(ACCESSORS[0]); i++) {
                bool is_void = signature_returns(signature, "void");
                Span property = name;
                bool is_indexer;

                if (!span_skip(&property, ACCESSORS[i].prefix) || !name_is_plain(property) ||
                    !signature->has_result || signature->is_generic)
                        continue;
                if (ACCESSORS[i].result ? !signature_returns(signature, ACCESSORS[i].result)
                                        : is_void)
                        continue;
                is_indexer = ACCESSORS[i].item && span_equal(property, ACCESSORS[i].item) &&
                             signature->n_arguments > ACCESSORS[i].n_arguments;
                if (!is_indexer && signature->n_arguments != ACCESSORS[i].n_arguments)
                        continue;
                if (is_indexer)
                        text_add(&writer->text, "this[]");
                else
                        text_add_span(&writer->text, property);
                text_add(&writer->text, ".");
                text_add(&writer->text, ACCESSORS[i].shown);
                return true;
        }
        return false;
}

static bool operator_append(Writer *writer, Span name, const Signature *signature)
{
        const Writer before = *writer;
        const char *shown;
        size_t i;

        if (!signature->has_result)
                return false;
        shown = keyword_of_operator(name, signature->is_instance, signature->n_arguments);
        if (shown) {
                text_add(&writer->text, "operator ");
                text_add(&writer->text, shown);
                return true;
        }
        for (i = 0; i < sizeof(CONVERSIONS) / sizeof(CONVERSIONS[0]); i++) {
                if (!span_equal(name, CONVERSIONS[i].raw) || signature->is_instance ||
                    signature->n_arguments != 1)
                        continue;
                text_add(&writer->text, CONVERSIONS[i].shown);
                if (argument_append(writer, signature->result))
                        return true;
                *writer = before;
        }
        return false;
}

static void simple_append(Writer *writer, Span name, const Signature *signature)
{
        if (!accessor_append(writer, name, signature) && !operator_append(writer, name, signature))
                name_append(writer, name, KEYWORD_MEMBER);
}

/* The last '.' outside of brackets; NULL: none, or brackets do not match. */
static const char *last_dot(Span name)
{
        const char *at, *dot = NULL;
        size_t depth = 0;

        for (at = name.at; at < name.end; at++) {
                if (*at == '<' || *at == '[')
                        depth++;
                else if ((*at == '>' || *at == ']') && depth-- == 0)
                        return NULL;
                else if (*at == '.' && !depth)
                        dot = at;
        }
        return depth ? NULL : dot;
}

/* "Method", "get_Property", "Interface.Method" */
static void method_append(Writer *writer, Span name, const Signature *signature)
{
        const Writer before = *writer;
        const char *dot;

        if (span_equal(name, ".ctor") || span_equal(name, ".cctor")) {
                text_add_span(&writer->text, name);
                return;
        }
        dot = last_dot(name);
        if (dot) {
                Span interface = span_of(name.at, dot);

                if (interface_append(writer, &interface) && interface.at == interface.end &&
                    name_is_plain(span_of(dot + 1, name.end))) {
                        text_add(&writer->text, ".");
                        simple_append(writer, span_of(dot + 1, name.end), signature);
                        return;
                }
                *writer = before;
        }
        simple_append(writer, name, signature);
}

/* "async" or "iterator" for the step method of a state machine; NULL: another member. */
static const char *machine_of(Span name, const Signature *signature)
{
        if (!span_equal(name, "MoveNext") || signature->n_arguments || !signature->is_instance)
                return NULL;
        return signature_returns(signature, "void")   ? "async"
               : signature_returns(signature, "bool") ? "iterator"
                                                      : NULL;
}

/* Writes type and method if they can be parsed together. */
static bool typed_append(Writer *writer, Span type, Span name, const Signature *signature)
{
        Generated generated;
        PathEnd end = {0};
        const char *machine;

        if (type.at < type.end && (!path_append(writer, &type, &end) || type.at < type.end))
                return false;
        machine = end.has_machine ? machine_of(name, signature) : NULL;
        if (machine) {
                text_add(&writer->text, end.has_text ? "." : "");
                return generated_append(writer, &end.machine, end.has_closure ? &end.closure : NULL,
                                        machine);
        }
        if (generated_parse(name, &generated)) {
                bool is_held = end.has_closure && !end.has_machine && generated_is_held(&generated);

                if (is_held)
                        end.has_closure = false;
                else if (!path_end_append(writer, &end))
                        return false;
                text_add(&writer->text, end.has_text ? "." : "");
                return generated_append(writer, &generated, is_held ? &end.closure : NULL,
                                        "machine");
        }
        if (!path_end_append(writer, &end))
                return false;
        text_add(&writer->text, end.has_text ? "." : "");
        if (end.plain.at && span_equal(name, "Finalize") && signature->is_instance &&
            !signature->n_arguments && signature_returns(signature, "void")) {
                text_add(&writer->text, "~");
                name_append(writer, end.plain, 0);
                return true;
        }
        method_append(writer, name, signature);
        return true;
}

/* Writes the type, then the name, each parsed alone. */
static void apart_append(Writer *writer, Span type, Span name, const Signature *signature)
{
        Writer before = *writer;

        if (type.at < type.end) {
                Span rest = type;

                if (!path_append(writer, &rest, NULL) || rest.at < rest.end) {
                        *writer = before;
                        text_add_quoted(&writer->text, type);
                }
                text_add(&writer->text, ".");
        }
        before = *writer;
        if (!typed_append(writer, span_of(name.at, name.at), name, signature)) {
                *writer = before;
                text_add_quoted(&writer->text, name);
        }
}

/* Writes a DynamicMethod's name as it is, because any name is allowed. */
static void dynamic_append(Writer *writer, Span name)
{
        Span part = name;

        text_add(&writer->text, "[dynamic] ");
        while (!span_equal(name, ".ctor") && part.at <= name.end) {
                const char *dot = memchr(part.at, '.', (size_t)(name.end - part.at));

                part.end = dot ? dot : name.end;
                if (!name_is_plain(part)) {
                        text_add_quoted(&writer->text, name);
                        return;
                }
                part.at = part.end + 1;
        }
        text_add_span(&writer->text, name);
}

/* "<int, string>", or "<?>". */
static void type_args_append(Writer *writer, Span args)
{
        const Writer before = *writer;

        text_add(&writer->text, "<");
        if (span_first(args) && type_list_append(writer, args, path_type_append)) {
                text_add(&writer->text, ">");
                return;
        }
        *writer = before;
        text_add(&writer->text, "<?>");
}

/* Writes all except the arguments. */
static void full_name_append(Writer *writer, const RawName *raw, const Signature *signature)
{
        Span type = span_of_text(raw->name_space), name = span_of_text(raw->name);
        const char *stub = keyword_of_stub(name);
        const Writer before = *writer;

        if (span_equal(type, DYNAMIC) && !stub) {
                dynamic_append(writer, name);
        } else if (span_equal(type, DYNAMIC)) {
                const RawName *target = raw->stub_target;

                text_add(&writer->text, "[");
                text_add(&writer->text, stub);
                if (target && span_first(span_of_text(target->name))) {
                        /* The name of a stub's target has no target itself. */
                        const RawName only = {.name_space = target->name_space,
                                              .name = target->name,
                                              .signature = target->signature};
                        Signature its;

                        signature_parse(target->signature, &its);
                        text_add(&writer->text, " made for ");
                        full_name_append(writer, &only, &its);
                }
                text_add(&writer->text, "]");
        } else if (!typed_append(writer, type, name, signature)) {
                *writer = before;
                apart_append(writer, type, name, signature);
        }
        /* An inlined method can have type arguments without a signature. */
        if (signature->is_generic || raw->type_args)
                type_args_append(writer, span_of_text(raw->type_args));
}

void member_append(Writer *writer, const RawName *raw)
{
        Signature signature;

        signature_parse(raw->signature, &signature);
        writer->type_params = span_of_text(raw->type_params);
        writer->method_params = span_of_text(raw->method_params);
        full_name_append(writer, raw, &signature);
        if (writer->is_short)
                return;
        text_add(&writer->text, "(");
        arguments_append(writer, &signature);
        text_add(&writer->text, ")");
}

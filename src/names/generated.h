/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Generated: a name that a C# compiler generated
 *
 * It has the form <SOURCE>KIND ORDINALS. SOURCE is the name of the method that the code was
 * generated for; that name can be a generated name, too.
 */

#include "names/writer.h"

typedef enum GeneratedKind {
        GENERATED_OTHER,         /* <Main>$, <PrivateImplementationDetails> */
        GENERATED_CLOSURE,       /* <>c__DisplayClass15_0 */
        GENERATED_EMPTY_CLOSURE, /* <>c, <>c__6 */
        GENERATED_ANONYMOUS,     /* <>f__AnonymousType0 */
        GENERATED_MACHINE,       /* <M>d__5, <M>d */
        GENERATED_LAMBDA,        /* <M>b__0_1 */
        GENERATED_LOCAL,         /* <M>g__Local|3_0 */
} GeneratedKind;

typedef struct Generated {
        GeneratedKind kind;
        Span token;
        Span source;  /* of state machines, lambdas and local functions */
        Span word;    /* a local function's own name */
        Span ordinal; /* "5", "15_0" */
        Generic generic;
} Generated;

/* Parses TOKEN, without its arity. False: another form. */
bool generated_parse(Span token, Generated *ret_generated);
/* The end of the "<...>" at the start of TOKEN; NULL: there is none. */
const char *generated_source_end(Span token);
bool generated_is_closure(const Generated *generated);
/* True for the members of closures: a lambda, a local function, or a state machine of either. */
bool generated_is_held(const Generated *generated);
/* CLOSURE: its closure, or NULL. MACHINE: the word for a state machine. */
bool generated_append(Writer *writer, const Generated *generated, const Generated *closure,
                      const char *machine);

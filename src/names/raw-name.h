/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * A name as the runtime writes it, and the styles that it can be written in
 */

/* Texts of the event; NULL or "" if it lacks one. NUL-terminated, borrowed for the call. */
typedef struct RawName {
        const char *name_space, *name, *signature;
        /*
         * The method that an IL stub is made for; NULL if it is not known, and for all other code.
         */
        const struct RawName *stub_target;
        /* Those of a generic method, as reflection writes types, with commas between them; NULL:
         * not known. */
        const char *type_args;
        /* What the source calls the type parameters of its type, and its own, with commas between
         * them; NULL: not known. */
        const char *type_params, *method_params;
        bool is_thunk; /* of an async method: it makes a task of what the method itself returns */
} RawName;

typedef enum NameStyle {
        NAME_STYLE_CLR,
        NAME_STYLE_CSHARP,
        NAME_STYLE_SHORT,
        _NAME_STYLE_MAX,
} NameStyle;

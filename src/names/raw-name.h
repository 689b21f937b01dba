/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* A name in the runtime's spelling, and the styles for writing it */

/* Texts of the event; NULL or "" if it lacks one. NUL-terminated, borrowed for the call. */
typedef struct RawName {
        const char *name_space, *name, *signature;
        /* The method of an IL stub; NULL: not known, or other code. */
        const struct RawName *stub_target;
        /* The type arguments of a generic method, in the spelling of reflection, with commas
         * between them; NULL: not known. */
        const char *type_args;
        /* The names of the type parameters of its type, and its own, in the source, with commas
         * between them; NULL: not known. */
        const char *type_params, *method_params;
        bool is_thunk; /* of an async method: its body makes a task of the method's result */
} RawName;

typedef enum NameStyle {
        NAME_STYLE_CLR,
        NAME_STYLE_CSHARP,
        NAME_STYLE_SHORT,
        _NAME_STYLE_MAX,
} NameStyle;

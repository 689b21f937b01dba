/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* A name in the runtime's spelling, and the styles for people */

/* The event's texts; NULL or "": missing. NUL-terminated, borrowed during the call. */
typedef struct RawName {
        const char *name_space, *name, *signature;
        /* The method of an IL stub; NULL: not known, or other code. */
        const struct RawName *stub_target;
        /*
         * Comma-separated type arguments of a generic method, in the spelling of reflection; NULL:
         * not known.
         */
        const char *type_args;
        /*
         * Comma-separated names of type parameters in the source, of the type and of the method;
         * NULL: not known.
         */
        const char *type_params, *method_params;
        bool is_thunk; /* thunk of an async method: its body makes a task of the method's result */
} RawName;

typedef enum NameStyle {
        NAME_STYLE_CLR,
        NAME_STYLE_CSHARP,
        NAME_STYLE_SHORT,
        _NAME_STYLE_MAX,
} NameStyle;

/* SPDX-License-Identifier: MIT */
#include "support/raw-names.h"

#define IN_MODIFIER   "required_modifier System.Runtime.InteropServices.InAttribute "
#define INIT_MODIFIER "required_modifier System.Runtime.CompilerServices.IsExternalInit "

/* clang-format off */
static const char *const PATHS[] = {
        "A", "B", ".", "+", "`1", "[", "]", ",", "[]", "System.Int32", "int", "<>c", "<A>d",
        "__1", "<", ">", "\\", "``", "*", "c__DisplayClass", "<>c__", "0_1", "<A>b__0>d", "T1",
        "\x01", "\\u{1}", "\\`", "`", "dynamicClass",
};
static const char *const METHODS[] = {
        "A", "B", ".", "get", "get_", "set_", "Item", "op_Addition", "op_Implicit", "<A>", "b__",
        "g__", "|", "0", "0_1", "<", ">", "lambda", "async", "MoveNext", "Finalize", ".ctor",
        "``", "this", "@", "#", "operator +", "~A", "System.Int32", ",", "[]", "\\", "IL_STUB",
        "[dynamic]",
};
static const char *const TYPES[] = {
        "class ", "value class ", "int32", "int", "A", ".", "B", "`1", "<", ">", ",", "&", "*",
        "[]", "[,]", "!0", "!!0", "T1", "fnptr ", "(", ")", "@", "``", "<>c", "System.Int32",
        "System.Object", " ", "\\", "\x01", "pMT: 0x1", "native ", "...", "optional_modifier A ",
        IN_MODIFIER,
};
static const char *const RESULTS[] = {
        "", "void", "instance void", "instance bool", "int32", "generic void", "class A",
        "instance " INIT_MODIFIER "void",
};
/* clang-format on */

static const struct {
        const char *const *pieces;
        size_t n;
} PLACES[_RAW_PLACE_MAX] = {
        [RAW_PATHS] = {PATHS, G_N_ELEMENTS(PATHS)},
        [RAW_METHODS] = {METHODS, G_N_ELEMENTS(METHODS)},
        [RAW_TYPES] = {TYPES, G_N_ELEMENTS(TYPES)},
        [RAW_RESULTS] = {RESULTS, G_N_ELEMENTS(RESULTS)},
};

const char *raw_piece(RawPlace place, size_t i)
{
        return i < PLACES[place].n ? PLACES[place].pieces[i] : NULL;
}

const char *raw_token(GRand *random, RawPlace place)
{
        return raw_piece(place, (size_t)g_rand_int_range(random, 0, (gint32)PLACES[place].n));
}

GString *raw_tokens(GRand *random, RawPlace place, int n)
{
        GString *text = g_string_new(NULL);

        while (n-- > 0)
                g_string_append(text, raw_token(random, place));
        return text;
}

static int chance(GRand *random, int n)
{
        return g_rand_int_range(random, 0, n);
}

#define PICK(random, array) ((array)[chance(random, G_N_ELEMENTS(array))])

static const char *const NAMES[] = {"A", "B", "get", "T1", "int"};
static const char *const ORDINALS[] = {"0", "1", "0_1", "1_0"};

static void append_list(GRand *random, GString *out, int n, int depth,
                        void (*append)(GRand *, GString *, int))
{
        int i;

        for (i = 0; i < n; i++) {
                if (i)
                        g_string_append_c(out, ',');
                append(random, out, depth + 1);
        }
}

/* "<A>b__0_1", "<A>d__1", "<>c" and so on. A type, or a method. */
static void append_generated(GRand *random, GString *out, gboolean is_type, int depth)
{
        static const char *const CLOSURES[] = {"<>c",
                                               "<>c__0",
                                               "<>c__1",
                                               "<>c__DisplayClass0_0",
                                               "<>c__DisplayClass0",
                                               "<>f__AnonymousType0"};

        if (is_type && !chance(random, 2)) {
                g_string_append(out, PICK(random, CLOSURES));
                return;
        }
        g_string_append_c(out, '<');
        if (depth < 2 && !chance(random, 3))
                append_generated(random, out, FALSE, depth + 1);
        else
                g_string_append_printf(out, "%s%s", chance(random, 4) ? "" : "A.",
                                       PICK(random, NAMES));
        g_string_append_c(out, '>');
        if (is_type)
                g_string_append_printf(out, chance(random, 3) ? "d__%s" : "d",
                                       PICK(random, ORDINALS));
        else if (!chance(random, 2))
                g_string_append_printf(out, "b__%s", PICK(random, ORDINALS));
        else
                g_string_append_printf(out, "g__%s|%s", chance(random, 3) ? "A" : "lambda",
                                       PICK(random, ORDINALS));
}

static void append_path(GRand *random, GString *out, int depth)
{
        int n_parts = 1 + chance(random, 3), arity = 0, i;

        if (!chance(random, 6))
                g_string_append(out, chance(random, 2) ? "System.Int32" : "System.String");
        else
                for (i = 0; i < n_parts; i++) {
                        int own = chance(random, 4) ? 0 : 1 + chance(random, 2);

                        if (i)
                                g_string_append_c(out, '+');
                        if (chance(random, 3))
                                g_string_append(out, PICK(random, NAMES));
                        else
                                append_generated(random, out, TRUE, 0);
                        if (own)
                                g_string_append_printf(out, "`%d", own);
                        arity += own;
                }
        if (arity && depth < 3 && chance(random, 4)) {
                g_string_append_c(out, '[');
                append_list(random, out, arity, depth, append_path);
                g_string_append_c(out, ']');
        }
        if (depth && !chance(random, 4))
                g_string_append(out, chance(random, 2) ? "[]" : "[,]");
}

static void append_argument(GRand *random, GString *out, int depth);

static void append_type(GRand *random, GString *out, int depth)
{
        static const char *const PLAIN[] = {"int32",    "int",    "!0",
                                            "!!0",      "!1",     "class System.Object",
                                            "pMT: 0x1", "refany", "unsigned int8"};
        static const char *const SUFFIXES[] = {"[]", "[,]", "*", "[][,]"};
        int n = chance(random, 3), arity = chance(random, 3);

        if (chance(random, 2) || depth > 3) {
                g_string_append(out, PICK(random, PLAIN));
        } else if (!chance(random, 8)) {
                g_string_append(out, "fnptr ");
                append_type(random, out, depth + 1);
                g_string_append_c(out, '(');
                append_list(random, out, n, depth, append_argument);
                g_string_append_c(out, ')');
        } else {
                g_string_append(out, chance(random, 2) ? "class " : "value class ");
                if (!chance(random, 4))
                        append_generated(random, out, TRUE, 0);
                else
                        g_string_append(out, PICK(random, NAMES));
                if (arity)
                        g_string_append_printf(out, "`%d", arity);
                if (arity + n) {
                        g_string_append_c(out, '<');
                        append_list(random, out, arity + n, depth, append_type);
                        g_string_append_c(out, '>');
                }
        }
        if (!chance(random, 4))
                g_string_append(out, PICK(random, SUFFIXES));
}

static void append_argument(GRand *random, GString *out, int depth)
{
        static const char *const MODIFIERS[] = {
                IN_MODIFIER,
                "required_modifier System.Runtime.InteropServices.OutAttribute ",
                "optional_modifier A.B ",
        };

        while (!chance(random, 5))
                g_string_append(out, PICK(random, MODIFIERS));
        append_type(random, out, depth);
        if (!chance(random, 3))
                g_string_append_c(out, '&');
}

char *raw_path(GRand *random)
{
        GString *out = g_string_new(NULL);

        append_path(random, out, 0);
        return g_string_free(out, FALSE);
}

char *raw_method(GRand *random)
{
        static const char *const PREFIXES[] = {"",
                                               "",
                                               "get_",
                                               "set_",
                                               "add_",
                                               "I.",
                                               "I<T>.",
                                               "I<System.Int32,T>.",
                                               "I<T1[]>.get_",
                                               "int."};
        static const char *const MEMBERS[] = {
                "A",   "B",   "get",   "Item",         "MoveNext", "Finalize", "op_Addition",
                "set", "add", ".ctor", "op_UnaryPlus", "get_Item", "Int32",    "op_Implicit"};
        GString *out = g_string_new(NULL);

        if (!chance(random, 3))
                append_generated(random, out, FALSE, 0);
        else
                g_string_append_printf(out, "%s%s", PICK(random, PREFIXES), PICK(random, MEMBERS));
        return g_string_free(out, FALSE);
}

char *raw_arguments(GRand *random)
{
        GString *out = g_string_new(NULL);

        append_list(random, out, chance(random, 3), 0, append_argument);
        return g_string_free(out, FALSE);
}

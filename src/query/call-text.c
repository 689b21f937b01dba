/* SPDX-License-Identifier: MIT */
#include "query/call-text.h"

#include "codemap/account.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* The index after the string whose text begins at AT; N: the string is not closed. */
static size_t text_skip_string(const char *text, size_t n, size_t at)
{
        for (; at < n && text[at] != '"'; at++)
                if (text[at] == '\\')
                        at++;
        return at < n ? at + 1 : n;
}

/*
 * The index of the bracket that closes the bracket open at AT; with ENDS_AT_COMMA, also of a comma
 * outside of brackets. N: none.
 */
static size_t text_find_end(const char *text, size_t n, size_t at, bool ends_at_comma)
{
        size_t depth = 0;

        while (at < n) {
                switch (text[at++]) {
                case '"':
                        at = text_skip_string(text, n, at);
                        break;
                case '[':
                case '{':
                        depth++;
                        break;
                case ']':
                case '}':
                        if (!depth)
                                return at - 1;
                        depth--;
                        break;
                case ',':
                        if (!depth && ends_at_comma)
                                return at - 1;
                        break;
                default:
                        break;
                }
        }
        return n;
}

/* The member that a bracket belongs to. */
typedef struct MemberName {
        const char *text; /* borrowed: the last string in this object */
        size_t n;
        bool is_name; /* a colon followed it */
} MemberName;

static bool member_is(const MemberName *member, const char *name)
{
        return member->is_name && member->n == strlen(name) &&
               !memcmp(member->text, name, member->n);
}

bool call_text_find_queries(const char *text, size_t n, size_t *ret_begin, size_t *ret_end)
{
        bool is_in_parameters = false;
        MemberName member = {0};
        size_t depth = 0, at = 0, begin;

        while (at < n) {
                switch (text[at++]) {
                case '"':
                        begin = at;
                        at = text_skip_string(text, n, at);
                        member = (MemberName){.text = text + begin, .n = at - begin - 1};
                        break;
                case ':':
                        member.is_name = true;
                        break;
                case ',':
                        member = (MemberName){0};
                        break;
                case '[':
                        if (depth == 2 && is_in_parameters && member_is(&member, "queries")) {
                                *ret_begin = at;
                                *ret_end = text_find_end(text, n, at, false);
                                return *ret_end < n && text[*ret_end] == ']';
                        }
                        depth++;
                        member = (MemberName){0};
                        break;
                case '{':
                        if (depth == 1)
                                is_in_parameters = member_is(&member, "parameters");
                        depth++;
                        member = (MemberName){0};
                        break;
                case ']':
                case '}':
                        if (!depth)
                                return false;
                        depth--;
                        member = (MemberName){0};
                        break;
                default:
                        break;
                }
        }
        return false;
}

static size_t text_skip_space(const char *text, size_t n)
{
        size_t at = 0;

        while (at < n && memchr(" \t\r\n", text[at], 4))
                at++;
        return at;
}

size_t call_text_count_elements(const char *text, size_t n)
{
        size_t n_elements = 1, at = 0;

        if (text_skip_space(text, n) == n)
                return 0;
        while ((at += call_text_element_end(text + at, n - at)) < n) {
                n_elements++;
                at++;
        }
        return n_elements;
}

size_t call_text_element_end(const char *text, size_t n)
{
        size_t at = 0;

        /* An unmatched closing bracket is part of the element: the parser refuses it. */
        while ((at = text_find_end(text, n, at, true)) < n && text[at] != ',')
                at++;
        return at;
}

/* Bytes left for the values of the present text, and whether they were exhausted. */
static size_t n_left;
static bool is_exhausted;

static void *limited_malloc(size_t n)
{
        size_t size = account_size(n);

        is_exhausted |= size > n_left;
        if (is_exhausted)
                return NULL;
        n_left -= size;
        return malloc(n);
}

json_t *call_text_parse(const char *text, size_t n, bool *ret_is_large)
{
        size_t n_space = text_skip_space(text, n);
        json_malloc_t usual_malloc;
        json_free_t usual_free;
        json_error_t error;
        json_t *root;

        text += n_space;
        n -= n_space;
        while (n && memchr(" \t\r\n", text[n - 1], 4))
                n--;
        json_get_alloc_funcs(&usual_malloc, &usual_free);
        n_left = CALL_TEXT_MAX_VALUES;
        is_exhausted = false;
        json_set_alloc_funcs(limited_malloc, free);
        root = json_loadb(text, MIN(n, CALL_TEXT_MAX_PIECE),
                          JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
        if (n > CALL_TEXT_MAX_PIECE)
                json_decref(g_steal_pointer(&root));
        json_set_alloc_funcs(usual_malloc, usual_free);
        /* Skip the rest of a text that is nested too deeply, because it is invalid. */
        *ret_is_large = is_exhausted || (n > CALL_TEXT_MAX_PIECE &&
                                         json_error_code(&error) != json_error_stack_overflow);
        return root;
}

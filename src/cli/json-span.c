/* SPDX-License-Identifier: MIT */
#include "cli/json-span.h"

#include <string.h>

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_blanks(JsonSpan text, size_t at)
{
        while (at < text.n && is_blank(text.at[at]))
                at++;
        return at;
}

/* True if the quote is a part of its string, not its end: an odd number of backslashes before it.
 */
static bool quote_is_escaped(const char *quote)
{
        const char *p = quote;

        /* They end at the string's first quote at the latest. */
        while (p[-1] == '\\')
                p--;
        return (quote - p) % 2;
}

/* The position after the string that begins at AT; the text's end if the string has no end. */
static size_t skip_string(JsonSpan text, size_t at)
{
        const char *quote = text.at + at;

        do {
                const char *begin = quote + 1;

                quote = memchr(begin, '"', (size_t)(text.at + text.n - begin));
        } while (quote && quote_is_escaped(quote));
        return quote ? (size_t)(quote + 1 - text.at) : text.n;
}

/* The position after the value that begins at AT. */
static size_t skip_value(JsonSpan text, size_t at)
{
        size_t depth = 0;

        while (at < text.n) {
                switch (text.at[at]) {
                case '"':
                        at = skip_string(text, at);
                        if (depth == 0)
                                return at;
                        continue;
                case '{':
                case '[':
                        depth++;
                        break;
                case '}':
                case ']':
                        if (depth == 0)
                                return at;
                        if (--depth == 0)
                                return at + 1;
                        break;
                case ',':
                        if (depth == 0)
                                return at;
                        break;
                default:
                        break;
                }
                at++;
        }
        return text.n;
}

/* Moves AT over OPEN or a comma to the next element; false at the end. */
static bool next_start(JsonSpan text, size_t *at, char open)
{
        *at = skip_blanks(text, *at);
        if (*at >= text.n || (text.at[*at] != open && text.at[*at] != ','))
                return false;
        *at = skip_blanks(text, *at + 1);
        return *at < text.n && text.at[*at] != '}' && text.at[*at] != ']';
}

static JsonSpan value_at(JsonSpan text, size_t *at)
{
        size_t begin = *at, end = skip_value(text, begin);

        *at = end;
        while (end > begin && is_blank(text.at[end - 1]))
                end--;
        return (JsonSpan){text.at + begin, end - begin};
}

/* Moves AT to the value of an object's next member; false at the end. */
static bool next_key(JsonSpan object, size_t *at, JsonSpan *ret_key)
{
        if (!next_start(object, at, '{') || object.at[*at] != '"')
                return false;
        *ret_key = value_at(object, at);
        *at = skip_blanks(object, *at);
        if (*at >= object.n || object.at[*at] != ':')
                return false;
        *at = skip_blanks(object, *at + 1);
        return true;
}

/* Moves AT over the next member of an object; false at the end. RET_NAME is without the quotes. */
static bool next_member(JsonSpan object, size_t *at, JsonSpan *ret_name, JsonSpan *ret_value)
{
        JsonSpan key;

        if (!next_key(object, at, &key) || key.n < 2)
                return false;
        *ret_name = (JsonSpan){key.at + 1, key.n - 2};
        *ret_value = value_at(object, at);
        return true;
}

bool json_span_is(JsonSpan span, const char *text)
{
        size_t n = strlen(text);

        return span.n == n && !memcmp(span.at, text, n);
}

bool json_span_is_text(JsonSpan value, const char *text)
{
        return value.n > 1 && *value.at == '"' &&
               json_span_is((JsonSpan){value.at + 1, value.n - 2}, text);
}

bool json_span_member(JsonSpan object, const char *name, JsonSpan *ret_value)
{
        size_t at = 0;
        JsonSpan member;

        while (next_member(object, &at, &member, ret_value))
                if (json_span_is(member, name))
                        return true;
        return false;
}

size_t json_span_members(JsonSpan object, const char *const *names, size_t n, JsonSpan *ret_values)
{
        size_t at = 0, end = 0, i;
        JsonSpan member, value;

        memset(ret_values, 0, n * sizeof(*ret_values));
        while (next_member(object, &at, &member, &value)) {
                end = (size_t)(value.at + value.n - object.at);
                for (i = 0; i < n; i++)
                        if (member.n && *member.at == names[i][0] && json_span_is(member, names[i]))
                                ret_values[i] = value;
        }
        return end;
}

bool json_span_array(JsonSpan object, const char *name, JsonSpan *ret_array)
{
        size_t at = 0;
        JsonSpan key;

        while (next_key(object, &at, &key)) {
                if (json_span_is_text(key, name)) {
                        *ret_array = (JsonSpan){object.at + at, object.n - at};
                        return true;
                }
                at = skip_value(object, at);
        }
        return false;
}

bool json_span_next(JsonSpan array, size_t *position, JsonSpan *ret_element)
{
        if (!next_start(array, position, '['))
                return false;
        *ret_element = value_at(array, position);
        return ret_element->n > 0;
}

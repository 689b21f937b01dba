/* SPDX-License-Identifier: MIT */
#include "client/json-check.h"

#include "util/json-plain.h"
#include "util/utf8.h"

#include <string.h>

/* The text ends with a NUL, which no value contains, so the checks never read past it. */
typedef struct Checker {
        const char *text;
        size_t n;
        unsigned depth_left;
} Checker;

size_t json_check_skip_blanks(const char *text, size_t at)
{
        while (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')
                at++;
        return at;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static size_t check_digits(const char *text, size_t at)
{
        size_t begin = at;

        while (is_digit(text[at]))
                at++;
        return at > begin ? at : 0;
}

static size_t check_number(const char *text, size_t at)
{
        at += text[at] == '-';
        at = text[at] == '0' ? at + 1 : check_digits(text, at);
        if (at && text[at] == '.')
                at = check_digits(text, at + 1);
        if (at && (text[at] == 'e' || text[at] == 'E')) {
                at++;
                at = check_digits(text, at + (text[at] == '+' || text[at] == '-'));
        }
        return at;
}

static size_t check_escape(const char *text, size_t at)
{
        /* A NUL would end the text for a C program. */
        if (text[at] == 'u')
                return strspn(text + at + 1, "0123456789abcdefABCDEF") >= 4 &&
                                       strncmp(text + at, "u0000", 5) != 0
                               ? at + 5
                               : 0;
        return text[at] && strchr("\"\\/bfnrt", text[at]) ? at + 1 : 0;
}

/* The position after the string that begins at AT. */
static size_t check_string(const Checker *checker, size_t at)
{
        const char *text = checker->text;
        uint32_t c;

        for (at++; at && text[at] != '"';) {
                uint8_t byte;

                at += json_plain_start(text + at, checker->n - at);
                byte = (uint8_t)text[at];
                if (byte == '"')
                        break;
                if (byte == '\\')
                        at = check_escape(text, at + 1);
                else if (byte < ' ')
                        return 0;
                else if (byte < 0x80)
                        at++;
                else {
                        size_t size =
                                utf8_sequence((const uint8_t *)text + at, checker->n - at, &c);

                        at = size ? at + size : 0;
                }
        }
        return at ? at + 1 : 0;
}

static size_t check_word(const char *text, size_t at)
{
        static const char *const WORDS[] = {"true", "false", "null"};
        size_t i;

        for (i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
                if (!strncmp(text + at, WORDS[i], strlen(WORDS[i])))
                        return at + strlen(WORDS[i]);
        return 0;
}

static size_t check_value(Checker *checker, size_t at);

/* The name of a member, up to its value. */
static size_t check_name(const Checker *checker, size_t at)
{
        if (checker->text[at] != '"')
                return 0;
        at = check_string(checker, at);
        at = at ? json_check_skip_blanks(checker->text, at) : 0;
        return at && checker->text[at] == ':' ? json_check_skip_blanks(checker->text, at + 1) : 0;
}

/* An object or an array, which begins at AT. */
static size_t check_members(Checker *checker, size_t at)
{
        const char *text = checker->text;
        bool is_object = text[at] == '{';
        char close = is_object ? '}' : ']';

        if (!checker->depth_left)
                return 0;
        at = json_check_skip_blanks(text, at + 1);
        if (text[at] == close)
                return at + 1;
        checker->depth_left--;
        for (;;) {
                at = is_object ? check_name(checker, at) : at;
                at = at ? check_value(checker, at) : 0;
                at = at ? json_check_skip_blanks(text, at) : 0;
                if (!at || text[at] != ',')
                        break;
                at = json_check_skip_blanks(text, at + 1);
        }
        checker->depth_left++;
        return at && text[at] == close ? at + 1 : 0;
}

static size_t check_value(Checker *checker, size_t at)
{
        switch (checker->text[at]) {
        case '{':
        case '[':
                return check_members(checker, at);
        case '"':
                return check_string(checker, at);
        case 't':
        case 'f':
        case 'n':
                return check_word(checker->text, at);
        default:
                return check_number(checker->text, at);
        }
}

size_t json_check_value(const char *text, size_t n, size_t at, unsigned max_depth)
{
        Checker checker = {.text = text, .n = n, .depth_left = max_depth};

        return check_value(&checker, at);
}

bool json_is_string_of(const char *quoted, size_t n, const char *name)
{
        return n == strlen(name) + 2 && !memcmp(quoted + 1, name, n - 2);
}

bool json_next(const char *text, size_t *at)
{
        *at = json_check_skip_blanks(text, *at);
        if (text[*at] != '{' && text[*at] != '[' && text[*at] != ',')
                return false;
        *at = json_check_skip_blanks(text, *at + 1);
        return text[*at] != '}' && text[*at] != ']';
}

bool json_find_member(const char *text, size_t n, const char *name, size_t *at)
{
        while (text[*at] != '[' && json_next(text, at)) {
                const size_t begin = *at, end = json_check_value(text, n, begin, 0);

                *at = json_check_skip_blanks(text, end) + 1;
                *at = json_check_skip_blanks(text, *at);
                if (json_is_string_of(text + begin, end - begin, name))
                        return true;
                *at = json_check_value(text, n, *at, JSON_CHECK_MAX_DEPTH);
        }
        return false;
}

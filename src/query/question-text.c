/* SPDX-License-Identifier: MIT */
#include "query/question-text.h"

#include "query/parameters.h"
#include "util/seconds-text.h"

#include <string.h>

/* Maximum of digits: such a number always fits into 63 bits. */
enum { MAX_DIGITS = 18 };
/* Maximum length of a name or string; the longest valid value is a time. */
enum { MAX_STRING = 39 };

typedef struct TextCursor {
        const char *at, *end;
} TextCursor;

/* Takes the next character except spaces; 0: none. */
static char cursor_take(TextCursor *cursor)
{
        while (cursor->at < cursor->end && *cursor->at == ' ')
                cursor->at++;
        return cursor->at < cursor->end && *cursor->at ? *cursor->at++ : '\0';
}

/* Takes the rest of a string after its first quote. False: it has escapes, or is too long. */
static bool cursor_string(TextCursor *cursor, char ret_text[MAX_STRING + 1])
{
        size_t n = 0;

        for (; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++) {
                if (n == MAX_STRING || *cursor->at < ' ' || *cursor->at > '~' ||
                    *cursor->at == '\\')
                        return false;
                ret_text[n++] = *cursor->at;
        }
        ret_text[n] = '\0';
        return cursor_take(cursor) == '"';
}

/* Takes the rest of a number after its first character, DIGIT. False: not a plain integer. */
static bool cursor_number(TextCursor *cursor, char digit, uint64_t *ret_number)
{
        const char *begin = cursor->at;

        if (digit < '0' || digit > '9')
                return false;
        *ret_number = (uint64_t)(digit - '0');
        for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
                *ret_number = *ret_number * 10 + (uint64_t)(*cursor->at - '0');
        return cursor->at - begin < MAX_DIGITS && (digit != '0' || cursor->at == begin);
}

typedef struct QueryMember {
        const char *name;
        /* TEXT NULL: the value is NUMBER. False: invalid. */
        bool (*set)(Question *question, const char *text, uint64_t number);
} QueryMember;

static bool set_pid(Question *question, const char *text, uint64_t number)
{
        question->pid = (int32_t)number;
        return !text && number >= 1 && number <= INT32_MAX;
}

static bool set_pid_ns(Question *question, const char *text, uint64_t number)
{
        question->has_pid_ns = true;
        question->pid_ns = number;
        return !text;
}

static bool set_address(Question *question, const char *text, uint64_t number)
{
        return text && param_address(text, &question->address);
}

/* A number is ns, also in quotes. */
static bool set_time(Question *question, const char *text, uint64_t number)
{
        TextCursor cursor = {text ? text + 1 : NULL, text ? text + strlen(text) : NULL};

        question->has_time = true;
        question->time = number;
        return !text || seconds_from_text(text, &question->time) ||
               (*text && cursor_number(&cursor, *text, &question->time) && cursor.at == cursor.end);
}

static const QueryMember MEMBERS[] = {
        {"pid", set_pid},
        {"addr", set_address},
        {"pid_ns", set_pid_ns},
        {"time", set_time},
};
/* The members that each query must have. */
#define NEEDED 0x3u

static bool cursor_member(TextCursor *cursor, Question *question, unsigned *seen)
{
        char name[MAX_STRING + 1], text[MAX_STRING + 1], first;
        uint64_t number = 0;
        unsigned i;

        if (cursor_take(cursor) != '"' || !cursor_string(cursor, name) ||
            cursor_take(cursor) != ':')
                return false;
        first = cursor_take(cursor);
        if (first == '"' ? !cursor_string(cursor, text) : !cursor_number(cursor, first, &number))
                return false;
        for (i = 0; i < G_N_ELEMENTS(MEMBERS); i++)
                if (!strcmp(name, MEMBERS[i].name))
                        break;
        if (i == G_N_ELEMENTS(MEMBERS) || *seen & 1u << i)
                return false;
        *seen |= 1u << i;
        return MEMBERS[i].set(question, first == '"' ? text : NULL, number);
}

bool question_from_text(const char *text, size_t n, Question *ret_question)
{
        TextCursor cursor = {text, text + n};
        unsigned seen = 0;
        char next;

        *ret_question = (Question){0};
        if (cursor_take(&cursor) != '{')
                return false;
        do {
                if (!cursor_member(&cursor, ret_question, &seen))
                        return false;
                next = cursor_take(&cursor);
        } while (next == ',');
        return next == '}' && cursor_take(&cursor) == '\0' && cursor.at == cursor.end &&
               (seen & NEEDED) == NEEDED;
}

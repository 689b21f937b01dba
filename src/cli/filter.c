/* SPDX-License-Identifier: MIT */

/*
 * Text between two words is copied; a word is a run of letters, digits, underscores and bytes that
 * are not ASCII. The filter asks the daemon about words that could be addresses, many at a time. If
 * code is at such an address, the filter writes its name instead of the word. While the process
 * runs, the filter also writes native symbols from its files. All other text is copied byte by
 * byte.
 *
 * Like `clrsym resolve`, the filter collects input while input is available. Before it would have
 * to wait, it writes all collected text, except a word at the end, which may continue.
 */

#include "cli/filter.h"
#include "cli/answer-wait.h"

#include "cli/native-names.h"
#include "cli/output.h"
#include "cli/stdin-reader.h"
#include "cli/symbol-text.h"

#include <string.h>

enum {
        /* Size of the text that waits for answers about its addresses. */
        MAX_TEXT = 1024 * 1024,
        /* 0x and 16 digits; a longer word is not an address. */
        MAX_WORD = 18,
        /* A word with fewer digits and without 0x is most likely another number. */
        MIN_BARE_DIGITS = 8,
        MAX_DIGITS = 16,
};

/* A possible address in the collected text. */
typedef struct AddressText {
        size_t at, n;
} AddressText;

typedef struct AddressFilter {
        AnswerSource *source; /* borrowed */
        clrsym_query query;   /* pid and time of all queries */
        AnswerWait wait;
        NativeNames *natives; /* owned; NULL: the process does not run, or the time is not now */
        GString *text;        /* owned: read, not written yet */
        bool is_in_word;
        bool is_long;       /* inside a long word, whose beginning is written already */
        size_t word;        /* where the current word begins in the text */
        GArray *candidates; /* owned: AddressText, in order */
        GArray *queries;    /* owned: clrsym_query, by candidate */
        GArray *answers;    /* owned: clrsym_answer, by candidate */
        GString *symbol;    /* owned */
} AddressFilter;

static bool is_word_byte(unsigned char c)
{
        return g_ascii_isalnum(c) || c == '_' || c >= 0x80;
}

static bool address_from_word(const char *word, size_t n, uint64_t *ret_address)
{
        bool has_prefix = n > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
        size_t i = has_prefix ? 2 : 0;

        if (n > MAX_WORD || n - i > MAX_DIGITS || (!has_prefix && n < MIN_BARE_DIGITS))
                return false;
        for (*ret_address = 0; i < n; i++) {
                if (!g_ascii_isxdigit(word[i]))
                        return false;
                *ret_address = *ret_address << 4 | (uint64_t)g_ascii_xdigit_value(word[i]);
        }
        return true;
}

static void end_word(AddressFilter *filter, size_t end)
{
        AddressText candidate = {filter->word, end - filter->word};
        clrsym_query query = filter->query;

        filter->is_in_word = false;
        if (filter->is_long ||
            !address_from_word(filter->text->str + candidate.at, candidate.n, &query.address))
                return;
        g_array_append_val(filter->candidates, candidate);
        g_array_append_val(filter->queries, query);
}

static bool filter_resolve(AddressFilter *filter, GError **error)
{
        guint n = filter->queries->len;

        g_array_set_size(filter->answers, n);
        return !n || answer_wait_resolve(&filter->wait, filter->source,
                                         (const void *)filter->queries->data, n,
                                         (void *)filter->answers->data, error);
}

/* Sets the symbol of candidate I. False: no symbol is known. */
static bool filter_find_symbol(AddressFilter *filter, guint i)
{
        const clrsym_answer *answer = &g_array_index(filter->answers, clrsym_answer, i);
        GString *symbol = filter->symbol;
        NativeName native;

        g_string_truncate(symbol, 0);
        if (answer->status != CLRSYM_OK) {
                if (!filter->natives ||
                    !native_names_find(filter->natives,
                                       g_array_index(filter->queries, clrsym_query, i).address,
                                       &native))
                        return false;
                native_name_append(&native, symbol);
                return true;
        }
        symbol_text_append(symbol, answer->pid, &answer->body);
        g_string_append_printf(symbol, "+0x%" G_GINT64_MODIFIER "x%s", (guint64)answer->offset,
                               answer->confidence == CLRSYM_EXACT ? "" : "~");
        return true;
}

/* Writes all of the text, except a word at the end that may become an address. */
static bool filter_flush(AddressFilter *filter, GError **error)
{
        GString *text = filter->text;
        size_t at = 0, end;
        guint i;

        if (!filter_resolve(filter, error))
                return false;
        if (filter->natives && filter->candidates->len)
                native_names_refresh(filter->natives);
        for (i = 0; i < filter->candidates->len; i++) {
                const AddressText *candidate = &g_array_index(filter->candidates, AddressText, i);

                if (!filter_find_symbol(filter, i))
                        continue;
                output_bytes(text->str + at, candidate->at - at);
                output_bytes(filter->symbol->str, filter->symbol->len);
                at = candidate->at + candidate->n;
        }
        filter->is_long |= filter->is_in_word && text->len - filter->word > MAX_WORD;
        end = filter->is_in_word && !filter->is_long ? filter->word : text->len;
        output_bytes(text->str + at, end - at);
        g_string_erase(text, 0, (gssize)end);
        filter->word = 0;
        g_array_set_size(filter->candidates, 0);
        g_array_set_size(filter->queries, 0);
        return output_flush();
}

/* For StdinReader. */
static bool filter_take(void *data, const char *bytes, size_t n, GError **error)
{
        AddressFilter *filter = data;
        size_t at = filter->text->len;

        g_string_append_len(filter->text, bytes, (gssize)n);
        for (; at < filter->text->len; at++) {
                bool is_word = is_word_byte((unsigned char)filter->text->str[at]);

                if (!is_word && filter->is_in_word) {
                        end_word(filter, at);
                } else if (is_word && !filter->is_in_word) {
                        filter->is_in_word = true;
                        filter->is_long = false;
                        filter->word = at;
                }
        }
        return (filter->text->len < MAX_TEXT && filter->queries->len < CLRSYM_BATCH) ||
               filter_flush(filter, error);
}

static bool filter_before_wait(void *data, GError **error)
{
        AddressFilter *filter = data;

        return !filter->text->len || filter_flush(filter, error);
}

static bool filter_copy(AddressFilter *filter, GError **error)
{
        static const StdinReader READER = {.take = filter_take, .flush = filter_before_wait};

        if (!stdin_reader_run(&READER, filter, error))
                return false;
        if (filter->is_in_word)
                end_word(filter, filter->text->len);
        return filter_flush(filter, error);
}

/* The last process, and the number of processes. */
typedef struct OnlyProcess {
        unsigned n;
        clrsym_query *query;
} OnlyProcess;

static int filter_take_process(const clrsym_process *process, void *data)
{
        OnlyProcess *only = data;
        clrsym_query *query = only->query;

        /* Generations of one process count once. */
        if (only->n && query->pid == process->pid && query->pid_ns == process->pid_ns)
                return 0;
        query->pid = process->pid;
        query->pid_ns = process->pid_ns;
        query->has_pid_ns = true;
        only->n++;
        return 0;
}

static bool choose_process(AddressFilter *filter, const Options *options, GError **error)
{
        OnlyProcess only = {.query = &filter->query};

        if (options_has(options, OPTION_PID)) {
                filter->query.pid = options->process.pid;
                filter->query.has_pid_ns = options->process.has_pid_ns;
                filter->query.pid_ns = options->process.pid_ns;
                return true;
        }
        if (clrsym_processes(answer_source_handle(filter->source), filter_take_process, &only) < 0)
                answer_source_set_error(filter->source, error);
        else if (only.n == 0)
                g_set_error_literal(error, ANSWER_SOURCE_ERROR, 0,
                                    "no process is known: attach it first (clrsym attach PID)");
        else if (only.n > 1)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "%u processes are known: give --pid PID (clrsym ps lists them)",
                            only.n);
        else
                return true;
        return false;
}

bool filter_run(AnswerSource *source, const Options *options, GError **error)
{
        AddressFilter filter = {
                .source = source,
                .query = {.has_time = options->at != NULL},
        };
        bool ok;

        answer_wait_init(&filter.wait, options);
        if (!choose_process(&filter, options, error) ||
            (options->at && !answer_source_time(source, options->at, &filter.query.time, error)))
                return false;
        filter.natives = native_names_new(&filter.query, options);
        filter.text = g_string_new(NULL);
        filter.candidates = g_array_new(FALSE, FALSE, sizeof(AddressText));
        filter.queries = g_array_new(FALSE, FALSE, sizeof(clrsym_query));
        filter.answers = g_array_new(FALSE, FALSE, sizeof(clrsym_answer));
        filter.symbol = g_string_new(NULL);
        ok = filter_copy(&filter, error);
        native_names_free(filter.natives);
        g_string_free(filter.text, TRUE);
        g_string_free(filter.symbol, TRUE);
        g_array_unref(filter.candidates);
        g_array_unref(filter.queries);
        g_array_unref(filter.answers);
        return ok;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/recorder-symbols.h"

#include <glib.h>
#include <string.h>

/* Rows before an address that are compared, because many methods can have had one address. */
#define MAX_SEEN 65536u

typedef struct RecorderRow {
        uint64_t start, end; /* END is excluded */
        const char *text;    /* equal texts are stored once */
        const char *module;  /* NULL: not known */
} RecorderRow;

/* The rows of a process. */
typedef struct RecorderProcess {
        GArray *rows; /* owned, of RecorderRow: by START, once sorted */
        GArray *ends; /* owned, of uint64_t: for each row, the highest end up to it */
        bool is_sorted;
} RecorderProcess;

struct RecorderSymbols {
        GHashTable *processes; /* owned: pid -> RecorderProcess, owned */
        GStringChunk *texts;   /* owned: each text once */
        GHashTable *known;     /* owned: set of the texts */
        size_t n_bytes;        /* of the texts */
        uint64_t n_symbols, max_symbols, n_left_out;
};

static void recorder_process_free(gpointer data)
{
        RecorderProcess *process = data;

        g_array_unref(process->rows);
        g_array_unref(process->ends);
        g_free(process);
}

RecorderSymbols *recorder_symbols_new(void)
{
        RecorderSymbols *symbols = g_new0(RecorderSymbols, 1);

        symbols->processes = g_hash_table_new_full(NULL, NULL, NULL, recorder_process_free);
        symbols->max_symbols = RECORDER_MAX_SYMBOLS;
        symbols->texts = g_string_chunk_new(4096);
        symbols->known = g_hash_table_new(g_str_hash, g_str_equal);
        return symbols;
}

void recorder_symbols_free(RecorderSymbols *symbols)
{
        if (!symbols)
                return;
        g_hash_table_unref(symbols->processes);
        g_hash_table_unref(symbols->known);
        g_string_chunk_free(symbols->texts);
        g_free(symbols);
}

void recorder_symbols_limit(RecorderSymbols *symbols, uint64_t n)
{
        symbols->max_symbols = n;
}

static RecorderProcess *symbols_process(RecorderSymbols *symbols, int32_t pid)
{
        RecorderProcess *process = g_hash_table_lookup(symbols->processes, GINT_TO_POINTER(pid));

        if (!process) {
                process = g_new0(RecorderProcess, 1);
                process->rows = g_array_new(FALSE, FALSE, sizeof(RecorderRow));
                process->ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));
                g_hash_table_insert(symbols->processes, GINT_TO_POINTER(pid), process);
        }
        return process;
}

/* NULL: there is no room. */
static const char *symbols_keep(RecorderSymbols *symbols, const char *text)
{
        char *kept = g_hash_table_lookup(symbols->known, text);

        if (kept)
                return kept;
        if (strlen(text) >= RECORDER_MAX_BYTES - symbols->n_bytes)
                return NULL;
        symbols->n_bytes += strlen(text) + 1;
        kept = g_string_chunk_insert(symbols->texts, text);
        g_hash_table_add(symbols->known, kept);
        return kept;
}

/* Splits "instance void [App] Live.Program::Main(string[])[Tier0]". Other names are not split. The
 * parts are owned by the caller; RET_MODULE: NULL without one. */
static char *name_split(const char *name, size_t n, char **ret_module)
{
        g_autofree char *whole = g_strndup(name, n);
        char *colons = strstr(whole, "::");
        char *tier = n && whole[strlen(whole) - 1] == ']' ? strrchr(whole, '[') : NULL;
        char *begin, *end;

        *ret_module = NULL;
        if (!colons || !tier || tier < colons)
                return g_steal_pointer(&whole);
        /* The last "[...] " before the method; the types of parameters have no such brackets. */
        *colons = '\0';
        end = g_strrstr(whole, "] ");
        begin = end ? g_strrstr_len(whole, end - whole, "[") : NULL;
        *colons = ':';
        *tier = '\0';
        if (!begin)
                return g_strdup(whole);
        *ret_module = g_strndup(begin + 1, (gsize)(end - begin - 1));
        return g_strdup(end + 2);
}

void recorder_symbols_add(RecorderSymbols *symbols, int32_t pid, uint64_t start, uint64_t end,
                          const char *name, size_t n)
{
        RecorderProcess *process = symbols_process(symbols, pid);
        g_autofree char *module = NULL;
        g_autofree char *method = name_split(name, n, &module);
        g_autofree char *text =
                g_strconcat(method, pid == RECORDER_KERNEL ? "" : RECORDER_MARK, NULL);
        RecorderRow row = {.start = start, .end = end};

        row.text = symbols->n_symbols < symbols->max_symbols ? symbols_keep(symbols, text) : NULL;
        if (module && row.text)
                row.module = symbols_keep(symbols, module);
        if (!row.text || start >= end) {
                symbols->n_left_out++;
                return;
        }
        symbols->n_symbols++;
        process->is_sorted = false;
        g_array_append_val(process->rows, row);
}

static int recorder_row_compare(gconstpointer one, gconstpointer other)
{
        const RecorderRow *a = one, *b = other;

        if (a->start != b->start)
                return a->start < b->start ? -1 : 1;
        if (a->end != b->end)
                return a->end < b->end ? -1 : 1;
        return (a->text > b->text) - (a->text < b->text);
}

static bool recorder_row_is(const RecorderRow *a, const RecorderRow *b)
{
        return a->start == b->start && a->end == b->end && a->text == b->text;
}

static void process_sort(RecorderProcess *process)
{
        RecorderRow *rows = (RecorderRow *)(void *)process->rows->data;
        uint64_t end = 0;
        guint i, n = 0;

        if (process->is_sorted)
                return;
        g_array_sort(process->rows, recorder_row_compare);
        /* The recorder writes a name again for each mapping that has grown. */
        for (i = 0; i < process->rows->len; i++)
                if (!n || !recorder_row_is(&rows[n - 1], &rows[i]))
                        rows[n++] = rows[i];
        g_array_set_size(process->rows, n);
        g_array_set_size(process->ends, 0);
        for (i = 0; i < process->rows->len; i++) {
                end = MAX(end, g_array_index(process->rows, RecorderRow, i).end);
                g_array_append_val(process->ends, end);
        }
        process->is_sorted = true;
}

/* The number of rows that begin at ADDRESS or before it. */
static guint process_n_before(const RecorderProcess *process, uint64_t address)
{
        guint low = 0, high = process->rows->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(process->rows, RecorderRow, middle).start <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

RecorderFound recorder_symbols_find(RecorderSymbols *symbols, int32_t pid, uint64_t address,
                                    RecorderName *ret)
{
        RecorderProcess *process = g_hash_table_lookup(symbols->processes, GINT_TO_POINTER(pid));
        const RecorderRow *found = NULL;
        guint i, n_seen = 0;

        if (!process)
                return RECORDER_NONE;
        process_sort(process);
        for (i = process_n_before(process, address);
             i > 0 && g_array_index(process->ends, uint64_t, i - 1) > address; i--) {
                const RecorderRow *row = &g_array_index(process->rows, RecorderRow, i - 1);

                if (row->end <= address)
                        continue;
                if ((found && row->text != found->text) || n_seen++ == MAX_SEEN) {
                        *ret = (RecorderName){RECORDER_SEVERAL_NAME, NULL, address};
                        return RECORDER_SEVERAL;
                }
                found = row;
        }
        if (!found)
                return RECORDER_NONE;
        *ret = (RecorderName){found->text, found->module, found->start};
        return RECORDER_ONE;
}

uint64_t recorder_symbols_n_left_out(const RecorderSymbols *symbols)
{
        return symbols->n_left_out;
}

/* SPDX-License-Identifier: MIT */
#include "tracker/details.h"

#include "event/type-list.h"
#include "util/hash.h"

#include <inttypes.h>
#include <string.h>

/* Bytes, with the entry in the table. */
#define THREAD_SIZE (sizeof(ThreadDetails) + 48)
/* Nesting of types, and bytes of a text: real programs have less. */
#define MAX_DEPTH 16u
#define MAX_TEXT  4096u

/* CorElementType: ECMA-335, II.23.1.16. */
enum {
        ELEMENT_FIRST_NUMBER = 0x02, /* bool */
        ELEMENT_STRING = 0x0e,
        ELEMENT_VALUE_TYPE = 0x11,
        ELEMENT_CLASS = 0x12,
        ELEMENT_NATIVE_INT = 0x18,
        ELEMENT_NATIVE_UINT = 0x19,
        ELEMENT_OBJECT = 0x1c,
};

/* The table of a token is its first byte. */
#define TOKEN_TYPE_DEF 2u

void detail_table_init(DetailTable *table, Strtab *names, Account *account)
{
        *table = (DetailTable){
                .names = names,
                .account = account,
                .threads = g_hash_table_new(hash_number_key, g_direct_equal),
        };
}

static void thread_drop_types(DetailTable *table, ThreadDetails *thread)
{
        account_remove_exact(table->account, thread->n_types);
        g_clear_pointer(&thread->types, g_free);
        thread->n_types = 0;
}

static void thread_drop_method(DetailTable *table, ThreadDetails *thread)
{
        strtab_unref(table->names, thread->type_args);
        thread->type_args = 0;
        thread->method_id = 0;
}

static void thread_drop_tree(DetailTable *table, ThreadDetails *thread)
{
        account_remove_exact(table->account, thread->n_tree);
        g_clear_pointer(&thread->tree, g_free);
        thread->n_tree = 0;
        thread->n_pieces = 0;
}

static void thread_free(DetailTable *table, ThreadDetails *thread)
{
        thread_drop_tree(table, thread);
        thread_drop_types(table, thread);
        thread_drop_method(table, thread);
        account_remove(table->account, THREAD_SIZE);
        g_free(thread);
}

static void detail_table_clear(DetailTable *table)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, table->threads);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                thread_free(table, value);
        g_hash_table_remove_all(table->threads);
}

void detail_table_deinit(DetailTable *table)
{
        detail_table_clear(table);
        g_clear_pointer(&table->threads, g_hash_table_unref);
}

static ThreadDetails *detail_table_get(const DetailTable *table, int32_t tid)
{
        return g_hash_table_lookup(table->threads, GINT_TO_POINTER(tid));
}

static ThreadDetails *detail_table_add(DetailTable *table, int32_t tid)
{
        ThreadDetails *thread = detail_table_get(table, tid);

        if (thread)
                return thread;
        if (g_hash_table_size(table->threads) >= DETAILS_MAX_THREADS)
                detail_table_clear(table);
        thread = g_new0(ThreadDetails, 1);
        account_add(table->account, THREAD_SIZE);
        g_hash_table_insert(table->threads, GINT_TO_POINTER(tid), thread);
        return thread;
}

void detail_table_take_types(DetailTable *table, const Record *record)
{
        const Value *types = record_value(record, FIELD_Values);
        ThreadDetails *thread;

        if (!record->tid) /* the thread is not known */
                return;
        thread = detail_table_add(table, record->tid);
        thread_drop_method(table, thread);
        thread_drop_types(table, thread);
        thread->time = record->time;
        if (types->n > DETAILS_MAX_TYPES)
                return;
        thread->types = g_memdup2(types->data, types->n);
        thread->n_types = types->n;
        account_add_exact(table->account, thread->n_types);
}

static bool thread_find_type(const ThreadDetails *thread, uint64_t type_id, TypeRow *ret)
{
        const uint8_t *at = thread->types;
        size_t n = thread->n_types;

        while (type_list_next(&at, &n, ret))
                if (ret->type_id == type_id)
                        return true;
        return false;
}

/* A text of types, under construction. */
typedef struct TypeText {
        GString *out;
        const ThreadDetails *thread;
        DetailModule *module;
        const void *data;
} TypeText;

static bool element_has_token(uint8_t element)
{
        return (element >= ELEMENT_FIRST_NUMBER && element <= ELEMENT_STRING) ||
               element == ELEMENT_VALUE_TYPE || element == ELEMENT_CLASS ||
               element == ELEMENT_NATIVE_INT || element == ELEMENT_NATIVE_UINT ||
               element == ELEMENT_OBJECT;
}

static bool type_text_append(const TypeText *text, uint64_t type_id, unsigned depth);

/* Appends N types in brackets; IDS are as in an event. */
static bool type_text_append_arguments(const TypeText *text, const uint8_t *ids, uint32_t n,
                                       unsigned depth)
{
        uint32_t i;

        g_string_append_c(text->out, '[');
        for (i = 0; i < n; i++) {
                uint64_t id;

                memcpy(&id, ids + (size_t)i * sizeof(id), sizeof(id));
                if (i)
                        g_string_append_c(text->out, ',');
                if (!type_text_append(text, GUINT64_FROM_LE(id), depth + 1))
                        return false;
        }
        g_string_append_c(text->out, ']');
        return true;
}

static bool type_text_append_array(const TypeText *text, const TypeRow *row, unsigned depth)
{
        unsigned rank = row->flags >> TYPE_FLAG_RANK_SHIFT & TYPE_FLAG_RANK_MASK;

        if (row->n_arguments != 1 || !type_text_append(text, type_row_argument(row, 0), depth + 1))
                return false;
        g_string_append_c(text->out, '[');
        for (; rank > 1; rank--)
                g_string_append_c(text->out, ',');
        g_string_append_c(text->out, ']');
        return true;
}

static bool type_text_append(const TypeText *text, uint64_t type_id, unsigned depth)
{
        TypeRow row;

        if (depth > MAX_DEPTH || text->out->len > MAX_TEXT ||
            !thread_find_type(text->thread, type_id, &row))
                return false;
        if (row.flags & TYPE_FLAG_ARRAY)
                return type_text_append_array(text, &row, depth);
        if (row.token >> 24 != TOKEN_TYPE_DEF || !element_has_token(row.element_type))
                return false;
        g_string_append_printf(text->out, "%08" PRIx32 "@", row.token);
        return text->module(text->out, row.module_id, text->data) &&
               (!row.n_arguments ||
                type_text_append_arguments(text, row.arguments, row.n_arguments, depth)) &&
               text->out->len <= MAX_TEXT;
}

static Str detail_table_intern(DetailTable *table, const GString *text, size_t from)
{
        return strtab_add_for(table->names, table->account, text->str + from, text->len - from);
}

/* The type arguments of a MethodDetails, or 0. */
static Str detail_table_text(DetailTable *table, const ThreadDetails *thread, const Record *record,
                             DetailModule *module, const void *data)
{
        const Value *ids = record_value(record, FIELD_TypeParameters);
        g_autoptr(GString) out = NULL;
        TypeText text;

        if (!ids->n)
                return 0;
        out = g_string_new(NULL);
        text = (TypeText){out, thread, module, data};
        if (!type_text_append_arguments(&text, ids->data, ids->n, 0))
                return 0;
        /* Remove the brackets. */
        g_string_truncate(out, out->len - 1);
        return detail_table_intern(table, out, 1);
}

Str detail_table_inlined(DetailTable *table, const Record *record, DetailModule *module,
                         const void *data, uint64_t *ret_method_id, uint64_t *ret_rejit_id)
{
        const ThreadDetails *thread = detail_table_get(table, record->tid);
        const Value *ids = record_value(record, FIELD_TypeParameters);
        g_autoptr(GString) out = NULL;
        TypeText text;
        TypeRow row;

        if (!thread || !thread->tree_method_id || thread->n_pieces ||
            !thread_find_type(thread, record_u64(record, FIELD_TypeID), &row))
                return 0;
        out = g_string_new(NULL);
        text = (TypeText){out, thread, module, data};
        g_string_append_printf(out, "%08" PRIx32 "@",
                               (uint32_t)record_u64(record, FIELD_MethodToken));
        if (!module(out, row.module_id, data) ||
            ((row.n_arguments || ids->n) &&
             !type_text_append_arguments(&text, row.arguments, row.n_arguments, 0)) ||
            (ids->n && !type_text_append_arguments(&text, ids->data, ids->n, 0)))
                return 0;
        *ret_method_id = thread->tree_method_id;
        *ret_rejit_id = thread->tree_rejit_id;
        return detail_table_intern(table, out, 0);
}

void detail_table_take_method(DetailTable *table, const Record *record, DetailModule *module,
                              const void *data)
{
        ThreadDetails *thread = detail_table_get(table, record->tid);

        /* Without a BulkType, no type is known. */
        if (!thread)
                return;
        thread_drop_method(table, thread);
        thread->time = record->time;
        thread->type_args = detail_table_text(table, thread, record, module, data);
        if (thread->type_args)
                thread->method_id = record_u64(record, FIELD_MethodID);
        thread_drop_types(table, thread);
}

/* The number of a piece, and a bit for the last one. */
#define PIECE_LAST   (UINT32_C(1) << 31)
#define PIECE_NUMBER (PIECE_LAST - 1)

uint8_t *detail_table_take_tree(DetailTable *table, const Record *record, size_t *ret_n)
{
        uint32_t piece = (uint32_t)record_u64(record, FIELD_ChunkFlags);
        uint64_t method_id = record_u64(record, FIELD_MethodID);
        uint64_t rejit_id = record_u64(record, FIELD_ReJITID);
        const Value *data = record_value(record, FIELD_Data);
        ThreadDetails *thread;
        uint8_t *block;

        if (!record->tid)
                return NULL;
        thread = detail_table_add(table, record->tid);
        if (!(piece & PIECE_NUMBER) || thread->tree_method_id != method_id ||
            thread->tree_rejit_id != rejit_id || thread->n_pieces != (piece & PIECE_NUMBER) ||
            data->n > DETAILS_MAX_TREE - thread->n_tree) {
                thread_drop_tree(table, thread);
                thread->tree_method_id = 0;
                if (piece & PIECE_NUMBER || data->n > DETAILS_MAX_TREE)
                        return NULL; /* the first pieces are missing */
        }
        thread->tree_method_id = method_id;
        thread->tree_rejit_id = rejit_id;
        thread->tree = g_realloc(thread->tree, MAX(thread->n_tree + data->n, 1));
        memcpy(thread->tree + thread->n_tree, data->data, data->n);
        thread->n_tree += data->n;
        thread->n_pieces++;
        account_add_exact(table->account, data->n);
        if (!(piece & PIECE_LAST))
                return NULL;
        *ret_n = thread->n_tree;
        block = g_steal_pointer(&thread->tree);
        thread_drop_tree(table, thread);
        return block;
}

void detail_table_restore(DetailTable *table, int32_t tid, const ThreadDetails *details)
{
        ThreadDetails *thread = detail_table_add(table, tid);

        thread_drop_types(table, thread);
        thread_drop_method(table, thread);
        thread_drop_tree(table, thread);
        *thread = *details;
        account_add_exact(table->account, (size_t)thread->n_types + thread->n_tree);
}

Str detail_table_type_args(const DetailTable *table, const Record *record, uint64_t *ret_time)
{
        const ThreadDetails *thread = detail_table_get(table, record->tid);

        if (!thread || !thread->method_id || thread->time > record->time ||
            thread->method_id != record_u64(record, FIELD_MethodID))
                return 0;
        *ret_time = thread->time;
        return strtab_ref(table->names, thread->type_args);
}

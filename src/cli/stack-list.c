/* SPDX-License-Identifier: MIT */
#include "cli/stack-list.h"

#include "cli/output.h"
#include "perf/text-frame.h"
#include "util/json-text.h"

#include <string.h>

typedef struct ListedThread {
        int32_t tid;
        char *name;     /* owned */
        Entry *entries; /* owned: the leaf first; their frames have the sink's numbers */
        size_t n;
        bool is_printed;
} ListedThread;

static void frame_clear(gpointer data)
{
        NamedFrame *frame = data;

        g_free((char *)frame->name);
        g_free((char *)frame->module);
        g_free((char *)frame->file);
}

static void thread_clear(gpointer data)
{
        ListedThread *thread = data;

        g_free(thread->name);
        g_free(thread->entries);
}

void stack_list_init(StackList *list)
{
        list->frames = g_array_new(FALSE, FALSE, sizeof(NamedFrame));
        g_array_set_clear_func(list->frames, frame_clear);
        list->threads = g_array_new(FALSE, FALSE, sizeof(ListedThread));
        g_array_set_clear_func(list->threads, thread_clear);
        list->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
}

void stack_list_deinit(StackList *list)
{
        g_array_unref(list->frames);
        g_array_unref(list->threads);
        g_array_unref(list->entries);
}

static void stack_list_take_frame(void *data, const NamedFrame *frame)
{
        StackList *list = data;
        NamedFrame copy = *frame;

        copy.name = g_strdup(frame->name);
        copy.module = g_strdup(frame->module);
        copy.file = g_strdup(frame->file);
        copy.checksum = NULL;
        g_array_append_val(list->frames, copy);
}

static void stack_list_take_entries(void *data, const Entry *entries, size_t n)
{
        StackList *list = data;

        g_array_set_size(list->entries, 0);
        g_array_append_vals(list->entries, entries, (guint)n);
}

static void stack_list_take_sample(void *data, const BatchSample *sample, const char *comm,
                                   const char *event, const uint32_t *frames, size_t n)
{
        StackList *list = data;
        ListedThread thread = {.tid = sample->tid, .name = g_strdup(comm), .n = n};
        size_t i;

        thread.entries = g_memdup2(list->entries->data, n * sizeof(Entry));
        for (i = 0; i < n; i++)
                thread.entries[i].frame = frames[i];
        g_array_append_val(list->threads, thread);
}

SampleSink stack_list_sink(StackList *list)
{
        return (SampleSink){.frame = stack_list_take_frame,
                            .sample = stack_list_take_sample,
                            .data = list,
                            .entries = stack_list_take_entries};
}

static int thread_compare(gconstpointer a, gconstpointer b)
{
        const ListedThread *x = a, *y = b;

        return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Are the two in the same calls? */
static bool thread_has_stack_of(const ListedThread *a, const ListedThread *b)
{
        size_t i;

        if (a->n != b->n)
                return false;
        for (i = 0; i < a->n; i++)
                if (a->entries[i].ip != b->entries[i].ip ||
                    a->entries[i].frame != b->entries[i].frame)
                        return false;
        return true;
}

/* Text */

/* A TextOutFn. */
static int stack_list_write(void *data, const void *bytes, size_t n)
{
        output_bytes(bytes, n);
        return 0;
}

/* "4711, 4712 (.NET TP Worker)": threads with one name, that of THREADS[FIRST], with its stack. */
static void stack_list_put_named(TextOut *out, GArray *threads, guint first, bool is_each)
{
        ListedThread *begin = &g_array_index(threads, ListedThread, first);
        guint i;

        text_out_decimal(out, (uint64_t)begin->tid, 0);
        begin->is_printed = true;
        for (i = first + 1; i < threads->len && !is_each; i++) {
                ListedThread *thread = &g_array_index(threads, ListedThread, i);

                if (thread->is_printed || strcmp(thread->name, begin->name) != 0 ||
                    !thread_has_stack_of(thread, begin))
                        continue;
                text_out_text(out, ", ");
                text_out_decimal(out, (uint64_t)thread->tid, 0);
                thread->is_printed = true;
        }
        text_out_text(out, " (");
        text_out_text(out, begin->name);
        text_out_text(out, ")");
}

static void stack_list_put_thread(const StackList *list, TextOut *out, guint first,
                                  const StackView *view)
{
        const ListedThread *begin = &g_array_index(list->threads, ListedThread, first);
        guint i, n = 1;
        size_t j;

        for (i = first + 1; i < list->threads->len && !view->is_each; i++) {
                const ListedThread *thread = &g_array_index(list->threads, ListedThread, i);

                n += !thread->is_printed && thread_has_stack_of(thread, begin);
        }
        if (n > 1)
                text_out_decimal(out, n, 0);
        text_out_text(out, n > 1 ? " threads: " : "thread ");
        stack_list_put_named(out, list->threads, first, view->is_each);
        for (i = first + 1; i < list->threads->len && !view->is_each; i++) {
                const ListedThread *thread = &g_array_index(list->threads, ListedThread, i);

                if (thread->is_printed || !thread_has_stack_of(thread, begin))
                        continue;
                text_out_text(out, ", ");
                stack_list_put_named(out, list->threads, i, view->is_each);
        }
        text_out_text(out, "\n");
        for (j = 0; j < begin->n; j++) {
                const Entry *entry = &begin->entries[j];

                text_out_text(out, "\t");
                text_frame_put(out, entry, &g_array_index(list->frames, NamedFrame, entry->frame),
                               view->has_tier, view->has_source);
        }
}

static void stack_list_print_text(const StackList *list, const StackView *view)
{
        TextOut out;
        guint i;

        if (!text_out_init(&out, stack_list_write, NULL))
                return;
        for (i = 0; i < list->threads->len; i++) {
                if (g_array_index(list->threads, ListedThread, i).is_printed)
                        continue;
                if (i > 0)
                        text_out_text(&out, "\n");
                stack_list_put_thread(list, &out, i, view);
        }
        text_out_flush(&out);
        text_out_deinit(&out);
}

/* JSON */

static void json_append_member(GString *out, const char *name, const char *text)
{
        g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;

        g_string_append_printf(out, ",\"%s\":", name);
        json_append_string(out, valid);
}

static void frame_append_json(GString *out, const Entry *entry, const NamedFrame *frame)
{
        static const char *const KINDS[_NAMED_KIND_MAX] = {
                [NAMED_MANAGED] = "managed",
                [NAMED_NATIVE] = "native",
                [NAMED_KERNEL] = "kernel",
                [NAMED_UNKNOWN] = "unknown",
        };

        g_string_append(out, "{\"address\":");
        json_append_hex(out, entry->ip);
        json_append_member(out, "name", frame->name);
        json_append_member(out, "module", frame->module);
        g_string_append_printf(out, ",\"offset\":%" G_GUINT32_FORMAT, entry->offset);
        json_append_member(out, "kind", KINDS[frame->kind]);
        json_append_member(out, "tier",
                           frame->kind == NAMED_MANAGED ? clrsym_tier_name(frame->tier) : NULL);
        json_append_member(out, "file", frame->file);
        if (frame->file)
                g_string_append_printf(out, ",\"line\":%" G_GUINT32_FORMAT, frame->line);
        else
                g_string_append(out, ",\"line\":null");
        json_append_member(out, "source", text_frame_source(entry, frame));
        g_string_append_printf(out, ",\"is_certain\":%s", frame->is_marked ? "false" : "true");
}

static void stack_list_print_json(const StackList *list, const StackView *view)
{
        g_autoptr(GString) line = g_string_new(NULL);
        guint i, next;
        size_t j;

        for (i = 0; i < list->threads->len; i++) {
                const ListedThread *thread = &g_array_index(list->threads, ListedThread, i);

                g_string_printf(line, "{\"tid\":%d", (int)thread->tid);
                json_append_member(line, "name", thread->name);
                g_string_append(line, ",\"frames\":[");
                next = 0;
                for (j = 0; j < thread->n; j++) {
                        const Entry *entry = &thread->entries[j];

                        if (j > 0)
                                g_string_append_c(line, ',');
                        frame_append_json(line, entry,
                                          &g_array_index(list->frames, NamedFrame, entry->frame));
                        if (view->registers) {
                                g_string_append(line, ",\"registers\":");
                                stack_registers_append_json(line, view->registers, thread->tid,
                                                            entry->ip, &next);
                        }
                        g_string_append_c(line, '}');
                }
                g_string_append(line, "]}");
                output_line(line->str, line->len);
        }
}

void stack_list_print(StackList *list, const StackView *view)
{
        g_array_sort(list->threads, thread_compare);
        if (view->is_json)
                stack_list_print_json(list, view);
        else
                stack_list_print_text(list, view);
}

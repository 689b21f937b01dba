/* SPDX-License-Identifier: MIT */
#include "cli/stack-list.h"

#include "cli/output.h"
#include "cli/profile-row.h"
#include "perf/text-frame.h"
#include "util/json-text.h"

#include <string.h>

typedef enum ListedKind {
        LISTED_CALL,
        LISTED_AWAITING,  /* awaits the frame before it, and is not on the stack */
        LISTED_CONTINUED, /* marks a continuation: the frames after it have continued those before
                           */
} ListedKind;

typedef struct ListedFrame {
        Entry entry; /* frame number of the sink, or of the awaiting frames */
        ListedKind kind;
        bool is_begin; /* the place of the continuation is unknown: the address is the begin of the
                        * method's code */
} ListedFrame;

typedef struct ListedThread {
        int32_t tid;
        char *name;     /* owned */
        GArray *frames; /* owned, of ListedFrame: the leaf first */
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
        g_array_unref(thread->frames);
}

static GArray *named_frames_new(void)
{
        GArray *frames = g_array_new(FALSE, FALSE, sizeof(NamedFrame));

        g_array_set_clear_func(frames, frame_clear);
        return frames;
}

static void named_frames_add(GArray *frames, const NamedFrame *frame)
{
        NamedFrame copy = *frame;

        copy.name = g_strdup(frame->name);
        copy.module = g_strdup(frame->module);
        copy.file = g_strdup(frame->file);
        copy.checksum = NULL;
        g_array_append_val(frames, copy);
}

/* A frame of a chain. */
static void stack_list_take_awaiting(void *data, const NamedFrame *frame, uint32_t number)
{
        StackList *list = data;

        if (g_hash_table_contains(list->by_number, GUINT_TO_POINTER(number)))
                return;
        named_frames_add(list->awaiting, frame);
        g_hash_table_insert(list->by_number, GUINT_TO_POINTER(number),
                            GUINT_TO_POINTER(list->awaiting->len));
}

void stack_list_init(StackList *list, bool is_physical)
{
        *list = (StackList){
                .is_physical = is_physical,
                .frames = named_frames_new(),
                .threads = g_array_new(FALSE, FALSE, sizeof(ListedThread)),
                .entries = g_array_new(FALSE, FALSE, sizeof(Entry)),
                .profile = profile_new(),
                .numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .awaiting = named_frames_new(),
                .by_number = g_hash_table_new(NULL, NULL),
        };
        g_array_set_clear_func(list->threads, thread_clear);
        perf_async_init(&list->async, list->profile);
        list->async.take_named = stack_list_take_awaiting;
        list->async.data = list;
}

void stack_list_deinit(StackList *list)
{
        g_array_unref(list->frames);
        g_array_unref(list->threads);
        g_array_unref(list->entries);
        perf_async_deinit(&list->async);
        profile_free(list->profile);
        g_array_unref(list->numbers);
        g_array_unref(list->awaiting);
        g_hash_table_unref(list->by_number);
}

static void stack_list_take_frame(void *data, const NamedFrame *frame)
{
        StackList *list = data;
        const ProfileFrame row = profile_row_of(frame);
        const uint32_t number = profile_frame(list->profile, &row);

        perf_async_take_frame(&list->async, &row);
        g_array_append_val(list->numbers, number);
        named_frames_add(list->frames, frame);
}

static void stack_list_take_entries(void *data, const Entry *entries, size_t n)
{
        StackList *list = data;

        g_array_set_size(list->entries, 0);
        g_array_append_vals(list->entries, entries, (guint)n);
}

/* Inserts the frames of the chain of JOINT at AT. Returns how many. */
static guint stack_list_insert_chain(const StackList *list, const AsyncJoint *joint, uint64_t time,
                                     GArray *frames, guint at)
{
        const PerfAsync *async = &list->async;
        guint n = 0, i;
        uint32_t place;

        for (place = joint->place; place < joint->chain->n; place++) {
                const AsyncWanted *named = perf_async_frames(async, joint->chain, place, time);

                for (i = 0; named && i < named->n; i++) {
                        const uint32_t number =
                                g_array_index(async->numbers, uint32_t, named->first + i);
                        ListedFrame frame = {
                                .entry = g_array_index(async->entries, Entry, named->first + i),
                                .kind = LISTED_AWAITING,
                                .is_begin = joint->chain->is_machine,
                        };

                        /* Show return addresses, not the addresses of the lookup. */
                        frame.entry.ip += !frame.is_begin;
                        frame.entry.offset += !frame.is_begin;
                        frame.entry.frame = GPOINTER_TO_UINT(g_hash_table_lookup(
                                                    list->by_number, GUINT_TO_POINTER(number))) -
                                            1;
                        g_array_insert_val(frames, at + n, frame);
                        n++;
                }
        }
        return n;
}

/* Adds the awaiting methods to FRAMES, which has the sink's N NUMBERS. */
static void stack_list_join(StackList *list, const BatchSample *sample, const uint32_t *numbers,
                            size_t n, GArray *frames)
{
        static const ListedFrame CONTINUED = {.entry = {.source = FRAME_SOURCE_MARK},
                                              .kind = LISTED_CONTINUED};
        g_autoptr(GArray) stack = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), (guint)n);
        AsyncJoint joint;
        guint at;
        size_t i;

        for (i = 0; i < n; i++)
                g_array_append_val(stack, g_array_index(list->numbers, uint32_t, numbers[i]));
        if (!perf_async_find_joint(&list->async, sample, numbers, n, stack, &joint))
                return;
        at = (guint)joint.at;
        if (joint.chain)
                at += stack_list_insert_chain(list, &joint, sample->time, frames, at);
        g_array_insert_val(frames, at, CONTINUED);
}

static void stack_list_take_sample(void *data, const BatchSample *sample, const char *comm,
                                   const char *event, const uint32_t *frames, size_t n)
{
        StackList *list = data;
        ListedThread thread = {
                .tid = sample->tid,
                .name = g_strdup(comm),
                .frames = g_array_sized_new(FALSE, FALSE, sizeof(ListedFrame), (guint)n + 1),
        };
        size_t i;

        for (i = 0; i < n; i++) {
                ListedFrame frame = {.entry = g_array_index(list->entries, Entry, i)};

                frame.entry.frame = frames[i];
                g_array_append_val(thread.frames, frame);
        }
        if (!list->is_physical)
                stack_list_join(list, sample, frames, n, thread.frames);
        g_array_append_val(list->threads, thread);
}

static NamedFrame stack_list_frame(const StackList *list, const ListedFrame *frame)
{
        NamedFrame named = {.name = ASYNC_CONTINUED_NAME, .kind = NAMED_UNKNOWN};

        switch (frame->kind) {
        case LISTED_CALL:
                named = g_array_index(list->frames, NamedFrame, frame->entry.frame);
                break;
        case LISTED_AWAITING:
                named = g_array_index(list->awaiting, NamedFrame, frame->entry.frame);
                break;
        case LISTED_CONTINUED:
                break;
        }
        if (frame->is_begin)
                named.file = NULL;
        return named;
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

static bool frame_is_same(const GArray *a, guint i, const GArray *b, guint j)
{
        const ListedFrame *x = &g_array_index(a, ListedFrame, i),
                          *y = &g_array_index(b, ListedFrame, j);

        return x->entry.ip == y->entry.ip && x->entry.frame == y->entry.frame && x->kind == y->kind;
}

/* True if the two threads have equal calls. */
static bool thread_has_stack_of(const ListedThread *a, const ListedThread *b)
{
        guint i;

        if (a->frames->len != b->frames->len)
                return false;
        for (i = 0; i < a->frames->len; i++)
                if (!frame_is_same(a->frames, i, b->frames, i))
                        return false;
        return true;
}

/* Text */

/* Precedes the address of a method that awaits the one above. */
#define AWAITING "  await "
/* Frames that repeat at least so often are printed once. */
#define MAX_PERIOD  8u
#define MIN_REPEATS 10u

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

/* How often the frames from AT on repeat, *RET_N of them; 0: not often enough. */
static guint frames_repeat(const GArray *frames, guint at, guint *ret_n)
{
        guint n, same;

        for (n = 1; n <= MAX_PERIOD; n++) {
                for (same = 0; at + n + same < frames->len &&
                               frame_is_same(frames, at + same, frames, at + n + same);
                     same++)
                        ;
                if (same / n >= MIN_REPEATS) {
                        *ret_n = n;
                        return same / n;
                }
        }
        return 0;
}

static void stack_list_put_repeats(TextOut *out, guint n, guint n_more)
{
        text_out_text(out, n > 1 ? "\t[the last " : "\t[the same ");
        if (n > 1) {
                text_out_decimal(out, n, 0);
                text_out_text(out, " frames ");
        }
        text_out_decimal(out, n_more, 0);
        text_out_text(out, " times more]\n");
}

static void stack_list_put_frame(const StackList *list, TextOut *out, const GArray *frames,
                                 guint at, const StackView *view)
{
        const ListedFrame *frame = &g_array_index(frames, ListedFrame, at);
        const NamedFrame named = stack_list_frame(list, frame);

        text_out_text(out, frame->kind == LISTED_AWAITING ? AWAITING : "\t");
        /* A mark has neither address nor module: its name is below those of the frames. */
        if (frame->entry.source == FRAME_SOURCE_MARK && named.name) {
                text_out_text(out, "                 ");
                text_out_text(out, named.name);
                if (view->has_source) {
                        text_out_text(out, " {");
                        text_out_text(out, text_frame_source(&frame->entry, &named));
                        text_out_text(out, "}");
                }
                text_out_text(out, "\n");
                return;
        }
        text_frame_put(out, &frame->entry, &named, view->has_tier, view->has_source);
}

static void stack_list_put_thread(const StackList *list, TextOut *out, guint first,
                                  const StackView *view)
{
        const ListedThread *begin = &g_array_index(list->threads, ListedThread, first);
        guint i, j, n = 1, n_printed;

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
        for (i = 0; i < begin->frames->len; i += n_printed) {
                const guint n_more =
                        view->is_each ? 0 : frames_repeat(begin->frames, i, &n_printed);

                if (!n_more)
                        n_printed = 1;
                for (j = i; j < i + n_printed; j++)
                        stack_list_put_frame(list, out, begin->frames, j, view);
                if (!n_more)
                        continue;
                stack_list_put_repeats(out, n_printed, n_more);
                n_printed *= n_more + 1;
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

static void frame_append_json(GString *out, const Entry *entry, const NamedFrame *frame,
                              bool is_awaiting)
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
        g_string_append_printf(out, ",\"is_certain\":%s,\"is_awaiting\":%s",
                               frame->is_marked ? "false" : "true", is_awaiting ? "true" : "false");
}

static void stack_list_print_json(const StackList *list, const StackView *view)
{
        g_autoptr(GString) line = g_string_new(NULL);
        guint i, j, next;

        for (i = 0; i < list->threads->len; i++) {
                const ListedThread *thread = &g_array_index(list->threads, ListedThread, i);

                g_string_printf(line, "{\"tid\":%d", (int)thread->tid);
                json_append_member(line, "name", thread->name);
                g_string_append(line, ",\"frames\":[");
                next = 0;
                for (j = 0; j < thread->frames->len; j++) {
                        const ListedFrame *frame = &g_array_index(thread->frames, ListedFrame, j);
                        const NamedFrame named = stack_list_frame(list, frame);

                        if (j > 0)
                                g_string_append_c(line, ',');
                        frame_append_json(line, &frame->entry, &named,
                                          frame->kind == LISTED_AWAITING);
                        if (view->registers) {
                                g_string_append(line, ",\"registers\":");
                                stack_registers_append_json(line, view->registers, thread->tid,
                                                            frame->entry.ip, &next);
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

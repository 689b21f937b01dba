/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "profile/data.h"
#include "util/printable-string.h"

#include <string.h>

static const char UNKNOWN[] = "[unknown]";

static guint frame_hash(gconstpointer key)
{
        const Frame *frame = key;

        return (g_str_hash(frame->name) * 31 + (frame->module ? g_str_hash(frame->module) : 0)) *
                       31 +
               g_direct_hash(frame->tier) + (guint)frame->kind * 2 + frame->is_marked +
               g_direct_hash(frame->file) * 7 + frame->line * 31;
}

static gboolean frame_equal(gconstpointer a, gconstpointer b)
{
        const Frame *x = a, *y = b;

        return x->kind == y->kind && x->is_marked == y->is_marked && x->tier == y->tier &&
               x->file == y->file && x->line == y->line && x->checksum == y->checksum &&
               g_str_equal(x->name, y->name) && !g_strcmp0(x->module, y->module);
}

Profile *profile_new(void)
{
        static const StackNode ROOT = {.parent = PROFILE_ROOT};
        Profile *profile = g_new(Profile, 1);

        *profile = (Profile){
                .strings = g_string_chunk_new(1 << 14),
                .frames = g_array_new(FALSE, FALSE, sizeof(Frame)),
                .frame_index = g_hash_table_new_full(frame_hash, frame_equal, g_free, NULL),
                .nodes = g_array_new(FALSE, FALSE, sizeof(StackNode)),
                .path = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .threads = g_array_new(FALSE, FALSE, sizeof(Thread)),
                .samples = g_array_new(FALSE, FALSE, sizeof(Sample)),
                .commands = g_hash_table_new(NULL, NULL),
        };
        pair_index_init(&profile->node_index);
        pair_index_init(&profile->thread_index);
        g_array_append_val(profile->nodes, ROOT);
        return profile;
}

void profile_free(Profile *profile)
{
        if (!profile)
                return;
        g_hash_table_unref(profile->commands);
        g_array_unref(profile->samples);
        pair_index_deinit(&profile->thread_index);
        g_array_unref(profile->threads);
        g_array_unref(profile->path);
        pair_index_deinit(&profile->node_index);
        g_array_unref(profile->nodes);
        g_hash_table_unref(profile->frame_index);
        g_array_unref(profile->frames);
        g_string_chunk_free(profile->strings);
        g_free(profile);
}

/* Stores each string once: equal strings have one pointer. */
static const char *string_keep(Profile *profile, const char *text)
{
        g_autofree char *printable = NULL;

        if (!text || !*text)
                return NULL;
        if (text_is_plain(text))
                return g_string_chunk_insert_const(profile->strings, text);
        printable = text_printable(text);
        return g_string_chunk_insert_const(profile->strings, printable);
}

static uint32_t frame_keep(Profile *profile, const Frame *frame)
{
        gpointer known;
        guint number = profile->frames->len;

        if (g_hash_table_lookup_extended(profile->frame_index, frame, NULL, &known))
                return GPOINTER_TO_UINT(known);
        g_array_append_val(profile->frames, *frame);
        g_hash_table_insert(profile->frame_index, g_memdup2(frame, sizeof(*frame)),
                            GUINT_TO_POINTER(number));
        return number;
}

void profile_set_command(Profile *profile, int32_t pid, const char *command)
{
        const char *kept = string_keep(profile, command);

        if (kept)
                g_hash_table_insert(profile->commands, GINT_TO_POINTER(pid), (gpointer)kept);
}

/* The name of a frame without one: "[libc.so.6]". */
static const char *module_name(Profile *profile, const char *module)
{
        const char *slash = strrchr(module, '/');
        const char *file = slash && slash[1] ? slash + 1 : module;
        g_autofree char *name = g_strdup_printf(*file == '[' ? "%s" : "[%s]", file);

        return g_string_chunk_insert_const(profile->strings, name);
}

uint32_t profile_frame(Profile *profile, const ProfileFrame *frame)
{
        const char *name = string_keep(profile, frame->name);
        const char *module = string_keep(profile, frame->module);
        const char *file = frame->line ? string_keep(profile, frame->file) : NULL;
        bool is_unknown = !name || g_str_equal(name, UNKNOWN);
        const Frame kept = {
                .name = !is_unknown ? name
                        : module    ? module_name(profile, module)
                                    : UNKNOWN,
                .module = module,
                .tier = string_keep(profile, frame->tier),
                .kind = frame->kind,
                .is_marked = frame->is_marked,
                .file = file,
                .line = file ? frame->line : 0,
                .checksum = file ? string_keep(profile, frame->checksum) : NULL,
        };

        g_assert(frame->kind < _FRAME_KIND_MAX);
        return frame_keep(profile, &kept);
}

uint32_t profile_session_frame(Profile *profile, uint32_t frame)
{
        Frame kept = g_array_index(profile->frames, Frame, frame);

        kept.kind = FRAME_SESSION;
        kept.tier = NULL;
        return frame_keep(profile, &kept);
}

static uint32_t comm_frame(Profile *profile, const char *comm)
{
        const char *name = string_keep(profile, comm);
        const Frame frame = {.name = name ? name : UNKNOWN, .kind = FRAME_COMM};

        return frame_keep(profile, &frame);
}

static uint32_t node_child(Profile *profile, uint32_t parent, uint32_t frame)
{
        const StackNode node = {.parent = parent, .frame = frame};
        uint32_t number =
                pair_index_number(&profile->node_index, parent, frame, profile->nodes->len);

        if (number == profile->nodes->len)
                g_array_append_val(profile->nodes, node);
        return number;
}

/* The node of a whole stack. The part that is equal to the last stack needs no search. */
static uint32_t node_of_stack(Profile *profile, uint32_t comm, const uint32_t *frames,
                              size_t n_frames)
{
        uint32_t node = PROFILE_ROOT;
        bool is_same = true;
        size_t i;

        for (i = 0; i <= n_frames; i++) {
                uint32_t frame = i ? frames[n_frames - i] : comm;

                g_assert(frame < profile->frames->len);
                if (is_same && i < profile->path->len) {
                        uint32_t there = g_array_index(profile->path, uint32_t, i);

                        if (g_array_index(profile->nodes, StackNode, there).frame == frame) {
                                node = there;
                                continue;
                        }
                }
                if (is_same)
                        g_array_set_size(profile->path, (guint)i);
                is_same = false;
                node = node_child(profile, node, frame);
                g_array_append_val(profile->path, node);
        }
        return node;
}

static uint32_t thread_number(Profile *profile, const ProfileSample *sample, uint32_t comm)
{
        const Thread new = {.pid = sample->pid, .tid = sample->tid, .comm = comm};
        /* The index has no number 0. */
        uint32_t number = pair_index_number(&profile->thread_index, (uint32_t)sample->pid,
                                            (uint32_t)sample->tid, profile->threads->len + 1) -
                          1;
        Thread *thread;

        if (number == profile->threads->len)
                g_array_append_val(profile->threads, new);
        thread = &g_array_index(profile->threads, Thread, number);
        if (sample->time >= thread->newest) {
                thread->newest = sample->time;
                thread->comm = comm;
        }
        return number;
}

void profile_add(Profile *profile, const ProfileSample *sample)
{
        uint32_t comm = comm_frame(profile, sample->comm);
        Sample kept = {
                .time = sample->time,
                .period = sample->period,
                .count =
                        1 + MIN(sample->n_equal,
                                PROFILE_MAX_COUNT - 1 - MIN(profile->count, PROFILE_MAX_COUNT - 1)),
                .node = node_of_stack(profile, comm, sample->frames, sample->n_frames),
                .thread = thread_number(profile, sample, comm),
                .is_before = sample->is_before,
        };

        kept.physical = sample->physical
                                ? node_of_stack(profile, comm, sample->physical, sample->n_physical)
                                : kept.node;
        profile->count += kept.count;
        profile->has_before |= kept.is_before;
        g_array_append_val(profile->samples, kept);
}

size_t profile_n_samples(const Profile *profile)
{
        return profile->samples->len;
}

uint64_t profile_count(const Profile *profile)
{
        return MIN(profile->count, PROFILE_MAX_COUNT);
}

const ProfileUnit *profile_event_unit(const char *event)
{
        static const ProfileUnit OTHER = {"sample", "TIME", "count", false, false, true};
        static const struct {
                const char *event;
                ProfileUnit unit;
        } ROWS[] = {
                {"cpu-clock", {"sample", "TIME", "nanoseconds", true, false, true}},
                {"task-clock", {"sample", "TIME", "nanoseconds", true, false, true}},
                {"cpu", {"sample", "TIME", "nanoseconds", true, false, true}},
                {"cswitch", {"nanosecond", "TIME", "nanoseconds", true, true, false}},
                {PROFILE_EVENT_ALLOC, {"byte", "BYTES", "bytes", false, true, false}},
                {PROFILE_EVENT_CONTENTION,
                 {"nanosecond", "TIME", "nanoseconds", true, true, false}},
                {PROFILE_EVENT_OFF_CPU, {"nanosecond", "TIME", "nanoseconds", true, true, false}},
                {PROFILE_EVENT_WALL, {"nanosecond", "TIME", "nanoseconds", true, true, false}},
                {PROFILE_EVENT_EXCEPTION, {"sample", "EXCEPTIONS", "count", false, false, false}},
        };
        size_t i;

        /* Modifiers select samples, but do not change the unit. */
        for (i = 0; event && i < G_N_ELEMENTS(ROWS); i++)
                if (event_name_is(event, ROWS[i].event))
                        return &ROWS[i].unit;
        return &OTHER;
}

uint32_t *profile_merge_frames(const Profile *profile, FrameMerge merge)
{
        g_autoptr(GHashTable) first = g_hash_table_new_full(frame_hash, frame_equal, g_free, NULL);
        uint32_t *merged = g_new(uint32_t, MAX(profile->frames->len, 1));
        uint32_t i;

        for (i = 0; i < profile->frames->len; i++) {
                Frame key = g_array_index(profile->frames, Frame, i);
                gpointer known;

                key.tier = NULL;
                if (merge != MERGE_TIERS && merge != MERGE_ALL_BUT_LINES)
                        key.line = 0;
                if (merge >= MERGE_TIERS_AND_MARKS)
                        key.is_marked = false;
                if (merge == MERGE_TIERS_AND_MARKS) {
                        key.file = NULL;
                        key.checksum = NULL;
                }
                if (g_hash_table_lookup_extended(first, &key, NULL, &known)) {
                        merged[i] = GPOINTER_TO_UINT(known);
                } else {
                        merged[i] = i;
                        g_hash_table_insert(first, g_memdup2(&key, sizeof(key)),
                                            GUINT_TO_POINTER(i));
                }
        }
        return merged;
}

void frame_append_marked_name(GString *text, const Frame *frame)
{
        g_string_append(text, frame->name);
        if (frame->is_marked)
                g_string_append(text, " ~");
}

bool profile_comm_collects(const char *comm)
{
        return !g_strcmp0(comm, ".NET Server GC") || !g_strcmp0(comm, ".NET BGC");
}

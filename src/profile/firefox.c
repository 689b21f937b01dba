/* SPDX-License-Identifier: MIT */
#include "profile/frame-share.h"
#include "profile/profile-marker.h"
#include "profile/sample-order.h"
#include "profile/summary.h"
#include "profile/writers.h"
#include "util/json-text.h"

#include <string.h>

/*
 * Firefox Profiler: the processed format, version 48, which later versions of the viewer upgrade
 *
 * Each thread has tables of its own: strings, functions, frames, and a tree of stacks. Times are ms
 * from the first sample on. The source of the layout is docs-developer/processed-profile-format.md
 * and src/types/profile.ts of firefox-devtools/profiler. A method is one function, whatever its
 * tiers and lines.
 */

#define PROCESSED_VERSION 48
#define GECKO_VERSION     29
/* The name of the only schema of markers: each has a text. */
#define MARKER_TYPE "clrsym"
#define NS_PER_MS   1e6

static const struct {
        const char *name, *color;
} CATEGORIES[_SHARE_MAX] = {
        [SHARE_JIT] = {"JIT", "yellow"},
        [SHARE_GC] = {"Garbage collection", "red"},
        [SHARE_EXCEPTIONS] = {"Exceptions", "magenta"},
        [SHARE_MANAGED] = {"Managed", "green"},
        [SHARE_RUNTIME] = {"Runtime", "lightblue"},
        [SHARE_NATIVE] = {"Native", "blue"},
        [SHARE_KERNEL] = {"Kernel", "orange"},
        [SHARE_NOT_MANAGED] = {"Native, or waiting", "transparent"},
        [SHARE_UNKNOWN] = {"Other", "grey"},
        [SHARE_SESSION] = {"Diagnostic session", "brown"},
};

/* Numbers of things in the tables of the thread that is written, by those of the profile. */
typedef struct LocalNumbers {
        uint32_t *numbers; /* owned: + 1; 0: not in the tables */
        GArray *used;      /* owned, of uint32_t: the profile's, in the order of the tables */
} LocalNumbers;

typedef struct Firefox {
        const Profile *profile;
        const ProfileUnit *unit;
        ProfileFile *out;
        uint64_t first;      /* ns: time 0 of the file */
        uint32_t *functions; /* owned: frames that are one function, by profile_merge_frames() */
        uint8_t *shares;     /* owned: Share of each node's stack */
        LocalNumbers nodes, funcs;
        LocalNumbers frames;   /* by frame and share, see frame_key() */
        const GArray *markers; /* borrowed, of ProfileMarker; or NULL */
        GHashTable *marked;    /* owned: thread -> owned GPtrArray of its markers */
        GHashTable *strings;   /* of the thread: owned text -> index + 1 */
        GPtrArray *texts;      /* borrowed from STRINGS, in their order */
} Firefox;

static void local_numbers_init(LocalNumbers *local, guint n)
{
        *local = (LocalNumbers){g_new0(uint32_t, MAX(n, 1)),
                                g_array_new(FALSE, FALSE, sizeof(uint32_t))};
}

static void local_numbers_deinit(LocalNumbers *local)
{
        g_free(local->numbers);
        g_array_unref(local->used);
}

static void local_numbers_clear(LocalNumbers *local)
{
        guint i;

        for (i = 0; i < local->used->len; i++)
                local->numbers[g_array_index(local->used, uint32_t, i)] = 0;
        g_array_set_size(local->used, 0);
}

static uint32_t local_number(LocalNumbers *local, uint32_t number)
{
        if (!local->numbers[number]) {
                g_array_append_val(local->used, number);
                local->numbers[number] = local->used->len;
        }
        return local->numbers[number] - 1;
}

static uint32_t firefox_string(Firefox *firefox, const char *text)
{
        gpointer known = g_hash_table_lookup(firefox->strings, text);
        char *copy;

        if (!known) {
                copy = g_strdup(text);
                g_ptr_array_add(firefox->texts, copy);
                known = GUINT_TO_POINTER(firefox->texts->len);
                g_hash_table_insert(firefox->strings, copy, known);
        }
        return GPOINTER_TO_UINT(known) - 1;
}

static const Frame *firefox_frame(const Firefox *firefox, uint32_t number)
{
        return &g_array_index(firefox->profile->frames, Frame, number);
}

static const StackNode *firefox_node(const Firefox *firefox, uint32_t number)
{
        return &g_array_index(firefox->profile->nodes, StackNode, number);
}

/* Is it the name of a thread, which each stack begins with? */
static bool node_is_thread(const Firefox *firefox, uint32_t number)
{
        return firefox_node(firefox, number)->parent == PROFILE_ROOT;
}

/* Code that the JIT and the collector call is theirs. */
static Share node_share(const Firefox *firefox, uint32_t number)
{
        const StackNode *node = firefox_node(firefox, number);
        const Frame *frame = firefox_frame(firefox, node->frame);
        const Share own = frame_share(frame), before = (Share)firefox->shares[node->parent];

        if (own != _SHARE_MAX)
                return own;
        if (frame->kind == FRAME_MANAGED)
                return frame_handles_exceptions(frame) ? SHARE_EXCEPTIONS : SHARE_MANAGED;
        if (before == SHARE_JIT || before == SHARE_GC || before == SHARE_SESSION)
                return before;
        return frame_leaf_share(frame);
}

static void firefox_find_shares(Firefox *firefox)
{
        const guint n = firefox->profile->nodes->len;
        guint i;

        firefox->shares = g_new(uint8_t, n);
        firefox->shares[PROFILE_ROOT] = _SHARE_MAX;
        for (i = 1; i < n; i++)
                firefox->shares[i] = (uint8_t)node_share(firefox, i);
}

/* A frame has the category of the stacks that end with it: one of native code can have several. */
static uint32_t frame_key(const Firefox *firefox, uint32_t node)
{
        return firefox_node(firefox, node)->frame * _SHARE_MAX + firefox->shares[node];
}

/* The frame of such a key at place I of the table. */
static const Frame *firefox_used_frame(const Firefox *firefox, guint i)
{
        return firefox_frame(firefox,
                             g_array_index(firefox->frames.used, uint32_t, i) / _SHARE_MAX);
}

/* The stack, and those that it begins with. */
static void firefox_use_stack(Firefox *firefox, uint32_t node)
{
        if (node == PROFILE_ROOT || node_is_thread(firefox, node) || firefox->nodes.numbers[node])
                return;
        firefox_use_stack(firefox, firefox_node(firefox, node)->parent);
        local_number(&firefox->nodes, node);
}

static void firefox_append(Firefox *firefox, const char *text)
{
        g_string_append(firefox->out->text, text);
        profile_file_flush(firefox->out);
}

static void firefox_append_ms(Firefox *firefox, uint64_t ns)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(firefox->out->text,
                        g_ascii_formatd(text, sizeof(text), "%.6f", (double)ns / NS_PER_MS));
        profile_file_flush(firefox->out);
}

/* ,"NAME":[VALUE,VALUE...] with N values. */
static void firefox_append_equal(Firefox *firefox, const char *name, const char *value, guint n)
{
        guint i;

        g_string_append_printf(firefox->out->text, ",\"%s\":[", name);
        for (i = 0; i < n; i++)
                g_string_append_printf(firefox->out->text, "%s%s", i ? "," : "", value);
        firefox_append(firefox, "]");
}

/* The begin of a column, and its next value. */
static void firefox_begin(Firefox *firefox, const char *name)
{
        g_string_append_printf(firefox->out->text, "\"%s\":[", name);
}

static void firefox_append_number(Firefox *firefox, guint i, uint64_t number)
{
        if (i)
                g_string_append_c(firefox->out->text, ',');
        json_append_u64(firefox->out->text, number);
        profile_file_flush(firefox->out);
}

static void firefox_write_samples(Firefox *firefox, const uint32_t *sorted, uint32_t n)
{
        const Sample *samples = (const Sample *)(gconstpointer)firefox->profile->samples->data;
        const ProfileUnit *unit = firefox->unit;
        uint32_t i;

        firefox_append(firefox, "\"samples\":{");
        firefox_begin(firefox, "stack");
        for (i = 0; i < n; i++) {
                const uint32_t local = firefox->nodes.numbers[samples[sorted[i]].node];

                if (local) {
                        firefox_append_number(firefox, i, local - 1);
                } else {
                        firefox_append(firefox, i ? ",null" : "null");
                }
        }
        firefox_append(firefox, "],");
        firefox_begin(firefox, "time");
        for (i = 0; i < n; i++) {
                firefox_append(firefox, i ? "," : "");
                firefox_append_ms(firefox, samples[sorted[i]].time - firefox->first);
        }
        firefox_append(firefox, "]");
        if (unit->is_time && !unit->is_weighed) {
                firefox_append(firefox, ",");
                firefox_begin(firefox, "threadCPUDelta");
                for (i = 0; i < n; i++)
                        firefox_append_number(firefox, i, samples[sorted[i]].period);
                firefox_append(firefox, "]");
        }
        if (unit->is_weighed) {
                firefox_append(firefox, ",");
                firefox_begin(firefox, "weight");
                for (i = 0; i < n; i++)
                        if (unit->is_time) {
                                firefox_append(firefox, i ? "," : "");
                                firefox_append_ms(firefox, samples[sorted[i]].period);
                        } else {
                                firefox_append_number(firefox, i, samples[sorted[i]].count);
                        }
                firefox_append(firefox, "]");
        } else {
                firefox_append(firefox, ",\"weight\":null");
        }
        g_string_append_printf(firefox->out->text,
                               ",\"weightType\":\"%s\",\"length\":%" G_GUINT32_FORMAT "},\n",
                               !unit->is_weighed ? "samples"
                               : unit->is_time   ? "tracing-ms"
                                                 : "bytes",
                               n);
}

static void firefox_write_stacks(Firefox *firefox)
{
        const GArray *used = firefox->nodes.used;
        guint i;

        firefox_append(firefox, "\"stackTable\":{");
        firefox_begin(firefox, "frame");
        for (i = 0; i < used->len; i++)
                firefox_append_number(
                        firefox, i,
                        local_number(&firefox->frames,
                                     frame_key(firefox, g_array_index(used, uint32_t, i))));
        firefox_append(firefox, "],");
        firefox_begin(firefox, "prefix");
        for (i = 0; i < used->len; i++) {
                const uint32_t parent =
                        firefox_node(firefox, g_array_index(used, uint32_t, i))->parent;

                if (firefox->nodes.numbers[parent])
                        firefox_append_number(firefox, i, firefox->nodes.numbers[parent] - 1);
                else
                        firefox_append(firefox, i ? ",null" : "null");
        }
        firefox_append(firefox, "],");
        firefox_begin(firefox, "category");
        for (i = 0; i < used->len; i++)
                firefox_append_number(firefox, i,
                                      firefox->shares[g_array_index(used, uint32_t, i)]);
        firefox_append(firefox, "]");
        firefox_append_equal(firefox, "subcategory", "0", used->len);
        g_string_append_printf(firefox->out->text, ",\"length\":%u},\n", used->len);
}

static void firefox_write_frames(Firefox *firefox)
{
        const GArray *used = firefox->frames.used;
        const guint n = used->len;
        guint i;

        firefox_append(firefox, "\"frameTable\":{");
        firefox_begin(firefox, "func");
        for (i = 0; i < n; i++)
                firefox_append_number(
                        firefox, i,
                        local_number(
                                &firefox->funcs,
                                firefox->functions[g_array_index(used, uint32_t, i) / _SHARE_MAX]));
        firefox_append(firefox, "],");
        firefox_begin(firefox, "line");
        for (i = 0; i < n; i++) {
                const uint32_t line = firefox_used_frame(firefox, i)->line;

                if (line)
                        firefox_append_number(firefox, i, line);
                else
                        firefox_append(firefox, i ? ",null" : "null");
        }
        firefox_append(firefox, "],");
        firefox_begin(firefox, "category");
        for (i = 0; i < n; i++)
                firefox_append_number(firefox, i, g_array_index(used, uint32_t, i) % _SHARE_MAX);
        firefox_append(firefox, "]");
        firefox_append_equal(firefox, "address", "-1", n);
        firefox_append_equal(firefox, "inlineDepth", "0", n);
        firefox_append_equal(firefox, "subcategory", "0", n);
        firefox_append_equal(firefox, "nativeSymbol", "null", n);
        firefox_append_equal(firefox, "innerWindowID", "0", n);
        firefox_append_equal(firefox, "implementation", "null", n);
        firefox_append_equal(firefox, "column", "null", n);
        g_string_append_printf(firefox->out->text, ",\"length\":%u},\n", n);
}

/* Modules are resources of the type library. */
static void firefox_write_functions(Firefox *firefox)
{
        enum { RESOURCE_LIBRARY = 1 };
        const GArray *used = firefox->funcs.used;
        const guint n = used->len;
        g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) modules = g_ptr_array_new();
        guint i;

        firefox_append(firefox, "\"funcTable\":{");
        firefox_begin(firefox, "name");
        for (i = 0; i < n; i++) {
                g_autoptr(GString) name = g_string_new(NULL);

                frame_append_marked_name(name,
                                         firefox_frame(firefox, g_array_index(used, uint32_t, i)));
                firefox_append_number(firefox, i, firefox_string(firefox, name->str));
        }
        firefox_append(firefox, "],");
        firefox_begin(firefox, "resource");
        for (i = 0; i < n; i++) {
                const char *module =
                        firefox_frame(firefox, g_array_index(used, uint32_t, i))->module;

                if (!module) {
                        firefox_append(firefox, i ? ",-1" : "-1");
                        continue;
                }
                if (!g_hash_table_contains(numbers, module)) {
                        g_hash_table_insert(numbers, (gpointer)module,
                                            GUINT_TO_POINTER(modules->len));
                        g_ptr_array_add(modules, (gpointer)module);
                }
                firefox_append_number(firefox, i,
                                      GPOINTER_TO_UINT(g_hash_table_lookup(numbers, module)));
        }
        firefox_append(firefox, "],");
        firefox_begin(firefox, "fileName");
        for (i = 0; i < n; i++) {
                const char *file = firefox_frame(firefox, g_array_index(used, uint32_t, i))->file;

                if (file)
                        firefox_append_number(firefox, i, firefox_string(firefox, file));
                else
                        firefox_append(firefox, i ? ",null" : "null");
        }
        firefox_append(firefox, "]");
        firefox_append_equal(firefox, "isJS", "false", n);
        firefox_append_equal(firefox, "relevantForJS", "false", n);
        firefox_append_equal(firefox, "lineNumber", "null", n);
        firefox_append_equal(firefox, "columnNumber", "null", n);
        g_string_append_printf(firefox->out->text, ",\"length\":%u},\n\"resourceTable\":{", n);
        firefox_begin(firefox, "name");
        for (i = 0; i < modules->len; i++) {
                g_autofree char *base = g_path_get_basename(modules->pdata[i]);

                firefox_append_number(firefox, i, firefox_string(firefox, base));
        }
        firefox_append(firefox, "],");
        firefox_begin(firefox, "type");
        for (i = 0; i < modules->len; i++)
                firefox_append_number(firefox, i, RESOURCE_LIBRARY);
        firefox_append(firefox, "]");
        firefox_append_equal(firefox, "lib", "null", modules->len);
        firefox_append_equal(firefox, "host", "null", modules->len);
        g_string_append_printf(firefox->out->text, ",\"length\":%u},\n", modules->len);
}

/* TID 0: any thread of the process. */
static gpointer thread_key(int32_t pid, int32_t tid)
{
        return GSIZE_TO_POINTER((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid);
}

/* Threads of the profile by their numbers; a process has its main thread, or its first one. */
static GHashTable *firefox_threads(const Firefox *firefox)
{
        const GArray *threads = firefox->profile->threads;
        GHashTable *index = g_hash_table_new(NULL, NULL);
        guint i;

        for (i = 0; i < threads->len; i++) {
                Thread *thread = &g_array_index(threads, Thread, i);
                const gpointer any = thread_key(thread->pid, 0);

                g_hash_table_insert(index, thread_key(thread->pid, thread->tid), thread);
                if (thread->tid == thread->pid || !g_hash_table_contains(index, any))
                        g_hash_table_insert(index, any, thread);
        }
        return index;
}

/* Finds the thread whose lane has each marker; none if the process has no sample. */
static void firefox_place_markers(Firefox *firefox)
{
        g_autoptr(GHashTable) threads = firefox_threads(firefox);
        guint i;

        for (i = 0; firefox->markers && i < firefox->markers->len; i++) {
                ProfileMarker *marker = &g_array_index(firefox->markers, ProfileMarker, i);
                gpointer thread =
                        g_hash_table_lookup(threads, thread_key(marker->pid, marker->tid));
                GPtrArray *own;

                if (!thread)
                        thread = g_hash_table_lookup(threads, thread_key(marker->pid, 0));
                if (!thread)
                        continue;
                own = g_hash_table_lookup(firefox->marked, thread);
                if (!own) {
                        own = g_ptr_array_new();
                        g_hash_table_insert(firefox->marked, thread, own);
                }
                g_ptr_array_add(own, marker);
        }
}

static void firefox_append_time(Firefox *firefox, guint i, uint64_t time)
{
        firefox_append(firefox, i ? "," : "");
        firefox_append_ms(firefox, time - MIN(time, firefox->first));
}

static void firefox_write_marker_columns(Firefox *firefox, const ProfileMarker *const *own, guint n)
{
        enum { PHASE_INTERVAL = 1 };
        static const struct {
                const char *name;
                Share category;
        } ROWS[_PROFILE_MARKER_KIND_MAX] = {
                [PROFILE_MARKER_COLLECTION] = {"Garbage collection", SHARE_GC},
                [PROFILE_MARKER_PAUSE] = {"Pause", SHARE_GC},
                [PROFILE_MARKER_COMPILATION] = {"Compilation", SHARE_JIT},
        };
        guint i;

        firefox_begin(firefox, "name");
        for (i = 0; i < n; i++)
                firefox_append_number(firefox, i, firefox_string(firefox, ROWS[own[i]->kind].name));
        firefox_append(firefox, "],");
        firefox_begin(firefox, "startTime");
        for (i = 0; i < n; i++)
                firefox_append_time(firefox, i, own[i]->begin);
        firefox_append(firefox, "],");
        firefox_begin(firefox, "endTime");
        for (i = 0; i < n; i++)
                firefox_append_time(firefox, i, own[i]->end);
        firefox_append(firefox, "],");
        firefox_begin(firefox, "category");
        for (i = 0; i < n; i++)
                firefox_append_number(firefox, i, ROWS[own[i]->kind].category);
        firefox_append(firefox, "],");
        firefox_begin(firefox, "phase");
        for (i = 0; i < n; i++)
                firefox_append_number(firefox, i, PHASE_INTERVAL);
        g_string_append_printf(firefox->out->text, "],\"length\":%u},\n", n);
}

/* The markers of THREAD. */
static void firefox_write_markers(Firefox *firefox, const Thread *thread)
{
        static const char DATA[] = "{\"type\":\"" MARKER_TYPE "\",\"text\":";
        const GPtrArray *own = g_hash_table_lookup(firefox->marked, thread);
        const guint n = own ? own->len : 0;
        guint i;

        firefox_append(firefox, "\"markers\":{");
        firefox_begin(firefox, "data");
        for (i = 0; i < n; i++) {
                firefox_append(firefox, i ? "," : "");
                firefox_append(firefox, DATA);
                json_append_string(firefox->out->text,
                                   ((const ProfileMarker *)own->pdata[i])->text);
                firefox_append(firefox, "}");
        }
        firefox_append(firefox, "],");
        firefox_write_marker_columns(firefox, n ? (const ProfileMarker *const *)own->pdata : NULL,
                                     n);
}

/* The name of the process's main thread; NULL: it has no sample. */
static const char *firefox_process_name(const Firefox *firefox, int32_t pid)
{
        const GArray *threads = firefox->profile->threads;
        guint i;

        for (i = 0; i < threads->len; i++) {
                const Thread *thread = &g_array_index(threads, Thread, i);

                if (thread->pid == pid && thread->tid == pid)
                        return firefox_frame(firefox, thread->comm)->name;
        }
        return NULL;
}

static void firefox_write_head(Firefox *firefox, const Thread *thread)
{
        GString *out = firefox->out->text;
        const char *process = firefox_process_name(firefox, thread->pid);

        g_string_append(out, "{\"processType\":\"default\",\"processName\":");
        json_append_string(out, process ? process : "");
        g_string_append(out, ",\"name\":");
        json_append_string(out, firefox_frame(firefox, thread->comm)->name);
        g_string_append_printf(
                out,
                ",\"pid\":\"%" G_GINT32_FORMAT "\",\"tid\":%" G_GINT32_FORMAT
                ",\"isMainThread\":%s,\"processStartupTime\":0,\"processShutdownTime\":null,"
                "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
                "\"showMarkersInTimeline\":true,\n",
                thread->pid, thread->tid, thread->pid == thread->tid ? "true" : "false");
}

static void firefox_write_strings(Firefox *firefox)
{
        guint i;

        firefox_append(firefox, "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
                                "\"functionSize\":[],\"length\":0},\n\"stringArray\":[");
        for (i = 0; i < firefox->texts->len; i++) {
                firefox_append(firefox, i ? "," : "");
                json_append_string(firefox->out->text, firefox->texts->pdata[i]);
        }
        firefox_append(firefox, "]}");
}

/* The N samples SORTED, of one thread. */
static void firefox_write_thread(Firefox *firefox, const uint32_t *sorted, uint32_t n)
{
        const Sample *samples = (const Sample *)(gconstpointer)firefox->profile->samples->data;
        const Thread *thread =
                &g_array_index(firefox->profile->threads, Thread, samples[*sorted].thread);
        uint32_t i;

        local_numbers_clear(&firefox->nodes);
        local_numbers_clear(&firefox->frames);
        local_numbers_clear(&firefox->funcs);
        g_hash_table_remove_all(firefox->strings);
        g_ptr_array_set_size(firefox->texts, 0);
        for (i = 0; i < n; i++)
                firefox_use_stack(firefox, samples[sorted[i]].node);
        firefox_write_head(firefox, thread);
        firefox_write_samples(firefox, sorted, n);
        firefox_write_markers(firefox, thread);
        firefox_write_stacks(firefox);
        firefox_write_frames(firefox);
        firefox_write_functions(firefox);
        firefox_write_strings(firefox);
}

static void firefox_write_meta(Firefox *firefox, const ProfileOptions *options,
                               const Summary *summary)
{
        const uint64_t interval =
                firefox->unit->is_time && !firefox->unit->is_weighed && summary->n_samples
                        ? summary->period / summary->n_samples
                        : 0;
        GString *out = firefox->out->text;
        guint i;

        g_string_append(out, "{\"meta\":{\"interval\":");
        firefox_append_ms(firefox, interval ? interval : (uint64_t)NS_PER_MS);
        g_string_append(out, ",\"startTime\":");
        firefox_append_ms(firefox, firefox->first + (uint64_t)options->clock_offset);
        g_string_append(out, ",\"product\":");
        json_append_string(out, options->title);
        g_string_append_printf(
                out,
                ",\"importedFrom\":\"clrsym %s\",\"version\":%d,"
                "\"preprocessedProfileVersion\":%d,\"platform\":\"Linux\","
                "\"oscpu\":\"Linux\",\"abi\":\"\",\"misc\":\"\",\"toolkit\":\"\","
                "\"processType\":0,\"stackwalk\":1,\"debug\":false,"
                "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
                "\"doesNotUseFrameImplementation\":true,"
                "\"sourceCodeIsNotOnSearchfox\":true,"
                "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
                "\"threadCPUDelta\":\"ns\"},"
                "\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},"
                "\"markerSchema\":[{\"name\":\"" MARKER_TYPE
                "\",\"tooltipLabel\":\"{marker.data.text}\",\"tableLabel\":\"{marker.data.text}\","
                "\"chartLabel\":\"{marker.data.text}\",\"display\":[\"marker-chart\",\"marker-"
                "table\",\"timeline-overview\"],\"data\":[{\"key\":\"text\",\"label\":\"Details\","
                "\"format\":\"string\",\"searchable\":true}]}],\"categories\":[",
                CLRSYM_VERSION, GECKO_VERSION, PROCESSED_VERSION);
        for (i = 0; i < G_N_ELEMENTS(CATEGORIES); i++)
                g_string_append_printf(
                        out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
                        i ? "," : "", CATEGORIES[i].name, CATEGORIES[i].color);
        g_string_append(out, "]},\n\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[");
}

void firefox_write(const Profile *profile, const ProfileOptions *options, ProfileFile *out)
{
        const Sample *samples = (const Sample *)(gconstpointer)profile->samples->data;
        g_autofree uint32_t *sorted = sample_order_new(profile);
        Firefox firefox = {
                .profile = profile,
                .unit = profile_event_unit(options->event),
                .out = out,
                .functions = profile_merge_frames(profile, MERGE_TIERS_AND_LINES),
                .strings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .texts = g_ptr_array_new(),
                .markers = options->markers,
                .marked =
                        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref),
        };
        Summary summary;
        uint32_t i, n;

        summary_init(&summary, profile);
        firefox.first = summary.first;
        local_numbers_init(&firefox.nodes, profile->nodes->len);
        local_numbers_init(&firefox.frames, profile->frames->len * _SHARE_MAX);
        local_numbers_init(&firefox.funcs, profile->frames->len);
        firefox_find_shares(&firefox);
        firefox_place_markers(&firefox);
        firefox_write_meta(&firefox, options, &summary);
        for (i = 0; i < profile->samples->len; i += n) {
                n = 1;
                while (i + n < profile->samples->len &&
                       samples[sorted[i + n]].thread == samples[sorted[i]].thread)
                        n++;
                firefox_append(&firefox, i ? ",\n" : "\n");
                firefox_write_thread(&firefox, sorted + i, n);
        }
        firefox_append(&firefox, "]}\n");
        local_numbers_deinit(&firefox.nodes);
        local_numbers_deinit(&firefox.frames);
        local_numbers_deinit(&firefox.funcs);
        g_hash_table_unref(firefox.strings);
        g_ptr_array_unref(firefox.texts);
        g_hash_table_unref(firefox.marked);
        g_free(firefox.functions);
        g_free(firefox.shares);
}

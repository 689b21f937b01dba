/* SPDX-License-Identifier: MIT */
#include "core/tracker.h"

#include "core/rundown.h"
#include "core/stub.h"
#include "core/tracker-struct.h"

#include <string.h>

/*
 * Rules of life and death are in the handlers below, one for each kind of event. Three things hold
 * for all of them: a load or a rundown row over a live body of another identity ends that one, for
 * its unload must have been lost; an unload of a body that was never seen makes it known after the
 * fact, so that questions about earlier have their answer; and an event is about who was there at
 * its own time: events come late where two sessions trace one process.
 *
 * Which generation of a (pid namespace, pid) an event belongs to: the runtime's start begins one.
 * After the exit unload of a runtime's one AppDomain its other threads still emit for some ms; what
 * comes later than EXIT_GRACE after it belongs to another program that has the pid now.
 */

/* No program has code in the upper half of the address space. */
#define ADDRESS_LIMIT (UINT64_C(1) << 63)
/* ns. Real runtimes were seen to emit for up to 12 ms after their exit unload. */
#define EXIT_GRACE UINT64_C(1000000000)
/*
 * Bytes that one record may add besides what tables grow by: its names, its map, and the blocks of
 * the pages that a body is on. The largest record there can be has a map of 65,535 entries.
 */
#define MAX_RECORD_GROWTH (2u << 20)
/* ns. No runtime goes, and another comes up under its pid, in less: events that follow closer are
 * of one. */
#define LEAST_REPLACE_TIME UINT64_C(10000000)
/* ns. Two sessions that trace one process give its start two times, microseconds apart. */
#define SAME_START UINT64_C(1000000000)

static void trace_destroy(gpointer data)
{
        trace_free(data);
}

static void process_destroy(gpointer data)
{
        process_free(data);
}

static void tracker_init(Tracker *tracker)
{
        tracker->names = strtab_new(&tracker->account);
        tracker->traces = g_ptr_array_new_with_free_func(trace_destroy);
        tracker->processes = g_ptr_array_new_with_free_func(process_destroy);
        tracker->newest = g_hash_table_new(process_key_hash, process_key_equal);
        tracker->changes = g_array_new(FALSE, FALSE, sizeof(CodeMapChange));
        tracker->early = g_array_new(FALSE, FALSE, sizeof(IngestProcessGap));
        tracker->batch = 1;
        budget_init(&tracker->budget, &tracker->account, tracker->names, tracker->processes,
                    tracker->newest);
}

static void tracker_deinit(Tracker *tracker)
{
        budget_deinit(&tracker->budget);
        g_hash_table_unref(tracker->newest);
        g_ptr_array_unref(tracker->processes);
        g_ptr_array_unref(tracker->traces);
        strtab_free(tracker->names);
        g_array_unref(tracker->changes);
        g_array_unref(tracker->early);
}

Tracker *tracker_new(void)
{
        Tracker *tracker = g_new0(Tracker, 1);

        tracker_init(tracker);
        return tracker;
}

void tracker_free(Tracker *tracker)
{
        if (!tracker)
                return;
        tracker_deinit(tracker);
        g_free(tracker);
}

void tracker_reset(Tracker *tracker)
{
        const Tracker before = *tracker;

        tracker_deinit(tracker);
        *tracker = (Tracker){.account.last_epoch = before.account.last_epoch,
                             .host = before.host,
                             .observer = before.observer,
                             .forgotten = before.forgotten};
        tracker_init(tracker);
        tracker->budget.limit = before.budget.limit;
}

static Process *generation_new(Tracker *tracker, const TrackerStream *stream, ProcessKey key,
                               uint64_t time)
{
        Process *previous = g_hash_table_lookup(tracker->newest, &key);
        Process *process = process_new(tracker->names, &tracker->account, key,
                                       previous ? previous->generation + 1 : 1, time);

        process->serial = ++tracker->n_serials;
        /* Buffers of a user say whose it is; of others, only what runs here now can be asked. */
        if (tracker->host.uid && *stream->trace->boot_id &&
            stream->trace->scheme != BUFFER_SCHEME_PER_UID)
                process->has_uid = tracker->host.uid(tracker->host.data, &key, &process->uid);
        if (tracker->observer.body)
                codemap_set_changes(process->map, tracker->changes);
        g_ptr_array_add(tracker->processes, process);
        g_hash_table_replace(tracker->newest, &process->key, process);
        tracker_tell_early(tracker, process);
        return process;
}

/* True if the program that has the pid now was started after the process's last event. */
static bool is_replaced(const Tracker *tracker, const Process *process, const TrackerStream *stream,
                        const Record *record)
{
        uint64_t start;

        if (!tracker->host.start_time || record->process.pid_ns != tracker->host.pid_ns ||
            !*stream->trace->boot_id || record->time - process->last < LEAST_REPLACE_TIME)
                return false;
        start = tracker->host.start_time(tracker->host.data, record->process.pid);
        /* Later than the event: it is of neither. */
        return start > process->last && start <= record->time;
}

static bool begins_generation(const Tracker *tracker, const Process *process,
                              const TrackerStream *stream, const Record *record)
{
        if (record->time < process->begin)
                return false;
        if (process->exit != BODY_FOREVER && record->time > process->exit &&
            record->time - process->exit > EXIT_GRACE)
                return true;
        if (record->time > process->last && is_replaced(tracker, process, stream, record))
                return true;
        if (record->event->kind != EVENT_KIND_RUNTIME_START)
                return false;
        /* The same start, seen by a second session. */
        return !(process->is_from_start && record->time - process->begin < SAME_START &&
                 !g_ptr_array_find(process->traces, stream->trace, NULL));
}

/* The generation that an event belongs to. An event can be late: from another feeder. */
static Process *process_of(Tracker *tracker, TrackerStream *stream, const Record *record)
{
        Process *process = g_hash_table_lookup(tracker->newest, &record->process);
        guint i;

        if (!process || begins_generation(tracker, process, stream, record))
                process = generation_new(tracker, stream, record->process, record->time);
        if (record->time < process->begin && process->generation > 1) {
                for (i = tracker->processes->len; i-- > 0;) {
                        Process *older = tracker->processes->pdata[i];

                        if (process_key_equal(&older->key, &record->process) &&
                            (older->begin <= record->time || older->generation == 1)) {
                                process = older;
                                break;
                        }
                }
        }
        process->begin = MIN(process->begin, record->time);
        process->last = MAX(process->last, record->time);
        if (!g_ptr_array_find(process->traces, stream->trace, NULL))
                g_ptr_array_add(process->traces, stream->trace);
        return process;
}

static Str intern(Process *process, const Value *value)
{
        return value ? strtab_add(process->names, (const char *)value->data, value->n) : 0;
}

static char *value_text(const Value *value)
{
        return value && value->n ? g_strndup((const char *)value->data, value->n) : NULL;
}

/*
 * The body that an event of the method family describes; names are owned by it. False for one that
 * no program can have.
 */
static bool body_from_record(Process *process, const Record *record, BodySource source, Body *body)
{
        uint64_t rejit_id = record_u64(record, FIELD_ReJITID);

        *body = (Body){
                .source = source,
                .start = record_u64(record, source == BODY_SOURCE_R2R_ENTRY
                                                    ? FIELD_EntryPoint
                                                    : FIELD_MethodStartAddress),
                .size = (uint32_t)record_u64(record, FIELD_MethodSize),
                .method_id = record_u64(record, FIELD_MethodID),
                .rejit_id = (uint32_t)rejit_id,
                .flags = (uint32_t)record_u64(record, FIELD_MethodFlags),
                .token = (uint32_t)record_u64(record, FIELD_MethodToken),
        };
        if (body->start >= ADDRESS_LIMIT || body->start + body_extent(body) > ADDRESS_LIMIT ||
            rejit_id > UINT32_MAX)
                return false;
        body->name_space = intern(process, record_value(record, FIELD_MethodNamespace));
        body->name = intern(process, record_value(record, FIELD_MethodName));
        body->signature = intern(process, record_value(record, FIELD_MethodSignature));
        return true;
}

static void body_release_names(Process *process, Body *body)
{
        strtab_unref(process->names, body->name_space);
        strtab_unref(process->names, body->name);
        strtab_unref(process->names, body->signature);
}

static Body *insert(Process *process, const Body *news, uint64_t module_id, uint64_t time)
{
        Body *body = codemap_insert(process->map, news, time);

        if (body)
                process_set_module(process, body, module_id, time);
        return body;
}

/* The body that the event is about: of that identity, and alive at that time. Or NULL. */
static Body *known_at(const Process *process, const Body *news, uint64_t time)
{
        Body *body = codemap_at(process->map, news->start, time);

        return body && body_is_same(process->names, body, news) ? body : NULL;
}

/* What another event of a body knows better than the one that made it known. */
static void complete(Process *process, Body *body, Body *news, uint64_t module_id, uint64_t time)
{
        if (!body->size && news->size) {
                codemap_resize(process->map, body, news->size, time);
                body->flags = news->flags;
                body->token = news->token;
                body->source =
                        news->source == BODY_SOURCE_LOAD ? BODY_SOURCE_RUNDOWN : news->source;
        }
        if (!body->jit_time)
                body->jit_time = news->jit_time;
        if (!body->name && news->name)
                codemap_rename(process->map, body, news->name_space, news->name, news->signature);
        if (!body->module)
                process_set_module(process, body, module_id, time);
        body_release_names(process, news);
}

/*
 * BODY's load came late, and its life ends where another begins. If that one is the same, the two
 * are one, and what made it known was the second of two loads.
 */
static void join_next(Process *process, Body *body, uint64_t module_id)
{
        Body *next = codemap_next(process->map, body);
        Body news = *body;

        if (!next || !body_is_same(process->names, next, body) || next->size != body->size)
                return;
        strtab_ref(process->names, news.name_space);
        strtab_ref(process->names, news.name);
        strtab_ref(process->names, news.signature);
        codemap_remove(process->map, body);
        codemap_begin(process->map, next, news.since);
        complete(process, next, &news, module_id, news.since);
}

static void on_method_load(Tracker *tracker, Process *process, const Record *record)
{
        const Jitting *jitting =
                process_jitting(process, record->tid, record_u64(record, FIELD_MethodID));
        uint64_t module_id = record_u64(record, FIELD_ModuleID);
        Body news, *body;

        if (!body_from_record(process, record, BODY_SOURCE_LOAD, &news)) {
                tracker->stats.impossible++;
                return;
        }
        if (jitting && jitting->time <= record->time) {
                news.jit_time = (uint32_t)MIN((record->time - jitting->time) / BODY_JIT_UNIT + 1,
                                              UINT32_MAX);
                if (!news.name) { /* the load without names follows its verbose compilation */
                        news.name_space = strtab_ref(process->names, jitting->name_space);
                        news.name = strtab_ref(process->names, jitting->name);
                        news.signature = strtab_ref(process->names, jitting->signature);
                }
        }
        body = known_at(process, &news, record->time);
        if (body) {
                if (body->source != BODY_SOURCE_LOAD && body_next_seen(body, 0) > record->time)
                        codemap_begin(process->map, body, record->time);
                else /* two threads raced to compile: both tell of the winner */
                        codemap_confirm(process->map, body, record->time);
                rundown_note_load(process, body, record->time);
                complete(process, body, &news, module_id, record->time);
                if (stub_load(process, record)) /* it has another name than it had */
                        codemap_change_epoch(process->map);
                return;
        }
        body = insert(process, &news, module_id, record->time);
        if (body->until != BODY_FOREVER)
                join_next(process, body, module_id);
        stub_load(process, record);
}

/* True if that unload is known: a second session's, or of a body that another has evicted. */
static bool unload_is_known(const Process *process, const Body *news, uint64_t time)
{
        Body *before, *after;

        codemap_neighbours(process->map, news->start, time, &before, &after);
        return before && body_is_same(process->names, before, news) && before->name == news->name &&
               (before->end == BODY_END_UNLOAD || before->end == BODY_END_EVICTED ||
                before->end == BODY_END_MODULE);
}

static void on_method_unload(Tracker *tracker, Process *process, const Record *record)
{
        uint64_t module_id = record_u64(record, FIELD_ModuleID);
        Body news, *body;

        if (!body_from_record(process, record, BODY_SOURCE_UNLOAD, &news)) {
                tracker->stats.impossible++;
                return;
        }
        stub_drop(process, news.method_id, record->time);
        body = known_at(process, &news, record->time);
        if (body) {
                complete(process, body, &news, module_id, record->time);
                codemap_end(process->map, body, record->time, BODY_END_UNLOAD);
        } else if (unload_is_known(process, &news, record->time)) {
                body_release_names(process, &news);
        } else {
                insert(process, &news, module_id, record->time);
        }
}

/*
 * True if that row comes after its body's unload. While a runtime walks its code heaps it frees no
 * code, so that the walk lists also what has been unloaded since it began.
 */
static bool row_is_stale(const Process *process, const Body *news, uint64_t time)
{
        Body *before, *after;

        codemap_neighbours(process->map, news->start, time, &before, &after);
        return process->rundown_begin && before && before->end == BODY_END_UNLOAD &&
               before->until >= process->rundown_begin &&
               body_is_same(process->names, before, news);
}

static void on_method_rundown(Tracker *tracker, Process *process, const Record *record)
{
        uint64_t module_id = record_u64(record, FIELD_ModuleID);
        Body news, *body;
        IlMap *map;

        if (!body_from_record(process, record, BODY_SOURCE_RUNDOWN, &news)) {
                tracker->stats.impossible++;
                return;
        }
        body = known_at(process, &news, record->time);
        if (body) {
                codemap_confirm(process->map, body, record->time);
                complete(process, body, &news, module_id, record->time);
        } else if (row_is_stale(process, &news, record->time)) {
                body_release_names(process, &news);
        } else {
                body = insert(process, &news, module_id, record->time);
                rundown_note_stranger(process, body, record->time);
        }
        /* In a rundown the IL map comes before its method. */
        map = process_take_il_map(process, record_u64(record, FIELD_MethodID),
                                  record_u64(record, FIELD_ReJITID));
        if (map && body && !body_il_map(body))
                codemap_set_il_map(process->map, body, map);
        else
                ilmap_free(map);
}

static void on_jitting_started(Tracker *tracker, Process *process, const Record *record)
{
        Jitting *jitting = g_new0(Jitting, 1);

        jitting->method_id = record_u64(record, FIELD_MethodID);
        jitting->time = record->time;
        jitting->name_space = intern(process, record_value(record, FIELD_MethodNamespace));
        jitting->name = intern(process, record_value(record, FIELD_MethodName));
        jitting->signature = intern(process, record_value(record, FIELD_MethodSignature));
        process_begin_jitting(process, record->tid, jitting);
}

static void on_il_map(Tracker *tracker, Process *process, const Record *record)
{
        const Value *il = record_value(record, FIELD_ILOffsets);
        const Value *native = record_value(record, FIELD_NativeOffsets);
        uint64_t method_id = record_u64(record, FIELD_MethodID);
        uint64_t rejit_id = record_u64(record, FIELD_ReJITID);
        IlMap *map = ilmap_new(il->data, native->data, MIN(il->n, native->n),
                               record_u64(record, FIELD_ILVersionID));
        Body *body = rejit_id > UINT32_MAX
                             ? NULL
                             : codemap_method(process->map, method_id, (uint32_t)rejit_id);

        if (record->event->provider == PROVIDER_RUNDOWN)
                process_keep_il_map(process, method_id, rejit_id, map);
        else if (body && body->since <= record->time)
                codemap_set_il_map(process->map, body, map);
        else
                ilmap_free(map); /* its load was lost, or it comes late and another has its id */
}

static void on_r2r_entry(Tracker *tracker, Process *process, const Record *record)
{
        Body news, *body;

        if (!body_from_record(process, record, BODY_SOURCE_R2R_ENTRY, &news)) {
                tracker->stats.impossible++;
                return;
        }
        if (!news.start) { /* there is no usable code */
                body_release_names(process, &news);
                return;
        }
        body = known_at(process, &news, record->time);
        if (body) {
                codemap_confirm(process->map, body, record->time);
                complete(process, body, &news, 0, record->time);
        } else {
                insert(process, &news, 0, record->time);
        }
}

static Str module_path(Process *process, const Record *record)
{
        const Value *path = record_value(record, FIELD_ModuleILPath);

        return path && path->n ? intern(process, path) : 0;
}

static void on_module(Tracker *tracker, Process *process, const Record *record)
{
        uint64_t id = record_u64(record, FIELD_ModuleID);
        bool is_load = record->event->kind == EVENT_KIND_MODULE_LOAD;
        Module *module = process_module(process, id, record->time);
        Str path;

        if (!module)
                return;
        path = module_path(process, record);
        if (is_load && module->has_load && record->time > module->loaded && module->path != path) {
                /* The id stands for another module now: the unload of the first was lost. */
                process_end_module(process, module, record->time);
                module = process_module(process, id, record->time);
        }
        if (is_load && !module->has_load) {
                module->has_load = true;
                module->loaded = record->time;
        }
        if (!module->path)
                process_set_module_path(process, module, path);
        else
                strtab_unref(process->names, path);
}

static void on_module_unload(Tracker *tracker, Process *process, const Record *record)
{
        Module *module = process_module(process, record_u64(record, FIELD_ModuleID), record->time);

        if (!module)
                return;
        if (!module->path)
                process_set_module_path(process, module, module_path(process, record));
        process_end_module(process, module, record->time);
}

static void on_runtime(Tracker *tracker, Process *process, const Record *record)
{
        if (record->event->kind == EVENT_KIND_RUNTIME_START)
                process->is_from_start = true;
        if (process->runtime_version)
                return;
        process->runtime_version =
                g_strdup_printf("%u.%u.%u", (unsigned)record_u64(record, FIELD_BclMajorVersion),
                                (unsigned)record_u64(record, FIELD_BclMinorVersion),
                                (unsigned)record_u64(record, FIELD_BclBuildNumber));
        process->runtime_path = value_text(record_value(record, FIELD_RuntimeDllPath));
        process->command = value_text(record_value(record, FIELD_CommandLine));
}

static void on_app_domain_unload(Tracker *tracker, Process *process, const Record *record)
{
        process->exit = record->time;
}

static void on_rundown_init(Tracker *tracker, Process *process, const Record *record)
{
        rundown_begin(process, record->time);
}

static void on_rundown_complete(Tracker *tracker, Process *process, const Record *record)
{
        rundown_end(process, record->time);
}

static void on_stub(Tracker *tracker, Process *process, const Record *record)
{
        stub_keep(process, record);
}

static void on_jit(Tracker *tracker, Process *process, const Record *record)
{
        if (!process->jit_stats)
                process->jit_stats = jitstats_new(process->names, process->account);
        jitstats_add(process->jit_stats, record);
}

static void (*const HANDLERS[_EVENT_KIND_MAX])(Tracker *, Process *, const Record *);

/*
 * No room, though all that may go has gone: the living alone are over the budget. Nothing new is
 * taken, but what a new body lies on is known to be gone.
 */
static void refuse(Tracker *tracker, Process *process, const Record *record)
{
        EventKind kind = record->event->kind;
        BodySource source =
                kind == EVENT_KIND_R2R_ENTRY ? BODY_SOURCE_R2R_ENTRY : BODY_SOURCE_RUNDOWN;
        Body news;

        if (kind == EVENT_KIND_METHOD_UNLOAD || kind == EVENT_KIND_MODULE_UNLOAD ||
            kind == EVENT_KIND_APP_DOMAIN_UNLOAD) {
                HANDLERS[kind](tracker, process, record);
                return;
        }
        tracker->stats.refused++;
        if (kind >= EVENT_KIND_JIT_INLINED) /* no answer depends on it */
                return;
        process->refused_since = MIN(process->refused_since, record->time);
        if ((kind != EVENT_KIND_METHOD_LOAD && kind != EVENT_KIND_METHOD_RUNDOWN &&
             kind != EVENT_KIND_R2R_ENTRY) ||
            !body_from_record(process, record, source, &news))
                return;
        if (news.start && !known_at(process, &news, record->time)) /* else it is not new */
                codemap_evict(process->map, news.start, body_last(&news), record->time);
        body_release_names(process, &news);
}

static void (*const HANDLERS[_EVENT_KIND_MAX])(Tracker *, Process *, const Record *) = {
        [EVENT_KIND_METHOD_LOAD] = on_method_load,
        [EVENT_KIND_METHOD_UNLOAD] = on_method_unload,
        [EVENT_KIND_METHOD_RUNDOWN] = on_method_rundown,
        [EVENT_KIND_JITTING_STARTED] = on_jitting_started,
        [EVENT_KIND_IL_MAP] = on_il_map,
        [EVENT_KIND_R2R_ENTRY] = on_r2r_entry,
        [EVENT_KIND_MODULE_LOAD] = on_module,
        [EVENT_KIND_MODULE_UNLOAD] = on_module_unload,
        [EVENT_KIND_MODULE_RUNDOWN] = on_module,
        [EVENT_KIND_RUNTIME_START] = on_runtime,
        [EVENT_KIND_RUNTIME_RUNDOWN] = on_runtime,
        [EVENT_KIND_APP_DOMAIN_UNLOAD] = on_app_domain_unload,
        [EVENT_KIND_RUNDOWN_INIT] = on_rundown_init,
        [EVENT_KIND_RUNDOWN_COMPLETE] = on_rundown_complete,
        [EVENT_KIND_STUB] = on_stub,
        [EVENT_KIND_JIT_INLINED] = on_jit,
        [EVENT_KIND_JIT_NOT_INLINED] = on_jit,
        [EVENT_KIND_JIT_TAIL_CALL] = on_jit,
        [EVENT_KIND_JIT_NO_TAIL_CALL] = on_jit,
        [EVENT_KIND_JIT_BACKGROUND_START] = on_jit,
        [EVENT_KIND_JIT_BACKGROUND_STOP] = on_jit,
        [EVENT_KIND_JIT_PAUSE] = on_jit,
};

/* Tells what the record has changed. A body may have come and gone with it. */
static void tell_changes(Tracker *tracker, const Process *process)
{
        const TrackerObserver *observer = &tracker->observer;
        guint i;

        for (i = 0; i < tracker->changes->len; i++) {
                const CodeMapChange *change = &g_array_index(tracker->changes, CodeMapChange, i);
                const Body *body = codemap_body(process->map, change->number);

                if (body)
                        observer->body(observer->data, process, body, change->is_end);
        }
        g_array_set_size(tracker->changes, 0);
}

void tracker_apply_record(Tracker *tracker, TrackerStream *stream, const Record *record)
{
        EventKind kind = record->event->kind;
        Process *process;

        stream_resume(stream, record->time);
        if (record->time < stream->watermark ||
            (record->time == stream->watermark && stream->batch != tracker->batch)) {
                tracker->stats.known++;
                return;
        }
        stream->watermark = record->time;
        stream->batch = tracker->batch;
        stream->progress = MAX(stream->progress, record->time);
        if (!HANDLERS[kind])
                return;
        tracker->stats.records[kind]++;
        process = process_of(tracker, stream, record);
        if (budget_make_room(&tracker->budget, process, MAX_RECORD_GROWTH))
                HANDLERS[kind](tracker, process, record);
        else
                refuse(tracker, process, record);
        if (tracker->changes->len)
                tell_changes(tracker, process);
}

void tracker_commit(Tracker *tracker)
{
        const TrackerObserver *observer = &tracker->observer;
        guint i;

        tracker->batch++;
        if (!observer->body)
                return;
        for (i = 0; i < tracker->processes->len; i++) {
                Process *process = tracker->processes->pdata[i];

                if (process->told_epoch == codemap_epoch(process->map))
                        continue;
                process->told_epoch = codemap_epoch(process->map);
                observer->epoch(observer->data, process);
        }
}

void tracker_observe(Tracker *tracker, const TrackerObserver *observer)
{
        guint i;

        tracker->observer = observer ? *observer : (TrackerObserver){0};
        for (i = 0; i < tracker->processes->len; i++) {
                Process *process = tracker->processes->pdata[i];

                process->told_epoch = codemap_epoch(process->map);
                codemap_set_changes(process->map, observer ? tracker->changes : NULL);
        }
}

const Process *tracker_process(const Tracker *tracker, const ProcessKey *key)
{
        return g_hash_table_lookup(tracker->newest, key);
}

const GPtrArray *tracker_processes(const Tracker *tracker)
{
        return tracker->processes;
}

const TrackerStats *tracker_stats(const Tracker *tracker)
{
        return &tracker->stats;
}

void tracker_set_host(Tracker *tracker, const TrackerHost *host)
{
        tracker->host = *host;
}

void tracker_set_epoch(Tracker *tracker, uint64_t epoch)
{
        guint i;

        tracker->account.last_epoch = epoch;
        for (i = 0; i < tracker->processes->len; i++)
                codemap_change_epoch(((Process *)tracker->processes->pdata[i])->map);
}

void tracker_set_budget(Tracker *tracker, size_t n_bytes)
{
        tracker->budget.limit = n_bytes;
        budget_make_room(&tracker->budget, NULL, 0);
}

const Budget *tracker_budget(const Tracker *tracker)
{
        return &tracker->budget;
}

bool tracker_clock_offset(const Tracker *tracker, int64_t *ret_offset)
{
        if (!tracker->last_trace)
                return false;
        *ret_offset = tracker->last_trace->clock_offset;
        return true;
}

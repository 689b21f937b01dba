/* SPDX-License-Identifier: MIT */
#include "tracker/tracker.h"

#include "event/method-flags.h"
#include "tracker/edits.h"
#include "tracker/modules.h"
#include "tracker/rundown.h"
#include "tracker/tracker-struct.h"

#include <string.h>

/*
 * The handlers below, one for each kind of event, decide when bodies begin and end. Three rules
 * hold for all of them. A load or a rundown row over a live body of another identity ends that
 * body, because its unload must have been lost. An unload of an unknown body makes that body known
 * after the fact, so that questions about earlier times have an answer. An event concerns the body
 * that was there at the event's own time, because events come late if two sessions trace one
 * process.
 *
 * A generation of a (pid namespace, pid) begins with the runtime's start. After the exit unload of
 * a runtime's one AppDomain, its other threads still emit events for some ms. An event more than
 * PROCESS_EXIT_GRACE later belongs to another program, which has the pid now.
 */

/* No program has code in the upper half of the address space. */
#define ADDRESS_LIMIT (UINT64_C(1) << 63)
/*
 * Bytes that one record may add besides the growth of tables: its names, its map, and the blocks of
 * its body's pages. The largest possible record has a map of 65,535 entries.
 */
#define MAX_RECORD_GROWTH (2u << 20)
/* ns. No pid gets a new runtime in less time: closer events belong to one program. */
#define LEAST_REPLACE_TIME UINT64_C(10000000)
/* ns. If two sessions trace one process, both record its start, microseconds apart. */
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
        tracker->n_most_traces = TRACKER_FEW_TRACES;
        tracker->traces = g_ptr_array_new_with_free_func(trace_destroy);
        tracker->processes = g_ptr_array_new_with_free_func(process_destroy);
        identities_init(&tracker->identities);
        tracker->forged = g_hash_table_new_full(process_key_hash, process_key_equal, g_free, NULL);
        tracker->changes = g_array_new(FALSE, FALSE, sizeof(CodeMapChange));
        tracker->pending_gaps = g_array_new(FALSE, FALSE, sizeof(PendingGap));
        tracker->batch = 1;
        tracker->first = UINT64_MAX;
        owners_init(&tracker->owners, &tracker->account);
        budget_init(&tracker->budget, &tracker->owners, tracker->names, tracker->processes,
                    &tracker->identities);
}

static void tracker_deinit(Tracker *tracker)
{
        budget_deinit(&tracker->budget);
        identities_deinit(&tracker->identities);
        g_hash_table_unref(tracker->forged);
        g_ptr_array_unref(tracker->processes);
        g_ptr_array_unref(tracker->traces);
        strtab_free(tracker->names);
        owners_deinit(&tracker->owners);
        g_array_unref(tracker->changes);
        g_array_unref(tracker->pending_gaps);
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

static Process *tracker_add_generation(Tracker *tracker, const Record *record, uint32_t uid,
                                       unsigned generation)
{
        Process *process = process_new(tracker->names, owners_account(&tracker->owners, uid),
                                       record->process, generation, record->time);

        process->serial = ++tracker->n_serials;
        process->uid = uid;
        if (tracker->observer.body)
                codemap_set_changes(process->map, tracker->changes);
        g_ptr_array_add(tracker->processes, process);
        identities_add(&tracker->identities, process, true);
        tracker_apply_pending_gaps(tracker, process);
        return process;
}

/* True if the program that has the pid now was started after the process's last event. */
static bool process_is_replaced(const Tracker *tracker, const Process *process,
                                const TrackerStream *stream, const Record *record)
{
        uint64_t start;

        if (!tracker->host.start_time || record->process.pid_ns != tracker->host.pid_ns ||
            !*stream->trace->boot_id || record->time - process->last < LEAST_REPLACE_TIME)
                return false;
        start = tracker->host.start_time(tracker->host.data, record->process.pid);
        /* A program started after the event cannot have emitted it. */
        return start > process->last && start <= record->time;
}

/* The settings of a runtime come microseconds before its start. A holder's report, which has no
 * path, can come at any time before it. No other event comes before. */
static bool process_is_starting(const Process *process, const Record *record)
{
        if (process->runtime_version && !process->runtime_path && !process->is_from_start &&
            !codemap_n_numbers(process->map))
                return true;
        return process->has_tiering && process->last == process->begin &&
               record->time - process->begin < SAME_START;
}

static bool record_begins_generation(const Tracker *tracker, const Process *process,
                                     const TrackerStream *stream, const Record *record)
{
        if (record->time < process->begin)
                return false;
        if (process_is_over_at(process, record->time))
                return true;
        if (record->time > process->last && process_is_replaced(tracker, process, stream, record))
                return true;
        if (record->event->kind != EVENT_KIND_RUNTIME_START || process_is_starting(process, record))
                return false;
        /* Else a second session has recorded the same start. */
        return !(process->is_from_start && record->time - process->begin < SAME_START &&
                 !g_ptr_array_find(process->traces, stream->trace, NULL));
}

/* Without room, times after the previous generation become uncertain from here on. */
static bool tracker_has_room_for_generation(Tracker *tracker, const Record *record, uint32_t uid)
{
        Identity *identity;

        if (budget_make_room(&tracker->budget, owners_account(&tracker->owners, uid), NULL,
                             MAX_RECORD_GROWTH))
                return true;
        tracker->stats.refused++;
        budget_note_dropped(&tracker->budget, &record->process, uid);
        identity = identities_find(&tracker->identities, &record->process, uid);
        if (identity && identity->newest)
                identity->newest->refused_since =
                        MIN(identity->newest->refused_since, record->time);
        return false;
}

/*
 * The generation of an event; NULL: there is no room for it. An event of another feeder can come
 * late.
 */
static Process *tracker_find_generation(Tracker *tracker, TrackerStream *stream, uint32_t uid,
                                        const Record *record)
{
        Identity *identity = identities_find_again(&tracker->identities, &record->process, uid);
        Process *process = identity ? identity->newest : NULL;

        if (!process || record_begins_generation(tracker, process, stream, record)) {
                unsigned generation = process ? process->generation + 1 : 1;

                /* The previous generation may be dropped for it. */
                if (!tracker_has_room_for_generation(tracker, record, uid))
                        return NULL;
                process = tracker_add_generation(tracker, record, uid, generation);
        }
        if (record->time < process->begin && process->generation > 1) {
                Process *older = identity_at(identity, record->time);

                if (older->begin <= record->time || older->generation == 1)
                        process = older;
        }
        process->begin = MIN(process->begin, record->time);
        process->last = MAX(process->last, record->time);
        tracker_note_range(tracker, record->time, record->time);
        process_add_trace(process, stream->trace);
        return process;
}

/* LIKE: a guess of the name, or 0. */
static Str process_intern(Process *process, const Value *value, Str like)
{
        return value ? strtab_add_like(process->names, process->account, like,
                                       (const char *)value->data, value->n)
                     : 0;
}

static char *value_text(const Value *value)
{
        uint32_t n = value ? MIN(value->n, PROCESS_MAX_TEXT) : 0;

        /* Cut between two characters. */
        while (n && n < value->n && (value->data[n] & 0xc0) == 0x80)
                n--;
        return n ? g_strndup((const char *)value->data, n) : NULL;
}

/*
 * Sets BODY from an event of the method family; BODY gets references of its own to its names.
 * False, without references, for code that no program can have. JITTING: the compilation that a
 * load ends, or NULL. It usually has the same names; other events usually name the body already
 * there. *RET_KNOWN: the known body of that identity that is alive at the event's time, or NULL.
 */
static bool body_from_record(Process *process, const Record *record, BodySource source,
                             const Jitting *jitting, Body *body, Body **ret_known)
{
        uint64_t rejit_id = record_u64(record, FIELD_ReJITID);
        Jitting like = {0};
        Body *there;

        *body = (Body){
                .source = source,
                .start = record_u64(record, source == BODY_SOURCE_R2R_ENTRY
                                                    ? FIELD_EntryPoint
                                                    : FIELD_MethodStartAddress),
                .size = (uint32_t)record_u64(record, FIELD_MethodSize),
                .method_id = record_u64(record, FIELD_MethodID),
                .rejit_id = (uint32_t)rejit_id,
                .flags = (uint32_t)record_u64(record, FIELD_MethodFlags) & ~METHOD_FLAG_EDITED,
                .token = (uint32_t)record_u64(record, FIELD_MethodToken),
        };
        if (body->start >= ADDRESS_LIMIT || body->start + body_extent(body) > ADDRESS_LIMIT ||
            rejit_id > UINT32_MAX)
                return false;
        there = codemap_at(process->map, body->start, record->time);
        if (jitting)
                like = *jitting;
        else if (there)
                like = (Jitting){.name_space = there->name_space,
                                 .name = there->name,
                                 .signature = there->signature};
        body->name_space = process_intern(process, record_value(record, FIELD_MethodNamespace),
                                          like.name_space);
        body->name = process_intern(process, record_value(record, FIELD_MethodName), like.name);
        body->signature = process_intern(process, record_value(record, FIELD_MethodSignature),
                                         like.signature);
        *ret_known = there && body_is_same(process->names, there, body) ? there : NULL;
        return true;
}

static void body_release_names(Process *process, Body *body)
{
        strtab_unref(process->names, body->name_space);
        strtab_unref(process->names, body->name);
        strtab_unref(process->names, body->signature);
}

static Body *process_insert(Process *process, const Body *incoming, uint64_t module_id,
                            uint64_t time)
{
        Body *body = codemap_insert(process->map, incoming, time);

        if (body) {
                process_set_module(process, body, module_id, time);
                edits_note(process, body);
        }
        return body;
}

/* Completes BODY from a later event about it. Releases the names of INCOMING. */
static void body_complete(Process *process, Body *body, Body *incoming, uint64_t module_id,
                          uint64_t time)
{
        if (!body->size && incoming->size) {
                codemap_resize(process->map, body, incoming->size, time);
                body->flags = incoming->flags;
                body->token = incoming->token;
                body->source = incoming->source == BODY_SOURCE_LOAD ? BODY_SOURCE_RUNDOWN
                                                                    : incoming->source;
        }
        if (!body->jit_time)
                body->jit_time = incoming->jit_time;
        if (!body->il_size)
                body->il_size = incoming->il_size;
        if (!body->name && incoming->name)
                codemap_rename(process->map, body, incoming->name_space, incoming->name,
                               incoming->signature);
        if (!body->module)
                process_set_module(process, body, module_id, time);
        body_release_names(process, incoming);
}

/*
 * The load of BODY comes late, and its life ends at the begin of another body. If that body is the
 * same code, made known by the second of two loads, the two are merged.
 */
static void body_join_next(Process *process, Body *body, uint64_t module_id)
{
        Body *next = codemap_next(process->map, body);
        Body incoming = *body;

        if (!next || !body_is_same(process->names, next, body) || next->size != body->size)
                return;
        strtab_ref(process->names, incoming.name_space);
        strtab_ref(process->names, incoming.name);
        strtab_ref(process->names, incoming.signature);
        codemap_remove(process->map, body);
        codemap_begin(process->map, next, incoming.since);
        body_complete(process, next, &incoming, module_id, incoming.since);
}

static void on_method_load(Tracker *tracker, Process *process, const Record *record)
{
        const Jitting *jitting = process_jitting(process, record->tid);
        uint64_t module_id = record_u64(record, FIELD_ModuleID);
        Body incoming, *body;

        if (jitting && jitting->method_id != record_u64(record, FIELD_MethodID))
                jitting = NULL;
        if (!body_from_record(process, record, BODY_SOURCE_LOAD, jitting, &incoming, &body)) {
                tracker->stats.impossible++;
                return;
        }
        if (jitting && jitting->time <= record->time) {
                incoming.jit_time = (uint32_t)MIN(
                        (record->time - jitting->time) / BODY_JIT_UNIT + 1, UINT32_MAX);
                incoming.il_size = jitting->il_size;
                if (!incoming.name) { /* the load without names follows its verbose compilation */
                        incoming.name_space = strtab_ref(process->names, jitting->name_space);
                        incoming.name = strtab_ref(process->names, jitting->name);
                        incoming.signature = strtab_ref(process->names, jitting->signature);
                        if (body && !body_is_same(process->names, body, &incoming))
                                body = NULL;
                }
        }
        if (body) {
                if (body->source != BODY_SOURCE_LOAD && body_next_seen(body, 0) > record->time)
                        codemap_begin(process->map, body, record->time);
                else /* two threads raced to compile: both report the winner's body */
                        codemap_confirm(process->map, body, record->time);
                rundown_note_load(process, body, record->time);
                body_complete(process, body, &incoming, module_id, record->time);
                if (process_load_detail(process, record))
                        codemap_change_epoch(process->map);
                return;
        }
        edits_mark(process, &incoming);
        body = process_insert(process, &incoming, module_id, record->time);
        if (body->until != BODY_FOREVER)
                body_join_next(process, body, module_id);
        process_load_detail(process, record);
}

/* True if the body has ended: by another session's unload, its module's, or an eviction. */
static bool unload_is_known(const Process *process, const Body *incoming, uint64_t time)
{
        Body *before, *after;

        codemap_neighbours(process->map, incoming->start, time, &before, &after);
        return before && body_is_same(process->names, before, incoming) &&
               before->name == incoming->name &&
               (before->end == BODY_END_UNLOAD || before->end == BODY_END_REPLACED ||
                before->end == BODY_END_MODULE);
}

static void on_method_unload(Tracker *tracker, Process *process, const Record *record)
{
        uint64_t module_id = record_u64(record, FIELD_ModuleID);
        Body incoming, *body;

        if (!body_from_record(process, record, BODY_SOURCE_UNLOAD, NULL, &incoming, &body)) {
                tracker->stats.impossible++;
                return;
        }
        stub_table_drop(&process->stubs, incoming.method_id, record->time);
        if (body) {
                body_complete(process, body, &incoming, module_id, record->time);
                codemap_end(process->map, body, record->time, BODY_END_UNLOAD);
        } else if (unload_is_known(process, &incoming, record->time)) {
                body_release_names(process, &incoming);
        } else {
                process_insert(process, &incoming, module_id, record->time);
        }
}

static void on_method_rundown(Tracker *tracker, Process *process, const Record *record)
{
        uint64_t module_id = record_u64(record, FIELD_ModuleID);
        Body incoming, *body;
        IlMap *map;

        if (!body_from_record(process, record, BODY_SOURCE_RUNDOWN, NULL, &incoming, &body)) {
                tracker->stats.impossible++;
                return;
        }
        rundown_note_body(process, &incoming);
        if (body) {
                codemap_confirm(process->map, body, record->time);
                body_complete(process, body, &incoming, module_id, record->time);
        } else if ((body = rundown_find_unloaded(process, &incoming, record->time))) {
                body_release_names(process, &incoming);
        } else {
                body = process_insert(process, &incoming, module_id, record->time);
                rundown_note_unannounced(process, body, record->time);
        }
        /* A rundown has the IL map before its method. */
        map = process_take_il_map(process, record_u64(record, FIELD_MethodID),
                                  record_u64(record, FIELD_ReJITID));
        if (map && body && !body_il_map(body))
                codemap_set_il_map(process->map, body, map);
        else
                ilmap_free(map);
}

static void on_jitting_started(Tracker *tracker, Process *process, const Record *record)
{
        const Jitting *before = process_jitting(process, record->tid);
        /* Methods of one class often follow each other. */
        const Jitting like = before ? *before : (Jitting){0};
        const Jitting jitting = {
                .method_id = record_u64(record, FIELD_MethodID),
                .time = record->time,
                .name_space = process_intern(process, record_value(record, FIELD_MethodNamespace),
                                             like.name_space),
                .name = process_intern(process, record_value(record, FIELD_MethodName), 0),
                .signature = process_intern(process, record_value(record, FIELD_MethodSignature),
                                            like.signature),
                .il_size = (uint32_t)record_u64(record, FIELD_MethodILSize),
        };

        process_begin_jitting(process, record->tid, &jitting);
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
                ilmap_free(map); /* the load was lost, or the map is late and its id reused */
}

static void on_r2r_entry(Tracker *tracker, Process *process, const Record *record)
{
        Body incoming, *body;

        if (process->jit_stats)
                jitstats_add(process->jit_stats, record);
        if (!body_from_record(process, record, BODY_SOURCE_R2R_ENTRY, NULL, &incoming, &body)) {
                tracker->stats.impossible++;
                return;
        }
        if (!incoming.start) { /* no usable code */
                body_release_names(process, &incoming);
                return;
        }
        if (body) {
                codemap_confirm(process->map, body, record->time);
                body_complete(process, body, &incoming, 0, record->time);
        } else {
                process_insert(process, &incoming, 0, record->time);
        }
        if (process_load_detail(process, record) && body)
                codemap_change_epoch(process->map);
}

static void on_module(Tracker *tracker, Process *process, const Record *record)
{
        process_take_module(process, record);
}

static void on_module_unload(Tracker *tracker, Process *process, const Record *record)
{
        process_take_module_unload(process, record);
}

static void on_assembly(Tracker *tracker, Process *process, const Record *record)
{
        process_take_assembly(process, record);
}

static void on_runtime(Tracker *tracker, Process *process, const Record *record)
{
        const Value *path = record_value(record, FIELD_RuntimeDllPath);
        const bool has_path = path && path->n;
        char *command;

        if (record->event->kind == EVENT_KIND_RUNTIME_START)
                process->is_from_start = true;
        /* A holder's report about a process that it attaches has no path. */
        if (process->runtime_path || (process->runtime_version && !has_path))
                return;
        g_free(process->runtime_version);
        process->runtime_version =
                g_strdup_printf("%u.%u.%u", (unsigned)record_u64(record, FIELD_BclMajorVersion),
                                (unsigned)record_u64(record, FIELD_BclMinorVersion),
                                (unsigned)record_u64(record, FIELD_BclBuildNumber));
        process->runtime_path = value_text(path);
        command = value_text(record_value(record, FIELD_CommandLine));
        if (command) {
                g_free(process->command);
                process->command = command;
        }
        process_book_texts(process);
}

static void on_app_domain_unload(Tracker *tracker, Process *process, const Record *record)
{
        process_end(process, record->time);
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
        stub_table_keep(&process->stubs, record, process->last);
}

static void on_types(Tracker *tracker, Process *process, const Record *record)
{
        detail_table_take_types(&process->details, record);
}

static void on_method_details(Tracker *tracker, Process *process, const Record *record)
{
        process_take_method_details(process, record);
}

static void on_inline_tree(Tracker *tracker, Process *process, const Record *record)
{
        process_take_inline_tree(process, record);
}

static void on_tiered_settings(Tracker *tracker, Process *process, const Record *record)
{
        process->has_tiering = true;
        process->tiering = (uint32_t)record_u64(record, FIELD_Flags);
        if (record->event->provider == PROVIDER_RUNDOWN)
                rundown_note_settings(process);
}

static void on_jit(Tracker *tracker, Process *process, const Record *record)
{
        if (!process->jit_stats)
                process->jit_stats = jitstats_new(process->names, process->account);
        jitstats_add(process->jit_stats, record);
}

static void (*const HANDLERS[_EVENT_KIND_MAX])(Tracker *, Process *, const Record *);

/*
 * Refuses new bodies, because there is no room although everything evictable is gone: the living
 * bodies alone fill the budget. The bodies that they overlap still end.
 */
static void tracker_refuse(Tracker *tracker, Process *process, const Record *record)
{
        EventKind kind = record->event->kind;
        BodySource source =
                kind == EVENT_KIND_R2R_ENTRY ? BODY_SOURCE_R2R_ENTRY : BODY_SOURCE_RUNDOWN;
        Body incoming, *known;

        if (kind == EVENT_KIND_METHOD_UNLOAD || kind == EVENT_KIND_MODULE_UNLOAD ||
            kind == EVENT_KIND_ASSEMBLY_UNLOAD || kind == EVENT_KIND_APP_DOMAIN_UNLOAD) {
                HANDLERS[kind](tracker, process, record);
                return;
        }
        tracker->stats.refused++;
        if (kind >= EVENT_KIND_JIT_INLINED) /* no answer depends on events of these kinds */
                return;
        process->refused_since = MIN(process->refused_since, record->time);
        if ((kind != EVENT_KIND_METHOD_LOAD && kind != EVENT_KIND_METHOD_RUNDOWN &&
             kind != EVENT_KIND_R2R_ENTRY) ||
            !body_from_record(process, record, source, NULL, &incoming, &known))
                return;
        if (incoming.start && !known)
                codemap_replace(process->map, incoming.start, body_last(&incoming), record->time);
        body_release_names(process, &incoming);
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
        [EVENT_KIND_ASSEMBLY_LOAD] = on_assembly,
        [EVENT_KIND_ASSEMBLY_UNLOAD] = on_assembly,
        [EVENT_KIND_ASSEMBLY_RUNDOWN] = on_assembly,
        [EVENT_KIND_RUNTIME_START] = on_runtime,
        [EVENT_KIND_RUNTIME_RUNDOWN] = on_runtime,
        [EVENT_KIND_APP_DOMAIN_UNLOAD] = on_app_domain_unload,
        [EVENT_KIND_RUNDOWN_INIT] = on_rundown_init,
        [EVENT_KIND_RUNDOWN_COMPLETE] = on_rundown_complete,
        [EVENT_KIND_STUB] = on_stub,
        [EVENT_KIND_TYPES] = on_types,
        [EVENT_KIND_METHOD_DETAILS] = on_method_details,
        [EVENT_KIND_INLINE_TREE] = on_inline_tree,
        [EVENT_KIND_TIERED_SETTINGS] = on_tiered_settings,
        [EVENT_KIND_JIT_INLINED] = on_jit,
        [EVENT_KIND_JIT_NOT_INLINED] = on_jit,
        [EVENT_KIND_JIT_TAIL_CALL] = on_jit,
        [EVENT_KIND_JIT_NO_TAIL_CALL] = on_jit,
        [EVENT_KIND_JIT_BACKGROUND_START] = on_jit,
        [EVENT_KIND_JIT_BACKGROUND_STOP] = on_jit,
        [EVENT_KIND_JIT_PAUSE] = on_jit,
        [EVENT_KIND_JIT_RESUME] = on_jit,
        [EVENT_KIND_JIT_LOOKUP] = on_jit,
};

/* Reports the changes by the record. The record may have added a body and removed it. */
static void tracker_report_changes(Tracker *tracker, const Process *process)
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
        uint32_t uid;

        stream_receive(stream, record->time);
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
        if (!tracker_record_owner(tracker, stream->trace, record, &uid)) {
                tracker->stats.forged++;
                return;
        }
        tracker->stats.records[kind]++;
        process = tracker_find_generation(tracker, stream, uid, record);
        if (!process)
                return;
        if (budget_make_room(&tracker->budget, process->account, process, MAX_RECORD_GROWTH))
                HANDLERS[kind](tracker, process, record);
        else
                tracker_refuse(tracker, process, record);
        if (tracker->changes->len)
                tracker_report_changes(tracker, process);
}

void tracker_apply_program(Tracker *tracker, TrackerStream *stream, const Record *record)
{
        g_autofree char *name = value_text(&record->program);
        const Identity *identity;
        Process *process;
        uint32_t uid;

        if (!name || !tracker_record_owner(tracker, stream->trace, record, &uid))
                return;
        identity = identities_find(&tracker->identities, &record->process, uid);
        if (!identity || !identity->newest)
                return;
        process = identity_at(identity, record->time);
        g_free(process->program);
        process->program = g_steal_pointer(&name);
        process_book_texts(process);
}

void tracker_report_epoch(Tracker *tracker, Process *process)
{
        const TrackerObserver *observer = &tracker->observer;

        if (!observer->body || process->observed_epoch == codemap_epoch(process->map))
                return;
        process->observed_epoch = codemap_epoch(process->map);
        observer->epoch(observer->data, process);
}

void tracker_commit(Tracker *tracker)
{
        guint i;

        tracker->batch++;
        tracker_drop_traces(tracker);
        g_hash_table_remove_all(tracker->forged);
        if (!tracker->observer.body)
                return;
        for (i = 0; i < tracker->processes->len; i++)
                tracker_report_epoch(tracker, tracker->processes->pdata[i]);
}

void tracker_observe(Tracker *tracker, const TrackerObserver *observer)
{
        guint i;

        tracker->observer = observer ? *observer : (TrackerObserver){0};
        for (i = 0; i < tracker->processes->len; i++) {
                Process *process = tracker->processes->pdata[i];

                process->observed_epoch = codemap_epoch(process->map);
                codemap_set_changes(process->map, observer ? tracker->changes : NULL);
        }
}

const GPtrArray *tracker_processes(const Tracker *tracker)
{
        return tracker->processes;
}

uint64_t tracker_n_processes_ever(const Tracker *tracker)
{
        return tracker->n_serials;
}

const TrackerStats *tracker_stats(const Tracker *tracker)
{
        return &tracker->stats;
}

void tracker_set_host(Tracker *tracker, const TrackerHost *host)
{
        tracker->host = *host;
}

uint64_t tracker_last_epoch(const Tracker *tracker)
{
        return tracker->account.last_epoch;
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
        budget_enforce(&tracker->budget);
}

const Budget *tracker_budget(const Tracker *tracker)
{
        return &tracker->budget;
}

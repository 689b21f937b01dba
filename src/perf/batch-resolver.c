/* SPDX-License-Identifier: MIT */
#include "perf/batch-resolver.h"

#include "perf/verdict.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Bytes: the JIT aligns each body to a multiple. */
#define CODE_ALIGNMENT 16

/* "FROM=TO". */
static bool resolver_add_map(BatchResolver *resolver, const char *map)
{
        const char *equals = strchr(map, '=');
        char *from = equals ? strndup(map, (size_t)(equals - map)) : NULL;
        bool ok = from && clrsym_lines_map_source(resolver->lines, from, equals + 1) == 0;

        free(from);
        return ok;
}

/* False: no memory, or MAP is malformed; the command line has checked it. */
static bool resolver_init_lines(BatchResolver *resolver, const Settings *settings)
{
        size_t i;

        if (clrsym_lines_new(&resolver->lines) < 0)
                return false;
        for (i = 0; i < settings->symbols.n; i++)
                if (clrsym_lines_add_directory(resolver->lines, settings->symbols.texts[i]) < 0)
                        return false;
        for (i = 0; i < settings->programs.n; i++)
                if (clrsym_lines_add_program(resolver->lines, settings->programs.texts[i]) < 0)
                        return false;
        for (i = 0; i < settings->source_maps.n; i++)
                if (!resolver_add_map(resolver, settings->source_maps.texts[i]))
                        return false;
        return true;
}

int batch_resolver_init(BatchResolver *resolver, const Settings *settings, Frames *frames,
                        Images *images, clrsym *handle, char **ret_message)
{
        const clrsym_options options = {.socket = settings->socket, .trace = settings->trace};

        *resolver = (BatchResolver){
                .settings = settings,
                .frames = frames,
                .images = images,
                .handle = settings->has_no_events ? NULL : handle,
                .hides_callers = OSR_HIDES_CALLERS,
                .wait_ms = settings->wait_ms,
        };
        if (!resolver_init_lines(resolver, settings)) {
                *ret_message = strdup("--dlarg source-map: it is FROM=TO, or no memory is left");
                return -EINVAL;
        }
        if (handle || settings->has_no_events)
                return 0;
        resolver->owns_handle = true;
        return clrsym_open(&resolver->handle, &options, ret_message);
}

void batch_resolver_deinit(BatchResolver *resolver)
{
        clrsym_lines_free(resolver->lines);
        if (resolver->owns_handle)
                clrsym_close(resolver->handle);
        osr_slots_deinit(&resolver->slots);
        stack_roots_deinit(&resolver->roots);
        resolver->lines = NULL;
        resolver->handle = NULL;
}

static bool add_query(Batch *batch, const clrsym_query *query, int64_t shift)
{
        clrsym_query *added = batch_add_query(batch);

        if (!added)
                return false;
        *added = *query;
        if (shift < 0 && query->time < (uint64_t)-shift)
                added->time = 1;
        else
                added->time += (uint64_t)shift;
        return true;
}

/*
 * Queries the time of the sample. Without an exact clock, it queries the begin and the end of the
 * window in which the sample was taken. Returns the number of queries; 0: no memory.
 */
static unsigned add_queries(const BatchResolver *resolver, Batch *batch, const clrsym_query *query)
{
        const Settings *settings = resolver->settings;
        clrsym_query moved = *query;

        if (resolver->has_exact_clock)
                return add_query(batch, query, 0) ? 1 : 0;
        moved.time += (uint64_t)settings->clock_offset;
        return add_query(batch, &moved, -(int64_t)settings->clock_slack) &&
                               add_query(batch, &moved, (int64_t)settings->clock_slack)
                       ? 2
                       : 0;
}

bool batch_resolver_add(BatchResolver *resolver, Batch *batch, const ImageAddress *where,
                        MappingKind kind)
{
        const Settings *settings = resolver->settings;
        const BatchSample *sample = &batch->samples[batch->n_samples - 1];
        const PidMap *map = settings_map(settings, sample->pid);
        clrsym_query query = {
                .pid = map ? map->pid : sample->pid,
                .has_pid_ns = map && map->has_pid_ns,
                .has_time = true,
                .pid_ns = map ? map->pid_ns : 0,
                .address = where->address,
                .time = sample->time,
        };
        Ask *ask = batch_add_ask(batch);

        if (!ask)
                return false;
        ask->kind = kind;
        ask->pid = sample->pid;
        ask->address = where->address;
        if (query.pid <= 0)
                return true;
        /*
         * /proc gives the mappings of live processes; only an exact clock can compare the sample's
         * time with theirs.
         */
        if ((kind == MAPPING_IMAGE || kind == MAPPING_MANAGED || kind == MAPPING_OTHER) &&
            (!resolver->images->asks_living || resolver->has_exact_clock))
                ask->code = images_find(resolver->images, sample->pid, sample->time, where);
        /* The assembly is part of a single-file program. */
        if (kind == MAPPING_OTHER && ask->code.begin)
                ask->kind = MAPPING_IMAGE;
        if (!map && settings->is_mapped_only)
                return true;
        ask->n_queries = add_queries(resolver, batch, &query);
        query.address = ask->code.begin;
        if (!ask->n_queries ||
            (ask->code.begin && add_queries(resolver, batch, &query) != ask->n_queries))
                return false;
        query.address = batch->entries[ask->entry].ip;
        if (kind != MAPPING_JITTED || query.address == where->address ||
            query.address % CODE_ALIGNMENT)
                return true;
        ask->at_ip = batch->n_queries;
        return add_queries(resolver, batch, &query) > 0;
}

/*
 * True if the answer, about the begin of the file's function, names the body at the asked address:
 * the body's load is not before the file was mapped, and its size, if known, covers the address.
 */
static bool is_function(const BatchResolver *resolver, const Ask *ask, const clrsym_answer *answer)
{
        const Settings *settings = resolver->settings;
        const clrsym_body *body = &answer->body;
        uint64_t mapped = ask->code.mapped, slack = 0;

        if (mapped && !resolver->has_exact_clock) {
                mapped += (uint64_t)settings->clock_offset;
                slack = settings->clock_slack;
        }
        return answer->status == CLRSYM_OK && answer->has_body && body->start == ask->code.begin &&
               (body->source == CLRSYM_SOURCE_R2R_ENTRY ||
                body->tier == CLRSYM_TIER_READY_TO_RUN) &&
               (!body->size || ask->address - body->start < body->size) &&
               (!body->loaded || !mapped || body->loaded + slack >= mapped);
}

static bool are_function(const BatchResolver *resolver, const Ask *ask,
                         const clrsym_answer *answers)
{
        unsigned i;

        for (i = 0; i < ask->n_queries; i++)
                if (!is_function(resolver, ask, &answers[i]))
                        return false;
        return ask->n_queries > 0;
}

/*
 * The process whose files are read; 0: the samples are from a recorded trace, or the process has
 * ended. Then our own files are read.
 */
static pid_t files_of(const BatchResolver *resolver, int32_t pid)
{
        FD_AUTO int root = -1;

        if (resolver->settings->trace || pid <= 0)
                return 0;
        if (kill(pid, 0) == 0 || errno != ESRCH)
                return pid;
        /* The recording may keep the root directory of an ended process. */
        root = rootfs_open_root(pid);
        return root >= 0 ? pid : 0;
}

/*
 * Names precompiled code by the image's own tables if events do not name it for certain. The file
 * is the one that was mapped, so the name is certain.
 */
static bool ask_image(BatchResolver *resolver, const Ask *ask, clrsym_answer *ret)
{
        ImageName found;

        if (!images_name(resolver->images, &ask->code, &found))
                return false;
        *ret = (clrsym_answer){
                .status = CLRSYM_OK,
                .pid = ask->pid,
                .has_body = true,
                .body = images_body(&found),
                .offset = ask->address - found.start,
                .line_il_offset = -1,
        };
        return true;
}

/* Finds a precompiled method that an event has named in its image. */
static bool ask_image_method(BatchResolver *resolver, const Ask *ask, const clrsym_body *body,
                             ImageName *ret)
{
        return body->tier == CLRSYM_TIER_READY_TO_RUN && body->name &&
               images_name(resolver->images, &ask->code, ret) && ret->start == body->start &&
               !strcmp(ret->method.name.name, body->name);
}

/* The event of an entry point lacks the type arguments; the image has them. */
static void ask_image_types(BatchResolver *resolver, const Ask *ask, clrsym_body *body)
{
        ImageName found;

        if (body->signature && strstr(body->signature, "generic ") &&
            ask_image_method(resolver, ask, body, &found))
                body->type_arg_names = found.method.name.type_args;
}

/* The event of an entry point lacks the token, the size and the module; the image has them. */
static void ask_image_source(BatchResolver *resolver, const Ask *ask, clrsym_body *body)
{
        ImageName found;

        if (body->token || !ask_image_method(resolver, ask, body, &found))
                return;
        body->token = found.method.name.token;
        body->size = found.method.name.method.end - found.method.name.method.begin;
        body->module_path = found.method.path;
        memcpy(body->module_pdb_guid, found.method.guid, sizeof(body->module_pdb_guid));
}

/*
 * Type parameters keep their numbers. Precompiled code without a token cannot get the parameters'
 * names, so one method would otherwise be two frames.
 */
static void ask_type_args(BatchResolver *resolver, const Ask *ask, clrsym_body *body)
{
        if (!body->type_args) {
                ask_image_types(resolver, ask, body);
                return;
        }
        clrsym_lines_name_types(resolver->lines, files_of(resolver, ask->pid), body);
        body->type_param_names = NULL;
        body->method_param_names = NULL;
}

static void ask_thunk(BatchResolver *resolver, const Ask *ask, clrsym_body *body)
{
        clrsym_body named = {.module_path = body->module_path,
                             .token = body->token,
                             .signature = body->signature};
        ImageName found;

        if (ask_image_method(resolver, ask, body, &found)) {
                body->is_thunk = found.method.name.is_thunk;
                return;
        }
        /*
         * Thunks of other tiers do not exist: such code is the method's own. NAMED, a copy, keeps
         * the names of type parameters out of BODY.
         */
        if (body->tier != CLRSYM_TIER_OPTIMIZED && body->tier != CLRSYM_TIER_READY_TO_RUN)
                return;
        memcpy(named.module_pdb_guid, body->module_pdb_guid, sizeof(named.module_pdb_guid));
        clrsym_lines_name_types(resolver->lines, files_of(resolver, ask->pid), &named);
        body->is_thunk = named.is_thunk;
}

_Static_assert(COUNT_LINE_TOO_MUCH - COUNT_LINE_FOUND == CLRSYM_LINE_TOO_MUCH, "another order");

/* NULL: the line is not known, or the settings do not ask for lines. */
static const clrsym_line *ask_line(BatchResolver *resolver, const Ask *ask, clrsym_answer *answer,
                                   clrsym_line *ret)
{
        clrsym_line_status status;
        pid_t files;

        if (!resolver->settings->has_lines)
                return NULL;
        files = files_of(resolver, ask->pid);
        /* The sources of an ended single-file program are found by the program's path. */
        if (ask->code.mapping && !ask->code.file && !files)
                clrsym_lines_add_program(resolver->lines, ask->code.mapping->mapping.path);
        ask_image_source(resolver, ask, &answer->body);
        /* ANSWER may be about the begin of the function: move it to the address. */
        if (answer->offset != ask->address - answer->body.start) {
                answer->offset = ask->address - answer->body.start;
                answer->line_il_offset = -1;
                answer->il_kind = CLRSYM_IL_UNKNOWN;
        }
        status = clrsym_lines_find(resolver->lines, files, answer, ret);
        resolver->counts.n[COUNT_LINE_FOUND + status]++;
        return status == CLRSYM_LINE_FOUND ? ret : NULL;
}

/* Adds the methods inlined at the asked address. ANSWER of another address has none. */
static int ask_inlined(BatchResolver *resolver, Batch *batch, const Ask *ask, Entry *entry,
                       const clrsym_answer *answer)
{
        uint32_t i;

        if (answer->offset != ask->address - answer->body.start)
                return 0;
        for (i = 0; i < answer->n_inlined; i++) {
                clrsym_body inlined;
                clrsym_line line;
                bool has_line =
                        clrsym_lines_find_inlined(resolver->lines, files_of(resolver, ask->pid),
                                                  answer, i, &inlined, &line) == CLRSYM_LINE_FOUND;
                uint32_t frame;

                if (!inlined.name)
                        continue;
                frame = frames_inlined(resolver->frames, &inlined, answer->body.tier,
                                       has_line && resolver->settings->has_lines ? &line : NULL);
                if (frame == INDEX_NONE || !batch_add_inlined(batch, entry, frame))
                        return -ENOMEM;
        }
        return 0;
}

/* True for IL stubs, code that the runtime generates for calls between managed and native code. */
static bool body_is_stub(const clrsym_body *body)
{
        static const char STUB[] = "IL_STUB";

        return body->name && !strncmp(body->name, STUB, sizeof(STUB) - 1);
}

typedef struct AskFound {
        Verdict verdict;
        clrsym_answer answer; /* valid if the verdict has a name */
        bool is_of_image;     /* the image names the code, not an event */
        bool is_place_known;  /* the address is exact, not only the method */
} AskFound;

static AskFound ask_find(BatchResolver *resolver, const Batch *batch, const Ask *ask)
{
        const clrsym_answer *answer = batch->answers + ask->query;
        AskFound found = {.verdict = verdict_of_answers(answer, ask->n_queries, ask->kind),
                          .is_place_known = true};

        clrsym_lines_set_process(resolver->lines, ask->pid);
        if (!found.verdict.is_named && ask->code.begin &&
            are_function(resolver, ask, answer + ask->n_queries)) {
                Verdict function;

                answer += ask->n_queries;
                function = verdict_of_answers(answer, ask->n_queries, ask->kind);
                if (function.is_named)
                        found.verdict = function;
        }
        if ((!found.verdict.is_named || found.verdict.is_marked) &&
            ask_image(resolver, ask, &found.answer)) {
                found.verdict = (Verdict){.is_named = true};
                found.is_of_image = true;
        } else if (found.verdict.is_named) {
                if (ask->n_queries == 2 && answer->status != CLRSYM_OK)
                        answer++;
                found.answer = *answer;
        }
        return found;
}

/* Makes ENTRY the frame that was found for ASK. Without a name, ENTRY keeps perf's frame. */
static int ask_use(BatchResolver *resolver, Batch *batch, const Ask *ask, AskFound *found,
                   Entry *entry)
{
        /* In a single-file program, the module is the one that the runtime reports. */
        const char *image = ask->code.begin && !ask->code.file ? NULL
                            : ask->kind == MAPPING_IMAGE
                                    ? frames_get(resolver->frames, entry->frame).module
                                    : ask->code.file;
        const clrsym_line *known = NULL;
        clrsym_answer *answer = &found->answer;
        clrsym_line line;

        if (!found->verdict.is_named && entry->source == FRAME_SOURCE_RECORDER)
                found->verdict.reason = COUNT_RECORDER;
        if (!found->verdict.is_named && entry->source == FRAME_SOURCE_SEVERAL)
                found->verdict.reason = COUNT_SEVERAL;
        verdict_count(&resolver->counts, ask->kind, &found->verdict, answer);
        if (!found->verdict.is_named) {
                images_note_missing(ask->code.missing);
                return 0;
        }
        entry->offset = (uint32_t)(entry->ip - answer->body.start);
        if (found->is_place_known)
                known = ask_line(resolver, ask, answer, &line);
        if (!answer->body.type_arg_names)
                ask_type_args(resolver, ask, &answer->body);
        if (!found->is_of_image)
                ask_thunk(resolver, ask, &answer->body);
        entry->frame =
                frames_body(resolver->frames, answer, image, found->verdict.is_marked, known);
        if (entry->frame == INDEX_NONE)
                return -ENOMEM;
        entry->source = found->is_of_image            ? FRAME_SOURCE_IMAGE
                        : body_is_stub(&answer->body) ? FRAME_SOURCE_STUB
                                                      : FRAME_SOURCE_EVENT;
        return found->is_of_image || !found->is_place_known
                       ? 0
                       : ask_inlined(resolver, batch, ask, entry, answer);
}

/* Callers that are hidden (perf/osr-callers.h) */

/* The last frame before the current one. */
typedef struct Callee {
        size_t sample, caller; /* the entry of its caller */
        bool is_osr;           /* OSR hides its caller */
        clrsym_body body;      /* valid if is_osr */
        bool is_unknown; /* the caller was hidden and is unknown: PLACE is the unknown frame */
        bool is_added;   /* PLACE is among the batch's callers, not its entries */
        size_t place;
} Callee;

static Callee callee_of(const Batch *batch, const Ask *ask)
{
        Callee callee = {.sample = ask->sample, .caller = ask->entry + 1, .place = ask->entry};

        while (callee.caller < batch->n_entries &&
               batch->entries[callee.caller].role != ENTRY_FRAME)
                callee.caller++;
        return callee;
}

typedef enum Slot {
        SLOT_NONE,   /* no slot, but a frame */
        SLOT_CALLEE, /* the slot of the method in the frame before */
        SLOT_HIDDEN, /* the slot of a method that has no frame */
} Slot;

static bool body_is_same_method(const clrsym_body *one, const clrsym_body *other)
{
        return one->method_id == other->method_id && one->name && other->name &&
               !strcmp(one->name, other->name);
}

/* The answer, if an OSR body begins exactly at the entry's address; else NULL. */
static const clrsym_answer *ask_osr_begin(const Batch *batch, const Ask *ask)
{
        const clrsym_answer *answer = ask->at_ip ? batch->answers + ask->at_ip : NULL;

        return answer && answer->status == CLRSYM_OK && answer->has_body &&
                               answer->body.tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR &&
                               answer->body.start == batch->entries[ask->entry].ip
                       ? answer
                       : NULL;
}

/* Decides whether the entry's address is a slot. SLOT_HIDDEN: RET_HIDDEN is the slot's method. */
static Slot ask_slot(const BatchResolver *resolver, const Batch *batch, const Ask *ask,
                     const Callee *callee, const AskFound *found, AskFound *ret_hidden)
{
        const Entry *entry = &batch->entries[ask->entry];
        const bool follows = callee->sample == ask->sample && callee->caller == ask->entry;
        const clrsym_answer *begin = ask_osr_begin(batch, ask);

        if (!resolver->hides_callers || ask->kind == MAPPING_MANAGED || entry->ip == ask->address)
                return SLOT_NONE;
        if (follows && callee->is_osr &&
            (entry->ip == callee->body.start ||
             (found->verdict.is_named ? body_is_same_method(&found->answer.body, &callee->body)
                                      : !begin && ask->kind == MAPPING_JITTED)))
                return SLOT_CALLEE;
        if (begin)
                *ret_hidden = (AskFound){.verdict = {.is_named = true}, .answer = *begin};
        else if (found->verdict.is_named && osr_slots_have(&resolver->slots, ask->pid, entry->ip))
                *ret_hidden = (AskFound){.verdict = found->verdict, .answer = found->answer};
        else
                return SLOT_NONE;
        return SLOT_HIDDEN;
}

/* The caller that OSR hides; without an entry the caller is unknown. */
typedef struct HiddenCaller {
        const Entry *entry; /* NULL: not known */
        const Ask *ask;     /* NULL: native code, named by perf */
        AskFound found;
        bool is_sure;
} HiddenCaller;

static bool callers_are_same(const HiddenCaller *one, const HiddenCaller *other)
{
        if (one->found.verdict.is_named != other->found.verdict.is_named)
                return false;
        return one->found.verdict.is_named
                       ? body_is_same_method(&one->found.answer.body, &other->found.answer.body)
                       : one->entry->frame == other->entry->frame;
}

/* False if the candidate's code was not loaded at that time. */
static bool caller_is_possible(const HiddenCaller *caller)
{
        const Count reason = caller->found.verdict.reason;

        if (!caller->ask || caller->found.verdict.is_named || caller->ask->kind == MAPPING_IMAGE)
                return true;
        return !caller->is_sure && reason != COUNT_NOT_YET && reason != COUNT_UNLOADED;
}

/*
 * Chooses among the candidates after ENTRY, whose asks follow ASK. In a sample without a copy of
 * its stack, each caller of the slot that copies have shown is a candidate: the caller is known
 * only if all candidates are one method.
 */
static HiddenCaller caller_choose(BatchResolver *resolver, const Batch *batch, const Ask *ask)
{
        const Ask *asks = ask + 1, *end = batch->asks + batch->n_asks;
        HiddenCaller chosen = {0};
        size_t i;

        for (i = ask->entry + 1; i < batch->n_entries && batch->entries[i].role != ENTRY_FRAME;
             i++) {
                const Entry *entry = &batch->entries[i];
                HiddenCaller caller = {.entry = entry, .is_sure = entry->role == ENTRY_SURE_CALLER};

                if (entry->role == ENTRY_DROPPED)
                        continue;
                if (asks < end && asks->entry == i) {
                        caller.ask = asks++;
                        caller.found = ask_find(resolver, batch, caller.ask);
                }
                if (!caller_is_possible(&caller))
                        continue;
                if (!chosen.entry) {
                        chosen = caller;
                        continue;
                }
                if (!callers_are_same(&chosen, &caller))
                        return (HiddenCaller){0};
                chosen.found.is_place_known = false;
        }
        if (chosen.ask && !chosen.found.verdict.is_named && chosen.ask->kind == MAPPING_JITTED)
                return (HiddenCaller){0};
        return chosen;
}

static Entry *callee_entry(const Batch *batch, const Callee *callee)
{
        return (callee->is_added ? batch->callers : batch->entries) + callee->place;
}

/* Puts the caller, or an unknown frame, at the place of CALLEE. CALLEE becomes the caller. */
static int caller_use(BatchResolver *resolver, Batch *batch, const Ask *ask, Callee *callee)
{
        HiddenCaller caller = caller_choose(resolver, batch, ask);
        Entry *entry = callee_entry(batch, callee);
        Counts *counts = &resolver->counts;
        int r;

        counts->n[COUNT_OSR_CALLERS]++;
        callee->is_unknown = !caller.entry;
        if (!caller.entry) {
                entry->offset = 0;
                entry->source = FRAME_SOURCE_MARK;
                entry->frame =
                        frames_symbol(resolver->frames, NAMED_MANAGED, OSR_CALLER_UNKNOWN, NULL);
                return entry->frame == INDEX_NONE ? -ENOMEM : 0;
        }
        counts->n[caller.is_sure ? COUNT_OSR_SURE : COUNT_OSR_LIKELY]++;
        entry->ip = caller.entry->ip;
        entry->frame = caller.entry->frame;
        entry->offset = caller.entry->offset;
        if (!caller.ask)
                return 0;
        callee->is_osr = caller.found.verdict.is_named &&
                         caller.found.answer.body.tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR;
        callee->body = caller.found.answer.body;
        caller.found.verdict.is_marked |= !caller.is_sure;
        r = ask_use(resolver, batch, caller.ask, &caller.found, entry);
        if (caller.found.verdict.is_named)
                entry->source = caller.is_sure ? FRAME_SOURCE_STACK : FRAME_SOURCE_SAMPLES;
        return r;
}

/* Names a method that only its slot shows: in the unknown frame before, or in a new frame. */
static int hidden_use(BatchResolver *resolver, Batch *batch, const Ask *ask, AskFound *hidden,
                      Callee *callee)
{
        const bool is_hidden =
                callee->is_unknown && callee->sample == ask->sample && callee->caller == ask->entry;
        Entry *entry = &batch->entries[ask->entry];
        Callee added = callee_of(batch, ask);
        int r;

        if (is_hidden) {
                uint64_t ip = entry->ip;

                entry = callee_entry(batch, callee);
                entry->ip = ip;
                resolver->counts.n[COUNT_OSR_SURE]++;
        } else {
                if (!batch_add_caller(batch, entry))
                        return -ENOMEM;
                added.is_added = true;
                added.place = entry->caller - 1;
        }
        *callee = added;
        r = ask_use(resolver, batch, ask, hidden, entry);
        return r < 0 ? r : caller_use(resolver, batch, ask, callee);
}

/*
 * True if the entry can be a slot instead of a return address: the frame before it is missing, and
 * OSR can replace the code.
 */
static bool ask_can_be_slot(const BatchResolver *resolver, const Batch *batch, const Ask *ask,
                            const AskFound *found)
{
        const clrsym_tier tier = found->answer.body.tier;

        return resolver->hides_callers && found->verdict.is_named && ask->entry > 0 &&
               batch->entries[ask->entry - 1].role == ENTRY_UNKNOWN &&
               (tier == CLRSYM_TIER_QUICK_JITTED || tier == CLRSYM_TIER_INSTRUMENTED);
}

bool batch_resolver_set_unknown(BatchResolver *resolver, Entry *entry)
{
        entry->frame = frames_symbol(resolver->frames, NAMED_MANAGED, STACK_HIDDEN_NAME, NULL);
        entry->source = FRAME_SOURCE_MARK;
        resolver->counts.n[COUNT_HIDDEN_CALLERS]++;
        return entry->frame != INDEX_NONE;
}

/* Adds an unknown frame: the caller of ENTRY, or of the missing frame. False: no memory. */
static bool unknown_use(BatchResolver *resolver, Batch *batch, Entry *entry)
{
        Entry *unknown = batch_add_caller(batch, entry);

        return unknown && batch_resolver_set_unknown(resolver, unknown);
}

static int ask_name(BatchResolver *resolver, Batch *batch, const Ask *ask, Callee *callee)
{
        AskFound found = ask_find(resolver, batch, ask), hidden;
        Entry *entry = &batch->entries[ask->entry];
        Slot slot = ask_slot(resolver, batch, ask, callee, &found, &hidden);

        if (slot == SLOT_HIDDEN)
                return hidden_use(resolver, batch, ask, &hidden, callee);
        if (slot == SLOT_CALLEE) {
                if (found.verdict.is_named && !osr_slots_add(&resolver->slots, ask->pid, entry->ip))
                        return -ENOMEM;
                *callee = callee_of(batch, ask);
                return caller_use(resolver, batch, ask, callee);
        }
        *callee = callee_of(batch, ask);
        if (found.verdict.is_named) {
                callee->is_osr = found.answer.body.tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR;
                callee->body = found.answer.body;
        }
        if (ask_can_be_slot(resolver, batch, ask, &found) && !unknown_use(resolver, batch, entry))
                return -ENOMEM;
        return ask_use(resolver, batch, ask, &found, entry);
}

/* The body, if the first answer has status OK; else NULL. */
static const clrsym_body *ask_body(const Batch *batch, const Ask *ask)
{
        const clrsym_answer *answer = batch->answers + ask->query;

        return ask->n_queries && answer->status == CLRSYM_OK && answer->has_body ? &answer->body
                                                                                 : NULL;
}

/* Learns the slots of the whole batch: another sample may lack the frame of a slot's method. */
static bool resolver_learn(BatchResolver *resolver, const Batch *batch)
{
        size_t i;

        for (i = 1; i < batch->n_asks; i++) {
                const Ask *callee = &batch->asks[i - 1], *ask = &batch->asks[i];
                const clrsym_body *replaced = ask_body(batch, callee), *body = ask_body(batch, ask);

                if (resolver->hides_callers && ask->kind == MAPPING_JITTED &&
                    ask->sample == callee->sample && ask->entry == callee->entry + 1 && replaced &&
                    replaced->tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR && body &&
                    batch->entries[ask->entry].role == ENTRY_FRAME &&
                    body_is_same_method(replaced, body) &&
                    !osr_slots_add(&resolver->slots, ask->pid, batch->entries[ask->entry].ip))
                        return false;
        }
        return true;
}

static bool ask_is_candidate(const Batch *batch, const Ask *ask)
{
        return batch->entries[ask->entry].role != ENTRY_FRAME;
}

static int resolver_name(BatchResolver *resolver, Batch *batch)
{
        Callee callee = {.sample = SIZE_MAX};
        int r = resolver_learn(resolver, batch) ? 0 : -ENOMEM;
        size_t i;

        for (i = 0; r == 0 && i < batch->n_asks; i++)
                if (!ask_is_candidate(batch, &batch->asks[i]))
                        r = ask_name(resolver, batch, &batch->asks[i], &callee);
        for (i = 0; i < batch->n_entries; i++)
                if (batch->entries[i].role == ENTRY_UNKNOWN) {
                        batch->entries[i].role = ENTRY_FRAME;
                } else if (batch->entries[i].role != ENTRY_FRAME) {
                        batch->entries[i].role = ENTRY_DROPPED;
                        batch->has_dropped = true;
                }
        return r;
}

int batch_resolver_run(BatchResolver *resolver, Batch *batch)
{
        clrsym_answer *answers = NULL;
        bool is_late = false;
        size_t i;
        int r = 0;

        if (batch->n_queries) {
                if (!(answers = batch_answers(batch)))
                        return -ENOMEM;
                for (i = 0; i < batch->n_queries && !resolver->handle; i++)
                        answers[i] = (clrsym_answer){.status = CLRSYM_NO_PROCESS};
                if (resolver->handle)
                        r = clrsym_resolve(resolver->handle, batch->queries, batch->n_queries,
                                           resolver->wait_ms, answers);
                if (r < 0)
                        return r;
        }
        r = resolver_name(resolver, batch);
        if (r == 0 &&
            !stack_roots_mark(&resolver->roots, batch, resolver->frames, &resolver->counts))
                r = -ENOMEM;
        if (r == 0 && !batch_expand(batch))
                r = -ENOMEM;
        for (i = 0; i < batch->n_queries; i++)
                is_late |= answers[i].status == CLRSYM_PENDING ||
                           answers[i].status == CLRSYM_NO_PROCESS ||
                           answers[i].confidence == CLRSYM_PROVISIONAL;
        /* The wait timed out: no more events come, and later batches are later in time. */
        if (is_late)
                resolver->wait_ms = 0;
        return r;
}

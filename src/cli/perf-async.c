/* SPDX-License-Identifier: MIT */
#include "cli/perf-async.h"

#include "cli/profile-row.h"
#include "event/async-events.h"
#include "profile/data.h"

#include <stdlib.h>
#include <string.h>

#define CORE_LIBRARY "System.Private.CoreLib.dll"
#define WRAPPER      "Continuation_Wrapper_"
#define STUB         "[async resume stub]"

/* ns for which an address keeps its name. */
#define SLOT_BITS 27

typedef struct AsyncAddress {
        uint64_t address, slot;
        int32_t pid;
} AsyncAddress;

/* Methods of the core library, in names of any style. The first matching row counts. */
static const struct {
        const char *text;
        AsyncRole role;
} METHODS[] = {
        {"ContinuationWrapper." WRAPPER, ASYNC_WRAPPER},
        {"InstrumentedMoveNext", ASYNC_MACHINE},
        {"MoveNextAsDispatcher", ASYNC_MACHINE},
        {"DispatchContinuations", ASYNC_DISPATCHER},
        {"StateMachineBox", ASYNC_BOX},
        {"ExecutionContext.Run", ASYNC_PASS},
};

static guint async_address_hash(gconstpointer data)
{
        const AsyncAddress *key = data;
        const uint64_t hash =
                (key->address ^ key->slot << 40 ^ (uint64_t)key->pid << 20) * 0x9e3779b97f4a7c15u;

        return (guint)(hash >> 32);
}

static gboolean async_address_equal(gconstpointer one, gconstpointer other)
{
        const AsyncAddress *a = one, *b = other;

        return a->address == b->address && a->slot == b->slot && a->pid == b->pid;
}

void perf_async_init(PerfAsync *async, Profile *profile)
{
        *async = (PerfAsync){
                .profile = profile,
                .roles = g_array_new(FALSE, FALSE, sizeof(uint8_t)),
                .wrappers = g_array_new(FALSE, FALSE, sizeof(uint8_t)),
                .wanted = g_array_new(FALSE, FALSE, sizeof(AsyncWanted)),
                .index = g_hash_table_new_full(async_address_hash, async_address_equal, g_free,
                                               NULL),
                .numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .entries = g_array_new(FALSE, FALSE, sizeof(Entry)),
                .last = g_array_new(FALSE, FALSE, sizeof(Entry)),
                .named = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        };
}

void perf_async_deinit(PerfAsync *async)
{
        g_clear_pointer(&async->roles, g_array_unref);
        g_clear_pointer(&async->wrappers, g_array_unref);
        g_clear_pointer(&async->wanted, g_array_unref);
        g_clear_pointer(&async->index, g_hash_table_unref);
        g_clear_pointer(&async->numbers, g_array_unref);
        g_clear_pointer(&async->entries, g_array_unref);
        g_clear_pointer(&async->last, g_array_unref);
        g_clear_pointer(&async->named, g_array_unref);
}

/* The lookup address: a return address is behind the call. */
static AsyncAddress async_address(const AsyncChain *chain, uint64_t address, uint64_t time)
{
        return (AsyncAddress){address - (address && !chain->is_machine), time >> SLOT_BITS,
                              chain->pid};
}

static bool perf_async_find(const PerfAsync *async, int32_t pid, int32_t tid, uint64_t time,
                            AsyncPlace *ret)
{
        return async->chains && async_chains_find(async->chains, pid, tid,
                                                  time + (uint64_t)async->clock_offset, ret);
}

void perf_async_want(PerfAsync *async, int32_t pid, int32_t tid, uint64_t time)
{
        const AsyncChain *chain;
        const uint64_t *addresses;
        AsyncPlace place;
        uint32_t i;

        if (!perf_async_find(async, pid, tid, time, &place))
                return;
        chain = async_chains_get(async->chains, place.chain);
        addresses = async_chain_addresses(async->chains, chain);
        for (i = 0; i < chain->n; i++) {
                const AsyncAddress key = async_address(chain, addresses[i], time);
                const AsyncWanted wanted = {.pid = pid, .address = key.address, .time = time};

                if (!addresses[i] || g_hash_table_contains(async->index, &key))
                        continue;
                g_array_append_val(async->wanted, wanted);
                g_hash_table_insert(async->index, g_memdup2(&key, sizeof(key)),
                                    GUINT_TO_POINTER(async->wanted->len));
        }
}

static const AsyncWanted *perf_async_named(const PerfAsync *async, const AsyncChain *chain,
                                           uint64_t address, uint64_t time)
{
        const AsyncAddress key = async_address(chain, address, time);
        const guint number = GPOINTER_TO_UINT(g_hash_table_lookup(async->index, &key));

        return number ? &g_array_index(async->wanted, AsyncWanted, number - 1) : NULL;
}

/* The sink of names */

static void async_sink_frame(void *data, const NamedFrame *frame)
{
        PerfAsync *async = data;
        const ProfileFrame row = profile_row_of(frame);
        const uint32_t number = profile_frame(async->profile, &row);

        g_array_append_val(async->named, number);
        if (async->take_named)
                async->take_named(async->data, frame, number);
}

static void async_sink_entries(void *data, const Entry *entries, size_t n)
{
        PerfAsync *async = data;

        g_array_set_size(async->last, 0);
        g_array_append_vals(async->last, entries, (guint)n);
}

static void async_sink_sample(void *data, const BatchSample *sample, const char *comm,
                              const char *event, const uint32_t *frames, size_t n)
{
        PerfAsync *async = data;
        AsyncWanted *wanted;
        size_t i;

        if (sample->period >= async->wanted->len)
                return;
        wanted = &g_array_index(async->wanted, AsyncWanted, (guint)sample->period);
        wanted->first = async->numbers->len;
        wanted->n = (guint)n;
        for (i = 0; i < n; i++)
                g_array_append_val(async->numbers,
                                   g_array_index(async->named, uint32_t, frames[i]));
        g_array_append_vals(async->entries, async->last->data, (guint)n);
}

SampleSink perf_async_sink(PerfAsync *async)
{
        return (SampleSink){.frame = async_sink_frame,
                            .sample = async_sink_sample,
                            .data = async,
                            .entries = async_sink_entries};
}

/* The samples */

static AsyncRole frame_role(const ProfileFrame *frame, uint8_t *ret_wrapper)
{
        const char *wrapper;
        size_t i;

        *ret_wrapper = 0;
        if (frame->kind != FRAME_MANAGED || !frame->name)
                return ASYNC_NOTHING;
        if (strstr(frame->name, STUB))
                return ASYNC_STUB;
        if (strstr(frame->name, ".async#") ||
            (strstr(frame->name, ">d__") && strstr(frame->name, ".MoveNext")))
                return ASYNC_METHOD;
        if (!frame->module || !g_str_has_suffix(frame->module, CORE_LIBRARY))
                return ASYNC_NOTHING;
        for (i = 0; i < G_N_ELEMENTS(METHODS); i++) {
                if (!strstr(frame->name, METHODS[i].text))
                        continue;
                wrapper = strstr(frame->name, WRAPPER);
                *ret_wrapper = wrapper ? (uint8_t)atoi(wrapper + strlen(WRAPPER)) : 0;
                return METHODS[i].role;
        }
        return ASYNC_NOTHING;
}

void perf_async_take_frame(PerfAsync *async, const ProfileFrame *frame)
{
        uint8_t wrapper;
        const uint8_t role = (uint8_t)frame_role(frame, &wrapper);

        g_array_append_val(async->roles, role);
        g_array_append_val(async->wrappers, wrapper);
}

/* True if the frame NUMBER of the profile is the outermost frame of NAMED. */
static bool perf_async_is_method(const PerfAsync *async, uint32_t number, const AsyncWanted *named)
{
        const GArray *frames = async->profile->frames;
        const Frame *one = &g_array_index(frames, Frame, number), *other;

        if (!named || !named->n)
                return false;
        other = &g_array_index(
                frames, Frame,
                g_array_index(async->numbers, uint32_t, named->first + named->n - 1));
        return one->kind == FRAME_MANAGED && other->kind == FRAME_MANAGED &&
               one->name == other->name && one->module == other->module;
}

/* Finds the frame of the chain at PLACE in STACK, before and nearest to END. Returns END if there
 * is no such frame. */
static size_t perf_async_find_method(const PerfAsync *async, const AsyncChain *chain,
                                     uint32_t place, uint64_t time, const GArray *stack, size_t end)
{
        const AsyncWanted *named;
        size_t i;

        if (place >= chain->n)
                return end;
        named = perf_async_named(async, chain, async_chain_addresses(async->chains, chain)[place],
                                 time);
        for (i = end; i-- > 0;)
                if (perf_async_is_method(async, g_array_index(stack, uint32_t, i), named))
                        return i;
        return end;
}

const AsyncWanted *perf_async_frames(const PerfAsync *async, const AsyncChain *chain,
                                     uint32_t place, uint64_t time)
{
        const uint64_t address = async_chain_addresses(async->chains, chain)[place];

        return address ? perf_async_named(async, chain, address, time) : NULL;
}

/* Replaces the frames of STACK below JOINT by the frames of its chain. */
static void perf_async_replace(const PerfAsync *async, const AsyncJoint *joint, uint64_t time,
                               GArray *stack)
{
        uint32_t place;

        g_array_set_size(stack, (guint)joint->at);
        for (place = joint->place; place < joint->chain->n; place++) {
                const AsyncWanted *named = perf_async_frames(async, joint->chain, place, time);

                if (named)
                        g_array_append_vals(stack,
                                            &g_array_index(async->numbers, uint32_t, named->first),
                                            named->n);
        }
}

/* A place where a method continues, in indexes of a sample's frames. */
typedef struct AsyncSite {
        AsyncRole role;
        unsigned wrapper; /* with ASYNC_WRAPPER */
        size_t first;     /* the frame of the runtime nearest to the leaf */
        size_t last;      /* the frame whose caller is not the awaiting method */
        bool is_begin;    /* the method has no frame yet, or no longer */
        bool is_hidden;   /* the frame pointers skip the method, because its callee has no frame of
                           * its own */
} AsyncSite;

static AsyncRole perf_async_role(const PerfAsync *async, uint32_t frame)
{
        return g_array_index(async->roles, uint8_t, frame);
}

/* True if a method of the program is nearer to the leaf than AT. */
static bool perf_async_has_method(const PerfAsync *async, const GArray *stack,
                                  const uint32_t *frames, size_t at)
{
        while (at-- > 0)
                if (perf_async_role(async, frames[at]) == ASYNC_METHOD ||
                    (perf_async_role(async, frames[at]) == ASYNC_NOTHING &&
                     g_array_index(async->profile->frames, Frame,
                                   g_array_index(stack, uint32_t, at))
                                     .kind == FRAME_MANAGED))
                        return true;
        return false;
}

/* Finds the innermost site. False: there is none. */
static bool perf_async_find_site(const PerfAsync *async, const uint32_t *frames, size_t n,
                                 AsyncSite *ret)
{
        size_t at;

        *ret = (AsyncSite){.role = ASYNC_NOTHING};
        for (at = 0; at < n; at++) {
                const AsyncRole role = perf_async_role(async, frames[at]);

                switch (role) {
                case ASYNC_NOTHING:
                case ASYNC_METHOD:
                        if (ret->role != ASYNC_NOTHING)
                                return true;
                        break;
                case ASYNC_PASS:
                        /* A box that jumps to the method has no frame. */
                        if (at && perf_async_role(async, frames[at - 1]) == ASYNC_METHOD) {
                                ret->role = ASYNC_BOX;
                                ret->first = at;
                                ret->last = at - 1;
                        }
                        break;
                case ASYNC_DISPATCHER:
                        return ret->role != ASYNC_NOTHING;
                case ASYNC_STUB:
                case ASYNC_BOX:
                        if (ret->role == ASYNC_NOTHING) {
                                ret->role = role;
                                ret->first = at;
                        }
                        ret->last = at;
                        break;
                case ASYNC_WRAPPER:
                case ASYNC_MACHINE:
                        if (ret->role == ASYNC_NOTHING)
                                ret->first = at;
                        ret->role = role;
                        ret->wrapper = g_array_index(async->wrappers, uint8_t, frames[at]);
                        ret->last = at;
                        return true;
                }
        }
        return ret->role != ASYNC_NOTHING;
}

/* If STACK has the method at PLACE of the chain, joins the chain there. False: it does not. */
static bool perf_async_try(const PerfAsync *async, const AsyncChain *chain, uint32_t place,
                           const AsyncSite *site, uint64_t time, const GArray *stack,
                           AsyncJoint *ret)
{
        const size_t method =
                perf_async_find_method(async, chain, place, time, stack, site->last + 1);

        if (method > site->last)
                return false;
        *ret = (AsyncJoint){.at = method + 1, .chain = chain, .place = place + 1};
        return true;
}

/* A state machine completes before the next one continues on top of it. */
static bool perf_async_use_machines(const PerfAsync *async, const AsyncChain *chain,
                                    uint32_t n_done, const AsyncSite *site, uint64_t time,
                                    const GArray *stack, AsyncJoint *ret)
{
        return perf_async_try(async, chain, n_done, site, time, stack, ret) ||
               (n_done && perf_async_try(async, chain, n_done - 1, site, time, stack, ret));
}

static bool perf_async_use_wrapper(const PerfAsync *async, const AsyncChain *chain,
                                   const AsyncSite *site, uint64_t time, const GArray *stack,
                                   AsyncJoint *ret)
{
        const uint32_t first = (site->wrapper - chain->index) % ASYNC_WRAPPERS;
        /* In a short chain, the number of the wrapper identifies the continued method. */
        const bool is_only = chain->n <= ASYNC_WRAPPERS && first < chain->n;
        uint32_t place;

        if (site->is_begin && is_only) {
                *ret = (AsyncJoint){.at = site->last, .chain = chain, .place = first};
                return true;
        }
        for (place = first; place < chain->n; place += ASYNC_WRAPPERS)
                if (perf_async_try(async, chain, place, site, time, stack, ret))
                        return true;
        if (site->is_hidden && is_only)
                *ret = (AsyncJoint){.at = site->first, .chain = chain, .place = first};
        return site->is_hidden && is_only;
}

/* False: the chain is uncertain. */
static bool perf_async_use_chain(const PerfAsync *async, const BatchSample *sample,
                                 const AsyncSite *site, const GArray *stack, AsyncJoint *ret)
{
        const AsyncChain *chain;
        AsyncPlace found;

        if (site->role == ASYNC_STUB ||
            !perf_async_find(async, sample->pid, sample->tid, sample->time, &found))
                return false;
        chain = async_chains_get(async->chains, found.chain);
        if (chain->is_machine != (site->role != ASYNC_WRAPPER))
                return false;
        return chain->is_machine
                       ? perf_async_use_machines(async, chain, found.n_done, site, sample->time,
                                                 stack, ret)
                       : perf_async_use_wrapper(async, chain, site, sample->time, stack, ret);
}

/* Inserts a frame at AT that marks the missing awaiting methods. */
static void perf_async_mark(const PerfAsync *async, size_t at, GArray *stack)
{
        static const ProfileFrame CONTINUED = {.name = ASYNC_CONTINUED_NAME, .kind = FRAME_UNKNOWN};
        const uint32_t number = profile_frame(async->profile, &CONTINUED);

        g_array_insert_val(stack, (guint)at, number);
}

bool perf_async_find_joint(PerfAsync *async, const BatchSample *sample, const uint32_t *frames,
                           size_t n, const GArray *stack, AsyncJoint *ret)
{
        AsyncSite site;

        if (!perf_async_find_site(async, frames, n, &site))
                return false;
        site.is_begin = !perf_async_has_method(async, stack, frames, site.last);
        site.is_hidden =
                site.first && perf_async_role(async, frames[site.first - 1]) == ASYNC_NOTHING;
        if (perf_async_use_chain(async, sample, &site, stack, ret)) {
                async->n_joined++;
                return true;
        }
        if (site.is_begin)
                return false;
        async->n_apart++;
        *ret = (AsyncJoint){.at = site.last + 1};
        return true;
}

void perf_async_join(PerfAsync *async, const BatchSample *sample, const uint32_t *frames, size_t n,
                     GArray *stack)
{
        AsyncJoint joint;

        if (!perf_async_find_joint(async, sample, frames, n, stack, &joint))
                return;
        if (joint.chain)
                perf_async_replace(async, &joint, sample->time, stack);
        else
                perf_async_mark(async, joint.at, stack);
}

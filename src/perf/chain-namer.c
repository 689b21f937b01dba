/* SPDX-License-Identifier: MIT */
#include "perf/chain-namer.h"

#include "perf/chain.h"

#include <string.h>

static BatchSample *chain_namer_sample(const ChainNamer *namer)
{
        return &namer->namer->batch.samples[namer->namer->batch.n_samples - 1];
}

/* The number of the event's name. INDEX_NONE: no memory. */
static uint32_t chain_namer_event(ChainNamer *namer, const char *event)
{
        if (!namer->event || namer->event != event) {
                namer->event_text = frames_text(&namer->namer->frames, event);
                namer->event = event;
        }
        return namer->event_text;
}

static bool chain_namer_add_sample(ChainNamer *namer, const ChainSample *sample)
{
        BatchSample *added = batch_add_sample(&namer->namer->batch);

        if (!added)
                return false;
        added->pid = sample->pid;
        added->tid = sample->tid;
        added->cpu = sample->cpu;
        added->time = sample->time;
        added->period = sample->period;
        added->has_chain = sample->n_chain > 0;
        added->comm = frames_text(&namer->namer->frames, sample->comm);
        added->event = chain_namer_event(namer, sample->event);
        return added->comm != INDEX_NONE && added->event != INDEX_NONE;
}

static bool chain_namer_add_link(ChainNamer *namer, const ChainLink *link, EntryRole role)
{
        CodePlace place = {0};
        /*
         * Look up LINK's address, which is before the return address: if a call does not return,
         * the return address can be in the next function.
         */
        const bool is_known = namer->code.find(namer->code.data, chain_namer_sample(namer),
                                               link->address, link->is_user, &place);
        const char *symbol = is_known ? place.symbol : NULL;
        const char *dso = is_known ? place.dso : NULL;
        MappingKind mapping = is_known ? place.kind : MAPPING_NOWHERE;
        /*
         * Code of a mapped file is native, with or without a symbol, unless the file contains an
         * assembly.
         */
        bool is_of_file = mapping == MAPPING_LIBRARY || (mapping == MAPPING_OTHER && *dso == '/');
        NamedKind kind = !link->is_user || place.is_kernel ? NAMED_KERNEL
                         : mapping == MAPPING_JITTED && place.source != FRAME_SOURCE_SYMBOL
                                 ? NAMED_MANAGED
                         : symbol || is_of_file ? NAMED_NATIVE
                                                : NAMED_UNKNOWN;
        BatchResolver *resolver = &namer->namer->resolver;
        Entry *entry = batch_add_entry(&namer->namer->batch);
        ImageAddress where;

        if (!entry)
                return false;
        entry->ip = link->ip;
        /* An address outside all mappings is not a caller. */
        entry->role = role != ENTRY_FRAME && !is_known ? ENTRY_DROPPED : role;
        entry->offset = symbol ? (uint32_t)(link->ip - place.start) : 0;
        entry->source = place.source;
        entry->frame = frames_symbol(&namer->namer->frames, kind, symbol, dso);
        if (entry->frame == INDEX_NONE)
                return false;
        if (entry->role == ENTRY_DROPPED)
                return true;
        if (mapping == MAPPING_LIBRARY && !symbol && mapping_is_of_runtime(dso))
                resolver->counts.n[COUNT_RUNTIME_UNNAMED]++;
        if (kind == NAMED_KERNEL || !mapping_kind_may_be_managed(mapping, symbol) ||
            !chain_namer_sample(namer)->pid)
                return true;
        where = (ImageAddress){link->address, dso, place.base};
        return batch_resolver_add(resolver, &namer->namer->batch, &where, mapping);
}

/* Adds the callers that OSR hides if LINK is a slot. */
static bool chain_namer_add_hidden(ChainNamer *namer, const ChainLink *link, Chain rest)
{
        const BatchSample *sample = chain_namer_sample(namer);
        OsrCaller key = {
                .time = sample->time, .slot = link->ip, .pid = sample->pid, .tid = sample->tid};
        uint64_t callers[OSR_CALLERS_EACH];
        ChainLink next;
        bool is_own;
        size_t n, i;

        if (!namer->namer->resolver.callers || !link->is_user || link->ip == link->address ||
            !chain_next(&rest, &next))
                return true;
        key.next = next.ip;
        n = osr_callers_find(namer->namer->resolver.callers, &key, callers, &is_own);
        for (i = 0; i < n; i++) {
                const ChainLink caller = {
                        .ip = callers[i], .address = callers[i] - 1, .is_user = true};

                if (!chain_namer_add_link(namer, &caller,
                                          is_own ? ENTRY_SURE_CALLER : ENTRY_LIKELY_CALLER))
                        return false;
        }
        return true;
}

/* Adds a frame for a caller that frame pointers do not show. */
static bool chain_namer_add_unknown(ChainNamer *namer)
{
        Entry *entry = batch_add_entry(&namer->namer->batch);

        if (!entry)
                return false;
        entry->role = ENTRY_UNKNOWN;
        return batch_resolver_set_unknown(&namer->namer->resolver, entry);
}

/* Adds a frame without code; NAME NULL: none. */
static bool chain_namer_add_leaf(ChainNamer *namer, const char *name)
{
        Entry *entry = name ? batch_add_entry(&namer->namer->batch) : NULL;

        if (!entry)
                return !name;
        entry->frame = frames_symbol(&namer->namer->frames, NAMED_KERNEL, name, NULL);
        entry->source = FRAME_SOURCE_MARK;
        return entry->frame != INDEX_NONE;
}

static bool chain_namer_add_chain(ChainNamer *namer, Chain chain, unsigned max_frames)
{
        bool is_user = false;
        unsigned n = 0;
        ChainLink link;

        while (chain_next(&chain, &link)) {
                n++;
                is_user |= link.is_user;
                namer->namer->resolver.counts.n[COUNT_FRAMES]++;
                if ((link.is_after_hidden && !chain_namer_add_unknown(namer)) ||
                    !chain_namer_add_link(namer, &link, ENTRY_FRAME) ||
                    !chain_namer_add_hidden(namer, &link, chain))
                        return false;
        }
        namer->namer->resolver.counts.n[COUNT_OUTSIDE] +=
                is_user && !chain_namer_sample(namer)->pid;
        chain_namer_sample(namer)->cut =
                chain.cut == STACK_WHOLE && n == max_frames ? STACK_CUT_FRAMES : chain.cut;
        chain_namer_sample(namer)->has_begin = chain.has_begin;
        return true;
}

/* The samples of the event in the settings; without one, all but the copies of stacks. */
static bool chain_namer_wants(const ChainNamer *namer, const char *event)
{
        return namer->namer->settings.event
                       ? !strcmp(event, namer->namer->settings.event)
                       : strncmp(event, OSR_COPIES_EVENT, strlen(OSR_COPIES_EVENT)) != 0;
}

bool chain_namer_add(ChainNamer *namer, const ChainSample *sample)
{
        Chain chain = chain_of(sample->chain, sample->n_chain);

        if (!chain_namer_wants(namer, sample->event)) {
                namer->namer->resolver.counts.n[COUNT_OTHER_SAMPLES]++;
                return true;
        }
        /* The chain has no address: stacks were not recorded, or only kernel stacks. */
        if (!chain_has_links(chain))
                chain = chain_of(&sample->ip, 1);
        namer->namer->resolver.counts.n[COUNT_SAMPLES]++;
        if (!chain_namer_add_sample(namer, sample) || !chain_namer_add_leaf(namer, sample->leaf) ||
            !chain_namer_add_chain(namer, chain, sample->max_frames))
                return namer_fail_no_memory(namer->namer);
        if (!namer_is_full(namer->namer))
                return true;
        namer->event = NULL; /* flushing may renumber the names */
        return namer_flush(namer->namer);
}

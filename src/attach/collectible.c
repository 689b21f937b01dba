/* SPDX-License-Identifier: MIT */
#include "attach/collectible.h"

#include "nettrace/reader.h"

/* Flag of an unloadable assembly. */
#define ASSEMBLY_FLAG_COLLECTIBLE 0x8

#define WATCH G_TIME_SPAN_SECOND

typedef struct CollectibleSearch {
        NettraceReader *reader; /* owned */
        bool is_found;
        bool is_damaged;
} CollectibleSearch;

static void collectible_search_take_records(CollectibleSearch *search)
{
        NettraceItem item;
        StreamGap gap;
        Record record;

        while ((item = nettrace_reader_next(search->reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                if (item == NETTRACE_ITEM_RECORD &&
                    (record_u64(&record, FIELD_AssemblyFlags) & ASSEMBLY_FLAG_COLLECTIBLE))
                        search->is_found = true;
}

static void collectible_search_take(void *data, const uint8_t *bytes, size_t n)
{
        CollectibleSearch *search = data;

        if (!search->is_damaged)
                search->is_damaged = !nettrace_reader_push(search->reader, bytes, n, NULL);
        collectible_search_take_records(search);
}

bool collectible_find(const Target *target, const EventPipeWait *wait, bool *ret_is_found,
                      GError **error)
{
        CollectibleSearch search = {.reader = nettrace_reader_new(EVENT_USE_ALL)};
        const EventPipeSink sink = {collectible_search_take, &search};
        EventPipeWait watch = *wait;
        bool is_able = false, ok;

        watch.sink = &sink;
        ok = eventpipe_watch_loads(target, &watch, WATCH, &is_able, error);
        nettrace_reader_finish(search.reader);
        collectible_search_take_records(&search);
        /* The unreadable part may have had such an assembly. */
        *ret_is_found = is_able && (search.is_found || search.is_damaged);
        nettrace_reader_free(search.reader);
        return ok;
}

/* SPDX-License-Identifier: MIT */
#include "tracker/process-gaps.h"

#include "codemap/body.h"

/* Gaps kept in each list of a process; if there are more, the oldest are merged. */
#define MAX_GAPS 256
/* More than the number of threads that compile at the same time. */
#define MAX_UNANNOUNCED 1024

void process_gaps_init(ProcessGaps *gaps, Account *account)
{
        *gaps = (ProcessGaps){
                .account = account,
                .reported = g_array_new(FALSE, FALSE, sizeof(Gap)),
                .open_since = BODY_FOREVER,
                .inferred = g_array_new(FALSE, FALSE, sizeof(Gap)),
                .unannounced_since = BODY_FOREVER,
                .missing_since = BODY_FOREVER,
                .unannounced = g_array_new(FALSE, FALSE, sizeof(UnannouncedBody)),
        };
}

static size_t array_size(const GArray *array)
{
        return array->len * g_array_get_element_size((GArray *)array);
}

void process_gaps_deinit(ProcessGaps *gaps)
{
        account_remove(gaps->account, array_size(gaps->reported));
        account_remove(gaps->account, array_size(gaps->inferred));
        account_remove(gaps->account, array_size(gaps->unannounced));
        g_array_unref(gaps->reported);
        g_array_unref(gaps->inferred);
        g_array_unref(gaps->unannounced);
}

static void process_gaps_add(ProcessGaps *gaps, GArray *list, uint64_t begin, uint64_t end)
{
        size_t before = array_size(list);

        gaps_add(list, begin, end);
        gaps_limit(list, MAX_GAPS);
        account_change(gaps->account, before, array_size(list));
}

static uint64_t inference_begin(const ProcessGaps *gaps)
{
        return MIN(gaps->unannounced_since, gaps->missing_since);
}

bool process_gaps_touch(const ProcessGaps *gaps, uint64_t begin, uint64_t end)
{
        uint64_t inferred_since = inference_begin(gaps);

        return (gaps->open_since != BODY_FOREVER && gaps->open_since <= end) ||
               (inferred_since != BODY_FOREVER && inferred_since <= end &&
                gaps->inference_end >= begin) ||
               gaps_touch(gaps->reported, begin, end) || gaps_touch(gaps->inferred, begin, end);
}

static void inference_clear(ProcessGaps *gaps)
{
        gaps->unannounced_since = BODY_FOREVER;
        gaps->missing_since = BODY_FOREVER;
        gaps->inference_end = 0;
}

void process_gaps_report(ProcessGaps *gaps, uint64_t begin, uint64_t end)
{
        uint64_t inferred_since = inference_begin(gaps);
        size_t before = array_size(gaps->inferred);

        process_gaps_add(gaps, gaps->reported, begin, end);
        gaps_remove(gaps->inferred, begin, end);
        account_change(gaps->account, before, array_size(gaps->inferred));
        if (inferred_since <= end && gaps->inference_end >= begin)
                inference_clear(gaps);
}

void process_gaps_report_open(ProcessGaps *gaps, uint64_t begin)
{
        gaps->open_since = MIN(gaps->open_since, begin);
}

bool process_gaps_report_end(ProcessGaps *gaps, uint64_t end)
{
        uint64_t begin = gaps->open_since;

        if (begin == BODY_FOREVER || begin > end)
                return false;
        gaps->open_since = BODY_FOREVER;
        if (begin < end)
                process_gaps_report(gaps, begin, end - 1);
        return true;
}

void process_gaps_settle(ProcessGaps *gaps)
{
        if (inference_begin(gaps) != BODY_FOREVER)
                process_gaps_add(gaps, gaps->inferred, inference_begin(gaps), gaps->inference_end);
        inference_clear(gaps);
        account_remove(gaps->account, array_size(gaps->unannounced));
        g_array_set_size(gaps->unannounced, 0);
        gaps->n_more_unannounced = 0;
}

void process_gaps_add_unannounced(ProcessGaps *gaps, const UnannouncedBody *body)
{
        size_t before = array_size(gaps->unannounced);

        if (gaps->unannounced->len >= MAX_UNANNOUNCED) {
                gaps->n_more_unannounced++;
                return;
        }
        g_array_append_val(gaps->unannounced, *body);
        account_change(gaps->account, before, array_size(gaps->unannounced));
}

void process_gaps_remove_unannounced(ProcessGaps *gaps, guint i)
{
        size_t before = array_size(gaps->unannounced);

        g_array_remove_index(gaps->unannounced, i);
        account_change(gaps->account, before, array_size(gaps->unannounced));
        if (!gaps->unannounced->len && !gaps->n_more_unannounced)
                gaps->unannounced_since = BODY_FOREVER;
}

void process_gaps_infer(ProcessGaps *gaps, uint64_t unannounced_since, uint64_t missing_since,
                        uint64_t end)
{
        gaps->unannounced_since = unannounced_since;
        gaps->missing_since = missing_since;
        gaps->inference_end = end;
}

void process_gaps_restore(ProcessGaps *gaps, bool is_reported, Gap gap)
{
        process_gaps_add(gaps, is_reported ? gaps->reported : gaps->inferred, gap.begin, gap.end);
}

/* SPDX-License-Identifier: MIT */
#include "core/lapses.h"

#include "core/body.h"

/* Of one process; the oldest become one. */
#define MAX_GAPS 256
/* Threads that compile at the same time are fewer. */
#define MAX_STRANGERS 1024

void lapses_init(Lapses *lapses, Account *account)
{
        *lapses = (Lapses){
                .account = account,
                .told = g_array_new(FALSE, FALSE, sizeof(Gap)),
                .open = BODY_FOREVER,
                .proven = g_array_new(FALSE, FALSE, sizeof(Gap)),
                .strangers_since = BODY_FOREVER,
                .lacking_since = BODY_FOREVER,
                .strangers = g_array_new(FALSE, FALSE, sizeof(Stranger)),
        };
}

static size_t size_of(const GArray *array)
{
        return array->len * g_array_get_element_size((GArray *)array);
}

void lapses_deinit(Lapses *lapses)
{
        account_remove(lapses->account, size_of(lapses->told));
        account_remove(lapses->account, size_of(lapses->proven));
        account_remove(lapses->account, size_of(lapses->strangers));
        g_array_unref(lapses->told);
        g_array_unref(lapses->proven);
        g_array_unref(lapses->strangers);
}

static void add_gap(Lapses *lapses, GArray *gaps, uint64_t begin, uint64_t end)
{
        size_t before = size_of(gaps);

        gaps_add(gaps, begin, end);
        gaps_limit(gaps, MAX_GAPS);
        account_change(lapses->account, before, size_of(gaps));
}

static uint64_t doubt_begin(const Lapses *lapses)
{
        return MIN(lapses->strangers_since, lapses->lacking_since);
}

bool lapses_touch(const Lapses *lapses, uint64_t begin, uint64_t end)
{
        uint64_t doubt = doubt_begin(lapses);

        return (lapses->open != BODY_FOREVER && lapses->open <= end) ||
               (doubt != BODY_FOREVER && doubt <= end && lapses->doubt_end >= begin) ||
               gaps_touch(lapses->told, begin, end) || gaps_touch(lapses->proven, begin, end);
}

static void forget_doubt(Lapses *lapses)
{
        lapses->strangers_since = BODY_FOREVER;
        lapses->lacking_since = BODY_FOREVER;
        lapses->doubt_end = 0;
}

void lapses_tell(Lapses *lapses, uint64_t begin, uint64_t end)
{
        uint64_t doubt = doubt_begin(lapses);
        size_t before = size_of(lapses->proven);

        add_gap(lapses, lapses->told, begin, end);
        gaps_remove(lapses->proven, begin, end);
        account_change(lapses->account, before, size_of(lapses->proven));
        if (doubt <= end && lapses->doubt_end >= begin)
                forget_doubt(lapses);
}

void lapses_open(Lapses *lapses, uint64_t begin)
{
        lapses->open = MIN(lapses->open, begin);
}

bool lapses_close(Lapses *lapses, uint64_t end)
{
        uint64_t begin = lapses->open;

        if (begin == BODY_FOREVER || begin > end)
                return false;
        lapses->open = BODY_FOREVER;
        if (begin < end)
                lapses_tell(lapses, begin, end - 1);
        return true;
}

void lapses_settle(Lapses *lapses)
{
        if (doubt_begin(lapses) != BODY_FOREVER)
                add_gap(lapses, lapses->proven, doubt_begin(lapses), lapses->doubt_end);
        forget_doubt(lapses);
        account_remove(lapses->account, size_of(lapses->strangers));
        g_array_set_size(lapses->strangers, 0);
        lapses->n_unlisted = 0;
}

void lapses_add_stranger(Lapses *lapses, const Stranger *stranger)
{
        size_t before = size_of(lapses->strangers);

        if (lapses->strangers->len >= MAX_STRANGERS) {
                lapses->n_unlisted++;
                return;
        }
        g_array_append_val(lapses->strangers, *stranger);
        account_change(lapses->account, before, size_of(lapses->strangers));
}

void lapses_remove_stranger(Lapses *lapses, guint i)
{
        size_t before = size_of(lapses->strangers);

        g_array_remove_index(lapses->strangers, i);
        account_change(lapses->account, before, size_of(lapses->strangers));
        if (!lapses->strangers->len && !lapses->n_unlisted)
                lapses->strangers_since = BODY_FOREVER;
}

void lapses_prove(Lapses *lapses, uint64_t strangers_since, uint64_t lacking_since, uint64_t end)
{
        lapses->strangers_since = strangers_since;
        lapses->lacking_since = lacking_since;
        lapses->doubt_end = end;
}

void lapses_restore(Lapses *lapses, bool is_told, Gap gap)
{
        add_gap(lapses, is_told ? lapses->told : lapses->proven, gap.begin, gap.end);
}

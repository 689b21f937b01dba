/* SPDX-License-Identifier: MIT */
#include "cli/attach-manner.h"

#include "util/proc.h"

/* Whoever names a process wants its code; of all processes, only what does no harm. */
AttachManner attach_manner_new(const Options *options)
{
        const bool is_rule = options->is_rule;

        return (AttachManner){
                .verb = options_has(options, OPTION_AGAIN) ? REQUEST_RUNDOWN : REQUEST_ATTACH,
                .via = options->via ? options->via : ATTACH_VIA_AUTO,
                .list = is_rule               ? options->list
                        : *options->arguments ? ATTACH_LIST_ALWAYS
                                              : ATTACH_LIST_AUTO,
        };
}

void attach_manner_clear(AttachManner *manner)
{
        g_clear_pointer(&manner->sessions, live_sessions_free);
}

void attach_manner_refresh(AttachManner *manner)
{
        g_clear_pointer(&manner->sessions, live_sessions_free);
        if (manner->via != ATTACH_VIA_LTTNG)
                manner->sessions = live_sessions_new();
}

static bool manner_has_lttng(const AttachManner *manner, pid_t pid)
{
        ProcInfo info;

        return manner->sessions && proc_read(pid, &info) &&
               live_sessions_have(manner->sessions, info.levels[info.n_levels - 1].pid);
}

Request attach_manner_request(const AttachManner *manner, pid_t pid)
{
        return (Request){.verb = manner->verb,
                         .pid = pid,
                         .via = manner->via,
                         .list = manner->list,
                         .has_lttng = manner_has_lttng(manner, pid)};
}

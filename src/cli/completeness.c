/* SPDX-License-Identifier: MIT */
#include "cli/completeness.h"

#include "cli/json-field.h"
#include "cli/link.h"

#include <string.h>

#define POLL_MS 20

struct Completeness {
        Link *link;      /* owned */
        uint64_t n_lost; /* events, as of the beginning */
};

/* The newest program that had a pid. */
typedef struct Look {
        int32_t vpid;
        uint64_t pid_ns;
        bool is_found;
        uint64_t found_ns; /* 0: the trace does not say */
        uint32_t generation;
        uint64_t horizon;
        uint64_t n_live;
        bool is_from_start;
} Look;

static uint64_t count_lost(Link *link)
{
        JsonSpan reply;
        json_t *status;
        uint64_t n;

        if (!link_call(link, "Status", json_object(), 0, &reply, NULL))
                return 0;
        status = json_span_load(reply);
        n = field_number(status, "discarded_events") + field_number(status, "discarded_packets");
        json_decref(status);
        return n;
}

Completeness *completeness_new(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);
        Completeness *completeness;

        if (!link)
                return NULL;
        completeness = g_new0(Completeness, 1);
        completeness->n_lost = count_lost(link);
        completeness->link = g_steal_pointer(&link);
        return completeness;
}

void completeness_free(Completeness *completeness)
{
        if (!completeness)
                return;
        link_free(completeness->link);
        g_free(completeness);
}

static int take_process(const clrsym_process *process, void *data)
{
        Look *look = data;

        if (process->pid != look->vpid || (process->pid_ns && process->pid_ns != look->pid_ns) ||
            (look->is_found && process->generation < look->generation))
                return 0;
        look->is_found = true;
        look->found_ns = process->pid_ns;
        look->generation = process->generation;
        look->horizon = process->horizon;
        look->n_live = process->n_live;
        look->is_from_start = process->is_from_start;
        return 0;
}

/* Ends at the first body that was listed: there are always some, precompiled ones at least. */
static int take_body(const clrsym_process *process, const clrsym_body *body, void *data)
{
        return body->source == CLRSYM_SOURCE_RUNDOWN;
}

static bool check_listed(Completeness *completeness, const Look *look, GError **error)
{
        const clrsym_filter filter = {
                .pid = look->vpid, .has_pid_ns = true, .pid_ns = look->found_ns};
        int r = look->is_from_start
                        ? 1
                        : clrsym_methods(link_handle(completeness->link), &filter, take_body, NULL);
        uint64_t n_lost;

        if (r < 0) {
                link_set_error(completeness->link, error);
                return false;
        }
        if (r == 0) {
                g_set_error(error, LINK_ERROR, 0,
                            "process %d is attached, but what it listed did not come to clrsymd: "
                            "enable the events DotNETRuntimeRundown:* in the LTTng session",
                            look->vpid);
                return false;
        }
        n_lost = count_lost(completeness->link) - completeness->n_lost;
        if (n_lost) {
                g_set_error(error, LINK_ERROR, 0,
                            "process %d is attached, but meanwhile LTTng lost %" G_GUINT64_FORMAT
                            " events: give its channel larger sub-buffers, then attach --again",
                            look->vpid, (guint64)n_lost);
                return false;
        }
        return true;
}

/*
 * Is it sure that nothing is where no code can be? Then nothing was missing since the listing
 * began. What was not held, or not fed, may be told of a moment later than what was listed.
 */
static bool check_whole(Completeness *completeness, const Look *look, uint64_t time,
                        bool *ret_is_whole, GError **error)
{
        const clrsym_query query = {.pid = look->vpid,
                                    .has_pid_ns = true,
                                    .pid_ns = look->found_ns,
                                    .has_time = true,
                                    .time = time};
        clrsym_answer answer;

        if (clrsym_resolve(link_handle(completeness->link), &query, 1, 0, &answer) < 0) {
                link_set_error(completeness->link, error);
                return false;
        }
        *ret_is_whole = answer.confidence != CLRSYM_GAP;
        return true;
}

static bool set_gap(const Look *look, GError **error)
{
        g_set_error(error, LINK_ERROR, 0,
                    "process %d is attached, but some of what it listed was not fed to clrsymd: "
                    "see that the feeder runs (clrsym status), then attach --again",
                    look->vpid);
        return false;
}

static bool set_late(const Look *look, GError **error)
{
        if (look->is_found)
                g_set_error(error, LINK_ERROR, 0,
                            "process %d is attached, but its latest events are not in yet: wait "
                            "longer (--wait=SEC), or see whether the feeder runs",
                            look->vpid);
        else
                g_set_error(error, LINK_ERROR, 0,
                            "process %d is attached, but clrsymd has heard nothing of it: it takes "
                            "an LTTng session of its user, with the events DotNETRuntime:*, and a "
                            "feeder for it (clrsym doctor)",
                            look->vpid);
        return false;
}

bool completeness_wait(Completeness *completeness, int32_t vpid, uint64_t pid_ns, uint64_t time,
                       gint64 deadline, uint64_t *ret_methods, GError **error)
{
        for (;;) {
                Look look = {.vpid = vpid, .pid_ns = pid_ns};
                bool is_in, is_whole = false;
                int r = clrsym_processes(link_handle(completeness->link), take_process, &look);

                if (r < 0) {
                        link_set_error(completeness->link, error);
                        return false;
                }
                *ret_methods = look.n_live;
                is_in = look.is_found && look.horizon >= time;
                if (is_in && (!check_listed(completeness, &look, error) ||
                              !check_whole(completeness, &look, time, &is_whole, error)))
                        return false;
                if (is_whole)
                        return true;
                if (g_get_monotonic_time() >= deadline)
                        return is_in ? set_gap(&look, error) : set_late(&look, error);
                g_usleep(POLL_MS * 1000);
        }
}

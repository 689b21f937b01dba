/* SPDX-License-Identifier: MIT */
#include "cli/wait-complete.h"

#include "cli/json-field.h"
#include "cli/answer-source.h"

#include <string.h>

/* The longest wait for events of the process: a gap may end without an event. */
#define MAX_PAUSE_MS 1000
/* The pause without a watch, which an older daemon refuses. */
#define POLL_MS 200

struct WaitComplete {
        AnswerSource *source; /* owned */
        uint64_t n_lost;      /* lost events before the wait */
};

/* The newest program that had a pid. */
typedef struct ProcessState {
        WaitTarget target;
        bool is_found;
        uint64_t found_ns; /* 0: not known from the trace */
        uint32_t generation;
        uint64_t horizon;
        uint64_t n_live;
        bool is_from_start;
} ProcessState;

static uint64_t count_lost(AnswerSource *source)
{
        json_auto_t *status = answer_source_call(source, "Status", NULL, NULL);

        return field_number(status, "discarded_events") + field_number(status, "discarded_packets");
}

WaitComplete *wait_complete_new(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        WaitComplete *wait;

        if (!source)
                return NULL;
        wait = g_new0(WaitComplete, 1);
        wait->n_lost = count_lost(source);
        wait->source = g_steal_pointer(&source);
        return wait;
}

void wait_complete_free(WaitComplete *wait)
{
        if (!wait)
                return;
        answer_source_free(wait->source);
        g_free(wait);
}

static int wait_complete_take_process(const clrsym_process *process, void *data)
{
        ProcessState *state = data;

        if (process->pid != state->target.vpid ||
            (process->pid_ns && process->pid_ns != state->target.pid_ns) ||
            (state->is_found && process->generation < state->generation))
                return 0;
        state->is_found = true;
        state->found_ns = process->pid_ns;
        state->generation = process->generation;
        state->horizon = process->horizon;
        state->n_live = process->n_live;
        state->is_from_start = process->is_from_start;
        return 0;
}

/* Stops at the first body of a rundown; a rundown always has some, at least precompiled ones. */
static int wait_complete_take_body(const clrsym_process *process, const clrsym_body *body,
                                   void *data)
{
        return body->source == CLRSYM_SOURCE_RUNDOWN;
}

/* A session of LTTng can lack the events of a rundown. */
static bool check_rundown(WaitComplete *wait, const ProcessState *state, GError **error)
{
        const clrsym_filter filter = {
                .pid = state->target.vpid, .has_pid_ns = true, .pid_ns = state->found_ns};
        int r = state->is_from_start || state->target.is_eventpipe
                        ? 1
                        : clrsym_methods(answer_source_handle(wait->source), &filter,
                                         wait_complete_take_body,
                                         /* data= */ NULL);

        if (r < 0) {
                answer_source_set_error(wait->source, error);
                return false;
        }
        if (r == 0) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "process %d is held, but clrsymd got no events of its rundown: "
                            "enable the events DotNETRuntimeRundown:* in the LTTng session",
                            state->target.pid);
                return false;
        }
        return true;
}

static bool check_losses(WaitComplete *wait, const ProcessState *state, GError **error)
{
        const uint64_t n_lost = count_lost(wait->source) - wait->n_lost;

        if (n_lost) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "process %d is held, but meanwhile %s lost %" G_GUINT64_FORMAT
                            " events: %sattach --again",
                            state->target.pid, state->target.is_eventpipe ? "its runtime" : "LTTng",
                            (guint64)n_lost,
                            state->target.is_eventpipe
                                    ? ""
                                    : "give its channel larger sub-buffers, then ");
                return false;
        }
        return true;
}

static bool wait_complete_resolve(WaitComplete *wait, const ProcessState *state, uint64_t time,
                                  unsigned wait_ms, clrsym_answer *ret_answer, GError **error)
{
        const clrsym_query query = {.pid = state->target.vpid,
                                    .has_pid_ns = true,
                                    .pid_ns = state->found_ns,
                                    .has_time = true,
                                    .time = time};

        if (clrsym_resolve(answer_source_handle(wait->source), &query, 1, wait_ms, ret_answer) <
            0) {
                answer_source_set_error(wait->source, error);
                return false;
        }
        return true;
}

/*
 * Address 0 has no code. If the answer for it is certain, no event is missing since the begin of
 * the rundown. A gap may be reported a moment after the events of the rundown.
 */
static bool check_whole(WaitComplete *wait, const ProcessState *state, uint64_t time,
                        bool *ret_is_whole, GError **error)
{
        clrsym_answer answer;

        if (!wait_complete_resolve(wait, state, time, /* wait_ms= */ 0, &answer, error))
                return false;
        *ret_is_whole = answer.confidence != CLRSYM_GAP;
        return true;
}

static bool set_gap(const ProcessState *state, GError **error)
{
        g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                    "process %d is held, but a part of its rundown was not fed to clrsymd: "
                    "check that the feeder runs (clrsym status), then attach --again",
                    state->target.pid);
        return false;
}

static bool set_late(const ProcessState *state, GError **error)
{
        if (state->is_found)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "process %d is held, but its latest events have not arrived yet: "
                            "wait longer (--wait=SEC), or check that the feeder runs",
                            state->target.pid);
        else if (state->target.is_eventpipe)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "process %d is held, but clrsymd got no events of it: check that "
                            "the holder was started with its ingest socket ($CLRSYM_INGEST)",
                            state->target.pid);
        else
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "process %d is held, but clrsymd got no events of it: it needs an "
                            "LTTng session of its user with the events DotNETRuntime:*, and a "
                            "feeder of that session (clrsym doctor)",
                            state->target.pid);
        return false;
}

static int ms_left(gint64 deadline)
{
        return (int)CLAMP((deadline - g_get_monotonic_time()) / 1000, 0, INT_MAX);
}

/* Waits until something about the process changes, or for a pause. */
static void pause_until_change(clrsym_watch **watch, gint64 deadline)
{
        int ms = MIN(ms_left(deadline), *watch ? MAX_PAUSE_MS : POLL_MS), r;
        clrsym_event event;

        if (!*watch) {
                g_usleep((gulong)ms * 1000);
                return;
        }
        /* One check of the process is enough for all available events. */
        for (r = clrsym_watch_next(*watch, ms, &event); r > 0;)
                r = clrsym_watch_next(*watch, 0, &event);
        if (r < 0)
                g_clear_pointer(watch, clrsym_watch_close);
}

static bool wait_complete_loop(WaitComplete *wait, ProcessState *state, clrsym_watch **watch,
                               uint64_t time, gint64 deadline, GError **error)
{
        bool has_waited = false;

        for (;;) {
                bool is_in, is_whole = false;
                clrsym_answer answer;

                state->is_found = false;
                if (clrsym_processes(answer_source_handle(wait->source), wait_complete_take_process,
                                     state) < 0) {
                        answer_source_set_error(wait->source, error);
                        return false;
                }
                is_in = state->is_found && state->horizon >= time;
                if (is_in &&
                    (!check_rundown(wait, state, error) || !check_losses(wait, state, error) ||
                     !check_whole(wait, state, time, &is_whole, error)))
                        return false;
                if (is_whole)
                        return true;
                if (g_get_monotonic_time() >= deadline)
                        return is_in ? set_gap(state, error) : set_late(state, error);
                if (state->is_found && !is_in && !has_waited) {
                        /* The daemon answers when its horizon has reached the time. */
                        has_waited = true;
                        if (!wait_complete_resolve(wait, state, time, (unsigned)ms_left(deadline),
                                                   &answer, error))
                                return false;
                } else {
                        pause_until_change(watch, deadline);
                }
        }
}

bool wait_complete_run(WaitComplete *wait, const WaitTarget *target, uint64_t time, gint64 deadline,
                       uint64_t *ret_methods, GError **error)
{
        const clrsym_filter filter = {.pid = target->vpid};
        ProcessState state = {.target = *target};
        clrsym_watch *watch = NULL;
        bool ok;

        if (clrsym_watch_open(answer_source_handle(wait->source), &filter, &watch) < 0)
                watch = NULL;
        ok = wait_complete_loop(wait, &state, &watch, time, deadline, error);
        clrsym_watch_close(watch);
        *ret_methods = state.n_live;
        return ok;
}

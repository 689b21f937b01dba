/* SPDX-License-Identifier: MIT */
#include "core/answer.h"

static const char *const STATUS_NAMES[_ANSWER_STATUS_MAX] = {
        [ANSWER_OK] = "ok",
        [ANSWER_NO_PROCESS] = "no-process",
        [ANSWER_NO_METHOD] = "no-method",
        [ANSWER_UNLOADED] = "unloaded",
        [ANSWER_NOT_YET] = "not-yet",
        [ANSWER_AMBIGUOUS] = "ambiguous",
        [ANSWER_PENDING] = "pending",
        [ANSWER_EVICTED] = "evicted",
        [ANSWER_INVALID] = "invalid",
};

static const char *const CONFIDENCE_NAMES[_CONFIDENCE_MAX] = {
        [CONFIDENCE_EXACT] = "exact",
        [CONFIDENCE_ASSUMED] = "assumed",
        [CONFIDENCE_PROVISIONAL] = "provisional",
        [CONFIDENCE_GAP] = "gap",
};

static const char *const SOURCE_NAMES[_BODY_SOURCE_MAX] = {
        [BODY_SOURCE_LOAD] = "load",
        [BODY_SOURCE_RUNDOWN] = "rundown",
        [BODY_SOURCE_UNLOAD] = "unload",
        [BODY_SOURCE_R2R_ENTRY] = "r2r-entry",
};

const char *answer_status_name(AnswerStatus status)
{
        return STATUS_NAMES[status];
}

const char *confidence_name(Confidence confidence)
{
        return CONFIDENCE_NAMES[confidence];
}

const char *body_source_name(BodySource source)
{
        return SOURCE_NAMES[source];
}

bool viewer_sees(const Viewer *viewer, const Process *process)
{
        guint i;

        if (viewer->sees_all)
                return true;
        for (i = 0; i < process->traces->len; i++) {
                const Trace *trace = process->traces->pdata[i];

                if (trace->scheme == BUFFER_SCHEME_PER_UID && trace->uid == viewer->uid)
                        return true;
        }
        return false;
}

/* The newest generation of each namespace that has the pid (and is the one asked for, if one is).
 */
static GPtrArray *find_processes(const Tracker *tracker, const Viewer *viewer,
                                 const Question *question)
{
        const GPtrArray *all = tracker_processes(tracker);
        GPtrArray *found = g_ptr_array_new();
        guint i, j;

        for (i = all->len; i-- > 0;) {
                Process *process = all->pdata[i];

                if (process->key.pid != question->pid ||
                    (question->has_pid_ns && process->key.pid_ns != question->pid_ns) ||
                    !viewer_sees(viewer, process))
                        continue;
                for (j = 0; j < found->len; j++)
                        if (((Process *)found->pdata[j])->key.pid_ns == process->key.pid_ns)
                                break;
                if (j == found->len)
                        g_ptr_array_add(found, process);
        }
        return found;
}

/* The generation that had the pid at a time; before all of them, the first. */
static const Process *generation_at(const Tracker *tracker, const Process *newest, uint64_t time)
{
        const GPtrArray *all = tracker_processes(tracker);
        const Process *best = newest;
        guint i;

        for (i = all->len; i-- > 0 && best->begin > time;) {
                const Process *process = all->pdata[i];

                if (process_key_equal(&process->key, &newest->key) &&
                    process->generation < best->generation)
                        best = process;
        }
        return best;
}

/* A moment at which the body was seen to be alive: by its load, a rundown row, its unload. */
static void take_confirmation(uint64_t moment, uint64_t time, uint64_t *begin, uint64_t *end)
{
        if (moment <= time)
                *begin = MAX(*begin, moment);
        else
                *end = MIN(*end, moment);
}

/* What makes a name less than exact at TIME, which is in the body's life. */
static Confidence body_confidence(const Process *process, const Body *body, uint64_t time)
{
        uint64_t begin = 0, end = UINT64_MAX;
        const GArray *confirmations = body->extra ? body->extra->confirmations : NULL;
        guint i;

        take_confirmation(body_seen(body), time, &begin, &end);
        for (i = 0; confirmations && i < confirmations->len; i++)
                take_confirmation(g_array_index(confirmations, uint64_t, i), time, &begin, &end);
        if (body->end == BODY_END_UNLOAD)
                take_confirmation(body->until, time, &begin, &end);
        if (process_has_gap(process, begin ? begin : time, end == UINT64_MAX ? time : end))
                return CONFIDENCE_GAP;
        if (!begin ||
            (end == UINT64_MAX && (body->end == BODY_END_EVICTED || body->end == BODY_END_RUNDOWN)))
                return CONFIDENCE_ASSUMED;
        return CONFIDENCE_EXACT;
}

/* The same for "nothing there", between what was there before and after. */
static Confidence nothing_confidence(const Process *process, const Body *before, const Body *after,
                                     uint64_t time)
{
        uint64_t begin = process->is_from_start ? MIN(process->begin, time) : 0;
        uint64_t end = after ? after->since : UINT64_MAX;
        guint i;

        if (before && before->until <= time)
                begin = MAX(begin, before->until);
        for (i = 0; i < process->rundowns->len; i++) {
                const Rundown *rundown = &g_array_index(process->rundowns, Rundown, i);

                if (rundown->end <= time)
                        begin = MAX(begin, rundown->end);
                else if (rundown->begin >= time)
                        end = MIN(end, rundown->begin);
        }
        if (end == UINT64_MAX)
                end = time;
        if (process_is_before(process, begin) || process_has_gap(process, begin, MAX(begin, end)))
                return CONFIDENCE_GAP;
        return CONFIDENCE_EXACT;
}

static void answer_at(const Process *process, const Question *question, Answer *answer)
{
        uint64_t time = question->time;
        bool is_late = time > answer->horizon;
        Body *before, *after;

        answer->body = codemap_at(process->map, question->address, time);
        if (answer->body) {
                answer->confidence = body_confidence(process, answer->body, time);
        } else {
                codemap_neighbours(process->map, question->address, time, &before, &after);
                answer->confidence = nothing_confidence(process, before, after, time);
                if (before && (!after || time - before->until <= after->since - time)) {
                        answer->status = ANSWER_UNLOADED;
                        answer->nearest = before;
                        answer->distance = -(int64_t)(time - before->until);
                } else if (after) {
                        answer->status = ANSWER_NOT_YET;
                        answer->nearest = after;
                        answer->distance = (int64_t)(after->since - time);
                } else {
                        answer->status = ANSWER_NO_METHOD;
                }
                if (is_late)
                        answer->status = ANSWER_PENDING;
                else if (time < codemap_whole_since(process->map))
                        answer->status = ANSWER_EVICTED;
        }
        if (is_late)
                answer->confidence = MAX(answer->confidence, CONFIDENCE_PROVISIONAL);
}

static void answer_newest(const Process *process, const Question *question, Answer *answer)
{
        g_autoptr(GPtrArray) history = NULL;

        answer->body = codemap_live(process->map, question->address);
        if (answer->body) {
                answer->confidence = body_confidence(process, answer->body, BODY_FOREVER - 1);
                return;
        }
        history = g_ptr_array_new();
        codemap_history(process->map, question->address, history);
        if (history->len < 2 && codemap_whole_since(process->map)) {
                answer->status = ANSWER_EVICTED;
                answer->nearest = history->len ? history->pdata[0] : NULL;
        } else if (history->len == 1) {
                answer->body = history->pdata[0];
                answer->confidence =
                        MAX(CONFIDENCE_ASSUMED,
                            nothing_confidence(process, answer->body, NULL, BODY_FOREVER - 1));
        } else if (history->len > 1) {
                answer->status = ANSWER_AMBIGUOUS;
                answer->bodies = g_steal_pointer(&history);
        } else {
                answer->status = ANSWER_NO_METHOD;
                answer->confidence = nothing_confidence(process, NULL, NULL, BODY_FOREVER - 1);
        }
}

void answer_question(const Tracker *tracker, const Viewer *viewer, const Question *question,
                     Answer *ret_answer)
{
        g_autoptr(GPtrArray) processes = find_processes(tracker, viewer, question);

        *ret_answer = (Answer){.status = ANSWER_OK};
        if (!processes->len) {
                const ProcessKey key = {question->pid_ns, question->pid};

                ret_answer->status =
                        viewer->sees_all && budget_has_dropped(tracker_budget(tracker), &key)
                                ? ANSWER_EVICTED
                                : ANSWER_NO_PROCESS;
                return;
        }
        if (processes->len > 1) {
                ret_answer->status = ANSWER_AMBIGUOUS;
                ret_answer->processes = g_steal_pointer(&processes);
                return;
        }
        ret_answer->process = processes->pdata[0];
        if (question->has_time)
                ret_answer->process = generation_at(tracker, ret_answer->process, question->time);
        ret_answer->horizon = process_horizon(ret_answer->process);
        if (question->has_time && question->time < ret_answer->process->begin &&
            budget_has_dropped(tracker_budget(tracker), &ret_answer->process->key))
                ret_answer->status = ANSWER_EVICTED;
        else if (question->has_time)
                answer_at(ret_answer->process, question, ret_answer);
        else
                answer_newest(ret_answer->process, question, ret_answer);
}

void answer_clear(Answer *answer)
{
        g_clear_pointer(&answer->bodies, g_ptr_array_unref);
        g_clear_pointer(&answer->processes, g_ptr_array_unref);
}

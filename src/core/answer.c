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

        if (viewer->sees_all || (process->has_uid && process->uid == viewer->uid))
                return true;
        for (i = 0; i < process->traces->len; i++) {
                const Trace *trace = process->traces->pdata[i];

                if (trace->scheme == BUFFER_SCHEME_PER_UID && trace->uid == viewer->uid)
                        return true;
        }
        return false;
}

/* Which processes a question is about. */
typedef struct Found {
        int32_t pid; /* as in the question */
        bool has_pid_ns;
        uint64_t pid_ns;
        const Process *process; /* the newest generation; NULL: none or several */
        GPtrArray *several;     /* owned or NULL: one of each namespace */
        bool was_dropped;       /* one was known once */
        uint64_t horizon;
} Found;

static void found_add(Found *found, const Process *process)
{
        if (found->process) {
                found->several = g_ptr_array_new();
                g_ptr_array_add(found->several, (gpointer)found->process);
                found->process = NULL;
        }
        if (found->several)
                g_ptr_array_add(found->several, (gpointer)process);
        else
                found->process = process;
}

static bool find_key(const Tracker *tracker, const Viewer *viewer, ProcessKey key, Found *found)
{
        const Process *process = tracker_process(tracker, &key);

        if (!process || !viewer_sees(viewer, process))
                return false;
        found_add(found, process);
        return true;
}

/* Whoever has that pid, in any namespace. */
static void find_pid(const Tracker *tracker, const Viewer *viewer, Found *found)
{
        const GPtrArray *all = tracker_processes(tracker);
        guint i;

        for (i = all->len; i-- > 0;) {
                const Process *process = all->pdata[i];

                if (process->key.pid == found->pid && viewer_sees(viewer, process) &&
                    tracker_process(tracker, &process->key) == process)
                        found_add(found, process);
        }
}

static void find_process(const Tracker *tracker, const Viewer *viewer, const Question *question,
                         Found *found)
{
        ProcessKey key = {question->pid_ns, question->pid};

        g_clear_pointer(&found->several, g_ptr_array_unref);
        *found = (Found){.pid = question->pid,
                         .has_pid_ns = question->has_pid_ns,
                         .pid_ns = question->pid_ns};
        if (question->has_pid_ns) {
                find_key(tracker, viewer, key, found);
        } else if (viewer->pid_ns &&
                   find_key(tracker, viewer, (ProcessKey){viewer->pid_ns, question->pid}, found)) {
                /* It is of the asker's own namespace. */
        } else if (viewer->find && viewer->find(viewer->data, question->pid, &key)) {
                /* That one and no other, be it that its namespace was not told. */
                if (!find_key(tracker, viewer, key, found))
                        find_key(tracker, viewer, (ProcessKey){0, key.pid}, found);
        } else {
                find_pid(tracker, viewer, found);
        }
        if (found->process) {
                key = found->process->key;
                found->horizon = process_horizon(found->process);
        }
        found->was_dropped = budget_has_dropped(tracker_budget(tracker), &key);
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

/* With the body that was looked up. */
static void answer_at(const Process *process, const Question *question, Answer *answer)
{
        uint64_t time = question->time;
        bool is_late = time > answer->horizon;
        Body *before, *after;

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

        if (answer->body) {
                answer->confidence = body_confidence(process, answer->body, BODY_NOW);
                return;
        }
        history = g_ptr_array_new();
        codemap_history(process->map, question->address, history);
        if (history->len < 2 && codemap_whole_since(process->map)) {
                answer->status = ANSWER_EVICTED;
                answer->nearest = history->len ? history->pdata[0] : NULL;
        } else if (history->len == 1) {
                answer->body = history->pdata[0];
                answer->confidence = MAX(CONFIDENCE_ASSUMED,
                                         nothing_confidence(process, answer->body, NULL, BODY_NOW));
        } else if (history->len > 1) {
                answer->status = ANSWER_AMBIGUOUS;
                answer->bodies = g_steal_pointer(&history);
        } else {
                answer->status = ANSWER_NO_METHOD;
                answer->confidence = nothing_confidence(process, NULL, NULL, BODY_NOW);
        }
}

/* The process of an answer; false where that is an answer already. */
static bool begin_answer(const Tracker *tracker, const Viewer *viewer, const Question *question,
                         Found *found, Answer *answer)
{
        *answer = (Answer){.status = ANSWER_OK};
        if (found->pid != question->pid || found->has_pid_ns != question->has_pid_ns ||
            found->pid_ns != question->pid_ns)
                find_process(tracker, viewer, question, found);
        if (found->several) {
                answer->status = ANSWER_AMBIGUOUS;
                answer->processes = g_ptr_array_ref(found->several);
                return false;
        }
        if (!found->process) {
                answer->status =
                        found->was_dropped && viewer->sees_all ? ANSWER_EVICTED : ANSWER_NO_PROCESS;
                return false;
        }
        answer->process = found->process;
        answer->horizon = found->horizon;
        if (!question->has_time || question->time >= found->process->begin)
                return true;
        answer->process = generation_at(tracker, found->process, question->time);
        if (answer->process != found->process)
                answer->horizon = process_horizon(answer->process);
        if (question->time < answer->process->begin && found->was_dropped)
                answer->status = ANSWER_EVICTED;
        return answer->status == ANSWER_OK;
}

/* So many are looked up together: what is fetched for the last is still there for the first. */
enum { GROUP = 64 };

static void answer_group(const Tracker *tracker, const Viewer *viewer, const Question *questions,
                         size_t n, Found *found, Answer *answers)
{
        Lookup lookups[GROUP];
        Answer *of_lookups[GROUP];
        size_t n_lookups = 0, i;

        for (i = 0; i < n; i++) {
                const Question *question = &questions[i];

                if (!begin_answer(tracker, viewer, question, found, &answers[i]))
                        continue;
                of_lookups[n_lookups] = &answers[i];
                lookups[n_lookups++] =
                        codemap_lookup(answers[i].process->map, question->address,
                                       question->has_time ? question->time : BODY_NOW);
        }
        pageindex_look_up(lookups, n_lookups);
        for (i = 0; i < n_lookups; i++)
                if (lookups[i].body)
                        __builtin_prefetch(lookups[i].body->extra);
        for (i = 0; i < n_lookups; i++) {
                Answer *answer = of_lookups[i];
                const Question *question = &questions[answer - answers];

                answer->body = lookups[i].body;
                if (answer->body && body_il_map(answer->body))
                        __builtin_prefetch(body_il_map(answer->body));
                if (question->has_time)
                        answer_at(answer->process, question, answer);
                else
                        answer_newest(answer->process, question, answer);
        }
}

void answer_questions(const Tracker *tracker, const Viewer *viewer, const Question *questions,
                      size_t n, Answer *ret_answers)
{
        Found found = {.pid = -1};
        size_t i;

        for (i = 0; i < n; i += GROUP)
                answer_group(tracker, viewer, questions + i, MIN(GROUP, n - i), &found,
                             ret_answers + i);
        g_clear_pointer(&found.several, g_ptr_array_unref);
}

void answer_question(const Tracker *tracker, const Viewer *viewer, const Question *question,
                     Answer *ret_answer)
{
        answer_questions(tracker, viewer, question, 1, ret_answer);
}

void answer_clear(Answer *answer)
{
        g_clear_pointer(&answer->bodies, g_ptr_array_unref);
        g_clear_pointer(&answer->processes, g_ptr_array_unref);
}

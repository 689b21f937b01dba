/* SPDX-License-Identifier: MIT */
#include "tracker/answer.h"

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
        return viewer->sees_all ||
               (process->uid != PROCESS_OF_NOBODY && process->uid == viewer->uid);
}

bool viewer_knows(const Viewer *viewer, const Tracker *tracker, const ProcessKey *key)
{
        return viewer->sees_all ? tracker_process(tracker, key) != NULL
                                : tracker_process_of(tracker, key, viewer->uid) != NULL;
}

guint question_hash(gconstpointer data)
{
        const Question *question = data;
        uint64_t hash = question->address;

        hash = (hash ^ question->time) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ question->pid_ns ^ (uint32_t)question->pid) * UINT64_C(0x9e3779b97f4a7c15);
        return (guint)(hash >> 32);
}

gboolean question_equal(gconstpointer a, gconstpointer b)
{
        const Question *x = a, *y = b;

        return x->address == y->address && x->pid == y->pid && x->has_time == y->has_time &&
               x->time == y->time && x->has_pid_ns == y->has_pid_ns && x->pid_ns == y->pid_ns;
}

/* The processes that a question asks about. */
typedef struct Found {
        int32_t pid; /* as in the question */
        bool has_pid_ns;
        uint64_t pid_ns;
        const Process *process;  /* the newest generation; NULL: no process or several */
        GPtrArray *several;      /* owned or NULL: one of each namespace */
        bool was_dropped;        /* a generation of this process was dropped */
        const Answer *ambiguous; /* borrowed or NULL: the latest AMBIGUOUS answer without a time,
                                  * about `address` */
        uint64_t address;
        uint64_t horizon;
        bool has_gaps; /* PROCESS has a gap at some time: else no answer looks for one */
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

static gint compare_serials(gconstpointer a, gconstpointer b)
{
        const Process *x = *(Process *const *)a, *y = *(Process *const *)b;

        return x->serial > y->serial ? -1 : x->serial < y->serial;
}

/*
 * True if the host knows that another user's process has that key now, and the tracker knows that
 * process, too: then the question is about that process.
 */
static bool identity_is_superseded(const Tracker *tracker, const Identity *identity)
{
        uint32_t owner;

        return tracker_owner(tracker, &identity->id.key, &owner) && owner != identity->id.uid &&
               tracker_process_of(tracker, &identity->id.key, owner);
}

/* Adds the processes that the viewer sees, with that pid, and with KEY unless it is NULL. */
static bool found_find_pid(const Tracker *tracker, const Viewer *viewer, int32_t pid,
                           const ProcessKey *key, Found *found)
{
        const GPtrArray *all = tracker_identities(tracker, pid);
        bool is_found = false;
        guint i;

        for (i = all ? all->len : 0; i-- > 0;) {
                const Identity *identity = all->pdata[i];

                if (!identity->newest || (key && !process_key_equal(&identity->id.key, key)) ||
                    !viewer_sees(viewer, identity->newest) ||
                    (viewer->sees_all && all->len > 1 && identity_is_superseded(tracker, identity)))
                        continue;
                found_add(found, identity->newest);
                is_found = true;
        }
        if (found->several)
                g_ptr_array_sort(found->several, compare_serials);
        return is_found;
}

static bool found_find_key(const Tracker *tracker, const Viewer *viewer, ProcessKey key,
                           Found *found)
{
        const Process *process;

        if (viewer->sees_all)
                return found_find_pid(tracker, viewer, key.pid, &key, found);
        process = tracker_process_of(tracker, &key, viewer->uid);
        if (process)
                found_add(found, process);
        return process != NULL;
}

static void found_find(const Tracker *tracker, const Viewer *viewer, const Question *question,
                       Found *found)
{
        ProcessKey key = {question->pid_ns, question->pid};

        g_clear_pointer(&found->several, g_ptr_array_unref);
        *found = (Found){.ambiguous = found->ambiguous,
                         .address = found->address,
                         .pid = question->pid,
                         .has_pid_ns = question->has_pid_ns,
                         .pid_ns = question->pid_ns};
        if (question->has_pid_ns) {
                found_find_key(tracker, viewer, key, found);
        } else if (viewer->pid_ns &&
                   found_find_key(tracker, viewer, (ProcessKey){viewer->pid_ns, question->pid},
                                  found)) {
                /* The pid is in the viewer's own namespace. */
        } else if (viewer->find && viewer->find(viewer->data, question->pid, &key)) {
                /* Only that process counts; its events may lack the namespace. */
                if (!found_find_key(tracker, viewer, key, found))
                        found_find_key(tracker, viewer, (ProcessKey){0, key.pid}, found);
        } else {
                found_find_pid(tracker, viewer, found->pid, NULL, found);
        }
        if (found->process) {
                key = found->process->key;
                found->horizon = process_horizon(found->process);
                found->has_gaps = process_has_gap(found->process, 0, BODY_NOW);
        }
        found->was_dropped =
                budget_has_dropped(tracker_budget(tracker), &key,
                                   found->process ? found->process->uid : BUDGET_ANY_UID);
}

/* MOMENT: the body was seen to be alive, by its load, a rundown row or its unload. */
static void take_confirmation(uint64_t moment, uint64_t time, uint64_t *begin, uint64_t *end)
{
        if (moment <= time)
                *begin = MAX(*begin, moment);
        else
                *end = MIN(*end, moment);
}

/* True if the process can have a gap: unless it is the found one, and has none. */
static bool found_may_have_gap(const Found *found, const Process *process)
{
        return process != found->process || found->has_gaps;
}

/* The confidence in BODY at TIME, a moment of its life. */
static Confidence body_confidence(const Found *found, const Process *process, const Body *body,
                                  uint64_t time)
{
        uint64_t begin = 0, end = UINT64_MAX;
        const GArray *confirmations = body->extra ? body->extra->confirmations : NULL;
        guint i;

        take_confirmation(body_seen(body), time, &begin, &end);
        for (i = 0; confirmations && i < confirmations->len; i++)
                take_confirmation(g_array_index(confirmations, uint64_t, i), time, &begin, &end);
        if (body->end == BODY_END_UNLOAD)
                take_confirmation(body->until, time, &begin, &end);
        if (found_may_have_gap(found, process) &&
            process_has_gap(process, begin ? begin : time, end == UINT64_MAX ? time : end))
                return CONFIDENCE_GAP;
        if (!begin || (end == UINT64_MAX &&
                       (body->end == BODY_END_REPLACED || body->end == BODY_END_RUNDOWN)))
                return CONFIDENCE_ASSUMED;
        return CONFIDENCE_EXACT;
}

/* The confidence that no body was there at TIME, between BEFORE and AFTER (or NULL). */
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

/* True if events that have not arrived yet may change an answer about TIME. */
static bool process_is_late(const Process *process, uint64_t time, uint64_t horizon)
{
        return time > horizon && !process_is_closed(process);
}

/* If a body was alive at the end of its process, no event unloads it, but it ended then. */
static void answer_after_exit(const Process *process, uint64_t time, Answer *answer)
{
        answer->nearest = answer->body;
        answer->distance = -(int64_t)(time - process_body_end(process, answer->body));
        answer->body = NULL;
        answer->status =
                process_is_late(process, time, answer->horizon) ? ANSWER_PENDING : ANSWER_UNLOADED;
        answer->confidence =
                process_has_gap(process, process->exit, time) ? CONFIDENCE_GAP : CONFIDENCE_EXACT;
}

/* Completes an answer whose body has been looked up, for the time asked about. */
static void answer_at(const Found *found, const Process *process, const Question *question,
                      Answer *answer)
{
        uint64_t time = question->time;
        bool is_late = process_is_late(process, time, answer->horizon);
        Body *before, *after;

        if (answer->body && process_is_over_at(process, time)) {
                answer_after_exit(process, time, answer);
        } else if (answer->body) {
                answer->confidence = body_confidence(found, process, answer->body, time);
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
        /* A process that is killed loses its last events. */
        else if (time > answer->horizon && process->exit > answer->horizon)
                answer->confidence = CONFIDENCE_GAP;
}

/* The process runs, and its sessions have ended: its later events are and stay unknown. */
static void answer_note_untraced(const Process *process, const Question *question, Answer *answer)
{
        if (question->asked > answer->horizon && process->exit == BODY_FOREVER &&
            !process_is_open(process))
                answer->confidence = CONFIDENCE_GAP;
}

/* EQUAL: an earlier answer to the same question, or NULL. */
static void answer_newest(const Found *found, const Process *process, const Question *question,
                          const Answer *equal, Answer *answer)
{
        g_autoptr(GPtrArray) newest = NULL;
        size_t n;

        if (answer->body) {
                answer->confidence = body_confidence(found, process, answer->body, BODY_NOW);
                answer_note_untraced(process, question, answer);
                return;
        }
        if (equal && equal->bodies) {
                answer->status = ANSWER_AMBIGUOUS;
                answer->confidence = equal->confidence;
                answer->bodies = g_ptr_array_ref(equal->bodies);
                answer->n_bodies = equal->n_bodies;
                return;
        }
        newest = g_ptr_array_new();
        n = codemap_newest(process->map, question->address, ANSWER_MAX_BODIES, newest);
        if (n < 2 && codemap_whole_since(process->map)) {
                answer->status = ANSWER_EVICTED;
                answer->nearest = n ? newest->pdata[0] : NULL;
        } else if (n == 1) {
                answer->body = newest->pdata[0];
                answer->confidence = MAX(CONFIDENCE_ASSUMED,
                                         nothing_confidence(process, answer->body, NULL, BODY_NOW));
        } else if (n > 1) {
                answer->status = ANSWER_AMBIGUOUS;
                answer->bodies = g_steal_pointer(&newest);
                answer->n_bodies = n;
        } else {
                answer->status = ANSWER_NO_METHOD;
                answer->confidence = nothing_confidence(process, NULL, NULL, BODY_NOW);
        }
        answer_note_untraced(process, question, answer);
        answer->is_early = question->asked > answer->horizon && process_is_open(process);
        if (!answer->is_early)
                return;
        if (answer->status == ANSWER_NO_METHOD)
                answer->status = ANSWER_PENDING;
        answer->confidence = MAX(answer->confidence, CONFIDENCE_PROVISIONAL);
}

uint64_t answer_wait_time(const Question *question, const Answer *answer)
{
        if (!question->has_time)
                return answer->is_early ? question->asked : 0;
        if (answer->process && process_is_closed(answer->process))
                return 0;
        return question->time > answer->horizon ? question->time : 0;
}

/* True if the question's process, which the tracker does not know, is running here. */
static bool viewer_may_learn(const Viewer *viewer, const Question *question)
{
        ProcessKey key;

        return !question->has_pid_ns && viewer->find &&
               viewer->find(viewer->data, question->pid, &key);
}

/* Sets the process of an answer; false if the answer is complete without a lookup. */
static bool begin_answer(const Tracker *tracker, const Viewer *viewer, const Question *question,
                         Found *found, Answer *answer)
{
        *answer = (Answer){.status = ANSWER_OK};
        if (found->pid != question->pid || found->has_pid_ns != question->has_pid_ns ||
            found->pid_ns != question->pid_ns)
                found_find(tracker, viewer, question, found);
        if (found->several) {
                answer->status = ANSWER_AMBIGUOUS;
                answer->processes = g_ptr_array_ref(found->several);
                return false;
        }
        if (!found->process) {
                answer->status =
                        found->was_dropped && viewer->sees_all ? ANSWER_EVICTED : ANSWER_NO_PROCESS;
                answer->is_early = question->asked && viewer_may_learn(viewer, question);
                return false;
        }
        answer->process = found->process;
        answer->horizon = found->horizon;
        if (!question->has_time || question->time >= found->process->begin)
                return true;
        answer->process = tracker_generation_at(tracker, found->process, question->time);
        if (answer->process != found->process)
                answer->horizon = process_horizon(answer->process);
        if (question->time < answer->process->begin && found->was_dropped)
                answer->status = ANSWER_EVICTED;
        return answer->status == ANSWER_OK;
}

/*
 * Questions looked up together: few enough that the data fetched for the first is still in the
 * cache after the last.
 */
enum { GROUP = 64 };

/* Returns how many questions were answered before the end of the turn. */
static size_t answer_group(const Tracker *tracker, const Viewer *viewer, const Question *questions,
                           size_t n, int64_t turn_end, Found *found, Answer *answers)
{
        Lookup lookups[GROUP];
        Answer *of_lookups[GROUP];
        size_t n_answered = n, n_lookups = 0, i;

        for (i = 0; i < n; i++) {
                const Question *question = &questions[i];

                if (!begin_answer(tracker, viewer, question, found, &answers[i]))
                        continue;
                of_lookups[n_lookups] = &answers[i];
                lookups[n_lookups++] =
                        (Lookup){.index = codemap_index(answers[i].process->map),
                                 .address = question->address,
                                 .time = question->has_time ? question->time : BODY_NOW};
        }
        pageindex_look_up(lookups, n_lookups);
        for (i = 0; i < n_lookups; i++)
                if (lookups[i].body)
                        __builtin_prefetch(lookups[i].body->extra);
        for (i = 0; i < n_lookups; i++) {
                Answer *answer = of_lookups[i];
                const Question *question = &questions[answer - answers];

                /* The search for the bodies before and after can take long. */
                if (turn_end && !lookups[i].body && answer != answers &&
                    g_get_monotonic_time() >= turn_end) {
                        n_answered = (size_t)(answer - answers);
                        break;
                }
                answer->body = lookups[i].body;
                if (answer->body && body_il_map(answer->body))
                        ilmap_prefetch(body_il_map(answer->body));
                if (question->has_time)
                        answer_at(found, answer->process, question, answer);
                else
                        answer_newest(
                                found, answer->process, question,
                                found->ambiguous && found->ambiguous->process == answer->process &&
                                                found->address == question->address
                                        ? found->ambiguous
                                        : NULL,
                                answer);
                if (answer->bodies) {
                        found->ambiguous = answer;
                        found->address = question->address;
                }
        }
        for (i = n_answered; i < n; i++)
                answer_clear(&answers[i]);
        return n_answered;
}

size_t answer_questions(const Tracker *tracker, const Viewer *viewer, const Question *questions,
                        size_t n, int64_t turn_end, Answer *ret_answers)
{
        Found found = {.pid = -1};
        size_t n_answered = 0, n_group, n_of_group;

        do {
                n_group = MIN(GROUP, n - n_answered);
                n_of_group = answer_group(tracker, viewer, questions + n_answered, n_group,
                                          turn_end, &found, ret_answers + n_answered);
                n_answered += n_of_group;
        } while (n_answered < n && n_of_group == n_group &&
                 (!turn_end || g_get_monotonic_time() < turn_end));
        g_clear_pointer(&found.several, g_ptr_array_unref);
        return n_answered;
}

void answer_question(const Tracker *tracker, const Viewer *viewer, const Question *question,
                     Answer *ret_answer)
{
        answer_questions(tracker, viewer, question, 1, 0, ret_answer);
}

void answer_clear(Answer *answer)
{
        g_clear_pointer(&answer->bodies, g_ptr_array_unref);
        g_clear_pointer(&answer->processes, g_ptr_array_unref);
}

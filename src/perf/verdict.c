/* SPDX-License-Identifier: MIT */
#include "perf/verdict.h"

/*
 * Tolerances. An exiting runtime reports its code as unloaded while other threads still run it: up
 * to 12 ms later, in measurements. A runtime reports a body shortly after it is published.
 */
#define LAST_MOMENTS_NS  INT64_C(20000000)
#define FIRST_MOMENTS_NS INT64_C(1000000)

static const Count REASONS[] = {
        [CLRSYM_OK] = COUNT_NO_METHOD,        [CLRSYM_NO_PROCESS] = COUNT_NO_PROCESS,
        [CLRSYM_NO_METHOD] = COUNT_NO_METHOD, [CLRSYM_UNLOADED] = COUNT_UNLOADED,
        [CLRSYM_NOT_YET] = COUNT_NOT_YET,     [CLRSYM_AMBIGUOUS] = COUNT_AMBIGUOUS,
        [CLRSYM_PENDING] = COUNT_PENDING,     [CLRSYM_EVICTED] = COUNT_EVICTED,
        [CLRSYM_INVALID] = COUNT_NO_METHOD,
};

/* True if the nearest body had just ended, or was about to begin. */
static bool answer_is_near(const clrsym_answer *answer)
{
        if (!answer->has_body)
                return false;
        if (answer->status == CLRSYM_UNLOADED)
                return answer->distance > -LAST_MOMENTS_NS;
        return answer->status == CLRSYM_NOT_YET && answer->distance < FIRST_MOMENTS_NS;
}

bool verdict_takes_marked(MappingKind kind)
{
        return kind == MAPPING_JITTED || kind == MAPPING_IMAGE || kind == MAPPING_MANAGED;
}

bool verdict_marks(const clrsym_answer *answer)
{
        return answer->confidence == CLRSYM_GAP || answer->confidence == CLRSYM_PROVISIONAL;
}

static Verdict answer_judge(const clrsym_answer *answer, MappingKind kind)
{
        Verdict verdict = {.reason = REASONS[answer->status]};

        if (answer->status == CLRSYM_OK && answer->has_body) {
                verdict.is_named = true;
                verdict.is_marked = verdict_marks(answer);
        } else if (answer_is_near(answer)) {
                verdict.is_named = verdict.is_marked = true;
        }
        if (verdict.is_marked && !verdict_takes_marked(kind))
                verdict.is_named = false;
        return verdict;
}

bool verdict_is_same_body(const clrsym_answer *one, const clrsym_answer *other)
{
        return one->has_body && other->has_body && one->generation == other->generation &&
               one->body.start == other->body.start && one->body.loaded == other->body.loaded &&
               one->body.method_id == other->body.method_id &&
               one->body.rejit_id == other->body.rejit_id;
}

/*
 * Judges a time that is known within a window only. Both answers must name one body, present or
 * nearest. If the body was present at begin and end, it was present throughout; else the name is
 * marked.
 */
static Verdict window_judge(const clrsym_answer *begin, const clrsym_answer *end, MappingKind kind)
{
        const clrsym_answer *first = begin->status == CLRSYM_OK ? begin : end;
        Verdict verdict = answer_judge(first, kind);

        if (begin->status == end->status && begin->status != CLRSYM_OK)
                return (Verdict){.reason = REASONS[begin->status]};
        if (first->status != CLRSYM_OK || !verdict_is_same_body(begin, end))
                return (Verdict){.reason = COUNT_CLOCK};
        if (begin->status != end->status) {
                verdict.is_marked = true;
                verdict.is_named = verdict_takes_marked(kind);
                verdict.reason = COUNT_CLOCK;
        }
        return verdict;
}

Verdict verdict_of_answers(const clrsym_answer *answers, unsigned n, MappingKind kind)
{
        if (n == 0)
                return (Verdict){.reason = COUNT_NO_PROCESS};
        return n == 1 ? answer_judge(answers, kind) : window_judge(answers, answers + 1, kind);
}

void verdict_count(Counts *counts, MappingKind kind, const Verdict *verdict,
                   const clrsym_answer *answer)
{
        bool is_jitted, is_image;

        if (kind == MAPPING_MANAGED && verdict->is_named)
                kind = answer->body.tier == CLRSYM_TIER_READY_TO_RUN ? MAPPING_IMAGE
                                                                     : MAPPING_JITTED;
        is_jitted = kind == MAPPING_JITTED;
        is_image = kind == MAPPING_IMAGE;
        counts->n[COUNT_MANAGED_UNNAMED] += kind == MAPPING_MANAGED;
        counts->n[COUNT_JITTED] += is_jitted;
        counts->n[COUNT_IMAGE] += is_image;
        if (verdict->is_named) {
                counts->n[is_jitted  ? COUNT_JITTED_NAMED
                          : is_image ? COUNT_IMAGE_NAMED
                                     : COUNT_ELSEWHERE_NAMED]++;
                counts->n[COUNT_MARKED] += verdict->is_marked;
                counts->n[COUNT_MARKED_GAP] +=
                        verdict->is_marked && answer->confidence == CLRSYM_GAP;
                counts->n[COUNT_MARKED_PENDING] +=
                        verdict->is_marked && answer->confidence == CLRSYM_PROVISIONAL;
        } else if (verdict_takes_marked(kind)) {
                counts->n[verdict->reason]++;
        }
}

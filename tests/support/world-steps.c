/* SPDX-License-Identifier: MIT */
#include "support/world-steps.h"

#define BASE UINT64_C(0x7f1234560ff0)

/* The stream of late events. */
enum { LATE_STREAM = 1 };

/* Module ids, and numbers of their files, from 1; 0: no module. */
enum { N_MODULES = 5, N_PATHS = 3 };

#define LOAD          "DotNETRuntime:MethodLoadVerbose_V2"
#define UNLOAD        "DotNETRuntime:MethodUnloadVerbose_V2"
#define R2R_ENTRY     "DotNETRuntime:R2RGetEntryPoint"
#define MODULE_LOAD   "DotNETRuntime:ModuleLoad_V2"
#define MODULE_UNLOAD "DotNETRuntime:ModuleUnload_V2"
#define START         "DotNETRuntime:RuntimeInformationStart"
#define EXIT          "DotNETRuntime:AppDomainUnload_V1"
#define INIT          "DotNETRuntimeRundown:DCEndInit_V1"
#define ROW           "DotNETRuntimeRundown:MethodDCEndVerbose_V2"
#define COMPLETE      "DotNETRuntimeRundown:DCEndComplete_V1"

/* A stream except the late one. */
static unsigned pick_stream(World *w)
{
        if (world_chance(w, w->mix->trace_percent))
                return 2;
        return w->mix->late_percent ? !LATE_STREAM : (unsigned)world_below(w, 2);
}

static uint64_t tick(World *w)
{
        if (!world_chance(w, 15))
                w->now += 1 + world_below(w, 3);
        return w->now;
}

/* A time that the late stream has not reached; usually it stays far behind. */
static uint64_t late_time(World *w, unsigned k)
{
        const Naive *naive = naive_newest_life(w, KEYS[k]);
        uint64_t time = MAX(w->naive_streams[LATE_STREAM].watermark, 1000);

        if (world_chance(w, 4))
                time += world_below(w, w->now - time + 1);
        else
                time += world_below(w, 5);
        /* A dropped generation gets no more events. */
        if (w->mix->budget && naive)
                time = MAX(time, naive->begin);
        return MIN(time, w->now);
}

/* The time and stream of an event. */
typedef struct Moment {
        unsigned stream;
        uint64_t time;
        bool is_late;
} Moment;

static Moment pick_moment(World *w, unsigned k)
{
        if (world_chance(w, w->mix->late_percent))
                return (Moment){LATE_STREAM, late_time(w, k), true};
        return (Moment){pick_stream(w), tick(w), false};
}

static const NaiveBody *pick_body(World *w, const Naive *naive, bool is_living)
{
        unsigned i;

        for (i = 0; naive && naive->bodies->len && i < 8; i++) {
                const NaiveBody *body = BODY(naive, world_below(w, naive->bodies->len));

                if (!is_living || naive_is_living(body))
                        return body;
        }
        return NULL;
}

/* A random body that exists at TIME, if a few tries find one; else a body of another time. */
static const NaiveBody *pick_body_at(World *w, const Naive *naive, uint64_t time)
{
        const NaiveBody *body = NULL;
        unsigned i;

        for (i = 0; naive && naive->bodies->len && i < 8; i++) {
                body = BODY(naive, world_below(w, naive->bodies->len));
                if (naive_is_alive(body, time))
                        break;
        }
        return body;
}

static NaiveBody fresh_body(World *w, unsigned k, BodySource source)
{
        const NaiveBody *other = pick_body(w, naive_newest_life(w, KEYS[k]), false);
        NaiveBody body = {.name = ++w->n_names, .id = w->n_names, .source = source};

        body.is_jitted = source != BODY_SOURCE_R2R_ENTRY && world_chance(w, 85);
        body.size = source == BODY_SOURCE_R2R_ENTRY
                            ? 0
                            : 1 + (uint32_t)world_below(w, w->mix->max_size);
        body.start = BASE + world_below(w, w->mix->span);
        if (other && world_chance(w, 20))
                body.start = other->start;
        else if (other && world_chance(w, 10))
                body.start = other->start + naive_extent(other);
        if (other && body.start == other->start && world_chance(w, 30)) {
                body.id = other->id;
                body.size = body.size ? other->size : 0;
        }
        return body;
}

/* An event of another kind about a known body. */
static NaiveBody mention(World *w, const NaiveBody *body, BodySource source)
{
        NaiveBody incoming = {.name = body->name,
                              .id = body->id,
                              .start = body->start,
                              .size = body->size,
                              .is_jitted = body->is_jitted,
                              .source = source};

        if (!incoming.size && !world_chance(w, 30))
                incoming.size = 1 + (uint32_t)world_below(w, w->mix->max_size);
        else if (world_chance(w, 2))
                incoming.size++; /* a different size makes another body */
        return incoming;
}

static uint64_t pick_module(World *w)
{
        return world_below(w, N_MODULES + 1);
}

static void do_fresh(World *w, unsigned k, const char *event, BodySource source)
{
        NaiveBody body = fresh_body(w, k, source);
        uint64_t module = pick_module(w);
        Moment moment = pick_moment(w, k);

        world_emit(w, moment.stream, event, k, &body, module, 0, moment.time);
}

/* Emits an event about a known body, alive or dead; perhaps late, if the mix has late events. */
static void do_known(World *w, unsigned k, const char *event, BodySource source, bool is_living)
{
        const Naive *naive = naive_newest_life(w, KEYS[k]);
        Moment moment = pick_moment(w, k);
        const NaiveBody *known = moment.is_late ? pick_body_at(w, naive, moment.time)
                                                : pick_body(w, naive, is_living);
        NaiveBody body;

        if (!known)
                return;
        body = mention(w, known, source);
        if (source == BODY_SOURCE_R2R_ENTRY) { /* the event has neither */
                body.size = 0;
                body.is_jitted = false;
        }
        w->n_late += moment.is_late && naive_is_alive(known, moment.time);
        world_emit(w, moment.stream, event, k, &body, pick_module(w), 0, moment.time);
}

static void do_gap(World *w)
{
        unsigned s = (unsigned)world_below(w, N_STREAMS);
        uint64_t begin = w->now - world_below(w, 30);
        StreamGap gap = {GAP_EVENTS, begin, begin + world_below(w, 20), 1};
        Span span = {gap.begin, gap.end, STREAM_TRACE[s]};

        world_log(w, "%u: gap %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " 1\n", STREAM_NAME[s],
                  gap.begin, gap.end);
        tracker_apply_gap(w->tracker, w->streams[s], &gap);
        world_resume(w, s, gap.begin);
        if (gap.end <= w->naive_streams[s].gap_end)
                return;
        w->naive_streams[s].gap_end = gap.end;
        g_array_append_val(w->gaps, span);
}

static void do_progress(World *w, unsigned s, uint64_t time)
{
        NaiveStream *stream = &w->naive_streams[s];

        world_log(w, "%u: progress %" G_GUINT64_FORMAT "\n", STREAM_NAME[s], time);
        tracker_apply_progress(w->tracker, w->streams[s], time);
        world_resume(w, s, time);
        stream->progress = MAX(stream->progress, time);
}

/* A process gap of a known process begins, is reported as a whole, or ends. */
static void do_process_gap(World *w)
{
        ProcessKey key = KEYS[world_below(w, N_KEYS)];
        uint64_t begin = w->now - world_below(w, 60), end = begin + world_below(w, 40);

        if (world_chance(w, 40))
                end = UINT64_MAX;
        else if (world_chance(w, 50))
                begin = end;
        if (!naive_newest_life(w, key) || (end != UINT64_MAX && end > w->now))
                return;
        world_log(w, "process-gap pid=%d pid_ns=%u %" G_GUINT64_FORMAT " ", key.pid,
                  (unsigned)key.pid_ns, begin);
        if (end == UINT64_MAX)
                world_log(w, "-\n");
        else
                world_log(w, "%" G_GUINT64_FORMAT "\n", end);
        tracker_apply_process_gap(w->tracker, &(ProcessGap){key, begin, end});
        naive_report_gap(w, key, begin, end);
}

static void do_lookups(World *w, unsigned n);

/* The feeder of the other stream of that trace reports unfed stream S as quiet. */
static void do_quiet(World *w, unsigned s)
{
        g_autoptr(GPtrArray) others = g_ptr_array_new();
        NaiveStream *stream = &w->naive_streams[s];
        unsigned other = 1 - s, n = 1 + (unsigned)world_below(w, 3);

        g_ptr_array_add(others, w->streams[other]);
        stream->is_away = true;
        while (n--) {
                uint64_t time = w->now - world_below(w, 10);

                world_log(w, "%u: quiet %" G_GUINT64_FORMAT "\n", STREAM_NAME[other], time);
                tracker_apply_quiet(w->tracker, others, (int64_t)time);
                world_resume(w, s, time);
                stream->progress = MAX(stream->progress, time);
                w->now += world_below(w, 5);
        }
}

/* A feeder disconnects, orderly or not, and reconnects. */
static void do_away(World *w)
{
        unsigned s = (unsigned)world_below(w, N_STREAMS);
        NaiveStream *stream = &w->naive_streams[s];
        bool is_over = world_chance(w, 50), is_quiet;

        world_log(w, "%u: %s\n", STREAM_NAME[s], is_over ? "close" : "detach");
        if (is_over)
                tracker_stream_close(w->tracker, w->streams[s]);
        else
                tracker_stream_detach(w->tracker, w->streams[s]);
        stream->has_ended = is_over;
        is_quiet = !is_over && STREAM_TRACE[s] == 0 && stream->progress && world_chance(w, 50);
        if (is_quiet)
                do_quiet(w, s);
        do_lookups(w, 3);
        world_log(w, "%u: open\n", STREAM_NAME[s]);
        world_open_stream(w, s);
        stream->is_away = stream->progress > 0 && !is_over && !is_quiet;
        stream->has_ended = false;
}

static void do_module(World *w, unsigned k)
{
        uint64_t id = 1 + world_below(w, N_MODULES);
        Moment moment = pick_moment(w, k);

        if (world_chance(w, 60))
                world_emit(w, moment.stream, MODULE_LOAD, k, NULL, id,
                           1 + (unsigned)world_below(w, N_PATHS), moment.time);
        else
                world_emit(w, moment.stream, MODULE_UNLOAD, k, NULL, id, 0, moment.time);
}

/* An exit, then another program with the pid: at once, later, or without an exit event. */
static void do_life(World *w, unsigned k)
{
        if (world_chance(w, 60))
                world_emit(w, pick_stream(w), EXIT, k, NULL, 0, 0, tick(w));
        if (world_chance(w, 30))
                w->now += world_below(w, 2) ? 2 * SECOND : 10;
        if (world_chance(w, 50))
                world_emit(w, pick_stream(w), START, k, NULL, 0, 0, tick(w));
        /* Two sessions report one start twice. */
        if (world_chance(w, w->mix->trace_percent))
                world_emit(w, 2, START, k, NULL, 0, 0, tick(w));
}

static void do_simple(World *w, unsigned k)
{
        const Mix *mix = w->mix;
        unsigned sum = mix->load + mix->race + mix->unload + mix->unannounced + mix->module +
                       mix->r2r + mix->gap + mix->away + mix->life;
        unsigned n = (unsigned)world_below(w, sum);

        if (n < mix->load)
                do_fresh(w, k, LOAD, BODY_SOURCE_LOAD);
        else if ((n -= mix->load) < mix->race)
                do_known(w, k, LOAD, BODY_SOURCE_LOAD, !world_chance(w, 10));
        else if ((n -= mix->race) < mix->unload)
                do_known(w, k, UNLOAD, BODY_SOURCE_UNLOAD, !world_chance(w, 20));
        else if ((n -= mix->unload) < mix->unannounced)
                do_fresh(w, k, UNLOAD, BODY_SOURCE_UNLOAD);
        else if ((n -= mix->unannounced) < mix->module)
                do_module(w, k);
        else if ((n -= mix->module) < mix->r2r && world_chance(w, 70))
                do_fresh(w, k, R2R_ENTRY, BODY_SOURCE_R2R_ENTRY);
        else if (n < mix->r2r)
                do_known(w, k, R2R_ENTRY, BODY_SOURCE_R2R_ENTRY, true);
        else if ((n -= mix->r2r) < mix->gap)
                do_gap(w);
        else if ((n -= mix->gap) < mix->away)
                do_away(w);
        else
                do_life(w, k);
}

static void do_rundown_bound(World *w, unsigned k, const char *event)
{
        Moment moment = pick_moment(w, k);

        world_emit(w, moment.stream, event, k, NULL, 0, 0, moment.time);
}

/* A rundown of most living bodies and of some unknown ones, with other events in between. */
static void do_rundown(World *w, unsigned k)
{
        const Naive *naive = naive_newest_life(w, KEYS[k]);
        bool is_listed = world_chance(w, 60), is_busy = world_chance(w, 50);
        guint i;

        if (!world_chance(w, 5))
                do_rundown_bound(w, k, INIT);
        for (i = 0; naive && i < naive->bodies->len && !w->failure; i++) {
                const NaiveBody *body = BODY(naive, i);
                NaiveBody row;
                Moment moment;

                if (!naive_is_living(body) || !world_chance(w, is_listed ? 95 : 40))
                        continue;
                row = mention(w, body, BODY_SOURCE_RUNDOWN);
                moment = pick_moment(w, k);
                world_emit(w, moment.stream, ROW, k, &row, pick_module(w), 0, moment.time);
                if (is_busy && world_chance(w, 20))
                        do_simple(w, world_chance(w, 50) ? k : (unsigned)world_below(w, N_KEYS));
                if (world_chance(w, 5))
                        do_fresh(w, k, ROW, BODY_SOURCE_RUNDOWN);
                if (world_chance(w, 1))
                        return;
        }
        if (!world_chance(w, 15))
                do_rundown_bound(w, k, COMPLETE);
}

static uint64_t pick_time(World *w, const Naive *naive)
{
        const NaiveBody *body = pick_body(w, naive, false);

        switch (world_below(w, 8)) {
        case 0:
                return w->now - world_below(w, 20);
        case 1:
                return w->now + world_below(w, 20);
        case 2:
                return naive ? naive->begin - 2 + world_below(w, 4) : 1;
        case 3:
                return naive ? naive_horizon(w, naive, /* ret_is_open= */ NULL) + world_below(w, 3)
                             : 1;
        case 4:
        case 5:
                if (body)
                        return MAX(body->since, 3) - 2 + world_below(w, 5);
                break;
        case 6:
                if (body && !naive_is_living(body))
                        return MAX(body->until, 3) - 2 + world_below(w, 5);
                break;
        default:
                break;
        }
        return 900 + world_below(w, MIN(w->now + 50, UINT32_MAX) - 900);
}

static void do_lookups(World *w, unsigned n)
{
        for (; n > 0 && !w->failure; n--) {
                unsigned k = (unsigned)world_below(w, N_KEYS);
                Question question = {.pid = KEYS[k].pid, .pid_ns = KEYS[k].pid_ns};
                const Naive *naive;
                const NaiveBody *body;

                question.has_pid_ns = w->mix->budget || !world_chance(w, 2);
                naive = w->lives->len && world_chance(w, 30)
                                ? w->lives->pdata[world_below(w, w->lives->len)]
                                : naive_newest_life(w, KEYS[k]);
                if (naive && world_chance(w, 90))
                        question.pid = naive->key.pid, question.pid_ns = naive->key.pid_ns;
                body = pick_body(w, naive, world_chance(w, 30));
                question.address = BASE + world_below(w, w->mix->span);
                if (body && world_chance(w, 80))
                        question.address = body->start + world_below(w, naive_extent(body) + 1);
                question.has_time = !world_chance(w, 15);
                if (question.has_time)
                        question.time = pick_time(w, naive);
                world_ask(w, &question);
        }
}

void world_begin(World *w)
{
        unsigned s, k;

        w->tracker = tracker_new();
        w->now = 1000;
        w->batch = 1;
        w->lives = g_ptr_array_new_with_free_func(naive_free);
        w->gaps = g_array_new(FALSE, FALSE, sizeof(Span));
        tracker_set_budget(w->tracker, w->mix->budget);
        for (s = 0; s < N_STREAMS; s++) {
                world_open_stream(w, s);
                world_log(w, "%u: progress 1\n", STREAM_NAME[s]);
                do_progress(w, s, 1);
        }
        for (k = 0; k < N_KEYS; k++)
                if (world_chance(w, 60))
                        world_emit(w, 0, START, k, NULL, 0, 0, tick(w));
}

void world_step(World *w)
{
        const Mix *mix = w->mix;
        unsigned k = world_chance(w, 60) ? 0 : (unsigned)world_below(w, N_KEYS), s;

        if (world_below(w, 1000) < 10 * mix->rundown)
                do_rundown(w, k);
        else
                do_simple(w, k);
        if (world_chance(w, 30)) {
                world_log(w, "commit\n");
                tracker_commit(w->tracker);
                w->batch++;
        }
        for (s = 0; s < N_STREAMS; s++)
                if (world_chance(w, 25))
                        do_progress(w, s, w->now - world_below(w, 10));
        do_lookups(w, 2);
        if (mix->process_gap && world_below(w, 1000) < mix->process_gap)
                do_process_gap(w);
        if (world_below(w, 1000) < mix->restart)
                world_restart(w);
}

void world_end(World *w)
{
        tracker_free(w->tracker);
        g_ptr_array_unref(w->lives);
        g_array_unref(w->gaps);
}

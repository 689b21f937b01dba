/* SPDX-License-Identifier: MIT */
#include "session/survey.h"

#include "session/manager.h"
#include "session/place.h"

/* liblttng-ctl waits for an answer for ever. */
#define ANSWER_TIMEOUT (5 * G_TIME_SPAN_SECOND)

/* What the session daemon has: asked by a thread, which is left alone if it hangs. */
typedef struct Question {
        GMutex mutex;
        GCond answered;
        bool is_answered;
        bool has_sessiond;
        GPtrArray *sessions; /* owned */
} Question;

static void question_clear(void *data)
{
        Question *question = data;

        g_mutex_clear(&question->mutex);
        g_cond_clear(&question->answered);
        if (question->sessions)
                g_ptr_array_unref(question->sessions);
}

static void *ask(void *data)
{
        Question *question = data;
        bool has_sessiond = tracing_has_daemon(NULL);
        GPtrArray *sessions = has_sessiond ? tracing_list(NULL) : NULL;

        g_mutex_lock(&question->mutex);
        question->has_sessiond = has_sessiond;
        question->sessions = sessions;
        question->is_answered = true;
        g_cond_signal(&question->answered);
        g_mutex_unlock(&question->mutex);
        g_atomic_rc_box_release_full(question, question_clear);
        return NULL;
}

/* Once it is answered, only the caller has it. */
static Question *question_new(void)
{
        Question *question = g_atomic_rc_box_new0(Question);
        gint64 deadline = g_get_monotonic_time() + ANSWER_TIMEOUT;

        g_mutex_init(&question->mutex);
        g_cond_init(&question->answered);
        g_thread_unref(g_thread_new("lttng", ask, g_atomic_rc_box_acquire(question)));
        g_mutex_lock(&question->mutex);
        while (!question->is_answered &&
               g_cond_wait_until(&question->answered, &question->mutex, deadline))
                ;
        return question;
}

static void question_free(Question *question)
{
        g_mutex_unlock(&question->mutex);
        g_atomic_rc_box_release_full(question, question_clear);
}

static void row_free(void *data)
{
        SurveyRow *row = data;

        settings_free(row->settings);
        g_free(row->advice);
        g_free(row);
}

static char *advise(const Settings *settings, Health health)
{
        const char *what = health_present(health);

        if (!what)
                return NULL;
        if (health == HEALTH_UNKNOWN)
                return g_strdup(what);
        if (!settings->is_live)
                return g_strdup_printf("%s: clrsym session stop %s", what, settings->name);
        if (health == HEALTH_NO_RELAYD && settings->relay_user)
                return g_strdup_printf("lttng-relayd of %s is gone: systemctl restart "
                                       "clrsym-relayd",
                                       settings->relay_user);
        return g_strdup_printf("%s: clrsym session mend %s", what, settings->name);
}

GPtrArray *survey_new(void)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
        g_autofree char *place = place_look(NULL);
        g_autoptr(GPtrArray) ours = place ? manager_list(NULL) : NULL;
        Question *question;
        guint i;

        if (!ours || ours->len == 0)
                return g_steal_pointer(&rows);
        question = question_new();
        /* Each becomes a row's. */
        g_ptr_array_set_free_func(ours, NULL);
        for (i = 0; i < ours->len; i++) {
                SurveyRow *row = g_new0(SurveyRow, 1);
                const TracingSession *session;
                g_auto(Relay) relay = {0};
                uint64_t n_lost;

                row->settings = ours->pdata[i];
                row->health = HEALTH_UNKNOWN;
                session = question->sessions ? tracing_find(question->sessions, row->settings->name)
                                             : NULL;
                if (question->is_answered && (question->sessions || !question->has_sessiond)) {
                        health_relay(place, row->settings, &relay);
                        row->health =
                                health_of(row->settings, question->has_sessiond, session, &relay);
                }
                if (session) {
                        row->has_losses = true;
                        tracing_losses(session, &row->n_discarded, &n_lost);
                }
                row->advice = advise(row->settings, row->health);
                g_ptr_array_add(rows, row);
        }
        question_free(question);
        return g_steal_pointer(&rows);
}

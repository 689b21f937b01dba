/* SPDX-License-Identifier: MIT */
#include "lttng/session-survey.h"

#include "lttng/session-control.h"
#include "lttng/state-dir.h"

/* liblttng-ctl waits for an answer for ever. */
#define ANSWER_TIMEOUT (5 * G_TIME_SPAN_SECOND)

/* What the session daemon has: asked by a thread, which is left running if it hangs. */
typedef struct SurveyQuestion {
        GMutex mutex;
        GCond answered;
        bool is_answered;
        bool has_sessiond;
        GPtrArray *sessions; /* owned */
} SurveyQuestion;

static void question_clear(void *data)
{
        SurveyQuestion *question = data;

        g_mutex_clear(&question->mutex);
        g_cond_clear(&question->answered);
        if (question->sessions)
                g_ptr_array_unref(question->sessions);
}

static void *question_ask(void *data)
{
        SurveyQuestion *question = data;
        bool has_sessiond = sessiond_is_running(NULL);
        GPtrArray *sessions = has_sessiond ? sessiond_list_sessions(NULL) : NULL;

        g_mutex_lock(&question->mutex);
        question->has_sessiond = has_sessiond;
        question->sessions = sessions;
        question->is_answered = true;
        g_cond_signal(&question->answered);
        g_mutex_unlock(&question->mutex);
        g_atomic_rc_box_release_full(question, question_clear);
        return NULL;
}

/* After the answer, only the caller uses it. */
static SurveyQuestion *question_new(void)
{
        SurveyQuestion *question = g_atomic_rc_box_new0(SurveyQuestion);
        gint64 deadline = g_get_monotonic_time() + ANSWER_TIMEOUT;

        g_mutex_init(&question->mutex);
        g_cond_init(&question->answered);
        g_thread_unref(g_thread_new("lttng", question_ask, g_atomic_rc_box_acquire(question)));
        g_mutex_lock(&question->mutex);
        while (!question->is_answered &&
               g_cond_wait_until(&question->answered, &question->mutex, deadline))
                ;
        return question;
}

static void question_free(SurveyQuestion *question)
{
        g_mutex_unlock(&question->mutex);
        g_atomic_rc_box_release_full(question, question_clear);
}

static void survey_row_free(void *data)
{
        SessionSurveyRow *row = data;

        session_settings_free(row->settings);
        g_free(row->advice);
        g_free(row);
}

static char *survey_advise(const SessionSettings *settings, SessionHealth health)
{
        const char *what = session_health_present(health);

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
        return g_strdup_printf("%s: clrsym session repair %s", what, settings->name);
}

GPtrArray *session_survey_new(void)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(survey_row_free);
        g_autofree char *directory = state_dir_look(NULL);
        g_autoptr(GPtrArray) ours = directory ? session_control_list(NULL) : NULL;
        SurveyQuestion *question;
        guint i;

        if (!ours || ours->len == 0)
                return g_steal_pointer(&rows);
        question = question_new();
        /* The rows take them over. */
        g_ptr_array_set_free_func(ours, NULL);
        for (i = 0; i < ours->len; i++) {
                SessionSurveyRow *row = g_new0(SessionSurveyRow, 1);
                const LttngSession *session;
                g_auto(RelayDaemon) relay = {0};
                uint64_t n_lost;

                row->settings = ours->pdata[i];
                row->health = HEALTH_UNKNOWN;
                session = question->sessions
                                  ? lttng_session_find(question->sessions, row->settings->name)
                                  : NULL;
                if (question->is_answered && (question->sessions || !question->has_sessiond)) {
                        session_health_relay(directory, row->settings, &relay);
                        row->health = session_health_of(row->settings, question->has_sessiond,
                                                        session, &relay);
                }
                if (session) {
                        row->has_losses = true;
                        lttng_session_losses(session, &row->n_discarded, &n_lost);
                }
                row->advice = survey_advise(row->settings, row->health);
                g_ptr_array_add(rows, row);
        }
        question_free(question);
        return g_steal_pointer(&rows);
}

/* SPDX-License-Identifier: MIT */
#include "lttng/session-survey.h"

#include "lttng/session-control.h"
#include "lttng/state-dir.h"
#include "util/subprocess.h"

#include <jansson.h>
#include <unistd.h>

/* s, for an answer of the session daemon */
#define ANSWER_TIMEOUT 5

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

/* The present state of a session. SESSIONS is NULL if the session daemon did not list them. */
static void survey_row_ask(SessionSurveyRow *row, const char *directory, bool has_sessiond,
                           const GPtrArray *sessions)
{
        const LttngSession *session =
                sessions ? lttng_session_find(sessions, row->settings->name) : NULL;
        g_auto(RelayDaemon) relay = {0};
        uint64_t n_lost;

        if (sessions || !has_sessiond) {
                session_health_relay(directory, row->settings, &relay);
                row->health = session_health_of(row->settings, has_sessiond, session, &relay);
        }
        row->has_losses = session != NULL;
        if (session)
                lttng_session_losses(session, &row->n_discarded, &n_lost);
}

/* The question to the child. */
typedef struct Survey {
        const char *directory; /* borrowed: the state directory */
        const GPtrArray *rows; /* borrowed, of SessionSurveyRow */
} Survey;

/* In the child: writes [health, has_losses, n_discarded] of each row. */
static void survey_write(int fd, void *data)
{
        const Survey *survey = data;
        const bool has_sessiond = sessiond_is_running(NULL);
        g_autoptr(GPtrArray) sessions = has_sessiond ? sessiond_list_sessions(NULL) : NULL;
        json_auto_t *states = json_array();
        guint i;

        for (i = 0; i < survey->rows->len; i++) {
                SessionSurveyRow *row = survey->rows->pdata[i];

                survey_row_ask(row, survey->directory, has_sessiond, sessions);
                json_array_append_new(states,
                                      json_pack("[i,b,I]", (int)row->health, (int)row->has_losses,
                                                (json_int_t)row->n_discarded));
        }
        if (json_dumpfd(states, fd, JSON_COMPACT) < 0)
                _exit(1);
}

/* Without an answer the health is HEALTH_UNKNOWN. */
static void survey_row_read(SessionSurveyRow *row, json_t *state)
{
        int health, has_losses;
        json_int_t n_discarded;

        if (json_unpack(state, "[i,b,I]", &health, &has_losses, &n_discarded) < 0)
                return;
        row->health = (SessionHealth)health;
        row->has_losses = has_losses;
        row->n_discarded = (uint64_t)n_discarded;
}

/* Asks in a child, because liblttng-ctl waits for an answer without a timeout. */
static void survey_ask(const Survey *survey)
{
        g_autofree char *output = NULL;
        json_auto_t *states = NULL;
        guint i;

        subprocess_call(survey_write, (void *)survey, ANSWER_TIMEOUT, &output);
        states = output ? json_loads(output, 0, NULL) : NULL;
        for (i = 0; i < survey->rows->len; i++)
                survey_row_read(survey->rows->pdata[i], json_array_get(states, i));
}

GPtrArray *session_survey_new(void)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(survey_row_free);
        g_autofree char *directory = state_dir_look(NULL);
        g_autoptr(GPtrArray) ours = directory ? session_control_list(NULL) : NULL;
        guint i;

        if (!ours || ours->len == 0)
                return g_steal_pointer(&rows);
        /* The rows take them over. */
        g_ptr_array_set_free_func(ours, NULL);
        for (i = 0; i < ours->len; i++) {
                SessionSurveyRow *row = g_new0(SessionSurveyRow, 1);

                row->settings = ours->pdata[i];
                row->health = HEALTH_UNKNOWN;
                g_ptr_array_add(rows, row);
        }
        survey_ask(&(const Survey){directory, rows});
        for (i = 0; i < rows->len; i++) {
                SessionSurveyRow *row = rows->pdata[i];

                row->advice = survey_advise(row->settings, row->health);
        }
        return g_steal_pointer(&rows);
}

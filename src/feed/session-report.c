/* SPDX-License-Identifier: MIT */
#include "feed/session-report.h"

#include "feed/state-file.h"
#include "lttng/session-survey.h"

#include <string.h>

/* The members of a feeder's state file that are reported. */
static const char *const FEEDER_MEMBERS[] = {
        "session", "state", "since", "reason", "restarts", "last_error", "last_error_at", "pid",
};

static json_t *json_text_or_null(const char *text)
{
        return text ? json_string(text) : json_null();
}

static json_t *json_number_or_null(bool is_known, uint64_t number)
{
        return is_known ? json_integer((json_int_t)number) : json_null();
}

static json_t *session_to_row(const SessionSurveyRow *row)
{
        const SessionSettings *settings = row->settings;
        json_t *object = json_object(), *track = json_array();
        guint i;

        for (i = 0; i < settings->track->len; i++)
                json_array_append_new(track,
                                      json_integer(g_array_index(settings->track, int32_t, i)));
        json_object_set_new(object, "name", json_string(settings->name));
        json_object_set_new(object, "state", json_string(session_health_name(row->health)));
        json_object_set_new(object, "reason", json_text_or_null(row->advice));
        json_object_set_new(object, "live", json_boolean(settings->is_live));
        json_object_set_new(object, "output", json_text_or_null(settings->output));
        json_object_set_new(object, "track", track);
        json_object_set_new(object, "disk",
                            json_number_or_null(settings->disk > 0, settings->disk));
        json_object_set_new(object, "discarded_events",
                            json_number_or_null(row->has_losses, row->n_discarded));
        return object;
}

static bool rows_have_session(const json_t *sessions, const char *name)
{
        const json_t *session;
        size_t i;

        json_array_foreach(sessions, i, session)
        {
                if (!strcmp(json_string_value(json_object_get(session, "name")), name))
                        return true;
        }
        return false;
}

/* A feeder that has died is reported as long as its session exists. */
static bool feeder_is_reported(const json_t *feeder, const json_t *sessions)
{
        const char *session = json_string_value(json_object_get(feeder, "session"));

        return session &&
               (strcmp(json_string_value(json_object_get(feeder, "state")), "gone") != 0 ||
                rows_have_session(sessions, session));
}

static json_t *feeder_to_row(const json_t *feeder)
{
        json_t *object = json_object();
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FEEDER_MEMBERS); i++) {
                json_t *value = json_object_get(feeder, FEEDER_MEMBERS[i]);

                json_object_set_new(object, FEEDER_MEMBERS[i],
                                    value ? json_incref(value) : json_null());
        }
        return object;
}

static void report_set_rows(json_t *report, const char *name, json_t *rows)
{
        if (json_array_size(rows) > 0)
                json_object_set(report, name, rows);
        json_decref(rows);
}

json_t *session_report_new(void)
{
        g_autoptr(GPtrArray) survey = session_survey_new();
        json_t *report = json_object(), *sessions = json_array(), *feeders = json_array();
        json_auto_t *list = state_file_list();
        json_t *feeder;
        size_t i;

        for (i = 0; i < survey->len; i++)
                json_array_append_new(sessions, session_to_row(survey->pdata[i]));
        json_array_foreach(list, i, feeder)
        {
                if (feeder_is_reported(feeder, sessions))
                        json_array_append_new(feeders, feeder_to_row(feeder));
        }
        report_set_rows(report, "sessions", sessions);
        report_set_rows(report, "feeders", feeders);
        return report;
}

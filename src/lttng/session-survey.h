/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session survey: the present state of the sessions that clrsym started
 */

#include "lttng/session-health.h"

typedef struct SessionSurveyRow {
        SessionSettings *settings; /* owned */
        SessionHealth health;
        char *advice; /* owned: the reason and the remedy; NULL: nothing is missing */
        bool has_losses;
        uint64_t n_discarded; /* events */
} SessionSurveyRow;

/* Owned SurveyRows, by name. Changes nothing, and asks LTTng only if there is a session; waits a
 * few seconds if the session daemon does not answer. */
GPtrArray *session_survey_new(void);

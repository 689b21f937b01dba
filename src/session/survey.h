/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Survey: how our sessions are now
 */

#include "session/health.h"

typedef struct SurveyRow {
        Settings *settings; /* owned */
        Health health;
        char *advice; /* owned: what is missing and what to do, for people; NULL: nothing */
        bool has_losses;
        uint64_t n_discarded; /* events */
} SurveyRow;

/*
 * Owned SurveyRows, by name. Changes nothing, and asks LTTng only if there is a session; waits a
 * few seconds for a session daemon that does not answer.
 */
GPtrArray *survey_new(void);

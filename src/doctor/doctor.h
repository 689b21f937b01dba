/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Doctor: what the checks look at
 */

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/inspection.h"

typedef struct Doctor {
        const char *socket; /* borrowed: of the daemon; NULL: the usual one */
        pid_t pid;          /* 0: no process was named */

        Facts facts;
        const json_t *session; /* borrowed from the facts: the best one, or NULL */

        Inspection inspection; /* with a pid */

        /* Of the daemon. */
        char *daemon_version; /* owned: NULL: it does not answer */
        char *daemon_error;   /* owned */
        int64_t n_feeders;    /* that it has; -1: it does not say */
        int64_t n_live;       /* bodies of the process that it knows as alive; -1: no process */
        bool is_attached;     /* to the process, by clrsym attach */
} Doctor;

void doctor_init(Doctor *doctor, const char *socket, pid_t pid);
void doctor_deinit(Doctor *doctor);

/* Was the process looked into, and does it have a runtime that others can load things into? */
bool doctor_has_shown(const Doctor *doctor);
bool doctor_has_runtime(const Doctor *doctor);

/* One check. FINDING is empty; if it stays so, the check does not matter here. */
typedef void (*CheckFn)(const Doctor *doctor, Finding *finding);

/* In check-system.c. */
void check_daemon(const Doctor *doctor, Finding *finding);
void check_access(const Doctor *doctor, Finding *finding);
void check_babeltrace(const Doctor *doctor, Finding *finding);
void check_perf(const Doctor *doctor, Finding *finding);
/* In check-session.c. */
void check_sessiond(const Doctor *doctor, Finding *finding);
void check_session(const Doctor *doctor, Finding *finding);
void check_tracked(const Doctor *doctor, Finding *finding);
void check_events(const Doctor *doctor, Finding *finding);
void check_contexts(const Doctor *doctor, Finding *finding);
void check_losses(const Doctor *doctor, Finding *finding);
void check_relay(const Doctor *doctor, Finding *finding);
void check_feeder(const Doctor *doctor, Finding *finding);
/* In check-process.c. */
void check_process(const Doctor *doctor, Finding *finding);
void check_runtime(const Doctor *doctor, Finding *finding);
void check_library(const Doctor *doctor, Finding *finding);
void check_provider(const Doctor *doctor, Finding *finding);
void check_registered(const Doctor *doctor, Finding *finding);
/* In check-events.c. */
void check_port(const Doctor *doctor, Finding *finding);
void check_switched_on(const Doctor *doctor, Finding *finding);
void check_clock(const Doctor *doctor, Finding *finding);

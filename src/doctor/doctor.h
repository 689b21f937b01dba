/* SPDX-License-Identifier: MIT */
#pragma once

/* Doctor: the checks of `clrsym doctor`, and their facts */

#include "doctor/finding.h"
#include "doctor/inspection.h"
#include "doctor/sessiond-state.h"

typedef struct Doctor {
        const char *socket; /* borrowed: of the daemon; NULL: the usual one */
        pid_t pid;          /* 0: no process was named */

        SessiondState sessiond;
        const SessiondSession *session; /* borrowed from sessiond: the best one, or NULL */

        Inspection inspection; /* of pid */

        char *daemon_version; /* owned; NULL: clrsymd does not answer */
        char *daemon_error;   /* owned or NULL */
        int64_t n_feeders;    /* of clrsymd; -1: unknown; the same below */
        int64_t n_later;      /* events of a later version that clrsymd got */
        int64_t n_live;       /* living bodies of the process that clrsymd knows; -1: unknown */
        bool is_attached;     /* the process is, by clrsym attach */
        bool is_by_eventpipe; /* by its diagnostic port, so that it needs no LTTng */
} Doctor;

void doctor_init(Doctor *doctor, const char *socket, pid_t pid);
void doctor_deinit(Doctor *doctor);

/* True if a process was named and could be inspected. */
bool doctor_is_inspected(const Doctor *doctor);
/* True if it has a runtime of separate files, which can load an LTTng provider. */
bool doctor_has_runtime(const Doctor *doctor);

/* A check. FINDING is empty; if it remains empty, the check does not apply. */
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

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inspection: what /proc and the files of a process show about it
 *
 * The process controls what is shown: the size of its environment, the files in its root directory,
 * and whether reading any of that ever ends. So a child process reads it, within a time limit, and
 * reads no more than an ordinary process has.
 */

#include "doctor/sessiond-access.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum InspectionState {
        INSPECTION_DONE,
        INSPECTION_NONE,    /* there is no such process */
        INSPECTION_REFUSED, /* we may not look into it */
        INSPECTION_UNCLEAR, /* it cannot be read: reason */
        _INSPECTION_STATE_MAX,
} InspectionState;

/* Texts are owned, or NULL. Paths are as the process sees them. */
typedef struct InspectionFacts {
        int64_t state; /* InspectionState; unless it is DONE, nothing else is known */
        char *reason;  /* with UNCLEAR */

        int64_t vpid;   /* its pid in its own pid namespace */
        bool is_nested; /* which is not ours */

        char *runtime; /* directory of its libcoreclr.so */
        bool has_mono;
        bool has_musl;
        bool is_native_aot;
        bool is_single_file;
        char *program_error; /* why its program cannot be read */

        bool has_provider;         /* the runtime's LTTng provider is mapped */
        bool has_lost_tracepoints; /* nothing connects them to the provider: tracepoints.h */
        bool has_provider_file;    /* it is beside the runtime */
        char *provider_error;      /* why it cannot be read */
        char *library;             /* that the provider needs */
        bool has_library;          /* the dynamic linker finds it */
        bool has_newer_library;    /* or its successor, which does not replace it */

        bool has_port; /* its runtime answers at its diagnostic port */
        bool is_port_off;
        bool is_port_unresponsive;
        bool is_port_strange;  /* what answers there is not a message of the protocol */
        char *port_directory;  /* of the port's socket */
        char *runtime_version; /* "10.0.12", as the runtime says; NULL: before .NET 6 */

        bool is_lttng_off;     /* by its environment, like the next three */
        bool is_on_from_start; /* events are switched on */
        bool has_filter;       /* of event sources */
        bool has_clock_plugin;
        bool is_in_time_ns; /* in another time namespace than we are */

        char *lttng_home;       /* its $LTTNG_HOME or $HOME */
        bool has_own_sessiond;  /* a session daemon's socket is there */
        int64_t roots_sessiond; /* SessiondAccess of the process to root's session daemon */
} InspectionFacts;

typedef struct Inspection {
        InspectionState state;
        char *reason;          /* owned: with UNCLEAR */
        bool has_uid;          /* false: there is no such process */
        uid_t uid;             /* real uid of the process */
        int pidfd;             /* readable once it has ended; -1: there is none */
        InspectionFacts facts; /* empty unless state is DONE */
} Inspection;

void inspection_read(pid_t pid, Inspection *ret_inspection);
void inspection_clear(Inspection *inspection);

/* True if the process has ended: then what was read may be of another process. */
bool inspection_is_over(const Inspection *inspection);

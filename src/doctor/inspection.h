/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inspection: facts of a process from /proc and its files
 *
 * The process controls them: the size of its environment, the files in its root directory, and
 * whether reading any of that ever ends. So a child process reads them, with a timeout, and reads
 * no more than an ordinary process has.
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

/* Texts are owned, or NULL. Paths are those that the process sees. */
typedef struct InspectionFacts {
        int64_t state; /* InspectionState; unless it is DONE, only the reason is known */
        char *reason;  /* with UNCLEAR */

        int64_t vpid;   /* its pid in its own pid namespace */
        bool is_nested; /* which is not ours */

        char *runtime; /* directory of its libcoreclr.so */
        bool has_mono;
        bool has_musl;
        bool is_native_aot;
        bool is_single_file;
        char *program_error; /* why its program cannot be read */

        bool has_provider;         /* the process has mapped the runtime's LTTng provider */
        bool has_lost_tracepoints; /* the table of its tracepoints is missing: tracepoints.h */
        bool has_provider_file;    /* the provider is beside the runtime */
        char *provider_error;      /* why it cannot be read */
        char *library;             /* the library that the provider needs */
        bool has_library;          /* the dynamic linker finds that library */
        bool has_newer_library;    /* or finds its successor, which does not replace it */

        bool has_port; /* its runtime answers at its diagnostic port */
        bool is_port_off;
        bool is_port_unresponsive;
        bool is_port_strange;  /* the answer at the port is not a message of the protocol */
        char *port_directory;  /* of the port's socket */
        char *runtime_version; /* "10.0.12", reported by the runtime; NULL: before .NET 6 */

        bool is_lttng_off;     /* by its environment, like the next three */
        bool is_on_from_start; /* events are switched on */
        bool has_filter;       /* of event sources */
        bool has_clock_plugin;
        bool is_in_time_ns; /* in another time namespace than ours */

        char *lttng_home;       /* its $LTTNG_HOME or $HOME */
        bool has_own_sessiond;  /* a session daemon's socket is in it */
        int64_t roots_sessiond; /* SessiondAccess of the process to root's session daemon */
} InspectionFacts;

typedef struct Inspection {
        InspectionState state;
        char *reason;          /* owned: with UNCLEAR */
        bool has_uid;          /* false: there is no such process */
        uid_t uid;             /* real uid of the process */
        int pidfd;             /* readable once the process has ended; -1: none */
        InspectionFacts facts; /* empty unless state is DONE */
} Inspection;

void inspection_read(pid_t pid, Inspection *ret_inspection);
void inspection_clear(Inspection *inspection);

/* True if the process has ended: then the facts can be of another process. */
bool inspection_is_over(const Inspection *inspection);

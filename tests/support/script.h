/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scripts: what happens to a process, and what is answered then, a line each
 *
 *   TIME EVENT [FIELD=VALUE ...]     an event by its LTTng name; provider DotNETRuntime unless
 *                                    given; fields left out are 0 or empty. Short names: id start
 *                                    size rejit flags module name ns token; pid pid_ns tid.
 *   started TIME                     when the program was started that has the pids now
 *   ended TIME                       the host's first process has ended
 *   owner PID UID START              the host's program with that pid; UID 0: there is none
 *   gap BEGIN END COUNT              events lost
 *   process-gap [pid=P] BEGIN END    a process gap is reported; END -: it goes on
 *   progress TIME | close | detach | open | commit
 *   ? [uid=U] [pid=P] ADDR [TIME] = STATUS [NAME] [CONFIDENCE] [edited]
 *
 * A line may begin with "N:", the stream it is about. Streams 0-9 are one trace, 10-19 another, up
 * to 39 in buffers of uid 1000; 40-49 in those of uid 2000; 50-59 in those of process 100. Lines
 * that begin with # are remarks. Numbers are decimal, or hexadecimal with 0x.
 */

#include "tracker/answer.h"

/* Runs SCRIPT on a new tracker; failures name the line. */
void script_run(const char *script);
/* Runs SCRIPT. The caller owns the tracker. */
Tracker *script_tracker(const char *script);
/* Continues in TRACKER, with its open streams. */
void script_go_on(Tracker *tracker, const char *script);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scripts: what happened to a process and what is then answered, a line each
 *
 *   TIME EVENT [FIELD=VALUE ...]     an event by its LTTng name; provider DotNETRuntime unless
 *                                    given; fields left out are 0 or empty. Short names: id start
 *                                    size rejit flags module name ns token; pid pid_ns tid.
 *   started TIME                     when the program was started that has the pids now
 *   gap BEGIN END COUNT              events lost
 *   silent [pid=P] BEGIN END          the process told nothing; END - is not known yet
 *   progress TIME | close | detach | open | commit
 *   ? [pid=P] ADDR [TIME] = STATUS [NAME] [CONFIDENCE]
 *
 * A line may begin with "N:", the stream it is about (streams 0-9 are one trace, 10-19 another...).
 * Lines that begin with # are remarks. Numbers are decimal, or hexadecimal with 0x.
 */

#include "core/answer.h"

/* Runs SCRIPT on a new tracker; check assertions fail with the line in question. */
void script_run(const char *script);
/* The same, and hands over the tracker. */
Tracker *script_tracker(const char *script);
/* What happens next in TRACKER; its streams go on where they were. */
void script_go_on(Tracker *tracker, const char *script);

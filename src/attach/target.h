/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target: a running .NET process, as /proc shows it
 *
 * Pid and start together identify a process. The start is in clock ticks since boot, because that
 * number never changes, unlike the start in proc.h, which depends on the machine's clocks.
 */

#include "attach/tracepoints.h"
#include "util/proc.h"

#include <glib.h>

/* The kind of a program, by its exported symbols. */
typedef enum TargetProgram {
        TARGET_PROGRAM_OTHER,       /* for example the host of a runtime */
        TARGET_PROGRAM_SINGLE_FILE, /* contains a runtime */
        TARGET_PROGRAM_COMPILED,    /* ahead of time (NativeAOT): it has no JIT, and mostly no
                                       diagnostic port */
} TargetProgram;

typedef struct Target {
        ProcInfo info;
        uint64_t start_ticks;
        int pidfd;       /* readable once it has ended */
        char *directory; /* owned: directory of its sockets, as the target sees it */
        bool has_coreclr;
        bool has_mono;
        char *library_path;      /* owned or NULL: LD_LIBRARY_PATH */
        bool has_icu;            /* has loaded ICU */
        bool is_invariant;       /* by its environment: needs no ICU */
        bool is_never_invariant; /* by its environment: needs ICU in any case */
        bool has_provider;       /* the runtime's LTTng provider is loaded */
        bool is_port_off;        /* by its environment: has no port */
        bool is_lttng_off;       /* by its environment: does not emit to LTTng */
} Target;

/* Reads the facts about process PID of our own pid namespace. */
bool target_open(pid_t pid, Target *ret_target, GError **error);
void target_close(Target *target);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Target, target_close)

/* Its pid in its own pid namespace, and that namespace. */
const ProcessKey *target_key(const Target *target);
bool target_has_ended(const Target *target);
/* True if its runtime has started far enough to begin sessions: it has the thread that it creates
 * right after that (dotnet/runtime, src/coreclr/vm/ceemain.cpp). No managed code ran before. */
bool target_has_started(const Target *target);
/* Waits up to MS milliseconds for its exit. */
bool target_ends_within(const Target *target, int ms);
/* For a target that disconnected: waits up to a second for its exit, because a process closes its
 * sockets a moment before. */
bool target_is_ending(const Target *target);
/* The tracepoints of its runtime: call this for a target with a provider, to find out whether that
 * gets events. Reads its maps, and the library. */
Tracepoints target_tracepoints(const Target *target);
/* True if it can emit events to LTTng. */
bool target_can_emit(const Target *target);
/* False with ERROR set to the reason: it cannot emit events. */
bool target_check_provider(const Target *target, GError **error);

/* Why the socket cannot be in its directory: "its $TMPDIR does not exist". The caller frees it;
 * NULL: no reason was found. */
char *target_refuses_socket(const Target *target);

/* The kind of the program in FD. OTHER also if FD is unreadable. */
TargetProgram target_program_of_file(int fd);
/* True if it was compiled ahead of time. */
bool target_is_compiled(const Target *target);
/* True for a single-file program with compressed assemblies: no file has its precompiled code. */
bool target_is_packed(const Target *target);

/* Takes facts from TEXT, as in /proc/PID/maps. */
void target_take_maps(Target *target, const char *text);
/* Takes facts from TEXT, N bytes as in /proc/PID/environ and a NUL. */
void target_take_environment(Target *target, const char *text, size_t n);

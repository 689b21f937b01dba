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

/* What a program is, by what it exports. */
typedef enum TargetProgram {
        TARGET_PROGRAM_OTHER,       /* such as the host of a runtime */
        TARGET_PROGRAM_SINGLE_FILE, /* a runtime is in it */
        TARGET_PROGRAM_COMPILED,    /* ahead of time (NativeAOT): it has no JIT, and mostly no
                                       diagnostic port */
} TargetProgram;

typedef struct Target {
        ProcInfo info;
        uint64_t start_ticks;
        int pidfd;       /* readable once it has ended */
        char *directory; /* owned: of its sockets, in its own view of the file system */
        bool has_coreclr;
        bool has_mono;
        char *library_path;      /* owned or NULL: LD_LIBRARY_PATH */
        bool has_icu;            /* it has loaded that */
        bool is_invariant;       /* by its environment: it needs no ICU */
        bool is_never_invariant; /* by its environment: whatever its settings are, it needs ICU */
        bool has_provider;       /* the runtime's LTTng provider is loaded */
        bool is_port_off;        /* by its environment */
        bool is_lttng_off;       /* by its environment */
} Target;

/* Reads what is known of process PID of our own pid namespace. */
bool target_open(pid_t pid, Target *ret_target, GError **error);
void target_close(Target *target);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Target, target_close)

/* Its pid in its own pid namespace, and that namespace. */
const ProcessKey *target_key(const Target *target);
bool target_has_ended(const Target *target);
/* Waits for its end, up to MS milliseconds. */
bool target_ends_within(const Target *target, int ms);
/* For a target that hung up: waits up to a second for its end, because the sockets of a process are
 * closed a moment before it has ended. */
bool target_is_ending(const Target *target);
/* Those of its runtime: for one that has a provider, whether that gets events. Reads its maps, and
 * the library. */
Tracepoints target_tracepoints(const Target *target);
/* True if it emits events to LTTng, once they are switched on. */
bool target_can_emit(const Target *target);
/* False with ERROR set: it does not, and why. */
bool target_check_provider(const Target *target, GError **error);

/* Why its directory cannot have its socket: "its $TMPDIR does not exist". The caller frees it;
 * NULL: it can, as far as that shows. */
char *target_refuses_socket(const Target *target);

/* That of the program's file. OTHER: also if FD cannot be read. */
TargetProgram target_program_of_file(int fd);
/* True if it was compiled ahead of time. */
bool target_is_compiled(const Target *target);
/* Its precompiled code is in no file: it is a single-file program with compressed assemblies. */
bool target_is_packed(const Target *target);

/* Takes what TEXT, as in /proc/PID/maps, shows. */
void target_take_maps(Target *target, const char *text);
/* Takes what TEXT, N bytes as in /proc/PID/environ and a NUL, shows. */
void target_take_environment(Target *target, const char *text, size_t n);

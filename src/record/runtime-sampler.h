/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runtime sampler: samples that .NET runtimes take of themselves, where perf is not permitted
 *
 * Each process gets a session of EventPipe with the events of the samples, besides the one that its
 * names come from. What it writes is kept in a file of a directory, HOSTPID-PIDNS-PID.nettrace. The
 * file `mappings` there has the assemblies that the processes had mapped, as lines of
 * perf/mapping.h: names of precompiled code need them. The sessions must be drained all the time: a
 * runtime does not end before its buffers were read.
 *
 * A process may send what it likes. So the files have limits, each and together, and leave room on
 * the file system: the session of a process that has reached one is closed, and what came before is
 * kept.
 */

#include "attach/eventpipe-session.h"
#include "record/scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNTIME_SAMPLER_MAPPINGS "mappings"

/* Bytes of a file, unless the variable has another size: some hours of a program with ten threads.
 * All files have so many times that together. */
#define RUNTIME_SAMPLER_LIMIT    (UINT64_C(1) << 30)
#define RUNTIME_SAMPLER_VARIABLE "CLRSYM_SAMPLES_LIMIT"
#define RUNTIME_SAMPLER_FILES    4
/* Lines of the file of mappings: later ones are left out. */
#define RUNTIME_SAMPLER_MAX_MAPPINGS 100000

typedef struct RuntimeSampler RuntimeSampler;

/* LIMIT: bytes of a file, RUNTIME_SAMPLER_LIMIT or less, unless the environment has another one.
 * NULL with ERROR set, also if that is not a size. */
RuntimeSampler *runtime_sampler_new(const Scratch *scratch, EventPipeSamples samples,
                                    uint64_t limit, GError **error);
/* NULL is fine. */
void runtime_sampler_free(RuntimeSampler *sampler);

/*
 * Samples process PID of our own pid namespace from now on; nothing happens if it is sampled
 * already. False with ERROR set, the first time that this process was tried.
 */
bool runtime_sampler_add(RuntimeSampler *sampler, pid_t pid, GError **error);
/* Appends what to poll for, as struct pollfd. */
void runtime_sampler_poll(const RuntimeSampler *sampler, GArray *fds);
/* Takes what has come. */
void runtime_sampler_drain(RuntimeSampler *sampler);
/*
 * Which process is not sampled any more, because it has reached a limit: one of those that were not
 * returned yet, as a message; the caller frees it. NULL: none.
 */
char *runtime_sampler_next_cut(RuntimeSampler *sampler);
/* Notes which assemblies the processes have mapped by now. */
void runtime_sampler_note_mappings(RuntimeSampler *sampler);
/* True if there were processes, and all have ended. */
bool runtime_sampler_is_over(const RuntimeSampler *sampler);
/* Ends all sessions: every sample is in the files then. */
void runtime_sampler_stop(RuntimeSampler *sampler, int wake_fd);

/* Where the files are; owned by the sampler. */
const char *runtime_sampler_directory(const RuntimeSampler *sampler);
/* Bytes of the files. */
uint64_t runtime_sampler_size(const RuntimeSampler *sampler);
/* errno of a write that failed: samples are missing; 0: none did. */
int runtime_sampler_write_error(const RuntimeSampler *sampler);

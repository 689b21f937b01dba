/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runtime sampler: samples that .NET runtimes take of themselves, if perf is not permitted
 *
 * Each process gets another session of EventPipe, with the events of the samples. Its bytes are
 * kept in a file of a directory, HOSTPID-PIDNS-PID.nettrace. The file `mappings` there has the
 * processes' mappings of assemblies, as lines of perf/mapping.h, for names of precompiled code. The
 * sessions must be drained at all times: a runtime does not end before its buffers were read.
 *
 * A process can send any amount. So the files have limits, each and together, and leave room on the
 * file system: at a limit, the session of a process is closed, and the earlier samples are kept.
 */

#include "attach/eventpipe-session.h"
#include "record/scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNTIME_SAMPLER_MAPPINGS "mappings"

/* Bytes of a file, unless the variable sets another size: some hours of a program with ten threads.
 * The limit of all files is this many times that. */
#define RUNTIME_SAMPLER_LIMIT    (UINT64_C(1) << 30)
#define RUNTIME_SAMPLER_VARIABLE "CLRSYM_SAMPLES_LIMIT"
#define RUNTIME_SAMPLER_FILES    4
/* Lines of the file of mappings: later ones are left out. */
#define RUNTIME_SAMPLER_MAX_MAPPINGS 100000

typedef struct RuntimeSampler RuntimeSampler;

/* LIMIT: bytes of a file, RUNTIME_SAMPLER_LIMIT or less, unless the environment sets another size.
 * NULL with ERROR set, also if that size is malformed. */
RuntimeSampler *runtime_sampler_new(const Scratch *scratch, EventPipeSamples samples,
                                    uint64_t limit, GError **error);
/* NULL is fine. */
void runtime_sampler_free(RuntimeSampler *sampler);

/* Samples process PID of our own pid namespace from now on, if it is not sampled already. False
 * with ERROR set, only at the first attempt for this process. */
bool runtime_sampler_add(RuntimeSampler *sampler, pid_t pid, GError **error);
/* Appends the descriptors to poll, as struct pollfd. */
void runtime_sampler_poll(const RuntimeSampler *sampler, GArray *fds);
/* Takes new samples. */
void runtime_sampler_drain(RuntimeSampler *sampler);
/* A message about a process whose sampling ended at a limit, once for each; the caller
 * frees it. NULL: none. */
char *runtime_sampler_next_cut(RuntimeSampler *sampler);
/* Writes the present mappings of assemblies of the processes. */
void runtime_sampler_note_mappings(RuntimeSampler *sampler);
/* True if there were processes, and all have ended. */
bool runtime_sampler_is_over(const RuntimeSampler *sampler);
/* Ends all sessions, after which every sample is in the files. */
void runtime_sampler_stop(RuntimeSampler *sampler, int wake_fd);

/* The directory of the files; owned by the sampler. */
const char *runtime_sampler_directory(const RuntimeSampler *sampler);
/* Bytes of the files. */
uint64_t runtime_sampler_size(const RuntimeSampler *sampler);
/* errno of a failed write, so that samples are missing; 0: none. */
int runtime_sampler_write_error(const RuntimeSampler *sampler);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runtime sampler: samples that .NET runtimes take of themselves, where perf is not permitted
 *
 * Each process gets a session of EventPipe with the provider Microsoft-DotNETCore-SampleProfiler,
 * besides the one that its names come from. What it writes is kept in a file of a directory,
 * HOSTPID-PIDNS-PID.nettrace. The file `mappings` there has the assemblies that the processes had
 * mapped, as lines of perf/mapping.h: names of precompiled code need them. The sessions must be
 * drained all the time: a runtime does not end before its buffers were read.
 */

#include "record/scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNTIME_SAMPLER_MAPPINGS "mappings"

typedef struct RuntimeSampler RuntimeSampler;

/* NULL with ERROR set. */
RuntimeSampler *runtime_sampler_new(const Scratch *scratch, GError **error);
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

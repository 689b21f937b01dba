/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image sources: where images and PDBs are looked for, and what that has cost for each process
 *
 * Processes choose which files they map, and what is in them. So what is learnt of a file is
 * remembered, and nothing more is looked for once SOURCES_MAX_WORK was read for a process, until
 * the next period begins. The other processes have their names all the same.
 */

#include "lines/bundle.h"
#include "lines/symbol-dirs.h"

/* Bytes that are read and unpacked for a process in a minute. The compiler of C# needs 40 MiB. */
#define SOURCES_MAX_WORK (UINT64_C(512) << 20)
#define SOURCES_PERIOD   60 /* seconds */
/* What it costs to look for a file, besides the bytes that are read of it. */
#define SOURCES_FILE_WORK (UINT64_C(16) << 10)

/* What a process has cost. */
typedef struct SourceAccount {
        pid_t pid;
        time_t since;       /* begin of the period, of CLOCK_MONOTONIC */
        uint64_t work;      /* bytes in this period */
        uint64_t n_refused; /* questions */
        size_t n_held;      /* bytes of memory */
} SourceAccount;

typedef struct ImageSources {
        SymbolDirs dirs;
        Bundles bundles;
        pid_t process;           /* all is looked for for this one; 0: for that of each question */
        SourceAccount *accounts; /* owned */
        size_t n_accounts;
} ImageSources;

void image_sources_deinit(ImageSources *sources);

/*
 * To be called before something is looked for. PID: of the question, see `process`. False: the
 * process has cost too much already.
 */
bool image_sources_may_look(ImageSources *sources, pid_t pid);
/* To be called after it: N bytes were read or unpacked. */
void image_sources_add_work(ImageSources *sources, pid_t pid, uint64_t n);
/*
 * N more bytes of memory are held, or fewer, that were read for PID, whatever `process` is. And the
 * process for which most are.
 */
void image_sources_hold(ImageSources *sources, pid_t pid, ptrdiff_t n);
pid_t image_sources_largest(const ImageSources *sources);

/* The process for which most was not looked for; 0: none. */
pid_t image_sources_spent(const ImageSources *sources);

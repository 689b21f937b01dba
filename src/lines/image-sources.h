/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image sources: the places of images and PDBs, and the work spent on each process
 *
 * Processes choose the files that they map, and the contents. Facts about a file are therefore
 * kept. When SOURCES_MAX_WORK was read for a process, there are no searches for it until the next
 * period. The other processes keep their names.
 */

#include "lines/bundle.h"
#include "lines/symbol-dirs.h"

/* Bytes read and unpacked for a process in a period. The C# compiler needs 40 MiB. */
#define SOURCES_MAX_WORK (UINT64_C(512) << 20)
#define SOURCES_PERIOD   60 /* seconds */
/* The cost of a search for a file, in bytes, besides the bytes read of it. */
#define SOURCES_FILE_WORK (UINT64_C(16) << 10)

/* The work for a process. */
typedef struct SourceAccount {
        pid_t pid;
        time_t since;       /* begin of the period, of CLOCK_MONOTONIC */
        uint64_t work;      /* bytes in this period */
        uint64_t n_refused; /* refused searches */
        size_t n_held;      /* bytes of memory held */
} SourceAccount;

typedef struct ImageSources {
        SymbolDirs dirs;
        Bundles bundles;
        pid_t process;           /* all work counts for this process; 0: for the process of each
                                  * question */
        SourceAccount *accounts; /* owned */
        size_t n_accounts;
} ImageSources;

void image_sources_deinit(ImageSources *sources);

/*
 * Call it before a search. PID: of the question, see `process`. False: the process has used up its
 * work.
 */
bool image_sources_may_look(ImageSources *sources, pid_t pid);
/* Call it afterwards: N bytes were read or unpacked. */
void image_sources_add_work(ImageSources *sources, pid_t pid, uint64_t n);
/*
 * N more bytes of memory, or fewer, are held for PID, whatever `process` is. The other function
 * returns the process for which most are held.
 */
void image_sources_hold(ImageSources *sources, pid_t pid, ptrdiff_t n);
pid_t image_sources_largest(const ImageSources *sources);

/* The process with most refused searches; 0: none. */
pid_t image_sources_spent(const ImageSources *sources);

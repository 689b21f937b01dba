/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image sources: the places of images and PDBs, and the work spent on each process
 *
 * A traced process chooses the files that it maps, and their contents. Facts about a file are
 * therefore kept. After SOURCES_MAX_WORK bytes for a process, its searches are refused until the
 * next period. Other processes keep their names.
 */

#include "lines/bundle.h"
#include "lines/symbol-dirs.h"

/* Limit of bytes read and unpacked for a process in a period. The C# compiler needs 40 MiB. */
#define SOURCES_MAX_WORK (UINT64_C(512) << 20)
#define SOURCES_PERIOD   60 /* seconds */
/* Cost of a search for a file, in bytes, besides its read bytes. */
#define SOURCES_FILE_WORK (UINT64_C(16) << 10)

/* The work for a process. */
typedef struct SourceAccount {
        pid_t pid;
        time_t since;       /* begin of the period, in s of CLOCK_MONOTONIC */
        uint64_t work;      /* bytes in this period */
        uint64_t n_refused; /* refused searches */
        size_t n_held;      /* bytes of memory held */
} SourceAccount;

typedef struct ImageSources {
        SymbolDirs dirs;
        Bundles bundles;
        pid_t process;           /* process to charge; 0: the process of each question */
        SourceAccount *accounts; /* owned */
        size_t n_accounts;
} ImageSources;

void image_sources_deinit(ImageSources *sources);

/*
 * Call it before a search. PID: of the question, see `process`. False: the process has used up its
 * work.
 */
bool image_sources_may_look(ImageSources *sources, pid_t pid);
/* Call it after a search: N bytes were read or unpacked. */
void image_sources_add_work(ImageSources *sources, pid_t pid, uint64_t n);
/*
 * Adds N, which may be negative, to the memory held for PID, whatever `process` is. The other
 * function returns the process with the most memory.
 */
void image_sources_hold(ImageSources *sources, pid_t pid, ptrdiff_t n);
pid_t image_sources_largest(const ImageSources *sources);

/* The process with most refused searches; 0: none. */
pid_t image_sources_spent(const ImageSources *sources);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Buffers: the bytes of a session's sub-buffers in /dev/shm, and of its files on disk
 *
 * LTTng makes buffers for each user whose programs are traced, for each processor that the machine
 * can have.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Buffers {
        uint64_t size; /* bytes of a sub-buffer: a power of two */
        uint64_t n;    /* sub-buffers of a processor: a power of two */
        unsigned n_cpus;
} Buffers;

#define BUFFERS_DEFAULT_SIZE (UINT64_C(1) << 20)
#define BUFFERS_DEFAULT_N    8

/* SIZE 0: the default. */
Buffers buffers_new(uint64_t size);
/* Bytes of /dev/shm for one user. */
uint64_t buffers_per_user(const Buffers *buffers);

/*
 * Checks that the buffers take a reasonable part of the free bytes below PATH (/dev/shm). RET_TEXT,
 * owned by the caller, describes what they take. False with ERROR set: they take too much.
 */
bool buffers_check(const Buffers *buffers, const char *path, char **ret_text, GError **error);

/* How files are divided so that those of one user take at most a given number of bytes. */
typedef struct FileRing {
        uint64_t file_size;
        uint64_t n_files; /* for each processor; the oldest is overwritten */
} FileRing;

/* False with ERROR set: DISK is too little. */
bool file_ring(const Buffers *buffers, uint64_t disk, FileRing *ret_ring, GError **error);
/* How long DISK bytes may last, for people; the caller owns it. */
char *disk_estimate(uint64_t disk);

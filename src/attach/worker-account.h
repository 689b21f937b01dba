/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Worker account: bytes that the workers of one holder keep, together and for each user
 *
 * A worker keeps what its daemon has not taken, in a file of its own (backlog.h), and in memory
 * what a listing or an older event has to come before (eventpipe-feed.h). The account is memory
 * that all workers share: each writes what it keeps itself, and reads what the others do before it
 * keeps more. All processes of one user have half of what all processes have.
 */

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum WorkerKeep {
        WORKER_KEEPS_FILE,
        WORKER_KEEPS_MEMORY,
        _WORKER_KEEP_MAX,
} WorkerKeep;

/* Bytes of all files, unless SPILL_TOTAL_VARIABLE has another size. */
#define SPILL_TOTAL          (UINT64_C(1) << 30)
#define SPILL_TOTAL_VARIABLE "CLRSYM_SPILL_TOTAL"
/* Bytes of events in the memory of all workers. */
#define WORKER_MEMORY_TOTAL (UINT64_C(512) << 20)

/*
 * The size that the environment has in VARIABLE replaces *SIZE, which stays if there is none. False
 * with ERROR set: that is not a size, and *SIZE stays.
 */
bool spill_size_find(const char *variable, uint64_t *size, GError **error);

typedef struct WorkerAccount WorkerAccount;

/* The share of one worker; part of the account. */
typedef struct WorkerShare {
        const WorkerAccount *account;
        _Atomic uint64_t n_bytes[_WORKER_KEEP_MAX];
        uid_t uid;    /* of its target */
        bool is_used; /* else it belongs to no attachment; the holder alone looks */
} WorkerShare;

typedef enum WorkerRoom {
        WORKER_ROOM,       /* there is room */
        WORKER_TOTAL_FULL, /* all workers together keep as much as they may */
        WORKER_USER_FULL,  /* those of the user's processes do */
} WorkerRoom;

/* MAX bytes for all workers, of which there are N_SHARES at most. NULL: there is no memory. */
WorkerAccount *worker_account_new(const uint64_t max[_WORKER_KEEP_MAX], size_t n_shares);
/* NULL is fine. Workers keep theirs. */
void worker_account_free(WorkerAccount *account);

uint64_t worker_account_max(const WorkerAccount *account, WorkerKeep keep);
/* Bytes that all workers keep; those of processes of UID, if it is not NULL. */
uint64_t worker_account_n_bytes(const WorkerAccount *account, WorkerKeep keep, const uid_t *uid);

/* A share for a worker of a process of UID; borrowed. NULL: all are used, or ACCOUNT is NULL. */
WorkerShare *worker_share_open(WorkerAccount *account, uid_t uid);
/* The worker has ended, and with it what it kept. NULL is fine. */
void worker_share_clear(WorkerShare *share);
void worker_share_close(WorkerShare *share);

/* Whether the worker of SHARE may keep N bytes more. NULL: it may. */
WorkerRoom worker_share_room(const WorkerShare *share, WorkerKeep keep, uint64_t n);
/* The worker keeps N bytes now. NULL is fine. */
void worker_share_set(WorkerShare *share, WorkerKeep keep, uint64_t n);

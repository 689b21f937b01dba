/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Worker account: bytes that the workers of one holder keep, in total and for each user
 *
 * A worker keeps events that its daemon has not taken in a file (backlog.h), and events that must
 * follow a listing or an older event in memory (eventpipe-feed.h). All workers share the memory of
 * the account: each writes its own number, and reads the others' before it keeps more. The limit of
 * one user is half of the total.
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
 * Replaces *SIZE by the size in the environment's VARIABLE, if that is set. False with ERROR set:
 * the variable is not a size, and *SIZE stays.
 */
bool spill_size_find(const char *variable, uint64_t *size, GError **error);

typedef struct WorkerAccount WorkerAccount;

/* The share of one worker; part of the account. */
typedef struct WorkerShare {
        const WorkerAccount *account;
        _Atomic uint64_t n_bytes[_WORKER_KEEP_MAX];
        uid_t uid;    /* user of its target */
        bool is_used; /* false: no attachment uses the share; only the holder reads this */
} WorkerShare;

typedef enum WorkerRoom {
        WORKER_ROOM,       /* there is room */
        WORKER_TOTAL_FULL, /* all workers together have reached their limit */
        WORKER_USER_FULL,  /* the user's processes have reached theirs */
} WorkerRoom;

/* MAX: limits in bytes for all workers, at most N_SHARES. NULL: out of memory. */
WorkerAccount *worker_account_new(const uint64_t max[_WORKER_KEEP_MAX], size_t n_shares);
/* NULL is fine. Workers keep their mappings. */
void worker_account_free(WorkerAccount *account);

uint64_t worker_account_max(const WorkerAccount *account, WorkerKeep keep);
/* Bytes that all workers keep; those of processes of UID, if it is not NULL. */
uint64_t worker_account_n_bytes(const WorkerAccount *account, WorkerKeep keep, const uid_t *uid);

/* A share for a worker of a process of UID; borrowed. NULL: all shares are used, or ACCOUNT is
 * NULL. */
WorkerShare *worker_share_open(WorkerAccount *account, uid_t uid);
/* The worker has ended, and keeps nothing. NULL is fine. */
void worker_share_clear(WorkerShare *share);
void worker_share_close(WorkerShare *share);

/* WORKER_ROOM if the worker of SHARE may keep N bytes more; always for NULL. */
WorkerRoom worker_share_room(const WorkerShare *share, WorkerKeep keep, uint64_t n);
/* Sets the bytes that the worker keeps. NULL is fine. */
void worker_share_set(WorkerShare *share, WorkerKeep keep, uint64_t n);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Spill account: bytes that the workers of one holder keep in files, together and for each user
 *
 * A worker whose daemon does not take its events keeps them in a file of its own (backlog.h). The
 * account is memory that all workers share: each writes the size of its own file, and reads those
 * of the others before its file grows.
 */

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of all files, unless SPILL_TOTAL_VARIABLE has another size. The files of one user's
 * processes have half of that. */
#define SPILL_TOTAL          (UINT64_C(1) << 30)
#define SPILL_TOTAL_VARIABLE "CLRSYM_SPILL_TOTAL"

/*
 * The size that the environment has in VARIABLE replaces *SIZE, which stays if there is none. False
 * with ERROR set: that is not a size, and *SIZE stays.
 */
bool spill_size_find(const char *variable, uint64_t *size, GError **error);

typedef struct SpillAccount SpillAccount;

/* The share of one worker; part of the account. */
typedef struct SpillShare {
        const SpillAccount *account;
        _Atomic uint64_t n_bytes; /* in its file */
        uid_t uid;                /* of its target */
        bool is_used;             /* else it belongs to no attachment; the holder alone looks */
} SpillShare;

typedef enum SpillRoom {
        SPILL_ROOM,       /* there is room */
        SPILL_TOTAL_FULL, /* all files together have as much as they may have */
        SPILL_USER_FULL,  /* those of the user's processes have */
} SpillRoom;

/* MAX bytes for all files, N_SHARES workers at most. NULL: there is no memory. */
SpillAccount *spill_account_new(uint64_t max, size_t n_shares);
/* NULL is fine. Workers keep theirs. */
void spill_account_free(SpillAccount *account);

uint64_t spill_account_max(const SpillAccount *account);
/* Bytes of all files; of those of UID, if it is not NULL. */
uint64_t spill_account_n_bytes(const SpillAccount *account, const uid_t *uid);

/* A share for a worker of a process of UID; borrowed. NULL: all are used, or ACCOUNT is NULL. */
SpillShare *spill_share_open(SpillAccount *account, uid_t uid);
/* The worker has ended: its file is gone. NULL is fine. */
void spill_share_clear(SpillShare *share);
void spill_share_close(SpillShare *share);

/* Whether the file of SHARE may have N bytes more. NULL: it may. */
SpillRoom spill_share_room(const SpillShare *share, uint64_t n);
/* The file has N bytes now. NULL is fine. */
void spill_share_set(SpillShare *share, uint64_t n);

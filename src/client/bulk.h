/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bulk: our side of the binary form of the query socket, see wire/bulk.h
 */

#include "client/connection.h"
#include "client/names.h"
#include "clrsym/clrsym.h"
#include "wire/bulk.h"

typedef struct Bulk {
        Connection connection;
        bool is_upgraded;
        uint32_t max_queries; /* of a frame */
        uint32_t last_tag;
        Names names;
        BulkProcess *processes; /* owned: what the next answers count in */
        uint32_t n_processes;
        BulkStub *stubs; /* owned: of the next answers */
        uint32_t n_stubs;
        char *output; /* owned: the frame that is being sent */
        size_t n_output, n_sent;
        size_t n_name_bytes; /* that came since the last answers */
        char detail[256];    /* with -EBADMSG and -EREMOTEIO: what is wrong */
} Bulk;

#define BULK_NONE                                                                                  \
        (Bulk)                                                                                     \
        {                                                                                          \
                .connection = {.fd = -1 }                                                          \
        }

/* Changes a new connection to it. */
int bulk_upgrade(Bulk *bulk, int64_t deadline);

/*
 * Asks, on a connection that was changed to it, and waits until WAIT_DEADLINE for events to come.
 * Also on failure the first RET_N_ANSWERED answers are set.
 */
int bulk_resolve(Bulk *bulk, const clrsym_query *queries, size_t n, int64_t wait_deadline,
                 clrsym_answer *answers, size_t *ret_n_answered);

/* Answers given so far are not used any more. */
void bulk_release(Bulk *bulk);
/* Texts that were replaced take much memory: a new connection would begin with none. */
bool bulk_is_bloated(const Bulk *bulk);
/* Ends the connection; texts of answers stay until bulk_release(). */
void bulk_close(Bulk *bulk);
void bulk_deinit(Bulk *bulk);

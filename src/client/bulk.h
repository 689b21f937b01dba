/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bulk: the client's side of the binary form of the query socket, see wire/bulk.h
 */

#include "client/connection.h"
#include "client/name-cache.h"
#include "clrsym/clrsym.h"
#include "wire/bulk.h"

/* Inlined methods of answers. */
typedef struct InlinedRows {
        struct InlinedRows *next; /* owned: older ones */
        uint32_t n;
        clrsym_inlined rows[];
} InlinedRows;

typedef struct Bulk {
        Connection connection;
        bool is_upgraded;
        uint32_t max_queries; /* in a frame */
        uint32_t answer_size; /* bytes of a row of ANSWERS */
        uint32_t last_tag;
        NameCache names;
        BulkProcess *processes; /* owned: the next answers refer to them */
        uint32_t n_processes;
        BulkStub *stubs; /* owned: the next answers refer to them */
        uint32_t n_stubs;
        InlinedRows *inlined; /* owned: of all answers in use, those of the next answers first */
        bool has_inlined;     /* the next answers refer to them */
        char *output;         /* owned: the frame that is being sent */
        size_t n_output, n_sent;
        size_t n_name_bytes; /* received since the last answers */
        char detail[256];    /* with -EBADMSG and -EREMOTEIO: the error */
} Bulk;

#define BULK_NONE                                                                                  \
        (Bulk)                                                                                     \
        {                                                                                          \
                .connection = {.fd = -1 }                                                          \
        }

/* Changes a new connection to the binary form. */
int bulk_upgrade(Bulk *bulk, int64_t deadline);

/* Asks on an upgraded connection; the daemon may wait for events until WAIT_DEADLINE. On failure,
 * too, the first RET_N_ANSWERED answers are set. */
int bulk_resolve(Bulk *bulk, const clrsym_query *queries, size_t n, int64_t wait_deadline,
                 clrsym_answer *answers, size_t *ret_n_answered);

/* The answers so far are no longer used: their texts may be freed. */
void bulk_release(Bulk *bulk);
/* True if replaced texts take much memory; a new connection begins without them. */
bool bulk_is_bloated(const Bulk *bulk);
/* Closes the connection; texts of answers stay until bulk_release(). */
void bulk_close(Bulk *bulk);
void bulk_deinit(Bulk *bulk);

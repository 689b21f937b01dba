/* SPDX-License-Identifier: MIT */
#include "client/handle.h"

#include <errno.h>

/* Connects for batches, if there is no connection. */
static int open_bulk(clrsym *handle)
{
        Bulk *bulk = &handle->bulk;
        int r = 0;

        if (bulk->connection.fd < 0)
                r = endpoint_connect(&handle->endpoint, &bulk->connection,
                                     handle->endpoint.reconnect_ms, &handle->message);
        return r;
}

static int resolve_explain(clrsym *handle, int error)
{
        if (error == -EREMOTEIO)
                return message_set(&handle->message, error, "the question was refused: %s",
                                   handle->bulk.detail);
        return endpoint_explain(&handle->endpoint, error, handle->bulk.detail, &handle->message);
}

static int resolve_queries(clrsym *handle, const clrsym_query *queries, size_t n,
                           int64_t wait_deadline, clrsym_answer *answers)
{
        Bulk *bulk = &handle->bulk;
        size_t n_done = 0;
        unsigned n_tries = 0;

        while (n_done < n) {
                size_t n_answered = 0;
                int r = open_bulk(handle);

                if (r < 0)
                        return r;
                if (!bulk->is_upgraded)
                        r = bulk_upgrade(bulk, clock_ms() + UNRESPONSIVE_MS);
                if (r == 0)
                        r = bulk_resolve(bulk, queries + n_done, n - n_done, wait_deadline,
                                         answers + n_done, &n_answered);
                if (r == 0)
                        return 0;
                bulk_close(bulk);
                n_done += n_answered;
                n_tries = n_answered ? 1 : n_tries + 1;
                if (r != -ECONNRESET || n_tries >= MAX_TRIES || !handle->endpoint.reconnect_ms)
                        return resolve_explain(handle, r);
        }
        return 0;
}

int clrsym_resolve(clrsym *handle, const clrsym_query *queries, size_t n, unsigned wait_ms,
                   clrsym_answer *ret_answers)
{
        size_t i;
        int r = handle_begin(handle);

        if (r < 0)
                return r;
        for (i = 0; r == 0 && i < n; i++)
                if (queries[i].reserved[0] || queries[i].reserved[1])
                        r = message_set(&handle->message, -EINVAL,
                                        "a query of a later version of libclrsym");
        if (r == 0)
                r = resolve_queries(handle, queries, n, wait_ms ? clock_ms() + wait_ms : 0,
                                    ret_answers);
        for (i = 0; r < 0 && i < n; i++)
                ret_answers[i] = (clrsym_answer){.status = CLRSYM_INVALID};
        return handle_end(handle, r);
}

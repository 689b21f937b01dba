/* SPDX-License-Identifier: MIT */
#pragma once

/* A client of the binary form, which checks that each frame is whole */

#include "query/bulk.h"
#include "wire/bulk.h"

/* A client's state, and its last answers. */
typedef struct Client {
        Bulk *bulk;
        unsigned version;
        GHashTable *names; /* owned: id -> owned text */
        GArray *processes, *answers, *stubs, *inlined;
        unsigned n_forgets, n_named;
        uint32_t tag;
        char *error; /* owned */
} Client;

void client_init(Client *client, const QueryContext *context, unsigned version);
void client_deinit(Client *client);
/* Takes whole frames. */
void client_take(Client *client, const GString *out);

/* SPDX-License-Identifier: MIT */
#include "support/bulk-taker.h"

#include "support/suite.h"

#include <string.h>

void client_init(Client *client, const QueryContext *context, unsigned version)
{
        *client = (Client){
                .bulk = bulk_new(context, version),
                .version = version,
                .names = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .processes = g_array_new(FALSE, FALSE, sizeof(BulkProcess)),
                .answers = g_array_new(FALSE, FALSE, sizeof(BulkAnswer)),
                .stubs = g_array_new(FALSE, FALSE, sizeof(BulkStub)),
                .inlined = g_array_new(FALSE, FALSE, sizeof(BulkInlined)),
        };
}

void client_deinit(Client *client)
{
        bulk_free(client->bulk);
        g_hash_table_unref(client->names);
        g_array_unref(client->processes);
        g_array_unref(client->answers);
        g_array_unref(client->stubs);
        g_array_unref(client->inlined);
        g_free(client->error);
}

static void take_names(Client *client, const char *at, size_t n)
{
        while (n) {
                BulkName name;

                ck_assert_uint_ge(n, sizeof(name));
                memcpy(&name, at, sizeof(name));
                ck_assert(name.id && n - sizeof(name) >= name.n);
                g_hash_table_replace(client->names, GUINT_TO_POINTER(name.id),
                                     g_strndup(at + sizeof(name), name.n));
                client->n_named++;
                at += sizeof(name) + name.n;
                n -= sizeof(name) + name.n;
        }
        ck_assert_uint_le(g_hash_table_size(client->names), BULK_MAX_NAMES);
}

/* Rows of versions 1 and 2 are shorter. */
static void take_answers(Client *client, const char *at, size_t n)
{
        size_t size = client->version < 3 ? 112 : sizeof(BulkAnswer), i;

        ck_assert_uint_eq(n % size, 0);
        g_array_set_size(client->answers, 0);
        for (i = 0; i < n / size; i++) {
                BulkAnswer row = {0};

                memcpy(&row, at + i * size, size);
                g_array_append_val(client->answers, row);
        }
}

void client_take(Client *client, const GString *out)
{
        size_t at = 0;

        while (at < out->len) {
                const char *payload = out->str + at + sizeof(BulkHeader);
                BulkHeader header;

                ck_assert_uint_ge(out->len - at, sizeof(header));
                memcpy(&header, out->str + at, sizeof(header));
                ck_assert_uint_ge(out->len - at - sizeof(header), header.size);
                ck_assert(!header.reserved && !header.wait_ms);
                at += sizeof(header) + header.size;
                switch (header.type) {
                case BULK_NAMES:
                        take_names(client, payload, header.size);
                        break;
                case BULK_FORGET:
                        ck_assert_uint_eq(header.size, 0);
                        g_hash_table_remove_all(client->names);
                        client->n_forgets++;
                        break;
                case BULK_PROCESSES:
                        ck_assert_uint_eq(header.size % sizeof(BulkProcess), 0);
                        g_array_set_size(client->processes, 0);
                        g_array_append_vals(client->processes, payload,
                                            header.size / sizeof(BulkProcess));
                        break;
                case BULK_STUBS:
                        ck_assert_uint_eq(header.size % sizeof(BulkStub), 0);
                        g_array_append_vals(client->stubs, payload, header.size / sizeof(BulkStub));
                        break;
                case BULK_INLINED:
                        ck_assert_uint_eq(header.size % sizeof(BulkInlined), 0);
                        g_array_append_vals(client->inlined, payload,
                                            header.size / sizeof(BulkInlined));
                        break;
                case BULK_ANSWERS:
                        take_answers(client, payload, header.size);
                        client->tag = header.tag;
                        break;
                case BULK_ERROR:
                        g_free(client->error);
                        client->error = g_strndup(payload, header.size);
                        ck_assert_uint_eq(at, out->len);
                        break;
                default:
                        ck_abort_msg("a frame of type %u", header.type);
                }
        }
}

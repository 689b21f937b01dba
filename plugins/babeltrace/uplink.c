/* SPDX-License-Identifier: MIT */
#include "uplink.h"

#include "util/unix-socket.h"

#define FAIL(uplink, ...)                                                                          \
        (BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((uplink)->self, __VA_ARGS__), false)

static bool uplink_connect(Uplink *uplink)
{
        const int r = ingest_uplink_connect(uplink->link, uplink->path, UNIX_WAIT_FOREVER);
        g_autofree char *message =
                r < 0 ? ingest_uplink_explain(uplink->path, r, "-p 'socket=\"PATH\"'") : NULL;

        return r == 0 || FAIL(uplink, "%s", message);
}

Uplink *uplink_new(bt_self_component *self, const char *path)
{
        Uplink *uplink = g_new0(Uplink, 1);

        uplink->self = self;
        uplink->path = g_strdup(path);
        uplink->link = ingest_uplink_new("sink.clrsym.feed " CLRSYM_VERSION,
                                         /* keeps_batches= */ false);
        if (!uplink_connect(uplink)) {
                uplink_free(uplink);
                return NULL;
        }
        return uplink;
}

void uplink_free(Uplink *uplink)
{
        if (!uplink)
                return;
        ingest_uplink_free(uplink->link);
        g_free(uplink->path);
        g_free(uplink);
}

static bool uplink_fail_client(Uplink *uplink)
{
        const IngestClient *client = ingest_uplink_client(uplink->link);

        switch (ingest_client_failure(client)) {
        case INGEST_CLIENT_OTHER_VERSION:
                return FAIL(uplink,
                            "the daemon at %s is of another version: install plugin and clrsymd "
                            "from one version, and restart clrsymd",
                            uplink->path);
        case INGEST_CLIENT_REFUSED:
                return FAIL(uplink, "the daemon at %s hung up: %s", uplink->path,
                            ingest_client_reason(client));
        default:
                return FAIL(
                        uplink,
                        "the program that answers at %s is not clrsymd: check parameter `socket`",
                        uplink->path);
        }
}

static bool uplink_fail_gone(Uplink *uplink)
{
        return FAIL(uplink,
                    "the daemon at %s has ended: acknowledged events are safe; start clrsymd and "
                    "feed the trace again",
                    uplink->path);
}

bool uplink_exchange(Uplink *uplink, int timeout_ms)
{
        switch (ingest_uplink_exchange(uplink->link, timeout_ms)) {
        case INGEST_UPLINK_GONE:
                return uplink_fail_gone(uplink);
        case INGEST_UPLINK_BROKEN:
                return uplink_fail_client(uplink);
        default:
                return true;
        }
}

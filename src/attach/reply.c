/* SPDX-License-Identifier: MIT */
#include "attach/reply.h"

#include "util/seconds-text.h"

/* "S.NNNNNNNNN"; null: not known. */
static json_t *reply_time(uint64_t time)
{
        char text[SECONDS_TEXT_SIZE];

        return time ? json_string(seconds_to_text(time, text)) : json_null();
}

static const char *reply_state_name(const AttachmentInfo *info)
{
        switch (info->state) {
        case ATTACHMENT_COMPLETE:
                return "attached";
        case ATTACHMENT_WAITING:
                return "waiting";
        case ATTACHMENT_STARTING:
        case ATTACHMENT_BACKOFF:
        case ATTACHMENT_HELD:
        case ATTACHMENT_ENDED:
        case ATTACHMENT_DETACHING:
        case ATTACHMENT_QUITTING:
                break;
        }
        return info->message ? "failed" : "attaching";
}

/* Why the older code is not listed; NULL: it is, or will be. */
static const char *reply_unlisted(const AttachmentInfo *info)
{
        if (!info->is_unlisted)
                return NULL;
        return info->list == ATTACH_LIST_NEVER ? "never" : "collectible";
}

json_t *reply_attachment(const AttachmentInfo *info, bool is_new)
{
        const bool is_eventpipe = info->via == ATTACH_VIA_EVENTPIPE;

        return json_pack("{si si sI si ss? ss ss? sb so s{so so} ss? so si ss? so ss? ss?}", "pid",
                         (int)info->pid, "vpid", (int)info->vpid, "pid_ns",
                         (json_int_t)info->pid_ns, "uid", (int)info->uid, "runtime", info->version,
                         "state", reply_state_name(info), "via", attach_via_name(info->via), "new",
                         (int)is_new, "since", reply_time(info->held_since), "rundown", "begin",
                         reply_time(info->rundown_begin), "end", reply_time(info->rundown_end),
                         "unlisted", reply_unlisted(info), "lost_since",
                         reply_time(info->lost_since), "restarts", (int)info->n_restarts, "message",
                         info->message, "fed",
                         is_eventpipe ? json_boolean(info->is_fed) : json_null(), "feed_error",
                         info->feed_error, "ingest", info->ingest);
}

json_t *reply_error(AttachError code, const char *message)
{
        return json_pack("{s{ss ss}}", "error", "kind", attach_error_name(code), "message",
                         message);
}

json_t *reply_read(const char *text, size_t n, GError **error)
{
        g_auto(RequestReply) reply = {NULL};

        if (!request_reply_parse(text, n, &reply))
                g_set_error_literal(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                                    "the process that answers is not clrsym-holder");
        else if (!reply.value)
                g_set_error_literal(error, ATTACH_ERROR, (int)attach_error_from_name(reply.kind),
                                    reply.message);
        return g_steal_pointer(&reply.value);
}

/* SPDX-License-Identifier: MIT */
#include "attach/request.h"

/* A time, or null. */
static json_t *time_new(uint64_t time)
{
        return time ? json_sprintf("%llu.%09u", (unsigned long long)(time / 1000000000),
                                   (unsigned)(time % 1000000000))
                    : json_null();
}

static const char *state_name(const AttachmentInfo *info)
{
        if (!info->is_listed)
                return info->message ? "failed" : "attaching";
        return info->is_waiting ? "waiting" : "attached";
}

json_t *request_attachment(const AttachmentInfo *info, bool is_new)
{
        return json_pack("{si si sI si ss? ss sb so s{so so} so si ss?}", "pid", (int)info->pid,
                         "vpid", (int)info->vpid, "pid_ns", (json_int_t)info->pid_ns, "uid",
                         (int)info->uid, "runtime", info->version, "state", state_name(info), "new",
                         (int)is_new, "since", time_new(info->held), "rundown", "begin",
                         time_new(info->list_begin), "end", time_new(info->list_end), "lost_since",
                         time_new(info->lost), "restarts", (int)info->n_restarts, "message",
                         info->message);
}

json_t *request_error(AttachError code, const char *message)
{
        return json_pack("{s{ss ss}}", "error", "kind", attach_error_name(code), "message",
                         message);
}

bool request_check(const json_t *answer, GError **error)
{
        const json_t *said = json_object_get(answer, "error");
        const char *message = json_string_value(json_object_get(said, "message"));

        if (json_is_object(answer) && !said)
                return true;
        g_set_error_literal(
                error, ATTACH_ERROR,
                attach_error_from_name(json_string_value(json_object_get(said, "kind"))),
                message ? message : "what answers is no clrsym-holder");
        return false;
}

/* SPDX-License-Identifier: MIT */
#include "attach/request.h"

#include <string.h>

static const char *const VERBS[_REQUEST_VERB_MAX] = {
        [REQUEST_ATTACH] = "attach",
        [REQUEST_AGAIN] = "again",
        [REQUEST_DETACH] = "detach",
        [REQUEST_LIST] = "list",
};

bool request_parse(const char *text, size_t n, Request *ret_request)
{
        json_t *request = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        const char *verb = json_string_value(json_object_get(request, "verb"));
        json_int_t pid = json_integer_value(json_object_get(request, "pid"));
        unsigned i;

        for (i = 0; i < _REQUEST_VERB_MAX; i++)
                if (verb && !strcmp(verb, VERBS[i]))
                        break;
        json_decref(request); /* VERB is gone with it */
        if (i == _REQUEST_VERB_MAX || pid < 0 || pid > G_MAXINT32 ||
            (pid == 0) != (i == REQUEST_LIST))
                return false;
        *ret_request = (Request){(RequestVerb)i, (pid_t)pid};
        return true;
}

char *request_format(const Request *request)
{
        if (request->verb == REQUEST_LIST)
                return g_strdup_printf("{\"verb\":\"%s\"}\n", VERBS[request->verb]);
        return g_strdup_printf("{\"verb\":\"%s\",\"pid\":%d}\n", VERBS[request->verb],
                               (int)request->pid);
}

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

/* SPDX-License-Identifier: MIT */
#include "wire/hold-request.h"

#include <string.h>

/* "again": its name before, which clients and holders of other versions use. */
static const char *const VERBS[_REQUEST_VERB_MAX] = {
        [REQUEST_ATTACH] = "attach", [REQUEST_RUNDOWN] = "again", [REQUEST_DETACH] = "detach",
        [REQUEST_LIST] = "list",     [REQUEST_PORT] = "port",
};

static bool request_has_pid(RequestVerb verb)
{
        return verb != REQUEST_LIST && verb != REQUEST_PORT;
}

static const char *const VIAS[_ATTACH_VIA_MAX] = {
        [ATTACH_VIA_LTTNG] = "lttng",
        [ATTACH_VIA_EVENTPIPE] = "eventpipe",
};

static const char *const NOT_HELD[] = {REQUEST_NOT_ATTACHED, REQUEST_NO_PROCESS, REQUEST_ENDED};

const char *attach_via_name(AttachVia via)
{
        return VIAS[via];
}

bool attach_via_from_name(const char *name, AttachVia *ret_via)
{
        unsigned i;

        for (i = ATTACH_VIA_ANY + 1; i < _ATTACH_VIA_MAX; i++) {
                if (strcmp(name, VIAS[i]) != 0)
                        continue;
                *ret_via = (AttachVia)i;
                return true;
        }
        return false;
}

/* False: VIA is something else than the name of one. */
static bool request_parse_via(const json_t *via, AttachVia *ret_via)
{
        *ret_via = ATTACH_VIA_ANY;
        return !via ||
               (json_is_string(via) && attach_via_from_name(json_string_value(via), ret_via));
}

bool request_parse(const char *text, size_t n, Request *ret_request)
{
        json_auto_t *request = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        const char *verb = json_string_value(json_object_get(request, "verb"));
        json_int_t pid = json_integer_value(json_object_get(request, "pid"));
        const json_t *held = json_object_get(request, "held");
        bool is_held_only = json_is_true(held);
        AttachVia via;
        unsigned i;

        for (i = 0; i < _REQUEST_VERB_MAX; i++)
                if (verb && !strcmp(verb, VERBS[i]))
                        break;
        if (i == _REQUEST_VERB_MAX || pid < 0 || pid > G_MAXINT32 ||
            (held && !json_is_boolean(held)) || (pid != 0) != request_has_pid((RequestVerb)i) ||
            (is_held_only && i != REQUEST_RUNDOWN) ||
            !request_parse_via(json_object_get(request, "via"), &via) ||
            (via && i != REQUEST_RUNDOWN && i != REQUEST_ATTACH))
                return false;
        *ret_request = (Request){(RequestVerb)i, (pid_t)pid, is_held_only, via};
        return true;
}

char *request_format(const Request *request)
{
        if (!request_has_pid(request->verb))
                return g_strdup_printf("{\"verb\":\"%s\"}\n", VERBS[request->verb]);
        return g_strdup_printf("{\"verb\":\"%s\",\"pid\":%d%s%s%s%s}\n", VERBS[request->verb],
                               (int)request->pid, request->is_held_only ? ",\"held\":true" : "",
                               request->via ? ",\"via\":\"" : "",
                               request->via ? VIAS[request->via] : "", request->via ? "\"" : "");
}

bool request_reply_parse(const char *text, size_t n, RequestReply *ret_reply)
{
        json_auto_t *reply = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        const json_t *error = json_object_get(reply, "error");
        const char *kind = json_string_value(json_object_get(error, "kind"));
        const char *message = json_string_value(json_object_get(error, "message"));

        if (!json_is_object(reply) || (error && !(kind && message)))
                return false;
        *ret_reply = (RequestReply){.value = error ? NULL : json_incref(reply),
                                    .kind = g_strdup(kind),
                                    .message = g_strdup(message)};
        return true;
}

void request_reply_clear(RequestReply *reply)
{
        g_clear_pointer(&reply->value, json_decref);
        g_clear_pointer(&reply->kind, g_free);
        g_clear_pointer(&reply->message, g_free);
}

RequestOutcome request_outcome(const char *text, size_t n, char **ret_message)
{
        g_auto(RequestReply) reply = {NULL};
        size_t i;

        *ret_message = NULL;
        if (!request_reply_parse(text, n, &reply))
                return REQUEST_INVALID;
        if (reply.value)
                return json_is_integer(json_object_get(reply.value, "pid")) ? REQUEST_DONE
                                                                            : REQUEST_INVALID;
        for (i = 0; i < G_N_ELEMENTS(NOT_HELD); i++)
                if (!strcmp(reply.kind, NOT_HELD[i]))
                        return REQUEST_NOT_HELD;
        *ret_message = g_steal_pointer(&reply.message);
        return REQUEST_FAILED;
}

/* SPDX-License-Identifier: MIT */
#include "wire/hold-request.h"

#include <jansson.h>
#include <string.h>

static const char *const VERBS[_REQUEST_VERB_MAX] = {
        [REQUEST_ATTACH] = "attach",
        [REQUEST_AGAIN] = "again",
        [REQUEST_DETACH] = "detach",
        [REQUEST_LIST] = "list",
};

static const char *const NOT_HELD[] = {REQUEST_NOT_ATTACHED, REQUEST_NO_PROCESS, REQUEST_ENDED};

bool request_parse(const char *text, size_t n, Request *ret_request)
{
        json_t *request = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        const char *verb = json_string_value(json_object_get(request, "verb"));
        json_int_t pid = json_integer_value(json_object_get(request, "pid"));
        const json_t *held = json_object_get(request, "held");
        bool is_held_only = json_is_true(held), is_sound = !held || json_is_boolean(held);
        unsigned i;

        for (i = 0; i < _REQUEST_VERB_MAX; i++)
                if (verb && !strcmp(verb, VERBS[i]))
                        break;
        json_decref(request); /* VERB is gone with it */
        if (i == _REQUEST_VERB_MAX || pid < 0 || pid > G_MAXINT32 || !is_sound ||
            (pid == 0) != (i == REQUEST_LIST) || (is_held_only && i != REQUEST_AGAIN))
                return false;
        *ret_request = (Request){(RequestVerb)i, (pid_t)pid, is_held_only};
        return true;
}

char *request_format(const Request *request)
{
        if (request->verb == REQUEST_LIST)
                return g_strdup_printf("{\"verb\":\"%s\"}\n", VERBS[request->verb]);
        return g_strdup_printf("{\"verb\":\"%s\",\"pid\":%d%s}\n", VERBS[request->verb],
                               (int)request->pid, request->is_held_only ? ",\"held\":true" : "");
}

RequestOutcome request_outcome(const char *text, size_t n, char **ret_message)
{
        json_t *answer = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        const json_t *error = json_object_get(answer, "error");
        const char *kind = json_string_value(json_object_get(error, "kind"));
        const char *message = json_string_value(json_object_get(error, "message"));
        RequestOutcome outcome = REQUEST_NONSENSE;
        size_t i;

        *ret_message = NULL;
        if (kind && message) {
                outcome = REQUEST_FAILED;
                for (i = 0; i < G_N_ELEMENTS(NOT_HELD); i++)
                        if (!strcmp(kind, NOT_HELD[i]))
                                outcome = REQUEST_NOT_HELD;
        } else if (!error && json_is_integer(json_object_get(answer, "pid"))) {
                outcome = REQUEST_LISTED;
        }
        if (outcome == REQUEST_FAILED)
                *ret_message = g_strdup(message);
        json_decref(answer);
        return outcome;
}

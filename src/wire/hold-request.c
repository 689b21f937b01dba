/* SPDX-License-Identifier: MIT */
#include "wire/hold-request.h"

#include "util/fd.h"
#include "util/unix-socket.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* "again" is the older name, used by clients and holders of other versions. */
static const char *const VERBS[_REQUEST_VERB_MAX] = {
        [REQUEST_ATTACH] = "attach", [REQUEST_RUNDOWN] = "again", [REQUEST_DETACH] = "detach",
        [REQUEST_LIST] = "list",     [REQUEST_PORT] = "port",     [REQUEST_HORIZON] = "horizon",
        [REQUEST_LIMITS] = "limits", [REQUEST_FLUSH] = "flush",
};

/* True if the verb allows a process (HAS_PID), or its absence. */
static bool request_takes_pid(RequestVerb verb, bool has_pid)
{
        return verb == REQUEST_HORIZON ||
               has_pid == (verb != REQUEST_LIST && verb != REQUEST_PORT && verb != REQUEST_LIMITS &&
                           verb != REQUEST_FLUSH);
}

static const char *const VIAS[_ATTACH_VIA_MAX] = {
        [ATTACH_VIA_LTTNG] = "lttng",
        [ATTACH_VIA_EVENTPIPE] = "eventpipe",
        [ATTACH_VIA_AUTO] = "auto",
};

static const char *const LISTS[_ATTACH_LIST_MAX] = {
        [ATTACH_LIST_AUTO] = "auto",
        [ATTACH_LIST_ALWAYS] = "always",
        [ATTACH_LIST_NEVER] = "never",
};

static const char *const NOT_HELD[] = {REQUEST_NOT_ATTACHED, REQUEST_NO_PROCESS, REQUEST_ENDED};

const char *attach_via_name(AttachVia via)
{
        return VIAS[via];
}

/* The index of NAME in a table of N names; N: not found. */
static unsigned name_index(const char *const *names, unsigned n, const char *name)
{
        unsigned i = 0;

        while (i < n && g_strcmp0(name, names[i]) != 0)
                i++;
        return i;
}

bool attach_via_from_name(const char *name, AttachVia *ret_via)
{
        unsigned i = name_index(VIAS, _ATTACH_VIA_MAX, name);

        if (i < _ATTACH_VIA_MAX)
                *ret_via = (AttachVia)i;
        return i < _ATTACH_VIA_MAX;
}

const char *attach_list_name(AttachList list)
{
        return LISTS[list];
}

bool attach_list_from_name(const char *name, AttachList *ret_list)
{
        unsigned i = name_index(LISTS, _ATTACH_LIST_MAX, name);

        if (i < _ATTACH_LIST_MAX)
                *ret_list = (AttachList)i;
        return i < _ATTACH_LIST_MAX;
}

/*
 * The default of a request without that member. A client that names a process to attach wants its
 * code listed.
 */
static AttachList request_default_list(RequestVerb verb)
{
        return verb == REQUEST_ATTACH ? ATTACH_LIST_ALWAYS : ATTACH_LIST_AUTO;
}

/* Parses the options of an attachment. False: a member is of the wrong type or value. */
static bool request_parse_manner(const json_t *request, Request *ret_request)
{
        const json_t *via = json_object_get(request, "via"),
                     *list = json_object_get(request, "list"),
                     *lttng = json_object_get(request, "lttng");

        if ((via && !json_is_string(via)) || (list && !json_is_string(list)) ||
            (lttng && !json_is_boolean(lttng)))
                return false;
        ret_request->has_lttng = json_is_true(lttng);
        return (!via || attach_via_from_name(json_string_value(via), &ret_request->via)) &&
               (!list || attach_list_from_name(json_string_value(list), &ret_request->list));
}

/* False: the member is not the path of a socket. */
static bool request_parse_ingest(const json_t *request, Request *ret_request)
{
        const json_t *ingest = json_object_get(request, "ingest");
        const char *path = json_string_value(ingest);

        if (!ingest)
                return true;
        return path && *path == '/' && strlen(path) == json_string_length(ingest) &&
               g_strlcpy(ret_request->ingest, path, sizeof(ret_request->ingest)) <
                       sizeof(ret_request->ingest);
}

static bool request_has_manner(const Request *request)
{
        return request->via || request->list || request->has_lttng;
}

bool request_parse(const char *text, size_t n, Request *ret_request)
{
        json_auto_t *request = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        const char *verb = json_string_value(json_object_get(request, "verb"));
        json_int_t pid = json_integer_value(json_object_get(request, "pid"));
        json_int_t pid_ns = json_integer_value(json_object_get(request, "pid_ns"));
        const json_t *held = json_object_get(request, "held");
        bool is_held_only = json_is_true(held);
        Request parsed = {
                .pid = (pid_t)pid, .pid_ns = (uint64_t)pid_ns, .is_held_only = is_held_only};
        unsigned i = verb ? name_index(VERBS, _REQUEST_VERB_MAX, verb) : _REQUEST_VERB_MAX;

        if (i == _REQUEST_VERB_MAX || pid < 0 || pid > G_MAXINT32 ||
            (held && !json_is_boolean(held)) || !request_takes_pid((RequestVerb)i, pid != 0) ||
            pid_ns < 0 || (pid_ns && (i != REQUEST_HORIZON || !pid)) ||
            (is_held_only && i != REQUEST_RUNDOWN) || !request_parse_manner(request, &parsed) ||
            !request_parse_ingest(request, &parsed) ||
            (request_has_manner(&parsed) && i != REQUEST_RUNDOWN && i != REQUEST_ATTACH))
                return false;
        parsed.verb = (RequestVerb)i;
        if (!json_object_get(request, "list"))
                parsed.list = request_default_list(parsed.verb);
        *ret_request = parsed;
        return true;
}

char *request_format(const Request *request)
{
        GString *line = g_string_new(NULL);

        g_string_append_printf(line, "{\"verb\":\"%s\"", VERBS[request->verb]);
        if (request->pid)
                g_string_append_printf(line, ",\"pid\":%d", (int)request->pid);
        if (request->pid_ns)
                g_string_append_printf(line, ",\"pid_ns\":%" G_GUINT64_FORMAT,
                                       (guint64)request->pid_ns);
        if (request->is_held_only)
                g_string_append(line, ",\"held\":true");
        if (request->via)
                g_string_append_printf(line, ",\"via\":\"%s\"", VIAS[request->via]);
        if (request->list != request_default_list(request->verb))
                g_string_append_printf(line, ",\"list\":\"%s\"", LISTS[request->list]);
        if (request->has_lttng)
                g_string_append(line, ",\"lttng\":true");
        if (*request->ingest) {
                json_auto_t *path = json_string(request->ingest);
                char *text = json_dumps(path, JSON_ENCODE_ANY);

                if (text)
                        g_string_append_printf(line, ",\"ingest\":%s", text);
                free(text);
        }
        g_string_append(line, "}\n");
        return g_string_free(line, FALSE);
}

int request_send(const Request *request, const char *path, int flags, int wait_ms)
{
        g_autofree char *line = request_format(request);
        const size_t n = strlen(line);
        FD_AUTO int fd = unix_connect(path, flags, wait_ms);
        ssize_t sent;

        if (fd < 0)
                return fd;
        /* The line is small: a new connection takes it whole. */
        sent = send(fd, line, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EPIPE)
                return -errno;
        return sent < 0 || sent == (ssize_t)n ? fd_steal(&fd) : -EAGAIN;
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

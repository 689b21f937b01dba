/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Request: what is asked of a holder, and what it answers, one JSON object a line each
 *
 *   {"verb":"attach","pid":123}       list: everything that is held, no pid
 *   {"pid":123,"vpid":1,...}          or {"attachments":[...]}, or {"error":{...}}
 *
 * One request a connection. The answer comes when it is done.
 */

#include "attach/attachment.h"

#include <jansson.h>

typedef enum RequestVerb {
        REQUEST_ATTACH, /* unless it is attached */
        REQUEST_AGAIN,  /* list everything once more; attach, if it is not */
        REQUEST_DETACH,
        REQUEST_LIST,
        _REQUEST_VERB_MAX,
} RequestVerb;

typedef struct Request {
        RequestVerb verb;
        pid_t pid; /* as the asker sees it; 0 with LIST */
} Request;

/* More than any request has. */
#define REQUEST_MAX 1024

/* TEXT is without its end of line. False: it is none. */
bool request_parse(const char *text, size_t n, Request *ret_request);
/* A line with its end, newly allocated. */
char *request_format(const Request *request);

/* IS_NEW: that request made it. */
json_t *request_attachment(const AttachmentInfo *info, bool is_new);
json_t *request_error(AttachError code, const char *message);
/* False with ERROR set if ANSWER is one. */
bool request_check(const json_t *answer, GError **error);

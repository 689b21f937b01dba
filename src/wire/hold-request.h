/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Hold request: what is asked of a holder of attachments, one JSON object a line
 *
 *   {"verb":"attach","pid":123}       list: everything that is held, no pid
 *   {"verb":"again","pid":123,"held":true}
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum RequestVerb {
        REQUEST_ATTACH, /* unless it is attached */
        REQUEST_AGAIN,  /* list everything once more; attach, if it is not */
        REQUEST_DETACH,
        REQUEST_LIST,
        _REQUEST_VERB_MAX,
} RequestVerb;

typedef struct Request {
        RequestVerb verb;
        pid_t pid;         /* as the asker sees it; 0 with LIST */
        bool is_held_only; /* with AGAIN: one that is not attached stays so, which is an error */
} Request;

/* More than any request has. */
#define REQUEST_MAX 1024

/* Kinds of errors that say that there is nothing to list. */
#define REQUEST_NOT_ATTACHED "not-attached"
#define REQUEST_NO_PROCESS   "no-process"
#define REQUEST_ENDED        "ended"

/* TEXT is without its end of line. False: it is none. */
bool request_parse(const char *text, size_t n, Request *ret_request);
/* A line with its end, newly allocated. */
char *request_format(const Request *request);

/* What became of one AGAIN. */
typedef enum RequestOutcome {
        REQUEST_LISTED,
        REQUEST_NOT_HELD, /* not attached, or over */
        REQUEST_FAILED,   /* it could not be, or may not be asked */
        REQUEST_NONSENSE, /* that is no answer of a holder */
} RequestOutcome;

/*
 * Of the answer TEXT, of N bytes that may be anything. RET_MESSAGE is the holder's own with
 * REQUEST_FAILED, the caller's to free; else NULL.
 */
RequestOutcome request_outcome(const char *text, size_t n, char **ret_message);

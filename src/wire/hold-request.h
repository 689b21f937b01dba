/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Hold request: a client's request to the holder of attachments, and its reply
 *
 * Each is one JSON object on a line; a connection carries one request.
 *
 *   {"verb":"attach","pid":123}                  also "detach"; "list" has no pid
 *   {"verb":"attach","pid":123,"via":"eventpipe"} or "lttng", "auto": how its events are to come
 *   {"verb":"attach","pid":123,"lttng":true}     a live LTTng session has the runtime's events
 *   {"verb":"attach","pid":123,"list":"auto"}    or "never": whether its code is listed; without
 *                                                it always, with "again" auto
 *   {"verb":"attach","pid":123,"ingest":"/path"} which daemon gets its events: the path of its
 * ingest socket; without it, the daemon of the holder
 *   {"verb":"again","pid":123,"held":true}       another rundown
 *   {"verb":"horizon","pid":1,"pid_ns":4026532} somebody waits for later events of the process,
 *                                                which is pid 1 of its own namespace
 *   {"verb":"horizon"}                           the same of all attachments
 *   {"verb":"flush"}                             somebody waits for what threads have buffered of
 *                                                async events, of all attachments
 *   {"verb":"port"}                              where runtimes connect
 *   {"verb":"port","pid":123}                    they are to do so below the root directory of
 *                                                that process, too; of the holder's user only
 *
 *   {"pid":123,"vpid":1,...}                     an attachment (attach/reply.c)
 *   {"attachments":[...]}                        the reply to "list", "horizon", "flush"
 *   {"limits":[{"limit":"attachments","uid":1000,"used":3,"max":256,"set":null}]}
 *                                                the reply to "limits"; uid null: of all users;
 *                                                set: the variable to raise it with
 *   {"port":"/path","lasting":true}              the reply to "port"; the service manager listens
 *                                                there, too
 *   {"error":{"kind":"no-process","message":"..."}}
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum RequestVerb {
        REQUEST_ATTACH,  /* unless it is attached */
        REQUEST_RUNDOWN, /* another rundown; attaches the process if it is not attached */
        REQUEST_DETACH,
        REQUEST_HORIZON, /* of a process, or of all attachments that the client may see */
        REQUEST_FLUSH,   /* of all attachments that the client may see */
        REQUEST_LIST,    /* all attachments that the client may see */
        REQUEST_PORT,    /* the path of the socket for runtimes; the holder stays for them */
        REQUEST_LIMITS,  /* what the client's processes take of what the holder has, and its limits;
                            for root of every user */
        _REQUEST_VERB_MAX,
} RequestVerb;

/* The way of an attached process's events to the daemon. */
typedef enum AttachVia {
        ATTACH_VIA_ANY,       /* unchanged; LTTng, if there is none yet */
        ATTACH_VIA_LTTNG,     /* from its own LTTng buffers: needs a session and a feeder */
        ATTACH_VIA_EVENTPIPE, /* from its diagnostic port, fed by the holder */
        ATTACH_VIA_AUTO,      /* unchanged; if there is none yet, LTTng where that has them */
        _ATTACH_VIA_MAX,
} AttachVia;

/* NULL for ANY. */
const char *attach_via_name(AttachVia via);
/* False: no such name. */
bool attach_via_from_name(const char *name, AttachVia *ret_via);

/*
 * Whether the existing code of a process is listed (a rundown). A listing can crash a runtime that
 * unloads collectible contexts at the same time.
 */
typedef enum AttachList {
        ATTACH_LIST_AUTO, /* unless the process has such contexts */
        ATTACH_LIST_ALWAYS,
        ATTACH_LIST_NEVER,
        _ATTACH_LIST_MAX,
} AttachList;

const char *attach_list_name(AttachList list);
/* False: no such name. */
bool attach_list_from_name(const char *name, AttachList *ret_list);

/* Bytes, with the NUL: no socket has a longer path (sun_path of unix(7)). */
#define REQUEST_INGEST_SIZE 108

typedef struct Request {
        RequestVerb verb;
        pid_t pid;         /* in the client's pid namespace; 0 with LIST, LIMITS and most PORT */
        uint64_t pid_ns;   /* with HORIZON: of `pid`, or 0 without one */
        bool is_held_only; /* with RUNDOWN: fail if the process is not attached */
        AttachVia via;     /* this and the next with ATTACH and RUNDOWN */
        AttachList list;
        bool has_lttng;                   /* a live LTTng session has the runtime's events */
        char ingest[REQUEST_INGEST_SIZE]; /* the daemon's ingest socket; "": the holder's own */
} Request;

/* Bytes; longer than any request. */
#define REQUEST_MAX 1024

/* Kinds of errors that mean that the process cannot be held. */
#define REQUEST_NOT_ATTACHED "not-attached"
#define REQUEST_NO_PROCESS   "no-process"
#define REQUEST_ENDED        "ended"

/* Parses TEXT, a line without its end. False: TEXT is not a request. */
bool request_parse(const char *text, size_t n, Request *ret_request);
/* A line with its end; the caller frees it. */
char *request_format(const Request *request);

/*
 * Connects to the holder's control socket at PATH as unix_connect() does, with FLAGS and WAIT_MS,
 * and sends REQUEST. Returns the connection, for the reply; or a negative errno for
 * unix_socket_reason(). If the holder disconnects, receiving finds that.
 */
int request_send(const Request *request, const char *path, int flags, int wait_ms);

/* A reply: either VALUE or the two others are set. */
typedef struct RequestReply {
        json_t *value;        /* owned: the object, unless it is an error */
        char *kind, *message; /* owned: of the error */
} RequestReply;

/* Parses TEXT, N bytes of any content. False: TEXT is not a reply of a holder. */
bool request_reply_parse(const char *text, size_t n, RequestReply *ret_reply);
void request_reply_clear(RequestReply *reply);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RequestReply, request_reply_clear)

/* The outcome of a RUNDOWN. */
typedef enum RequestOutcome {
        REQUEST_DONE,
        REQUEST_NOT_HELD, /* the process is not attached, or has ended */
        REQUEST_FAILED,   /* or was refused */
        REQUEST_INVALID,  /* the answer is not a reply of a holder */
} RequestOutcome;

/*
 * The outcome that the reply TEXT reports. With REQUEST_FAILED, RET_MESSAGE is the holder's
 * message, which the caller frees; else NULL.
 */
RequestOutcome request_outcome(const char *text, size_t n, char **ret_message);

/* SPDX-License-Identifier: MIT */
#include "attach/holder.h"

#include "attach/attachment-file.h"
#include "attach/destination.h"
#include "attach/holder-path.h"
#include "attach/reply.h"
#include "attach/reverse-port.h"
#include "attach/user-limits.h"
#include "util/listener.h"
#include "util/peer.h"
#include "util/proc-ns.h"
#include "util/proc.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Guesses; untuned. The last callers and attachments are reserved for root, and every other user
 * has a share.
 */
#define MAX_CALLERS          1024
#define RESERVED_CALLERS     128
#define MAX_CALLERS_PER_USER 256
#define MAX_DESTINATIONS     64

#define CALLER_MS 10000 /* to send a request, and to receive the reply */
/* For the reply itself: less than a client's timeout, and more than that of a rundown. */
#define REPLY_MS 170000
#define IDLE_S   10

const char *const HOLDER_SOCKETS[_HOLDER_SOCKET_MAX] = {
        [HOLDER_CONTROL] = "control",
        [HOLDER_PORT] = "port",
};

struct Holder {
        char *directory; /* owned */
        uid_t daemon_uid;
        Listener *listener; /* owned */
        ReversePort *port;  /* owned */
        char *port_path;    /* owned */
        /* The path of the port was printed, or given with --port, so runtimes can still connect,
         * and no other program would listen there: the holder does not end when it is idle. */
        bool is_port_wanted;
        const Destination *port_for; /* borrowed: for runtimes that connect; NULL: the own daemon */
        bool is_port_handed_over;    /* the service manager starts us when a runtime connects */
        GPtrArray *destinations;     /* owned Destinations, the holder's own daemon first */
        GPtrArray *attachments;      /* owned Attachments */
        Limits limits;
        GHashTable *limited; /* uids whose limit was logged */
        GPtrArray *callers;  /* owned Callers */
        guint idle_timer;
        void (*idle)(void *data);
        void *data;
};

typedef struct Caller {
        Conversation conversation;
        Holder *holder;
        Peer *peer; /* owned */
        PeerCredentials who;
        GString *input;  /* owned */
        GString *output; /* owned */
        RequestVerb verb;
        Attachment *attachment; /* borrowed or NULL: the caller waits for it */
        int64_t deadline_ms;    /* deadline of that, in ms of the steady clock; 0: not set yet */
        bool is_new;            /* this caller's request made the attachment */
        bool is_answered;
} Caller;

/* In the form of reply_error(). */
#define NO_MEMORY_ANSWER                                                                           \
        "{\"error\":{\"kind\":\"failed\",\"message\":\"clrsym-holder has no memory: try again\"}}"

/* Takes over VALUE. */
static void caller_answer(Caller *caller, json_t *value)
{
        json_auto_t *owned = value;
        g_autofree char *text = json_dumps(owned, JSON_COMPACT);

        g_string_append(caller->output, text ? text : NO_MEMORY_ANSWER);
        g_string_append_c(caller->output, '\n');
        caller->attachment = NULL;
        caller->is_answered = true;
}

static bool caller_may_see(const Caller *caller, uid_t uid)
{
        return user_is_privileged(caller->who.uid) || caller->who.uid == uid;
}

/* True if the daemon asks: it knows of lost events, and may order a rundown, nothing else. */
static bool caller_may_order_rundown(const Caller *caller, const Request *request)
{
        return caller->who.uid == caller->holder->daemon_uid && request->verb == REQUEST_RUNDOWN;
}

static Destination *holder_own_destination(const Holder *holder)
{
        return holder->destinations->pdata[0];
}

static const Destination *holder_port_destination(const Holder *holder)
{
        return holder->port_for ? holder->port_for : holder_own_destination(holder);
}

/* INGEST "": the holder's own daemon. NULL: no such destination yet. */
static Destination *holder_find_destination(const Holder *holder, const char *ingest)
{
        guint i;

        for (i = 0; i < holder->destinations->len; i++) {
                Destination *destination = holder->destinations->pdata[i];

                if (!*ingest || !strcmp(gap_log_ingest(destination->gaps), ingest))
                        return destination;
        }
        return NULL;
}

/* DESTINATION NULL: any. */
static Attachment *holder_find_attachment(const Holder *holder, pid_t pid, uint64_t start_ticks,
                                          const Destination *destination)
{
        guint i;

        for (i = 0; i < holder->attachments->len; i++) {
                const AttachmentInfo *info = attachment_info(holder->attachments->pdata[i]);

                if (info->pid == pid && info->start_ticks == start_ticks &&
                    (!destination || info->ingest == gap_log_ingest(destination->gaps)))
                        return holder->attachments->pdata[i];
        }
        return NULL;
}

static gboolean on_idle(gpointer data)
{
        Holder *holder = data;

        if (listener_is_called(holder->listener) || reverse_port_is_called(holder->port))
                return G_SOURCE_CONTINUE;
        holder->idle_timer = 0;
        holder->idle(holder->data);
        return G_SOURCE_REMOVE;
}

static bool holder_has_pending_gaps(const Holder *holder)
{
        guint i;

        for (i = 0; i < holder->destinations->len; i++)
                if (gap_log_is_pending(((const Destination *)holder->destinations->pdata[i])->gaps))
                        return true;
        return false;
}

static void holder_update_idle(Holder *holder)
{
        bool is_idle = !holder->attachments->len && !holder->callers->len &&
                       !holder_has_pending_gaps(holder) && !holder->is_port_wanted &&
                       (!holder->port || !reverse_port_n_connected(holder->port));

        if (!is_idle)
                g_clear_handle_id(&holder->idle_timer, g_source_remove);
        else if (!holder->idle_timer)
                holder->idle_timer = g_timeout_add_seconds(IDLE_S, on_idle, holder);
}

static void on_gap_log_changed(void *data)
{
        holder_update_idle(data);
}

static void caller_answer_gone(Caller *caller, const AttachmentInfo *info)
{
        if (caller->verb == REQUEST_DETACH)
                caller_answer(caller, reply_attachment(info, false));
        else
                caller_answer(caller,
                              reply_error(info->error,
                                          info->message ? info->message
                                                        : "the process was detached meanwhile"));
}

/* Resumes the runtime, whose session is held or has failed. Retries follow a failure. */
static void holder_resume_runtime(Holder *holder, Attachment *attachment)
{
        const AttachmentInfo *info = attachment_info(attachment);

        if (holder->port && reverse_port_resume(holder->port, info->pid, info->start_ticks))
                attachment_resumed(attachment);
}

static void on_change(Attachment *attachment, AttachmentChange change, void *data)
{
        const AttachmentInfo *info = attachment_info(attachment);
        Holder *holder = data;
        guint i;

        /* Backwards, because answering a caller may remove it. */
        for (i = holder->callers->len; i-- > 0;) {
                Caller *caller = holder->callers->pdata[i];

                if (caller->attachment != attachment)
                        continue;
                if (change == ATTACHMENT_CHANGE_GONE)
                        caller_answer_gone(caller, info);
                else if (caller->verb == REQUEST_DETACH)
                        continue;
                else if (change == ATTACHMENT_CHANGE_FAILED)
                        caller_answer(caller, reply_error(info->error, info->message));
                else if (info->state == ATTACHMENT_HELD || attachment_info_awaits_daemon(info))
                        continue;
                else
                        caller_answer(caller, reply_attachment(info, caller->is_new));
                peer_run(caller->peer);
        }
        if (change != ATTACHMENT_CHANGE_FAILED)
                holder_resume_runtime(holder, attachment);
        if (change == ATTACHMENT_CHANGE_GONE)
                g_ptr_array_remove_fast(holder->attachments, attachment);
        holder_update_idle(holder);
}

static void caller_refuse(Caller *caller, AttachError code, const char *message)
{
        caller_answer(caller, reply_error(code, message));
}

static json_t *holder_list(const Holder *holder, const Caller *caller)
{
        json_t *all = json_array();
        guint i;

        for (i = 0; i < holder->attachments->len; i++) {
                const AttachmentInfo *info = attachment_info(holder->attachments->pdata[i]);

                if (caller_may_see(caller, info->uid))
                        json_array_append_new(all, reply_attachment(info, false));
        }
        return json_pack("{so}", "attachments", all);
}

static json_t *holder_limits(const Holder *holder, const Caller *caller)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        json_t *limits = json_array();
        guint i;

        if (user_is_privileged(caller->who.uid))
                limits_put(&holder->limits, limits, NULL);
        for (i = 0; i < holder->attachments->len; i++) {
                const uid_t uid = attachment_info(holder->attachments->pdata[i])->uid;

                if (caller_may_see(caller, uid) && g_hash_table_add(seen, GUINT_TO_POINTER(uid)))
                        limits_put(&holder->limits, limits, &uid);
        }
        return json_pack("{so}", "limits", limits);
}

/* The daemon may ask for any process, because the reply tells nothing. */
static void caller_want_horizon(Caller *caller, const Request *request)
{
        const Holder *holder = caller->holder;
        guint i;

        for (i = 0; i < holder->attachments->len; i++) {
                const AttachmentInfo *info = attachment_info(holder->attachments->pdata[i]);
                bool is_meant = !request->pid ||
                                (info->vpid == request->pid && info->pid_ns == request->pid_ns);

                if (is_meant &&
                    (caller_may_see(caller, info->uid) || caller->who.uid == holder->daemon_uid))
                        attachment_want_horizon(holder->attachments->pdata[i]);
        }
        caller_answer(caller, holder_list(holder, caller));
}

static void caller_want_flush(Caller *caller)
{
        const Holder *holder = caller->holder;
        guint i;

        for (i = 0; i < holder->attachments->len; i++)
                if (caller_may_see(caller, attachment_info(holder->attachments->pdata[i])->uid))
                        attachment_want_flush(holder->attachments->pdata[i]);
        caller_answer(caller, holder_list(holder, caller));
}

static bool caller_means_own_daemon(const Caller *caller, const char *ingest)
{
        return !*ingest ||
               !strcmp(gap_log_ingest(holder_own_destination(caller->holder)->gaps), ingest);
}

static void caller_refuse_daemon(Caller *caller, const char *ingest)
{
        const Holder *holder = caller->holder;
        g_autofree char *message = g_strdup_printf(
                "the holder in %s feeds the daemon at %s, and not the one at %s: set "
                "$CLRSYM_HOLDER to a directory of your own, in which another holder can start",
                holder->directory, gap_log_ingest(holder_own_destination(holder)->gaps), ingest);

        caller_refuse(caller, ATTACH_ERROR_FAILED, message);
}

/* True: CALLER may attach one more process of UID. False: RET_REFUSAL has the reason, which the
 * caller frees; it is logged once for each user. */
static bool holder_may_attach_more(Holder *holder, uid_t caller, uid_t uid, char **ret_refusal)
{
        const unsigned n = limits_count(&holder->limits, uid);
        char *refusal;

        if (n < limits_attachments(&holder->limits, caller, uid))
                return true;
        refusal = g_strdup_printf(
                "user %u has %u attachments, the limit of one user, of %u in all: detach some "
                "(clrsym detach --user %u), or start clrsym-holder with a larger " LIMIT_VARIABLE,
                (unsigned)uid, n, holder->limits.max_attachments, (unsigned)uid);
        if (g_hash_table_add(holder->limited, GUINT_TO_POINTER(uid)))
                g_warning("%s", refusal);
        *ret_refusal = refusal;
        return false;
}

/*
 * The destination for a process that CALLER attaches; NULL: CALLER has an answer. Only the holder's
 * own user may choose another daemon, because the worker connects with the holder's rights.
 */
static Destination *caller_find_destination(Caller *caller, const char *ingest)
{
        Holder *holder = caller->holder;
        Destination *found = holder_find_destination(holder, ingest);
        g_autoptr(GError) error = NULL;

        if (!user_is_privileged(caller->who.uid) && !caller_means_own_daemon(caller, ingest)) {
                caller_refuse_daemon(caller, ingest);
                return NULL;
        }
        if (found)
                return found;
        if (holder->destinations->len >= MAX_DESTINATIONS) {
                caller_refuse_daemon(caller, ingest);
                return NULL;
        }
        found = destination_add(holder->directory, ingest, on_gap_log_changed, holder, &error);
        if (found)
                g_ptr_array_add(holder->destinations, found);
        else
                caller_refuse(caller, ATTACH_ERROR_FAILED, error->message);
        return found;
}

/* Runtimes that connect name no daemon: the first caller that asks for the port decides. */
static void caller_give_port(Caller *caller, const char *ingest)
{
        Holder *holder = caller->holder;
        const Destination *destination = caller_find_destination(caller, ingest);

        if (!destination)
                return;
        if (holder->is_port_wanted && holder->port_for && destination != holder->port_for) {
                caller_refuse_daemon(caller, ingest);
                return;
        }
        holder->port_for = destination;
        holder->is_port_wanted = !holder->is_port_handed_over;
        caller_answer(caller, json_pack("{ss sb}", "port", holder->port_path, "lasting",
                                        (int)holder->is_port_handed_over));
}

static Attachment *caller_attach(Caller *caller, const AttachmentTarget *target, const char *ingest)
{
        Holder *holder = caller->holder;
        g_autofree char *refusal = NULL;
        const Destination *destination;
        Attachment *attachment;

        if (!holder_may_attach_more(holder, caller->who.uid, target->uid, &refusal)) {
                caller_refuse(caller, ATTACH_ERROR_NO_PLACE, refusal);
                return NULL;
        }
        destination = caller_find_destination(caller, ingest);
        if (!destination)
                return NULL;
        attachment = attachment_new(destination->directory, destination->gaps,
                                    holder->limits.account, target, on_change, holder);
        caller->is_new = true;
        g_ptr_array_add(holder->attachments, attachment);
        return attachment;
}

/* A detach, or a request about held processes, also finds an attachment for another daemon. */
static Attachment *caller_find_attachment(const Caller *caller, const Request *request, pid_t pid,
                                          uint64_t start_ticks)
{
        const Holder *holder = caller->holder;
        const Destination *destination = holder_find_destination(holder, request->ingest);
        Attachment *found =
                destination ? holder_find_attachment(holder, pid, start_ticks, destination) : NULL;

        if (!found && (request->is_held_only || request->verb == REQUEST_DETACH))
                found = holder_find_attachment(holder, pid, start_ticks, NULL);
        return found;
}

static void caller_obey(Caller *caller, const Request *request)
{
        g_autofree char *message = NULL;
        Attachment *attachment;
        bool is_held_only, is_explicit;
        uint64_t start_ticks;
        uint32_t uid;
        ProcKey key;

        if (!proc_find_key(caller->who.pid, request->pid, &key) ||
            !proc_identify(key.host_pid, &start_ticks, &uid)) {
                message = g_strdup_printf("there is no process %d, or it is not visible from here",
                                          (int)request->pid);
                caller_refuse(caller, ATTACH_ERROR_NO_PROCESS, message);
                return;
        }
        is_explicit = request->list == ATTACH_LIST_ALWAYS;
        is_held_only = request->is_held_only || !caller_may_see(caller, uid);
        if (!caller_may_see(caller, uid) && !caller_may_order_rundown(caller, request)) {
                message = g_strdup_printf("process %d belongs to another user: run clrsym as that "
                                          "user, or as root",
                                          (int)request->pid);
                caller_refuse(caller, ATTACH_ERROR_NOT_ALLOWED, message);
                return;
        }
        attachment = caller_find_attachment(caller, request, key.host_pid, start_ticks);
        if (!attachment && (is_held_only || request->verb == REQUEST_DETACH)) {
                message = g_strdup_printf("process %d is not attached", (int)request->pid);
                caller_refuse(caller, ATTACH_ERROR_NOT_ATTACHED, message);
        } else if (request->verb == REQUEST_DETACH) {
                attachment_detach(attachment);
        } else if (!attachment) {
                const AttachmentTarget target = {.pid = key.host_pid,
                                                 .start_ticks = start_ticks,
                                                 .uid = uid,
                                                 .via = request->via,
                                                 .list = request->list,
                                                 .has_lttng = request->has_lttng};

                attachment = caller_attach(caller, &target, request->ingest);
        } else if (request->via && request->via != ATTACH_VIA_AUTO &&
                   request->via != attachment_info(attachment)->via) {
                message = g_strdup_printf("process %d is attached already, by %s: detach it first",
                                          (int)request->pid,
                                          attach_via_name(attachment_info(attachment)->via));
                caller_refuse(caller, ATTACH_ERROR_FAILED, message);
        } else if (request->verb == REQUEST_RUNDOWN ||
                   attachment_info(attachment)->state == ATTACHMENT_WAITING ||
                   (attachment_info(attachment)->is_unlisted && is_explicit)) {
                attachment_rundown(attachment, is_explicit);
        } else if (attachment_info(attachment)->state == ATTACHMENT_COMPLETE &&
                   !attachment_info_awaits_daemon(attachment_info(attachment))) {
                caller_answer(caller, reply_attachment(attachment_info(attachment), false));
        }
        if (!caller->is_answered)
                caller->attachment = attachment;
}

static void caller_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        Caller *caller = (Caller *)conversation;
        const char *end;
        Request request;

        if (caller->is_answered || caller->attachment)
                return;
        g_string_append_len(caller->input, (const char *)bytes, (gssize)n);
        end = memchr(caller->input->str, '\n', caller->input->len);
        if (!end && caller->input->len <= REQUEST_MAX)
                return;
        if (!end ||
            !request_parse(caller->input->str, (size_t)(end - caller->input->str), &request)) {
                caller_refuse(caller, ATTACH_ERROR_FAILED, "the request is malformed");
                return;
        }
        caller->verb = request.verb;
        if (request.verb == REQUEST_LIST)
                caller_answer(caller, holder_list(caller->holder, caller));
        else if (request.verb == REQUEST_LIMITS)
                caller_answer(caller, holder_limits(caller->holder, caller));
        else if (request.verb == REQUEST_HORIZON)
                caller_want_horizon(caller, &request);
        else if (request.verb == REQUEST_FLUSH)
                caller_want_flush(caller);
        else if (request.verb == REQUEST_PORT)
                caller_give_port(caller, request.ingest);
        else
                caller_obey(caller, &request);
}

/* Waits for the reply up to a deadline, because the target decides when its runtime answers. */
static int caller_run(Conversation *conversation, int64_t now_ms)
{
        Caller *caller = (Caller *)conversation;

        if (!caller->attachment)
                return -1;
        if (!caller->deadline_ms)
                caller->deadline_ms = now_ms + REPLY_MS;
        if (now_ms < caller->deadline_ms)
                return (int)(caller->deadline_ms - now_ms);
        caller_refuse(caller, ATTACH_ERROR_UNRESPONSIVE,
                      "the runtime takes too long: see clrsym attach --list");
        return -1;
}

static bool caller_wants_input(const Conversation *conversation)
{
        const Caller *caller = (const Caller *)conversation;

        return !caller->is_answered && !caller->attachment;
}

static bool caller_is_over(const Conversation *conversation)
{
        return ((const Caller *)conversation)->is_answered;
}

static const uint8_t *caller_output(const Conversation *conversation, size_t *ret_n)
{
        const Caller *caller = (const Caller *)conversation;

        *ret_n = caller->output->len;
        return (const uint8_t *)caller->output->str;
}

static void caller_sent(Conversation *conversation, size_t n)
{
        g_string_erase(((Caller *)conversation)->output, 0, (gssize)n);
}

static const ConversationType CALLER_CONVERSATION = {
        .feed = caller_feed,
        .run = caller_run,
        .wants_input = caller_wants_input,
        .is_over = caller_is_over,
        .is_partial = caller_wants_input,
        .output = caller_output,
        .sent = caller_sent,
};

static void caller_free(gpointer data)
{
        Caller *caller = data;

        peer_free(caller->peer);
        g_string_free(caller->input, TRUE);
        g_string_free(caller->output, TRUE);
        g_free(caller);
}

static void on_caller_gone(Peer *peer, void *data)
{
        Holder *holder = ((Caller *)data)->holder;

        g_ptr_array_remove_fast(holder->callers, data);
        listener_set_accepting(holder->listener, true);
        holder_update_idle(holder);
}

static const PeerRole CALLER_ROLE = {
        .name = "control",
        .gone = on_caller_gone,
        .timeout_ms = CALLER_MS,
};

static unsigned holder_count_callers(const Holder *holder, uid_t uid)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < holder->callers->len; i++)
                n += ((const Caller *)holder->callers->pdata[i])->who.uid == uid;
        return n;
}

/* Disconnects the first caller that has not sent its request yet. */
static void holder_drop_idle_caller(Holder *holder)
{
        guint i;

        for (i = 0; i < holder->callers->len; i++) {
                Caller *caller = holder->callers->pdata[i];

                if (user_is_privileged(caller->who.uid) ||
                    !caller_wants_input(&caller->conversation))
                        continue;
                caller_refuse(caller, ATTACH_ERROR_FAILED,
                              "too many other callers are waiting: try again");
                peer_run(caller->peer);
                return;
        }
}

/* Refuses a caller beyond the limit. */
static void holder_check_caller(Holder *holder, Caller *caller)
{
        const guint max = MAX_CALLERS - RESERVED_CALLERS;

        if (user_is_privileged(caller->who.uid))
                return;
        if (holder->callers->len >= max)
                holder_drop_idle_caller(holder);
        if (holder->callers->len >= max ||
            holder_count_callers(holder, caller->who.uid) >= MAX_CALLERS_PER_USER)
                caller_refuse(caller, ATTACH_ERROR_FAILED,
                              "too many requests at a time: wait for some of them");
}

static void on_accept(void *data, int fd)
{
        Holder *holder = data;
        Caller *caller = g_new0(Caller, 1);

        caller->conversation.type = &CALLER_CONVERSATION;
        caller->holder = holder;
        caller->input = g_string_new(NULL);
        caller->output = g_string_new(NULL);
        if (!peer_credentials(fd, PEER_NO_GROUP, &caller->who))
                caller_refuse(caller, ATTACH_ERROR_NOT_ALLOWED, "your user is not known");
        else
                holder_check_caller(holder, caller);
        caller->peer = peer_new(fd, &CALLER_ROLE, &caller->conversation, caller);
        g_ptr_array_add(holder->callers, caller);
        listener_set_accepting(holder->listener, holder->callers->len < MAX_CALLERS);
        holder_update_idle(holder);
}

/* A runtime has connected. If it exceeds the limit of attachments, it continues without one. */
static void on_runtime(void *data, const ReverseRuntime *runtime)
{
        /* The runtime waits, or has just begun: no search for unloading contexts is needed. */
        const AttachmentTarget target = {.pid = runtime->pid,
                                         .start_ticks = runtime->start_ticks,
                                         .uid = runtime->uid,
                                         .via = ATTACH_VIA_EVENTPIPE,
                                         .list = ATTACH_LIST_ALWAYS};
        Holder *holder = data;
        const Destination *destination = holder_port_destination(holder);
        Attachment *attachment =
                holder_find_attachment(holder, target.pid, target.start_ticks, destination);
        g_autofree char *refusal = NULL;

        if (!attachment && holder_may_attach_more(holder, runtime->uid, runtime->uid, &refusal)) {
                g_ptr_array_add(holder->attachments,
                                attachment_new(destination->directory, destination->gaps,
                                               holder->limits.account, &target, on_change, holder));
                holder_update_idle(holder);
        } else if (!attachment) {
                reverse_port_resume(holder->port, target.pid, target.start_ticks);
        } else if (attachment_meet_runtime(attachment)) {
                holder_resume_runtime(holder, attachment);
        }
}

static void on_port_changed(void *data)
{
        holder_update_idle(data);
}

/* Attaches again the processes of an earlier holder for DESTINATION. Returns their number. */
static unsigned holder_resume(Holder *holder, const Destination *destination)
{
        g_autoptr(GDir) files = g_dir_open(destination->directory, 0, NULL);
        const guint n_before = holder->attachments->len;
        const char *name;

        while (files && (name = g_dir_read_name(files))) {
                AttachmentTarget target = {0};
                uint64_t start_ticks;
                uint32_t uid;

                if (!attachment_file_parse_name(name, &target.pid, &target.start_ticks))
                        continue;
                if (!proc_identify(target.pid, &start_ticks, &uid) ||
                    start_ticks != target.start_ticks) {
                        attachment_forget(destination->directory, target.pid, target.start_ticks);
                        continue;
                }
                target.uid = uid;
                g_ptr_array_add(holder->attachments,
                                attachment_new(destination->directory, destination->gaps,
                                               holder->limits.account, &target, on_change, holder));
        }
        return holder->attachments->len - n_before;
}

/* The same for all destinations. */
static void holder_resume_all(Holder *holder)
{
        g_autoptr(GDir) files = g_dir_open(holder->directory, 0, NULL);
        const char *name;

        holder_resume(holder, holder_own_destination(holder));
        while (files && (name = g_dir_read_name(files))) {
                Destination *other =
                        destination_load(holder->directory, name, on_gap_log_changed, holder);

                if (other && !holder_resume(holder, other) && gap_log_is_empty(other->gaps))
                        destination_free(other, true);
                else if (other)
                        g_ptr_array_add(holder->destinations, other);
        }
}

static bool holder_listen(Holder *holder, const char *port, const int fds[_HOLDER_SOCKET_MAX],
                          GError **error)
{
        g_autofree char *control = holder_path_control(holder->directory);
        const ReversePortCalls calls = {on_runtime, on_port_changed, holder};
        const mode_t mode = geteuid() == 0 ? 0666 : 0600;

        holder->port_path =
                port ? g_strdup(port)
                     : g_build_filename(holder->directory, HOLDER_SOCKETS[HOLDER_PORT], NULL);
        holder->is_port_handed_over = fds[HOLDER_PORT] >= 0;
        holder->is_port_wanted = port && !holder->is_port_handed_over;
        holder->listener =
                listener_new(control, mode, NULL, fds[HOLDER_CONTROL], on_accept, holder, error);
        if (holder->listener)
                holder->port =
                        reverse_port_new(holder->port_path, mode, fds[HOLDER_PORT], &calls, error);
        return holder->port != NULL;
}

Holder *holder_new(const char *directory, const char *port, const char *ingest, bool is_ingest_set,
                   uid_t daemon_uid, const int fds[_HOLDER_SOCKET_MAX], void (*idle)(void *data),
                   void *data, GError **error)
{
        bool is_roots = geteuid() == 0, is_listening = false;
        uint64_t max[_WORKER_KEEP_MAX] = {
                [WORKER_KEEPS_FILE] = SPILL_TOTAL, [WORKER_KEEPS_MEMORY] = WORKER_MEMORY_TOTAL};
        Holder *holder = g_new0(Holder, 1);

        holder->directory = g_strdup(directory);
        holder->daemon_uid = daemon_uid;
        holder->attachments = g_ptr_array_new_with_free_func((GDestroyNotify)attachment_free);
        holder->limits.attachments = holder->attachments;
        holder->callers = g_ptr_array_new_with_free_func(caller_free);
        holder->destinations = g_ptr_array_new();
        holder->limited = g_hash_table_new(NULL, NULL);
        holder->idle = idle;
        holder->data = data;
        if (g_mkdir_with_parents(directory, is_roots ? 0755 : 0700) < 0)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "cannot make the directory %s: %s", directory, g_strerror(errno));
        else
                is_listening = limits_read(&holder->limits, error) &&
                               holder_listen(holder, port, fds, error);
        if (!is_listening) {
                holder_free(holder);
                return NULL;
        }
        /* main() has checked the size. */
        spill_size_find(SPILL_TOTAL_VARIABLE, &max[WORKER_KEEPS_FILE], /* error= */ NULL);
        holder->limits.account = worker_account_new(max, holder->limits.max_attachments);
        if (!is_ingest_set)
                destination_sort(directory, ingest);
        g_ptr_array_add(holder->destinations,
                        destination_new(directory, ingest, on_gap_log_changed, holder));
        holder_resume_all(holder);
        holder_update_idle(holder);
        return holder;
}

void holder_free(Holder *holder)
{
        const bool is_unused = holder && !holder->attachments->len;
        guint i;

        if (!holder)
                return;
        g_clear_handle_id(&holder->idle_timer, g_source_remove);
        listener_free(holder->listener);
        reverse_port_free(holder->port);
        holder->port = NULL;
        g_ptr_array_unref(holder->callers);
        /* All together, so that the sessions end in parallel. */
        g_ptr_array_foreach(holder->attachments, (GFunc)(void (*)(void))attachment_quit, NULL);
        g_ptr_array_unref(holder->attachments);
        for (i = 0; i < holder->destinations->len; i++)
                destination_free(holder->destinations->pdata[i], is_unused);
        g_ptr_array_unref(holder->destinations);
        worker_account_free(holder->limits.account);
        g_hash_table_unref(holder->limited);
        g_free(holder->port_path);
        g_free(holder->directory);
        g_free(holder);
}

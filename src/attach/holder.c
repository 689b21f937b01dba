/* SPDX-License-Identifier: MIT */
#include "attach/holder.h"

#include "attach/places.h"
#include "attach/request.h"
#include "attach/target.h"
#include "daemon/listener.h"
#include "daemon/peer.h"
#include "daemon/proc-ns.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Guesses; untuned. */
#define MAX_CALLERS     256
#define MAX_ATTACHMENTS 1024
#define CALLER_MS       10000 /* for a request, and to take its answer */
#define IDLE_S          10

struct Holder {
        char *directory; /* owned */
        uid_t daemon_uid;
        Listener *listener;
        Silences *silences;
        GPtrArray *attachments; /* owned */
        GPtrArray *callers;     /* owned Peers, whose sessions are Callers */
        guint idle_timer;
        void (*idle)(void *data);
        void *data;
};

typedef struct Caller {
        Holder *holder;
        PeerCredentials who;
        GString *input;  /* owned */
        GString *output; /* owned */
        RequestVerb verb;
        Attachment *attachment; /* borrowed or NULL: that it waits for */
        bool is_new;            /* it was made for it */
        bool is_answered;
} Caller;

/* Takes over ANSWER. */
static void answer(Caller *caller, json_t *value)
{
        char *text = json_dumps(value, JSON_COMPACT);

        g_string_append(caller->output, text ? text : "{}");
        g_string_append_c(caller->output, '\n');
        free(text);
        json_decref(value);
        caller->attachment = NULL;
        caller->is_answered = true;
}

static bool may(const Caller *caller, uid_t uid)
{
        return caller->who.uid == 0 || caller->who.uid == geteuid() || caller->who.uid == uid;
}

/* The daemon knows when something is missing of a process; it has no other business with it. */
static bool may_only_again(const Caller *caller, const Request *request)
{
        return caller->who.uid == caller->holder->daemon_uid && request->verb == REQUEST_AGAIN;
}

static Attachment *find(Holder *holder, pid_t pid, uint64_t start_ticks)
{
        guint i;

        for (i = 0; i < holder->attachments->len; i++) {
                const AttachmentInfo *info = attachment_info(holder->attachments->pdata[i]);

                if (info->pid == pid && info->start_ticks == start_ticks)
                        return holder->attachments->pdata[i];
        }
        return NULL;
}

static gboolean on_idle(gpointer data)
{
        Holder *holder = data;

        if (listener_is_called(holder->listener))
                return G_SOURCE_CONTINUE;
        holder->idle_timer = 0;
        holder->idle(holder->data);
        return G_SOURCE_REMOVE;
}

static void update_idle(Holder *holder)
{
        bool is_idle = !holder->attachments->len && !holder->callers->len &&
                       !silences_is_pending(holder->silences);

        if (!is_idle)
                g_clear_handle_id(&holder->idle_timer, g_source_remove);
        else if (!holder->idle_timer)
                holder->idle_timer = g_timeout_add_seconds(IDLE_S, on_idle, holder);
}

static void on_silences(void *data)
{
        update_idle(data);
}

static void answer_gone(Caller *caller, const AttachmentInfo *info)
{
        if (caller->verb == REQUEST_DETACH)
                answer(caller, request_attachment(info, false));
        else
                answer(caller, request_error(info->error,
                                             info->message ? info->message : "it was detached"));
}

static void on_change(Attachment *attachment, AttachmentChange change, void *data)
{
        const AttachmentInfo *info = attachment_info(attachment);
        Holder *holder = data;
        guint i;

        /* One that is answered may be removed: from the end. */
        for (i = holder->callers->len; i-- > 0;) {
                Peer *peer = holder->callers->pdata[i];
                Caller *caller = peer_session(peer);

                if (caller->attachment != attachment)
                        continue;
                if (change == ATTACHMENT_GONE)
                        answer_gone(caller, info);
                else if (caller->verb == REQUEST_DETACH)
                        continue;
                else if (change == ATTACHMENT_FAILED)
                        answer(caller, request_error(info->error, info->message));
                else
                        answer(caller, request_attachment(info, caller->is_new));
                peer_run(peer);
        }
        if (change == ATTACHMENT_GONE)
                g_ptr_array_remove_fast(holder->attachments, attachment);
        update_idle(holder);
}

static void refuse(Caller *caller, AttachError code, const char *message)
{
        answer(caller, request_error(code, message));
}

static void list(Caller *caller)
{
        const GPtrArray *attachments = caller->holder->attachments;
        json_t *all = json_array();
        guint i;

        for (i = 0; i < attachments->len; i++) {
                const AttachmentInfo *info = attachment_info(attachments->pdata[i]);

                if (may(caller, info->uid))
                        json_array_append_new(all, request_attachment(info, false));
        }
        answer(caller, json_pack("{so}", "attachments", all));
}

static Attachment *attach(Caller *caller, pid_t pid, uint64_t start_ticks, uid_t uid)
{
        Holder *holder = caller->holder;
        Attachment *attachment;

        if (holder->attachments->len >= MAX_ATTACHMENTS) {
                refuse(caller, ATTACH_ERROR_FAILED,
                       "no more processes can be attached: detach some");
                return NULL;
        }
        attachment = attachment_new(holder->directory, holder->silences, pid, start_ticks, uid,
                                    on_change, holder);
        caller->is_new = true;
        g_ptr_array_add(holder->attachments, attachment);
        return attachment;
}

static void obey(Caller *caller, const Request *request)
{
        g_autofree char *message = NULL;
        Attachment *attachment;
        bool is_held_only;
        uint64_t ticks;
        uint32_t uid;
        ProcKey key;
        char state;

        if (!proc_find_key(caller->who.pid, request->pid, &key) ||
            !target_state(key.host_pid, &state, &ticks) || !proc_uid(key.host_pid, &uid)) {
                message = g_strdup_printf("there is no process %d, or it is not to be seen here",
                                          (int)request->pid);
                refuse(caller, ATTACH_ERROR_NO_PROCESS, message);
                return;
        }
        is_held_only = request->is_held_only || !may(caller, uid);
        if (!may(caller, uid) && !may_only_again(caller, request)) {
                message = g_strdup_printf("process %d is of another user: run clrsym as that user, "
                                          "or as root",
                                          (int)request->pid);
                refuse(caller, ATTACH_ERROR_NOT_ALLOWED, message);
                return;
        }
        attachment = find(caller->holder, key.host_pid, ticks);
        if (!attachment && (is_held_only || request->verb == REQUEST_DETACH)) {
                message = g_strdup_printf("process %d is not attached", (int)request->pid);
                refuse(caller, ATTACH_ERROR_NOT_ATTACHED, message);
        } else if (request->verb == REQUEST_DETACH) {
                attachment_detach(attachment);
        } else if (!attachment) {
                attachment = attach(caller, key.host_pid, ticks, uid);
        } else if (request->verb == REQUEST_AGAIN || attachment_info(attachment)->is_waiting) {
                attachment_list(attachment);
        } else if (attachment_info(attachment)->is_listed) {
                answer(caller, request_attachment(attachment_info(attachment), false));
        }
        if (!caller->is_answered)
                caller->attachment = attachment;
}

static void caller_feed(void *session, const uint8_t *bytes, size_t n)
{
        Caller *caller = session;
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
                refuse(caller, ATTACH_ERROR_FAILED, "that is no request");
                return;
        }
        caller->verb = request.verb;
        if (request.verb == REQUEST_LIST)
                list(caller);
        else
                obey(caller, &request);
}

static int caller_run(void *session, int64_t now_ms)
{
        return -1;
}

static bool caller_wants_input(void *session)
{
        const Caller *caller = session;

        return !caller->is_answered && !caller->attachment;
}

static bool caller_is_over(void *session)
{
        return ((Caller *)session)->is_answered;
}

static bool caller_is_partial(void *session)
{
        return caller_wants_input(session);
}

static const uint8_t *caller_output(void *session, size_t *ret_n)
{
        Caller *caller = session;

        *ret_n = caller->output->len;
        return (const uint8_t *)caller->output->str;
}

static void caller_sent(void *session, size_t n)
{
        g_string_erase(((Caller *)session)->output, 0, (gssize)n);
}

static void caller_free(void *session)
{
        Caller *caller = session;

        g_string_free(caller->input, TRUE);
        g_string_free(caller->output, TRUE);
        g_free(caller);
}

static const PeerRole CALLER_ROLE = {
        .name = "control",
        .feed = caller_feed,
        .run = caller_run,
        .wants_input = caller_wants_input,
        .is_over = caller_is_over,
        .is_partial = caller_is_partial,
        .output = caller_output,
        .sent = caller_sent,
        .free = caller_free,
        .timeout_ms = CALLER_MS,
};

static void on_caller_gone(Peer *peer, void *data)
{
        Holder *holder = data;

        g_ptr_array_remove_fast(holder->callers, peer);
        listener_set_accepting(holder->listener, true);
        update_idle(holder);
}

static void on_accept(void *data, int fd)
{
        Holder *holder = data;
        Caller *caller = g_new0(Caller, 1);

        caller->holder = holder;
        caller->input = g_string_new(NULL);
        caller->output = g_string_new(NULL);
        if (!peer_credentials(fd, "root", &caller->who))
                refuse(caller, ATTACH_ERROR_NOT_ALLOWED, "it is not known who you are");
        g_ptr_array_add(holder->callers,
                        peer_new(fd, &CALLER_ROLE, caller, on_caller_gone, holder));
        listener_set_accepting(holder->listener, holder->callers->len < MAX_CALLERS);
        update_idle(holder);
}

/* Goes on with what a holder before us held. */
static void resume(Holder *holder)
{
        g_autoptr(GDir) files = g_dir_open(holder->directory, 0, NULL);
        const char *name;

        while (files && (name = g_dir_read_name(files))) {
                uint64_t ticks, ticks_now;
                uint32_t uid;
                char state;
                pid_t pid;

                if (!attachment_parse_name(name, &pid, &ticks))
                        continue;
                if (!target_state(pid, &state, &ticks_now) || ticks_now != ticks ||
                    !proc_uid(pid, &uid)) {
                        attachment_forget(holder->directory, pid, ticks);
                        continue;
                }
                g_ptr_array_add(holder->attachments,
                                attachment_new(holder->directory, holder->silences, pid, ticks, uid,
                                               on_change, holder));
        }
}

Holder *holder_new(const char *directory, const char *ingest, uid_t daemon_uid, int fd,
                   void (*idle)(void *data), void *data, GError **error)
{
        g_autofree char *control = places_control(directory);
        bool is_roots = geteuid() == 0;
        Holder *holder = g_new0(Holder, 1);

        holder->directory = g_strdup(directory);
        holder->daemon_uid = daemon_uid;
        holder->attachments = g_ptr_array_new_with_free_func((GDestroyNotify)attachment_free);
        holder->callers = g_ptr_array_new_with_free_func((GDestroyNotify)peer_free);
        holder->idle = idle;
        holder->data = data;
        if (g_mkdir_with_parents(directory, is_roots ? 0755 : 0700) < 0)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "cannot make the directory %s: %s", directory, g_strerror(errno));
        else
                holder->listener = listener_new(control, is_roots ? 0666 : 0600, NULL, fd,
                                                on_accept, holder, error);
        if (!holder->listener) {
                holder_free(holder);
                return NULL;
        }
        holder->silences = silences_new(directory, ingest, on_silences, holder);
        resume(holder);
        update_idle(holder);
        return holder;
}

void holder_free(Holder *holder)
{
        if (!holder)
                return;
        g_clear_handle_id(&holder->idle_timer, g_source_remove);
        listener_free(holder->listener);
        g_ptr_array_unref(holder->callers);
        /* Together, not one after the other. */
        g_ptr_array_foreach(holder->attachments, (GFunc)(void (*)(void))attachment_quit, NULL);
        g_ptr_array_unref(holder->attachments);
        silences_free(holder->silences);
        g_free(holder->directory);
        g_free(holder);
}

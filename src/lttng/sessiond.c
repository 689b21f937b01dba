/* SPDX-License-Identifier: MIT */
#include "lttng/sessiond.h"

#include "lttng/buffers.h"
#include "lttng/lttng-api.h"
#include "lttng/recipe.h"
#include "lttng/errors.h"

#include <string.h>

/* us. The longest time until an event is visible to viewers. */
#define LIVE_TIMER 100000
/* ms. With two live sessions on one relay daemon, LTTng 2.13 can wait for the end of the first one
 * until the second one ends, although the first one has ended. */
#define DESTROY_TIMEOUT 10000

static bool lttng_fail(const LttngApi *api, const char *what, int code, GError **error)
{
        g_set_error(error, LTTNG_ERROR,
                    code == -LTTNG_ERR_NO_SESSIOND ? LTTNG_ERROR_NO_SESSIOND : LTTNG_ERROR_FAILED,
                    "LTTng cannot %s: %s", what, api->lttng_strerror(code));
        return false;
}

bool sessiond_is_running(GError **error)
{
        const LttngApi *api = lttng_api(error);

        return api && api->lttng_session_daemon_alive() == 1;
}

/* LTTng's default is CTF 2 since 2.15, which fewer readers know. */
static bool descriptor_set_format(const LttngApi *api, struct lttng_session_descriptor *descriptor,
                                  TraceFormat format, GError **error)
{
        TraceFormat wanted = format == TRACE_FORMAT_ANY ? TRACE_FORMAT_CTF_1_8 : format;

        if (!api->lttng_session_descriptor_set_trace_format) {
                if (wanted == TRACE_FORMAT_CTF_1_8)
                        return true;
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "--trace-format %s needs LTTng 2.15 or newer: this one only writes %s",
                            trace_format_name(format), trace_format_name(TRACE_FORMAT_CTF_1_8));
                return false;
        }
        if (api->lttng_session_descriptor_set_trace_format(descriptor, wanted) ==
                    LTTNG_SESSION_DESCRIPTOR_STATUS_OK ||
            format == TRACE_FORMAT_ANY)
                return true;
        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                    "this LTTng does not write %s: leave out --trace-format",
                    trace_format_name(format));
        return false;
}

static bool session_create(const LttngApi *api, const SessionSettings *settings, GError **error)
{
        struct lttng_session_descriptor *descriptor;
        g_autofree char *url = NULL;
        enum lttng_error_code code;

        if (settings->is_live) {
                url = g_strdup_printf("net://127.0.0.1:%u:%u", settings->control_port,
                                      settings->data_port);
                descriptor = api->lttng_session_descriptor_live_network_create(settings->name, url,
                                                                               NULL, LIVE_TIMER);
        } else {
                descriptor = api->lttng_session_descriptor_local_create(settings->name,
                                                                        settings->output);
        }
        if (!descriptor)
                return lttng_fail(api, "create a session of that name", -LTTNG_ERR_INVALID, error);
        if (!descriptor_set_format(api, descriptor, settings->format, error)) {
                api->lttng_session_descriptor_destroy(descriptor);
                return false;
        }
        code = api->lttng_create_session_ext(descriptor);
        api->lttng_session_descriptor_destroy(descriptor);
        if (code == LTTNG_ERR_EXIST_SESS) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "there is a session %s already: clrsym session stop %s (if clrsym did "
                            "not start it: lttng destroy %s), or give another --name",
                            settings->name, settings->name, settings->name);
                return false;
        }
        return code == LTTNG_OK || lttng_fail(api, "create the session", -(int)code, error);
}

static bool session_add_channel(const LttngApi *api, struct lttng_handle *handle,
                                const SessionSettings *settings, GError **error)
{
        Buffers buffers = buffers_new(settings->buffer_size);
        FileRing ring = {0};
        struct lttng_channel *channel;
        int r;

        if (settings->disk && !file_ring(&buffers, settings->disk, &ring, error))
                return false;
        channel = api->lttng_channel_create(&handle->domain);
        if (!channel)
                return lttng_fail(api, "create a channel", -LTTNG_ERR_NOMEM, error);
        g_strlcpy(channel->name, RECIPE_CHANNEL, sizeof(channel->name));
        /* Session daemons before 2.16 enabled every new channel, whatever its value. */
        channel->enabled = 1;
        channel->attr.overwrite = 0;
        channel->attr.subbuf_size = buffers.size;
        channel->attr.num_subbuf = buffers.n;
        channel->attr.tracefile_size = ring.file_size;
        channel->attr.tracefile_count = ring.n_files;
        r = api->lttng_enable_channel(handle, channel);
        api->lttng_channel_destroy(channel);
        return r >= 0 || lttng_fail(api, "create the channel", r, error);
}

static bool session_add_events(const LttngApi *api, struct lttng_handle *handle, GError **error)
{
        size_t i;

        for (i = 0; i < RECIPE_N_EVENTS; i++) {
                struct lttng_event *event = api->lttng_event_create();
                int r = -LTTNG_ERR_NOMEM;

                if (event) {
                        event->type = LTTNG_EVENT_TRACEPOINT;
                        event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
                        event->loglevel = -1;
                        g_strlcpy(event->name, RECIPE_EVENTS[i].pattern, sizeof(event->name));
                        r = api->lttng_enable_event(handle, event, RECIPE_CHANNEL);
                        api->lttng_event_destroy(event);
                }
                if (r < 0)
                        return lttng_fail(api, "enable the runtime's events", r, error);
        }
        for (i = 0; i < RECIPE_N_CONTEXTS; i++) {
                struct lttng_event_context context = {.ctx = RECIPE_CONTEXTS[i].type};
                int r = api->lttng_add_context(handle, &context, NULL, RECIPE_CHANNEL);

                if (r < 0)
                        return lttng_fail(api, "add the contexts", r, error);
        }
        return true;
}

static bool session_track(const LttngApi *api, const SessionSettings *settings, GError **error)
{
        struct lttng_process_attr_tracker_handle *tracker = NULL;
        enum lttng_error_code code;
        bool ok = true;
        guint i;

        if (settings->track->len == 0)
                return true;
        code = api->lttng_session_get_tracker_handle(
                settings->name, LTTNG_DOMAIN_UST, LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID, &tracker);
        if (code != LTTNG_OK)
                return lttng_fail(api, "track single processes", -(int)code, error);
        ok = api->lttng_process_attr_tracker_handle_set_tracking_policy(
                     tracker, LTTNG_TRACKING_POLICY_INCLUDE_SET) ==
             LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK;
        for (i = 0; ok && i < settings->track->len; i++) {
                int status = api->lttng_process_attr_virtual_process_id_tracker_handle_add_pid(
                        tracker, g_array_index(settings->track, int32_t, i));

                ok = status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ||
                     status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS;
        }
        api->lttng_process_attr_tracker_handle_destroy(tracker);
        return ok || lttng_fail(api, "track single processes", -LTTNG_ERR_UNK, error);
}

/* Returns as lttng_destroy_session() does. */
static int session_destroy(const LttngApi *api, const char *name)
{
        struct lttng_destruction_handle *handle = NULL;
        enum lttng_error_code code = api->lttng_destroy_session_ext(name, &handle);

        if (code != LTTNG_OK)
                return -(int)code;
        api->lttng_destruction_handle_wait_for_completion(handle, DESTROY_TIMEOUT);
        api->lttng_destruction_handle_destroy(handle);
        return 0;
}

bool sessiond_start_session(const SessionSettings *settings, GError **error)
{
        struct lttng_domain domain = {
                .type = LTTNG_DOMAIN_UST,
                .buf_type = LTTNG_BUFFER_PER_UID,
        };
        const LttngApi *api = lttng_api(error);
        struct lttng_handle *handle;
        bool ok;
        int r;

        if (!api || !session_create(api, settings, error))
                return false;
        handle = api->lttng_create_handle(settings->name, &domain);
        ok = handle && session_add_channel(api, handle, settings, error) &&
             session_add_events(api, handle, error) && session_track(api, settings, error);
        if (!handle)
                lttng_fail(api, "create the session", -LTTNG_ERR_NOMEM, error);
        api->lttng_destroy_handle(handle);
        if (ok) {
                r = api->lttng_start_tracing(settings->name);
                ok = r >= 0 || lttng_fail(api, "start the session", r, error);
        }
        if (!ok)
                session_destroy(api, settings->name);
        return ok;
}

bool sessiond_stop_session(const char *name, bool *ret_is_there, GError **error)
{
        const LttngApi *api = lttng_api(error);
        int r;

        *ret_is_there = false;
        if (!api)
                return false;
        /* A session that is stopped already is destroyed as well. */
        api->lttng_stop_tracing(name);
        r = session_destroy(api, name);
        if (r == -LTTNG_ERR_SESS_NOT_FOUND || r == -LTTNG_ERR_NO_SESSIOND)
                return true;
        *ret_is_there = true;
        return r >= 0 || lttng_fail(api, "end the session", r, error);
}

void sessiond_drop_session(const char *name)
{
        const LttngApi *api = lttng_api(NULL);

        if (!api)
                return;
        api->lttng_stop_tracing_no_wait(name);
        /* LTTng reports an error when the relay daemon is gone, but ends the session. */
        if (session_destroy(api, name) < 0)
                g_debug("session %s was not ended cleanly", name);
}

static void lttng_channel_free(void *data)
{
        LttngChannel *channel = data;

        g_free(channel->name);
        g_ptr_array_unref(channel->events);
        g_free(channel);
}

static void lttng_session_free(void *data)
{
        LttngSession *session = data;

        g_free(session->name);
        g_free(session->path);
        g_ptr_array_unref(session->channels);
        g_free(session);
}

static LttngChannel *lttng_channel_read(const LttngApi *api, struct lttng_handle *handle,
                                        struct lttng_channel *from)
{
        LttngChannel *channel = g_new0(LttngChannel, 1);
        struct lttng_event *events = NULL;
        int i, n;

        channel->name = g_strdup(from->name);
        channel->events = g_ptr_array_new_with_free_func(g_free);
        channel->buffer_size = from->attr.subbuf_size;
        channel->n_buffers = from->attr.num_subbuf;
        api->lttng_channel_get_discarded_event_count(from, &channel->n_discarded);
        api->lttng_channel_get_lost_packet_count(from, &channel->n_lost);
        n = api->lttng_list_events(handle, from->name, &events);
        for (i = 0; from->enabled && i < n; i++)
                if (events[i].enabled)
                        g_ptr_array_add(channel->events, g_strdup(events[i].name));
        free(events);
        return channel;
}

static void lttng_session_read_channels(const LttngApi *api, LttngSession *session)
{
        struct lttng_domain *domains = NULL;
        int i, n_domains = api->lttng_list_domains(session->name, &domains);

        for (i = 0; i < n_domains; i++) {
                struct lttng_channel *channels = NULL;
                struct lttng_handle *handle;
                int j, n;

                if (domains[i].type != LTTNG_DOMAIN_UST)
                        continue;
                handle = api->lttng_create_handle(session->name, &domains[i]);
                n = handle ? api->lttng_list_channels(handle, &channels) : 0;
                for (j = 0; j < n; j++)
                        g_ptr_array_add(session->channels,
                                        lttng_channel_read(api, handle, &channels[j]));
                free(channels);
                api->lttng_destroy_handle(handle);
        }
        free(domains);
}

GPtrArray *sessiond_list_sessions(GError **error)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(lttng_session_free);
        const LttngApi *api = lttng_api(error);
        struct lttng_session *sessions = NULL;
        int i, n;

        if (!api)
                return NULL;
        n = api->lttng_list_sessions(&sessions);
        if (n < 0) {
                lttng_fail(api, "list the sessions", n, error);
                return NULL;
        }
        for (i = 0; i < n; i++) {
                LttngSession *session = g_new0(LttngSession, 1);

                session->name = g_strdup(sessions[i].name);
                session->path = g_strdup(sessions[i].path);
                session->is_active = sessions[i].enabled;
                session->is_live = sessions[i].live_timer_interval > 0;
                session->channels = g_ptr_array_new_with_free_func(lttng_channel_free);
                lttng_session_read_channels(api, session);
                g_ptr_array_add(list, session);
        }
        free(sessions);
        return g_steal_pointer(&list);
}

const LttngSession *lttng_session_find(const GPtrArray *list, const char *name)
{
        guint i;

        for (i = 0; i < list->len; i++)
                if (!strcmp(((const LttngSession *)list->pdata[i])->name, name))
                        return list->pdata[i];
        return NULL;
}

void lttng_session_losses(const LttngSession *session, uint64_t *ret_n_discarded,
                          uint64_t *ret_n_lost)
{
        guint i;

        *ret_n_discarded = *ret_n_lost = 0;
        for (i = 0; i < session->channels->len; i++) {
                const LttngChannel *channel = session->channels->pdata[i];

                *ret_n_discarded += channel->n_discarded;
                *ret_n_lost += channel->n_lost;
        }
}

bool lttng_session_has_dotnet(const LttngSession *session)
{
        guint i, j;

        for (i = 0; i < session->channels->len; i++) {
                const LttngChannel *channel = session->channels->pdata[i];

                for (j = 0; j < channel->events->len; j++)
                        if (g_pattern_match_simple(channel->events->pdata[j], RECIPE_MOST_WANTED))
                                return true;
        }
        return false;
}

GArray *sessiond_list_providers(GError **error)
{
        struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST};
        const LttngApi *api = lttng_api(error);
        struct lttng_event *events = NULL;
        struct lttng_handle *handle;
        GArray *pids;
        int i, n;

        if (!api)
                return NULL;
        handle = api->lttng_create_handle(NULL, &domain);
        n = handle ? api->lttng_list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM;
        api->lttng_destroy_handle(handle);
        if (n < 0) {
                lttng_fail(api, "list the programs", n, error);
                return NULL;
        }
        pids = g_array_new(FALSE, FALSE, sizeof(int32_t));
        for (i = 0; i < n; i++) {
                int32_t pid = events[i].pid;

                if (!strcmp(events[i].name, RECIPE_MOST_WANTED))
                        g_array_append_val(pids, pid);
        }
        free(events);
        return pids;
}

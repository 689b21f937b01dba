/* SPDX-License-Identifier: MIT */
#include "doctor/facts.h"

#include "doctor/bounded.h"
#include "session/contexts.h"
#include "session/session-error.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A session daemon under load takes some. */
#define TIMEOUT_S 10
/* Where the session daemons of root and of a user listen for clients. */
#define ROOT_SOCKET "/run/lttng/client-lttng-sessiond"
#define USER_SOCKET ".lttng/client-lttng-sessiond"

static json_t *strings(const GPtrArray *from)
{
        json_t *array = json_array();
        guint i;

        for (i = 0; from && i < from->len; i++)
                json_array_append_new(array, json_string(from->pdata[i]));
        return array;
}

static json_t *describe_channel(const TracingSession *session, const TracingChannel *channel)
{
        g_autoptr(GPtrArray) contexts = contexts_read(session->name, channel->name);
        json_t *object =
                json_pack("{s:s, s:o, s:I, s:I, s:I}", "name", channel->name, "events",
                          strings(channel->events), "buffer_size", (json_int_t)channel->buffer_size,
                          "buffers", (json_int_t)channel->n_buffers, "discarded",
                          (json_int_t)channel->n_discarded);

        /* Where they cannot be read, nothing is said of them. */
        if (contexts)
                json_object_set_new(object, "contexts", strings(contexts));
        return object;
}

static json_t *describe_session(const TracingSession *session)
{
        json_t *channels = json_array();
        guint i;

        for (i = 0; i < session->channels->len; i++)
                json_array_append_new(channels,
                                      describe_channel(session, session->channels->pdata[i]));
        return json_pack("{s:s, s:s, s:b, s:b, s:b, s:o}", "name", session->name, "path",
                         session->path ? session->path : "", "live", session->is_live, "active",
                         session->is_active, "dotnet", tracing_has_dotnet(session), "channels",
                         channels);
}

static void add_all(json_t *facts)
{
        g_autoptr(GPtrArray) sessions = tracing_list(NULL);
        g_autoptr(GArray) providers = NULL;
        json_t *list = json_array(), *pids = json_array();
        guint i;

        for (i = 0; sessions && i < sessions->len; i++)
                json_array_append_new(list, describe_session(sessions->pdata[i]));
        providers = tracing_providers(NULL);
        for (i = 0; providers && i < providers->len; i++)
                json_array_append_new(pids, json_integer(g_array_index(providers, int32_t, i)));
        json_object_set_new(facts, "listed", json_boolean(sessions != NULL && providers != NULL));
        json_object_set_new(facts, "sessions", list);
        json_object_set_new(facts, "providers", pids);
}

/* In the child. */
static void ask(int fd, void *data)
{
        g_autoptr(GError) error = NULL;
        bool has_daemon = tracing_has_daemon(&error);
        json_t *facts = json_pack("{s:b, s:b}", "installed", error == NULL, "daemon", has_daemon);
        char *text;

        if (error)
                json_object_set_new(facts, "error", json_string(error->message));
        if (has_daemon)
                add_all(facts);
        text = json_dumps(facts, JSON_COMPACT);
        if (write(fd, text, strlen(text)) < 0)
                _exit(1);
}

char *facts_home(void)
{
        const char *home = g_getenv("LTTNG_HOME");

        return g_strdup(home ? home : g_get_home_dir());
}

/* Whose session daemon it is that liblttng-ctl talks to: root's goes first, if we may. */
static uid_t daemon_owner(void)
{
        g_autofree char *home = facts_home(), *user = g_build_filename(home, USER_SOCKET, NULL);
        struct stat st;

        if (access(ROOT_SOCKET, W_OK) == 0 && stat(ROOT_SOCKET, &st) == 0)
                return st.st_uid;
        return stat(user, &st) == 0 ? st.st_uid : geteuid();
}

void facts_read(Facts *ret_facts)
{
        g_autofree char *said = NULL;
        json_t *value = NULL, *pid;
        size_t i;

        *ret_facts = (Facts){
                .is_installed = true,
                .providers = g_array_new(FALSE, FALSE, sizeof(int32_t)),
        };
        ret_facts->is_silent = bounded_call(ask, NULL, TIMEOUT_S, &said) == BOUNDED_TIMEOUT;
        value = said ? json_loads(said, 0, NULL) : NULL;
        ret_facts->is_unclear = !value && !ret_facts->is_silent;
        ret_facts->has_roots =
                geteuid() != 0 && access(ROOT_SOCKET, F_OK) == 0 && access(ROOT_SOCKET, W_OK) < 0;
        if (value) {
                ret_facts->is_listed = json_is_true(json_object_get(value, "listed"));
                ret_facts->is_installed = json_is_true(json_object_get(value, "installed"));
                ret_facts->has_daemon = json_is_true(json_object_get(value, "daemon"));
                ret_facts->error = g_strdup(json_string_value(json_object_get(value, "error")));
                ret_facts->sessions = json_incref(json_object_get(value, "sessions"));
                json_array_foreach(json_object_get(value, "providers"), i, pid)
                {
                        int32_t number = (int32_t)json_integer_value(pid);

                        g_array_append_val(ret_facts->providers, number);
                }
        }
        ret_facts->daemon_uid = daemon_owner();
        json_decref(value);
}

void facts_clear(Facts *facts)
{
        g_clear_pointer(&facts->error, g_free);
        g_clear_pointer(&facts->sessions, json_decref);
        g_clear_pointer(&facts->providers, g_array_unref);
}

const json_t *facts_best_session(const Facts *facts)
{
        const json_t *best = NULL;
        json_t *session;
        size_t i;

        json_array_foreach(facts->sessions, i,
                           session) if (json_is_true(json_object_get(session, "active")) &&
                                        json_is_true(json_object_get(session, "dotnet")) &&
                                        (!best || (json_is_true(json_object_get(session, "live")) &&
                                                   !json_is_true(json_object_get(best, "live")))))
                best = session;
        return best;
}

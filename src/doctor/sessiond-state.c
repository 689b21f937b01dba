/* SPDX-License-Identifier: MIT */
#include "doctor/sessiond-state.h"

#include "doctor/json-struct.h"
#include "lttng/contexts.h"
#include "lttng/sessiond.h"
#include "util/subprocess.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A session daemon under load needs some seconds. */
#define TIMEOUT_S 10
/* Where the session daemons of root and of a user listen for clients. */
#define ROOT_SOCKET "/run/lttng/client-lttng-sessiond"
#define USER_SOCKET ".lttng/client-lttng-sessiond"
/* Beside those, where programs register. */
#define APP_SOCKET_PREFIX "lttng-ust-sock-"

#define TABLE(type, members)                                                                       \
        {                                                                                          \
                sizeof(type), members, G_N_ELEMENTS(members)                                       \
        }

static const JsonMember CHANNEL_MEMBERS[] = {
        {"name", JSON_MEMBER_TEXT, offsetof(SessiondChannel, name), NULL},
        {"events", JSON_MEMBER_TEXTS, offsetof(SessiondChannel, events), NULL},
        {"contexts", JSON_MEMBER_TEXTS, offsetof(SessiondChannel, contexts), NULL},
        {"buffer_size", JSON_MEMBER_INT, offsetof(SessiondChannel, buffer_size), NULL},
        {"buffers", JSON_MEMBER_INT, offsetof(SessiondChannel, n_buffers), NULL},
        {"discarded", JSON_MEMBER_INT, offsetof(SessiondChannel, n_discarded), NULL},
};
static const JsonStruct CHANNEL = TABLE(SessiondChannel, CHANNEL_MEMBERS);

static const JsonMember SESSION_MEMBERS[] = {
        {"name", JSON_MEMBER_TEXT, offsetof(SessiondSession, name), NULL},
        {"path", JSON_MEMBER_TEXT, offsetof(SessiondSession, path), NULL},
        {"live", JSON_MEMBER_BOOL, offsetof(SessiondSession, is_live), NULL},
        {"active", JSON_MEMBER_BOOL, offsetof(SessiondSession, is_active), NULL},
        {"dotnet", JSON_MEMBER_BOOL, offsetof(SessiondSession, has_dotnet), NULL},
        {"channels", JSON_MEMBER_STRUCTS, offsetof(SessiondSession, channels), &CHANNEL},
};
static const JsonStruct SESSION = TABLE(SessiondSession, SESSION_MEMBERS);

static const JsonMember REPORT_MEMBERS[] = {
        {"installed", JSON_MEMBER_BOOL, offsetof(SessiondReport, is_installed), NULL},
        {"daemon", JSON_MEMBER_BOOL, offsetof(SessiondReport, has_daemon), NULL},
        {"complete", JSON_MEMBER_BOOL, offsetof(SessiondReport, is_complete), NULL},
        {"error", JSON_MEMBER_TEXT, offsetof(SessiondReport, error), NULL},
        {"sessions", JSON_MEMBER_STRUCTS, offsetof(SessiondReport, sessions), &SESSION},
        {"providers", JSON_MEMBER_INTS, offsetof(SessiondReport, providers), NULL},
};
static const JsonStruct REPORT = TABLE(SessiondReport, REPORT_MEMBERS);

static SessiondChannel *sessiond_channel_new(const LttngSession *session,
                                             const LttngChannel *channel)
{
        SessiondChannel *own = g_new(SessiondChannel, 1);

        *own = (SessiondChannel){
                .name = g_strdup(channel->name),
                .events = g_ptr_array_ref(channel->events),
                .contexts = contexts_read(session->name, channel->name),
                .buffer_size = (int64_t)channel->buffer_size,
                .n_buffers = (int64_t)channel->n_buffers,
                .n_discarded = (int64_t)channel->n_discarded,
        };
        return own;
}

static SessiondSession *sessiond_session_new(const LttngSession *session)
{
        SessiondSession *own = g_new(SessiondSession, 1);
        guint i;

        *own = (SessiondSession){
                .name = g_strdup(session->name),
                .path = g_strdup(session->path),
                .is_live = session->is_live,
                .is_active = session->is_active,
                .has_dotnet = lttng_session_has_dotnet(session),
                .channels = g_ptr_array_new_with_free_func(g_free),
        };
        for (i = 0; i < session->channels->len; i++)
                g_ptr_array_add(own->channels,
                                sessiond_channel_new(session, session->channels->pdata[i]));
        return own;
}

static void sessiond_report_add(SessiondReport *report)
{
        g_autoptr(GPtrArray) sessions = sessiond_list_sessions(NULL);
        g_autoptr(GArray) pids = sessiond_list_providers(NULL);
        guint i;

        report->is_complete = sessions && pids;
        report->sessions = g_ptr_array_new_with_free_func(g_free);
        report->providers = g_array_new(FALSE, FALSE, sizeof(int64_t));
        for (i = 0; sessions && i < sessions->len; i++)
                g_ptr_array_add(report->sessions, sessiond_session_new(sessions->pdata[i]));
        for (i = 0; pids && i < pids->len; i++) {
                const int64_t pid = g_array_index(pids, int32_t, i);

                g_array_append_val(report->providers, pid);
        }
}

/* In the child. */
static void sessiond_report_write(int fd, void *data)
{
        g_autoptr(GError) error = NULL;
        SessiondReport report = {.has_daemon = sessiond_is_running(&error)};
        json_auto_t *value = NULL;

        report.is_installed = !error;
        report.error = error ? g_strdup(error->message) : NULL;
        if (report.has_daemon)
                sessiond_report_add(&report);
        value = json_struct_write(&REPORT, &report);
        if (json_dumpfd(value, fd, JSON_COMPACT) < 0)
                _exit(1);
        json_struct_clear(&REPORT, &report);
}

char *sessiond_home(void)
{
        const char *home = g_getenv("LTTNG_HOME");

        return g_strdup(home ? home : g_get_home_dir());
}

/* The user of the session daemon that liblttng-ctl talks to: root's, if we may use that. */
static uid_t sessiond_owner(void)
{
        g_autofree char *home = sessiond_home(), *user = g_build_filename(home, USER_SOCKET, NULL);
        struct stat st;

        if (access(ROOT_SOCKET, W_OK) == 0 && stat(ROOT_SOCKET, &st) == 0)
                return st.st_uid;
        return stat(user, &st) == 0 ? st.st_uid : geteuid();
}

unsigned sessiond_app_abi(const char *directory)
{
        g_autoptr(GDir) names = g_dir_open(directory, 0, NULL);
        const char *name;
        unsigned least = 0;

        while (names && (name = g_dir_read_name(names))) {
                guint64 abi;

                if (g_str_has_prefix(name, APP_SOCKET_PREFIX) &&
                    g_ascii_string_to_unsigned(name + strlen(APP_SOCKET_PREFIX), 10, 1, G_MAXUINT16,
                                               &abi, NULL) &&
                    (least == 0 || abi < least))
                        least = (unsigned)abi;
        }
        return least;
}

/* The directory of the session daemon that liblttng-ctl talks to. */
static char *sessiond_directory(uid_t owner)
{
        g_autofree char *home = sessiond_home();

        return owner == 0 && access(ROOT_SOCKET, W_OK) == 0
                       ? g_path_get_dirname(ROOT_SOCKET)
                       : g_build_filename(home, ".lttng", NULL);
}

void sessiond_state_read(SessiondState *ret_state)
{
        g_autofree char *directory = NULL;
        g_autofree char *output = NULL;
        json_auto_t *value = NULL;
        SessiondState state = {
                .daemon_uid = sessiond_owner(),
                .has_roots = geteuid() != 0 && access(ROOT_SOCKET, F_OK) == 0 &&
                             access(ROOT_SOCKET, W_OK) < 0,
        };

        directory = sessiond_directory(state.daemon_uid);
        state.app_abi = sessiond_app_abi(directory);
        state.is_unresponsive = subprocess_call(sessiond_report_write, NULL, TIMEOUT_S, &output) ==
                                SUBPROCESS_TIMEOUT;
        value = output ? json_loads(output, 0, NULL) : NULL;
        if (!json_struct_read(&REPORT, value, &state.report)) {
                state.is_unclear = !state.is_unresponsive;
                state.report.is_installed = true;
        }
        *ret_state = state;
}

void sessiond_state_clear(SessiondState *state)
{
        json_struct_clear(&REPORT, &state->report);
}

const SessiondSession *sessiond_state_best_session(const SessiondState *state)
{
        const GPtrArray *sessions = state->report.sessions;
        const SessiondSession *best = NULL;
        guint i;

        for (i = 0; sessions && i < sessions->len; i++) {
                const SessiondSession *session = sessions->pdata[i];

                if (session->is_active && session->has_dotnet &&
                    (!best || (session->is_live && !best->is_live)))
                        best = session;
        }
        return best;
}

/* SPDX-License-Identifier: MIT */
#include "lttng/live-session.h"

#include "lttng/session-control.h"
#include "lttng/sessiond.h"
#include "util/subprocess.h"

#include <string.h>
#include <unistd.h>

/* A session daemon under load needs some seconds. */
#define TIMEOUT_S 5

struct LiveSessions {
        bool has_all;  /* a session records all processes */
        GArray *track; /* owned, of int32_t: the processes that other sessions record */
};

/* In the child: writes a line with the name of each session. */
static void live_sessions_write(int fd, void *data)
{
        g_autoptr(GPtrArray) sessions =
                sessiond_is_running(NULL) ? sessiond_list_sessions(NULL) : NULL;
        g_autoptr(GString) names = g_string_new(NULL);
        guint i;

        for (i = 0; sessions && i < sessions->len; i++) {
                const LttngSession *session = sessions->pdata[i];

                if (session->is_active && session->is_live && lttng_session_has_dotnet(session))
                        g_string_append_printf(names, "%s\n", session->name);
        }
        if (write(fd, names->str, names->len) != (ssize_t)names->len)
                _exit(1);
}

static void live_sessions_add(LiveSessions *sessions, const char *name)
{
        g_autoptr(SessionSettings) settings = session_control_find(name, NULL);

        if (!settings || !settings->track->len)
                sessions->has_all = true;
        else
                g_array_append_vals(sessions->track, settings->track->data, settings->track->len);
}

LiveSessions *live_sessions_new(void)
{
        LiveSessions *sessions = g_new0(LiveSessions, 1);
        g_auto(GStrv) names = NULL;
        g_autofree char *output = NULL;
        char **name;

        sessions->track = g_array_new(FALSE, FALSE, sizeof(int32_t));
        if (subprocess_call(live_sessions_write, NULL, TIMEOUT_S, &output) != SUBPROCESS_OK)
                return sessions;
        names = g_strsplit(output, "\n", -1);
        for (name = names; *name; name++)
                if (**name)
                        live_sessions_add(sessions, *name);
        return sessions;
}

void live_sessions_free(LiveSessions *sessions)
{
        if (!sessions)
                return;
        g_array_unref(sessions->track);
        g_free(sessions);
}

bool live_sessions_have(const LiveSessions *sessions, int32_t vpid)
{
        guint i;

        for (i = 0; i < sessions->track->len; i++)
                if (g_array_index(sessions->track, int32_t, i) == vpid)
                        return true;
        return sessions->has_all;
}

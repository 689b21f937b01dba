/* SPDX-License-Identifier: MIT */
#include "lttng/session-settings.h"

#include <lttng/constant.h>
#include <string.h>
#include <unistd.h>

/* LTTng adds the time to the names of directories. */
#define MAX_NAME (LTTNG_NAME_MAX - 32)

SessionSettings *session_settings_new(const char *name)
{
        SessionSettings *settings = g_new0(SessionSettings, 1);

        settings->name = g_strdup(name);
        settings->track = g_array_new(FALSE, FALSE, sizeof(int32_t));
        return settings;
}

void session_settings_free(SessionSettings *settings)
{
        if (!settings)
                return;
        g_free(settings->name);
        g_free(settings->output);
        g_free(settings->relay_output);
        g_free(settings->relay_user);
        g_array_unref(settings->track);
        g_free(settings);
}

bool session_settings_is_name(const char *name)
{
        size_t n = strlen(name);

        return n > 0 && n <= MAX_NAME && name[0] != '.' && name[0] != '-' &&
               strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-") == n;
}

static void json_set_text(json_t *object, const char *name, const char *value)
{
        if (value)
                json_object_set_new(object, name, json_string(value));
}

json_t *session_settings_to_json(const SessionSettings *settings)
{
        json_t *object = json_pack(
                "{s:s, s:b, s:I, s:I, s:i, s:i, s:i}", "name", settings->name, "live",
                settings->is_live, "buffer_size", (json_int_t)settings->buffer_size, "disk",
                (json_int_t)settings->disk, "control_port", settings->control_port, "data_port",
                settings->data_port, "live_port", settings->live_port);
        json_t *track = json_array();
        guint i;

        for (i = 0; i < settings->track->len; i++)
                json_array_append_new(track,
                                      json_integer(g_array_index(settings->track, int32_t, i)));
        json_object_set_new(object, "track", track);
        if (settings->keeps_traces)
                json_object_set_new(object, "keep", json_true());
        json_set_text(object, "trace_format", trace_format_name(settings->format));
        json_set_text(object, "output", settings->output);
        json_set_text(object, "relay_output", settings->relay_output);
        json_set_text(object, "relay_user", settings->relay_user);
        if (settings->relay.pid)
                json_object_set_new(object, "relay", daemon_process_to_json(&settings->relay));
        return object;
}

SessionSettings *session_settings_from_json(const json_t *value)
{
        json_t *object = (json_t *)value, *pid; /* jansson wants it without const */
        const char *name, *output = NULL, *relay_output = NULL, *relay_user = NULL, *format = NULL;
        json_int_t buffer_size, disk;
        g_autoptr(SessionSettings) settings = NULL;
        int is_live, control, data, live;
        TraceFormat trace_format = TRACE_FORMAT_ANY;
        json_t *track;
        size_t i;

        if (json_unpack(object, "{s:s, s:b, s:I, s:I, s:i, s:i, s:i, s:o, s?s, s?s, s?s, s?s}",
                        "name", &name, "live", &is_live, "buffer_size", &buffer_size, "disk", &disk,
                        "control_port", &control, "data_port", &data, "live_port", &live, "track",
                        &track, "output", &output, "relay_output", &relay_output, "relay_user",
                        &relay_user, "trace_format", &format) < 0 ||
            !session_settings_is_name(name) || !json_is_array(track) || (!is_live && !output) ||
            (format && !trace_format_from_name(format, &trace_format)))
                return NULL;
        settings = session_settings_new(name);
        settings->is_live = is_live;
        settings->keeps_traces = json_is_true(json_object_get(object, "keep"));
        settings->output = g_strdup(output);
        settings->relay_output = g_strdup(relay_output);
        settings->relay_user = g_strdup(relay_user);
        settings->relay = daemon_process_from_json(json_object_get(object, "relay"));
        settings->buffer_size = (uint64_t)buffer_size;
        settings->disk = (uint64_t)disk;
        settings->format = trace_format;
        settings->control_port = (uint16_t)control;
        settings->data_port = (uint16_t)data;
        settings->live_port = (uint16_t)live;
        json_array_foreach(track, i, pid)
        {
                int32_t number = (int32_t)json_integer_value(pid);

                g_array_append_val(settings->track, number);
        }
        return g_steal_pointer(&settings);
}

char *session_settings_url(const SessionSettings *settings)
{
        char hostname[HOST_NAME_MAX + 1] = "";

        gethostname(hostname, sizeof(hostname) - 1);
        return g_strdup_printf("net://127.0.0.1:%u/host/%s/%s", settings->live_port, hostname,
                               settings->name);
}

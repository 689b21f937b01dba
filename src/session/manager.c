/* SPDX-License-Identifier: MIT */
#include "session/manager.h"

#include "session/health.h"
#include "session/place.h"
#include "session/session-error.h"
#include "session/tracing.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX   ".session"
#define SESSIOND "lttng-sessiond"

/* The place, while nobody else changes it. */
typedef struct Held {
        char *place; /* owned */
        int lock;
} Held;

static void held_clear(Held *held)
{
        if (held->lock >= 0)
                close(held->lock);
        g_free(held->place);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Held, held_clear)

static bool hold(Held *ret_held, GError **error)
{
        ret_held->place = place_open(error);
        ret_held->lock = ret_held->place ? place_lock(ret_held->place, error) : -1;
        return ret_held->lock >= 0;
}

static char *file_name(const char *session)
{
        return g_strconcat(session, SUFFIX, NULL);
}

/* NULL: there is none, or its file is damaged, which is as good as none. */
static Settings *read_settings(const char *place, const char *name)
{
        g_autofree char *file = file_name(name);
        json_t *value = place_read(place, file, NULL);
        Settings *settings = value ? settings_from_json(value) : NULL;

        json_decref(value);
        return settings;
}

static bool write_settings(const char *place, const Settings *settings, GError **error)
{
        g_autofree char *file = file_name(settings->name);
        json_t *value = settings_to_json(settings);
        bool ok = place_write(place, file, value, error);

        json_decref(value);
        return ok;
}

static bool is_ready(void *data)
{
        return tracing_has_daemon(NULL);
}

/* Uses the user's session daemon, or starts one. */
static bool need_sessiond(const char *place, bool *ret_is_started, GError **error)
{
        g_autofree char *log = g_build_filename(place, SESSIOND ".log", NULL);
        g_autoptr(GError) missing = NULL;
        Service service;
        json_t *value;
        bool ok;

        *ret_is_started = false;
        if (tracing_has_daemon(&missing))
                return true;
        if (missing) {
                g_propagate_error(error, g_steal_pointer(&missing));
                return false;
        }
        /* Kernel tracing, which it could do for root, would load modules. */
        if (!service_start((char *[]){(char *)SESSIOND, (char *)"--no-kernel", NULL}, log, is_ready,
                           NULL, &service, error))
                return false;
        *ret_is_started = true;
        value = service_to_json(&service);
        ok = place_write(place, SESSIOND, value, error);
        json_decref(value);
        if (!ok)
                service_stop(&service);
        return ok;
}

static bool start_relay(const char *place, const char *output, Relay *relay, GError **error)
{
        if (!relay_start(place, output, relay, error))
                return false;
        if (relay_remember(place, relay, error))
                return true;
        service_stop(&relay->service);
        return false;
}

static bool need_relay(const char *place, const char *output, Settings *settings,
                       ManagerStarted *ret_started, GError **error)
{
        g_autofree char *usual = relay_default_output();
        g_auto(Relay) relay = {0};

        if (!relay_remembered(place, &relay) && !relay_find(&relay)) {
                if (!start_relay(place, output ? output : usual, &relay, error))
                        return false;
                ret_started->relayd = true;
        }
        ret_started->relay_user = relay_other_user(&relay);
        g_free(settings->relay_user);
        settings->relay_user = g_strdup(ret_started->relay_user);
        settings->control_port = relay.control_port;
        settings->data_port = relay.data_port;
        settings->live_port = relay.live_port;
        settings->relay = relay.service;
        g_free(settings->relay_output);
        settings->relay_output = g_strdup(relay.output);
        return true;
}

/* Stops what was started here, if no session of ours needs it. */
static void stop_unneeded(const char *place)
{
        g_autoptr(GPtrArray) names = place_list(place, SUFFIX);
        bool has_live = false;
        json_t *value;
        Service service;
        guint i;

        for (i = 0; i < names->len; i++) {
                g_autoptr(Settings) settings = read_settings(place, names->pdata[i]);

                has_live = has_live || (settings && settings->is_live);
        }
        if (names->len == 0) {
                value = place_read(place, SESSIOND, NULL);
                service = service_from_json(value);
                service_stop(&service);
                place_remove(place, SESSIOND);
                json_decref(value);
        }
        if (!has_live) {
                value = place_read(place, RELAY_FILE, NULL);
                service = service_from_json(value);
                service_stop(&service);
                place_remove(place, RELAY_FILE);
                json_decref(value);
        }
}

void manager_started_clear(ManagerStarted *started)
{
        g_clear_pointer(&started->relay_user, g_free);
}

bool manager_start(Settings *settings, const char *relay_output, ManagerStarted *ret_started,
                   GError **error)
{
        g_auto(Held) held = {.lock = -1};
        g_autofree char *file = file_name(settings->name);
        bool ok;

        *ret_started = (ManagerStarted){0};
        if (!hold(&held, error))
                return false;
        ok = need_sessiond(held.place, &ret_started->sessiond, error) &&
             (!settings->is_live ||
              need_relay(held.place, relay_output, settings, ret_started, error)) &&
             tracing_start(settings, error);
        if (ok && !write_settings(held.place, settings, error)) {
                bool is_there;

                tracing_stop(settings->name, &is_there, NULL);
                ok = false;
        }
        if (!ok)
                stop_unneeded(held.place);
        return ok;
}

/* The name of the only session of ours; NULL with ERROR set. */
static char *only_name(const char *place, GError **error)
{
        g_autoptr(GPtrArray) names = place_list(place, SUFFIX);

        if (names->len == 1)
                return g_strdup(names->pdata[0]);
        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED, "%s",
                    names->len ? "there are several sessions: say which one, clrsym session list "
                                 "shows them"
                               : "there is no session that clrsym started");
        return NULL;
}

bool manager_stop(const char *name, Settings **ret_settings, GError **error)
{
        g_auto(Held) held = {.lock = -1};
        g_autofree char *only = NULL, *file = NULL;
        g_autoptr(Settings) settings = NULL;
        bool is_there;

        if (!hold(&held, error))
                return false;
        if (!name)
                name = only = only_name(held.place, error);
        if (!name)
                return false;
        file = file_name(name);
        settings = settings_is_name(name) ? read_settings(held.place, name) : NULL;
        if (!settings) {
                g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                            "clrsym started no session %s: clrsym session list shows them; lttng "
                            "destroy %s ends one that somebody else started",
                            name, name);
                return false;
        }
        if (!tracing_stop(name, &is_there, error))
                return false;
        place_remove(held.place, file);
        stop_unneeded(held.place);
        *ret_settings = g_steal_pointer(&settings);
        return true;
}

static void settings_destroy(void *settings)
{
        settings_free(settings);
}

GPtrArray *manager_list(GError **error)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(settings_destroy);
        g_autoptr(GError) failed = NULL;
        g_autofree char *place = place_look(&failed);
        g_autoptr(GPtrArray) names = NULL;
        guint i;

        if (failed) {
                g_propagate_error(error, g_steal_pointer(&failed));
                return NULL;
        }
        if (!place)
                return g_steal_pointer(&list);
        names = place_list(place, SUFFIX);
        for (i = 0; i < names->len; i++) {
                Settings *settings = read_settings(place, names->pdata[i]);

                if (settings)
                        g_ptr_array_add(list, settings);
        }
        return g_steal_pointer(&list);
}

Settings *manager_find(const char *name, GError **error)
{
        g_autofree char *place = place_look(error);

        return place && settings_is_name(name) ? read_settings(place, name) : NULL;
}

/*
 * What of the session is missing. RET_RELAY is the relay that it has to go through; without one
 * that runs it has no service.
 */
static Health look(const char *place, const Settings *settings, Relay *ret_relay)
{
        bool has_daemon = tracing_has_daemon(NULL);
        g_autoptr(GPtrArray) sessions = has_daemon ? tracing_list(NULL) : NULL;

        health_relay(place, settings, ret_relay);
        return health_of(settings, has_daemon,
                         sessions ? tracing_find(sessions, settings->name) : NULL, ret_relay);
}

bool manager_mend(const char *name, ManagerHealth *ret_health, char **ret_what, GError **error)
{
        g_auto(Held) held = {.lock = -1};
        g_autoptr(Settings) settings = NULL;
        g_auto(Relay) relay = {0};
        bool is_new, is_there;
        Health health;

        *ret_what = NULL;
        if (!hold(&held, error))
                return false;
        settings = settings_is_name(name) ? read_settings(held.place, name) : NULL;
        *ret_health = MANAGER_NOT_OURS;
        if (!settings || !settings->is_live)
                return true;
        *ret_health = MANAGER_WELL;
        health = look(held.place, settings, &relay);
        if (health == HEALTH_WELL || health == HEALTH_STOPPED)
                return true;
        if (!relay.service.pid && settings->relay_user) {
                /* At its ports another one would be in its way. */
                *ret_health = MANAGER_WAITS;
                *ret_what = g_strdup_printf("lttng-relayd of %s is gone", settings->relay_user);
                return true;
        }
        if (!need_sessiond(held.place, &is_new, error))
                return false;
        if (!relay.service.pid) {
                relay.control_port = settings->control_port;
                relay.data_port = settings->data_port;
                relay.live_port = settings->live_port;
                if (!start_relay(held.place, settings->relay_output, &relay, error))
                        return false;
        }
        if (!tracing_stop(name, &is_there, NULL) && is_there) {
                /* It says so when the relay that it was for is gone, and is gone all the same. */
                g_debug("session %s did not end in order", name);
        }
        settings->relay = relay.service;
        if (!tracing_start(settings, error) || !write_settings(held.place, settings, error))
                return false;
        *ret_health = MANAGER_MENDED;
        *ret_what = g_strdup(health_past(health));
        return true;
}

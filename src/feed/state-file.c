/* SPDX-License-Identifier: MIT */
#include "feed/state-file.h"

#include "session/place.h"

#include <string.h>
#include <unistd.h>

#define SUFFIX ".feeder"
/* Where RuntimeDirectory= of the service's unit says. */
#define SYSTEM_DIRECTORY "/run/clrsym"
#define SYSTEM_PREFIX    "feed-"

static const char *const PHASES[_FEED_PHASE_MAX] = {
        [FEED_STARTING] = "starting",
        [FEED_LIVE] = "live",
        [FEED_IDLE] = "idle",
        [FEED_CATCHING_UP] = "catching-up",
        [FEED_FROM_FILES] = "from-files",
        [FEED_NO_DAEMON] = "no-daemon",
        [FEED_NO_RELAYD] = "no-relayd",
        [FEED_NO_SESSION] = "no-session",
        [FEED_FAILED] = "failed",
};

const char *feed_phase_name(FeedPhase phase)
{
        return PHASES[phase];
}

static gint64 now(void)
{
        return g_get_real_time() / G_USEC_PER_SEC;
}

void state_file_init(FeedState *state, const char *session)
{
        state->place = place_open(NULL);
        state->file = g_strconcat(session, SUFFIX, NULL);
        state->self = (Service){getpid(), service_start_ticks(getpid())};
        state->since = now();
}

void state_file_write(FeedState *state, FeedPhase phase, const char *reason)
{
        json_t *object;

        if (phase != state->phase)
                state->since = now();
        state->phase = phase;
        if (reason) {
                if (g_strcmp0(reason, state->last_error) != 0) {
                        g_free(state->last_error);
                        state->last_error = g_utf8_make_valid(reason, -1);
                }
                state->error_at = now();
        }
        if (!state->place)
                return;
        object = service_to_json(&state->self);
        json_object_set_new(object, "session",
                            json_stringn(state->file, strlen(state->file) - strlen(SUFFIX)));
        json_object_set_new(object, "state", json_string(PHASES[phase]));
        json_object_set_new(object, "since", json_integer(state->since));
        json_object_set_new(object, "reason",
                            reason ? json_string(state->last_error) : json_null());
        json_object_set_new(object, "reader", json_integer(state->live_pid));
        json_object_set_new(object, "restarts", json_integer(state->n_restarts));
        json_object_set_new(object, "last_error",
                            state->last_error ? json_string(state->last_error) : json_null());
        json_object_set_new(object, "last_error_at",
                            state->last_error ? json_integer(state->error_at) : json_null());
        json_object_set_new(object, "caught_up_packets",
                            json_integer((json_int_t)state->n_packets));
        place_write(state->place, state->file, object, NULL);
        json_decref(object);
}

void state_file_remove(FeedState *state)
{
        if (state->place)
                place_remove(state->place, state->file);
        g_clear_pointer(&state->place, g_free);
        g_clear_pointer(&state->file, g_free);
        g_clear_pointer(&state->last_error, g_free);
}

/* Calls TAKE for every directory that feeders write to, as far as they can be read. */
static void each_place(void (*take)(const char *place, void *data), void *data)
{
        g_autofree char *own = place_look(NULL);
        g_autoptr(GDir) directory = g_dir_open(SYSTEM_DIRECTORY, 0, NULL);
        const char *name;

        if (own)
                take(own, data);
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(SYSTEM_DIRECTORY, name, NULL);

                if (g_str_has_prefix(name, SYSTEM_PREFIX) && g_strcmp0(path, own) != 0)
                        take(path, data);
        }
}

/* With the state "gone", if its feeder is. NULL: there is none, or that is no state. */
static json_t *read_state(const char *place, const char *file)
{
        json_t *object = place_read(place, file, NULL);
        Service self = service_from_json(object);

        if (!json_is_string(json_object_get(object, "state"))) {
                json_decref(object);
                return NULL;
        }
        if (!service_is_running(&self))
                json_object_set_new(object, "state", json_string("gone"));
        return object;
}

typedef struct Wanted {
        const char *file;
        json_t *found;
} Wanted;

static void take_wanted(const char *place, void *data)
{
        Wanted *wanted = data;
        json_t *object = wanted->found ? NULL : read_state(place, wanted->file);

        if (object && strcmp(json_string_value(json_object_get(object, "state")), "gone") != 0)
                wanted->found = json_incref(object);
        json_decref(object);
}

json_t *state_file_read(const char *session)
{
        g_autofree char *file = g_strconcat(session, SUFFIX, NULL);
        Wanted wanted = {.file = file};

        each_place(take_wanted, &wanted);
        return wanted.found;
}

static void take_all(const char *place, void *data)
{
        g_autoptr(GPtrArray) names = place_list(place, SUFFIX);
        guint i;

        for (i = 0; i < names->len; i++) {
                g_autofree char *file = g_strconcat(names->pdata[i], SUFFIX, NULL);
                json_t *object = read_state(place, file);

                if (!object)
                        continue;
                /* What the file is called is what it is about. */
                json_object_set_new(object, "session", json_string(names->pdata[i]));
                json_array_append_new(data, object);
        }
}

json_t *state_file_list(void)
{
        json_t *list = json_array();

        each_place(take_all, list);
        return list;
}

/* SPDX-License-Identifier: MIT */
#include "feed/state-file.h"

#include "lttng/state-dir.h"
#include "util/runtime-path.h"

#include <string.h>
#include <unistd.h>

#define SUFFIX ".feeder"
/* The service's RuntimeDirectory=, below RUNTIME_SYSTEM, begins with this. */
#define SYSTEM_PREFIX "feed-"

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

static gint64 now_s(void)
{
        return g_get_real_time() / G_USEC_PER_SEC;
}

void state_file_init(FeedState *state, const char *session)
{
        state->path = state_dir_open(NULL);
        state->file = g_strconcat(session, SUFFIX, NULL);
        state->self = (DaemonProcess){getpid(), daemon_process_start_ticks(getpid())};
        state->since = now_s();
}

void state_file_write(FeedState *state, FeedPhase phase, const char *reason)
{
        json_auto_t *object = NULL;

        if (phase != state->phase)
                state->since = now_s();
        state->phase = phase;
        if (reason) {
                if (g_strcmp0(reason, state->last_error) != 0) {
                        g_free(state->last_error);
                        state->last_error = g_utf8_make_valid(reason, -1);
                }
                state->error_at = now_s();
        }
        if (!state->path)
                return;
        object = daemon_process_to_json(&state->self);
        json_object_set_new(object, "session",
                            json_stringn(state->file, strlen(state->file) - strlen(SUFFIX)));
        json_object_set_new(object, "state", json_string(PHASES[phase]));
        json_object_set_new(object, "since", json_integer(state->since));
        json_object_set_new(object, "read_until_us", json_integer(state->read_until_us));
        json_object_set_new(object, "reason",
                            reason ? json_string(state->last_error) : json_null());
        json_object_set_new(object, "restarts", json_integer(state->n_restarts));
        json_object_set_new(object, "last_error",
                            state->last_error ? json_string(state->last_error) : json_null());
        json_object_set_new(object, "last_error_at",
                            state->last_error ? json_integer(state->error_at) : json_null());
        json_object_set_new(object, "caught_up_packets",
                            json_integer((json_int_t)state->n_packets));
        state_dir_write(state->path, state->file, object, NULL);
}

void state_file_remove(FeedState *state)
{
        if (state->path)
                state_dir_remove(state->path, state->file);
        g_clear_pointer(&state->path, g_free);
        g_clear_pointer(&state->file, g_free);
        g_clear_pointer(&state->last_error, g_free);
}

/* Calls TAKE for every directory of feeders that can be read. */
static void state_file_each_directory(void (*take)(const char *path, void *data), void *data)
{
        g_autofree char *own = state_dir_look(NULL);
        g_autoptr(GDir) directory = g_dir_open(RUNTIME_SYSTEM, 0, NULL);
        const char *name;

        if (own)
                take(own, data);
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(RUNTIME_SYSTEM, name, NULL);

                if (g_str_has_prefix(name, SYSTEM_PREFIX) && g_strcmp0(path, own) != 0)
                        take(path, data);
        }
}

/* Has the state "gone" if its feeder has ended. NULL: not a state file. */
static json_t *state_file_read_one(const char *path, const char *file)
{
        json_auto_t *object = state_dir_read(path, file, NULL);
        DaemonProcess self = daemon_process_from_json(object);

        if (!json_is_string(json_object_get(object, "state")))
                return NULL;
        if (!daemon_process_is_running(&self))
                json_object_set_new(object, "state", json_string("gone"));
        return json_incref(object);
}

typedef struct Wanted {
        const char *file;
        json_t *found;
} Wanted;

static void wanted_take(const char *path, void *data)
{
        Wanted *wanted = data;
        json_auto_t *object = wanted->found ? NULL : state_file_read_one(path, wanted->file);

        if (object && strcmp(json_string_value(json_object_get(object, "state")), "gone") != 0)
                wanted->found = json_incref(object);
}

json_t *state_file_read(const char *session)
{
        g_autofree char *file = g_strconcat(session, SUFFIX, NULL);
        Wanted wanted = {.file = file};

        state_file_each_directory(wanted_take, &wanted);
        return wanted.found;
}

bool state_file_has_read(const char *session, gint64 time_us)
{
        json_auto_t *state = state_file_read(session);

        return !g_strcmp0(json_string_value(json_object_get(state, "state")), PHASES[FEED_LIVE]) &&
               json_integer_value(json_object_get(state, "read_until_us")) > time_us;
}

static void list_take(const char *path, void *data)
{
        g_autoptr(GPtrArray) names = state_dir_list(path, SUFFIX);
        guint i;

        for (i = 0; i < names->len; i++) {
                g_autofree char *file = g_strconcat(names->pdata[i], SUFFIX, NULL);
                json_t *object = state_file_read_one(path, file);

                if (!object)
                        continue;
                /* The name of the file decides, not its text. */
                json_object_set_new(object, "session", json_string(names->pdata[i]));
                json_array_append_new(data, object);
        }
}

json_t *state_file_list(void)
{
        json_t *list = json_array();

        state_file_each_directory(list_take, list);
        return list;
}

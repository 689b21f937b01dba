/* SPDX-License-Identifier: MIT */
#include "feed/state-file.h"

#include "session/place.h"

#include <unistd.h>

#define SUFFIX ".feeder"

void state_file_init(FeedState *state, const char *session)
{
        state->place = place_open(NULL);
        state->file = g_strconcat(session, SUFFIX, NULL);
        state->self = (Service){getpid(), service_start_ticks(getpid())};
}

void state_file_write(const FeedState *state, const char *text, const char *reason)
{
        json_t *object;

        if (!state->place)
                return;
        object = service_to_json(&state->self);
        json_object_set_new(object, "state", json_string(text));
        json_object_set_new(object, "reason", reason ? json_string(reason) : json_null());
        json_object_set_new(object, "since", json_integer(g_get_real_time() / G_USEC_PER_SEC));
        json_object_set_new(object, "reader", json_integer(state->live_pid));
        json_object_set_new(object, "restarts", json_integer(state->n_restarts));
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
}

json_t *state_file_read(const char *session)
{
        g_autofree char *place = place_open(NULL), *file = g_strconcat(session, SUFFIX, NULL);
        json_t *object = place ? place_read(place, file, NULL) : NULL;
        Service self = service_from_json(object);

        if (object && service_is_running(&self))
                return object;
        json_decref(object);
        return NULL;
}

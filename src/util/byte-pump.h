/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * BytePump: moves bytes between a connected socket and two buffers, on the default main context
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct BytePump BytePump;

typedef struct BytePumpCalls {
        /* byte_pump_input() has more bytes. */
        void (*input)(void *data);
        /* The other side disconnected, or cannot be reached: no more bytes are moved. */
        void (*closed)(void *data);
} BytePumpCalls;

/* Takes over FD. CALLS is borrowed and must live as long as the pump. */
BytePump *byte_pump_new(int fd, const BytePumpCalls *calls, void *data);
/* May be called from within the calls. NULL is fine. */
void byte_pump_free(BytePump *pump);

/* Received bytes; the reader removes those that it has used. Owned by the pump. */
GByteArray *byte_pump_input(BytePump *pump);
/* Bytes to send: append to it, then call byte_pump_flush(). Owned by the pump. */
GByteArray *byte_pump_output(BytePump *pump);
void byte_pump_flush(BytePump *pump);
/* Receives nothing while it is paused. */
void byte_pump_pause(BytePump *pump, bool is_paused);

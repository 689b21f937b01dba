/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Channel: a connected socket on the default main context, with what came and what is to be sent
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Channel Channel;

typedef struct ChannelCalls {
        /* More is in channel_input(). */
        void (*input)(void *data);
        /* The other side has hung up, or cannot be reached: nothing comes or goes any more. */
        void (*closed)(void *data);
} ChannelCalls;

/* Takes over FD, and CALLS must live as long. */
Channel *channel_new(int fd, const ChannelCalls *calls, void *data);
/* May be called from within the calls. NULL is fine. */
void channel_free(Channel *channel);

/* What has come and was not yet taken out of it, by whoever looks at it. */
GByteArray *channel_input(Channel *channel);
/* The end of what is to be sent: whoever appends calls channel_flush(). */
GByteArray *channel_output(Channel *channel);
void channel_flush(Channel *channel);
/* Takes nothing in while it is paused. */
void channel_pause(Channel *channel, bool is_paused);

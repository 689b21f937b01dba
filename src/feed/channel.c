/* SPDX-License-Identifier: MIT */
#include "feed/channel.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

struct Channel {
        int fd;
        const ChannelCalls *calls; /* borrowed */
        void *data;
        GByteArray *input;  /* owned */
        GByteArray *output; /* owned */
        size_t n_sent;      /* of it */
        guint source;       /* for input; 0: paused */
        guint output_source;
        bool is_closed;
        bool is_freed; /* from within one of its calls */
        unsigned n_calls;
};

static gboolean on_input(gint fd, GIOCondition condition, gpointer data);

Channel *channel_new(int fd, const ChannelCalls *calls, void *data)
{
        Channel *channel = g_new0(Channel, 1);

        channel->fd = fd;
        channel->calls = calls;
        channel->data = data;
        channel->input = g_byte_array_new();
        channel->output = g_byte_array_new();
        channel_pause(channel, false);
        return channel;
}

static void destroy(Channel *channel)
{
        g_byte_array_unref(channel->input);
        g_byte_array_unref(channel->output);
        g_free(channel);
}

void channel_free(Channel *channel)
{
        if (!channel)
                return;
        g_clear_handle_id(&channel->source, g_source_remove);
        g_clear_handle_id(&channel->output_source, g_source_remove);
        close(channel->fd);
        channel->is_freed = true;
        if (channel->n_calls == 0)
                destroy(channel);
}

/* Calls back. False: the channel is no more. */
static bool tell(Channel *channel, void (*call)(void *data))
{
        channel->n_calls++;
        call(channel->data);
        if (--channel->n_calls > 0 || !channel->is_freed)
                return !channel->is_freed;
        destroy(channel);
        return false;
}

static void hang_up(Channel *channel)
{
        if (channel->is_closed)
                return;
        channel->is_closed = true;
        g_clear_handle_id(&channel->source, g_source_remove);
        g_clear_handle_id(&channel->output_source, g_source_remove);
        tell(channel, channel->calls->closed);
}

static gboolean on_input(gint fd, GIOCondition condition, gpointer data)
{
        Channel *channel = data;
        guint old = channel->input->len;
        ssize_t n;

        g_byte_array_set_size(channel->input, old + READ_SIZE);
        n = recv(fd, channel->input->data + old, READ_SIZE, MSG_DONTWAIT);
        g_byte_array_set_size(channel->input, old + (guint)MAX(n, 0));
        if (n > 0)
                return tell(channel, channel->calls->input) && channel->source != 0;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        channel->source = 0;
        hang_up(channel);
        return G_SOURCE_REMOVE;
}

GByteArray *channel_input(Channel *channel)
{
        return channel->input;
}

GByteArray *channel_output(Channel *channel)
{
        return channel->output;
}

static gboolean on_output(gint fd, GIOCondition condition, gpointer data)
{
        Channel *channel = data;

        channel->output_source = 0;
        channel_flush(channel);
        return G_SOURCE_REMOVE;
}

void channel_flush(Channel *channel)
{
        while (!channel->is_closed && channel->n_sent < channel->output->len) {
                ssize_t n =
                        send(channel->fd, channel->output->data + channel->n_sent,
                             channel->output->len - channel->n_sent, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n > 0) {
                        channel->n_sent += (size_t)n;
                } else if (errno == EAGAIN) {
                        if (!channel->output_source)
                                channel->output_source =
                                        g_unix_fd_add(channel->fd, G_IO_OUT, on_output, channel);
                        break;
                } else if (errno != EINTR) {
                        /* Its last words may still be read; that then finds the end. */
                        channel->n_sent = channel->output->len;
                }
        }
        if (channel->n_sent == channel->output->len) {
                g_byte_array_set_size(channel->output, 0);
                channel->n_sent = 0;
        }
}

void channel_pause(Channel *channel, bool is_paused)
{
        if (is_paused || channel->is_closed)
                g_clear_handle_id(&channel->source, g_source_remove);
        else if (!channel->source)
                channel->source = g_unix_fd_add(channel->fd, G_IO_IN | G_IO_HUP, on_input, channel);
}

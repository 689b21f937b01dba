/* SPDX-License-Identifier: MIT */
#include "util/byte-pump.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

struct BytePump {
        int fd;
        const BytePumpCalls *calls; /* borrowed */
        void *data;
        GByteArray *input;  /* owned */
        GByteArray *output; /* owned */
        size_t n_sent;      /* bytes of it */
        guint source;       /* for input; 0: paused */
        guint output_source;
        bool is_closed;
        bool is_freed; /* by one of its own callbacks */
        unsigned n_calls;
};

static gboolean byte_pump_on_input(gint fd, GIOCondition condition, gpointer data);

BytePump *byte_pump_new(int fd, const BytePumpCalls *calls, void *data)
{
        BytePump *pump = g_new0(BytePump, 1);

        pump->fd = fd;
        pump->calls = calls;
        pump->data = data;
        pump->input = g_byte_array_new();
        pump->output = g_byte_array_new();
        byte_pump_pause(pump, false);
        return pump;
}

static void byte_pump_destroy(BytePump *pump)
{
        g_byte_array_unref(pump->input);
        g_byte_array_unref(pump->output);
        g_free(pump);
}

void byte_pump_free(BytePump *pump)
{
        if (!pump)
                return;
        g_clear_handle_id(&pump->source, g_source_remove);
        g_clear_handle_id(&pump->output_source, g_source_remove);
        close(pump->fd);
        pump->is_freed = true;
        if (pump->n_calls == 0)
                byte_pump_destroy(pump);
}

/* Calls back. False: the callback freed the pump. */
static bool byte_pump_call(BytePump *pump, void (*call)(void *data))
{
        pump->n_calls++;
        call(pump->data);
        if (--pump->n_calls > 0 || !pump->is_freed)
                return !pump->is_freed;
        byte_pump_destroy(pump);
        return false;
}

static void byte_pump_hang_up(BytePump *pump)
{
        if (pump->is_closed)
                return;
        pump->is_closed = true;
        g_clear_handle_id(&pump->source, g_source_remove);
        g_clear_handle_id(&pump->output_source, g_source_remove);
        byte_pump_call(pump, pump->calls->closed);
}

static gboolean byte_pump_on_input(gint fd, GIOCondition condition, gpointer data)
{
        BytePump *pump = data;
        guint old = pump->input->len;
        ssize_t n;

        g_byte_array_set_size(pump->input, old + READ_SIZE);
        n = recv(fd, pump->input->data + old, READ_SIZE, MSG_DONTWAIT);
        g_byte_array_set_size(pump->input, old + (guint)MAX(n, 0));
        if (n > 0)
                return byte_pump_call(pump, pump->calls->input) && pump->source != 0;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        pump->source = 0;
        byte_pump_hang_up(pump);
        return G_SOURCE_REMOVE;
}

GByteArray *byte_pump_input(BytePump *pump)
{
        return pump->input;
}

GByteArray *byte_pump_output(BytePump *pump)
{
        return pump->output;
}

static gboolean byte_pump_on_output(gint fd, GIOCondition condition, gpointer data)
{
        BytePump *pump = data;

        pump->output_source = 0;
        byte_pump_flush(pump);
        return G_SOURCE_REMOVE;
}

void byte_pump_flush(BytePump *pump)
{
        while (!pump->is_closed && pump->n_sent < pump->output->len) {
                ssize_t n = send(pump->fd, pump->output->data + pump->n_sent,
                                 pump->output->len - pump->n_sent, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n > 0) {
                        pump->n_sent += (size_t)n;
                } else if (errno == EAGAIN) {
                        if (!pump->output_source)
                                pump->output_source = g_unix_fd_add(pump->fd, G_IO_OUT,
                                                                    byte_pump_on_output, pump);
                        break;
                } else if (errno != EINTR) {
                        /* Bytes that the other side sent before can still be read; reading then
                         * finds the end, also after ENOBUFS. */
                        shutdown(pump->fd, SHUT_RDWR);
                        pump->n_sent = pump->output->len;
                }
        }
        if (pump->n_sent == pump->output->len) {
                g_byte_array_set_size(pump->output, 0);
                pump->n_sent = 0;
        }
}

void byte_pump_pause(BytePump *pump, bool is_paused)
{
        if (is_paused || pump->is_closed)
                g_clear_handle_id(&pump->source, g_source_remove);
        else if (!pump->source)
                pump->source =
                        g_unix_fd_add(pump->fd, G_IO_IN | G_IO_HUP, byte_pump_on_input, pump);
}

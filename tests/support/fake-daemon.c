/* SPDX-License-Identifier: MIT */
#include "support/fake-daemon.h"

#include "support/suite.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Aborts, because a failed assertion of check in another thread does not end the test. */
static void demand(bool is_met, const char *what)
{
        if (is_met)
                return;
        g_printerr("fake daemon: %s: %s\n", what, g_strerror(errno));
        _exit(99);
}

void fake_listen(FakeDaemon *fake)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        g_strlcpy(address.sun_path, fake->path, sizeof(address.sun_path));
        unlink(fake->path);
        fake->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        demand(bind(fake->listen_fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
                       listen(fake->listen_fd, 16) == 0,
               "listen");
}

void fake_stop_listening(FakeDaemon *fake)
{
        close(fake->listen_fd);
        unlink(fake->path);
        fake->listen_fd = -1;
}

static void *run(void *data)
{
        FakeDaemon *fake = data;

        fake->play(fake);
        return NULL;
}

FakeDaemon *fake_daemon_new(void (*play)(FakeDaemon *), const void *data)
{
        FakeDaemon *fake = g_new0(FakeDaemon, 1);

        fake->directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        fake->path = g_build_filename(fake->directory, "query", NULL);
        fake->play = play;
        fake->data = data;
        fake->fd = -1;
        fake_listen(fake);
        fake->thread = g_thread_new("fake-daemon", run, fake);
        return fake;
}

void fake_daemon_free(FakeDaemon *fake)
{
        if (!fake)
                return;
        g_thread_join(fake->thread);
        fake_hang_up(fake);
        if (fake->listen_fd >= 0)
                fake_stop_listening(fake);
        g_rmdir(fake->directory);
        g_free(fake->directory);
        g_free(fake->path);
        g_free(fake);
}

void fake_accept(FakeDaemon *fake)
{
        const struct timeval patience = {.tv_sec = 20};

        fake_hang_up(fake);
        fake->fd = accept4(fake->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        demand(fake->fd >= 0, "accept");
        setsockopt(fake->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        setsockopt(fake->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

void fake_hang_up(FakeDaemon *fake)
{
        if (fake->fd >= 0)
                close(fake->fd);
        fake->fd = -1;
}

char *fake_read_call(FakeDaemon *fake)
{
        GString *call = g_string_new(NULL);
        char c;

        for (;;) {
                ssize_t n = recv(fake->fd, &c, 1, 0);

                demand(n >= 0 || errno == ECONNRESET, "read a call");
                if (n <= 0) {
                        demand(call->len == 0, "half of a call");
                        g_string_free(call, TRUE);
                        return NULL;
                }
                if (!c)
                        return g_string_free(call, FALSE);
                g_string_append_c(call, c);
        }
}

void fake_expect_call(FakeDaemon *fake, const char *text)
{
        g_autofree char *call = fake_read_call(fake);

        demand(call && strstr(call, text), text);
}

void fake_expect_end(FakeDaemon *fake)
{
        g_autofree char *call = fake_read_call(fake);

        demand(!call, "the client does not hang up");
}

/* The client may disconnect meanwhile. */
static void send_all(FakeDaemon *fake, const uint8_t *bytes, size_t n)
{
        while (n > 0) {
                ssize_t sent = send(fake->fd, bytes, n, MSG_NOSIGNAL);

                demand(sent > 0 || errno == EPIPE || errno == ECONNRESET, "send");
                if (sent <= 0)
                        return;
                bytes += sent;
                n -= (size_t)sent;
        }
}

void fake_send(FakeDaemon *fake, const void *bytes, size_t n)
{
        size_t n_first = fake->cut < n ? fake->cut : 0;
        gint64 deadline = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
        int n_unread = 1;

        if (n_first) {
                send_all(fake, bytes, n_first);
                while (ioctl(fake->fd, SIOCOUTQ, &n_unread) == 0 && n_unread > 0) {
                        demand(g_get_monotonic_time() < deadline, "the client does not read");
                        g_thread_yield();
                }
        }
        send_all(fake, (const uint8_t *)bytes + n_first, n - n_first);
}

void fake_reply(FakeDaemon *fake, const char *text)
{
        fake_send(fake, text, strlen(text) + 1);
}

void fake_accept_bulk(FakeDaemon *fake)
{
        g_autofree char *reply = g_strdup_printf(
                "{\"parameters\":{\"version\":4,\"max_queries\":4096,\"max_names\":262144,"
                "\"max_name_bytes\":67108864,\"answer_size\":%zu}}",
                sizeof(BulkAnswer));

        fake_accept(fake);
        fake_expect_call(fake, "{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":"
                               "{\"version\":4},\"upgrade\":true}");
        fake_reply(fake, reply);
}

static void read_all(FakeDaemon *fake, void *bytes, size_t n)
{
        demand(recv(fake->fd, bytes, n, MSG_WAITALL) == (ssize_t)n, "read a frame");
}

size_t fake_read_queries(FakeDaemon *fake, BulkHeader *ret_header, BulkQuery *ret_queries)
{
        read_all(fake, ret_header, sizeof(*ret_header));
        demand(ret_header->type == BULK_QUERIES && ret_header->size % sizeof(BulkQuery) == 0 &&
                       ret_header->size / sizeof(BulkQuery) <= BULK_MAX_QUERIES,
               "a frame of queries");
        read_all(fake, ret_queries, ret_header->size);
        return ret_header->size / sizeof(BulkQuery);
}

void frame_append(GByteArray *out, BulkType type, uint32_t tag, const void *payload, size_t n)
{
        const BulkHeader header = {.size = (uint32_t)n, .type = (uint16_t)type, .tag = tag};

        g_byte_array_append(out, (const uint8_t *)&header, sizeof(header));
        g_byte_array_append(out, payload, (guint)n);
}

void frame_append_name(GByteArray *out, uint32_t id, const char *text, size_t n)
{
        g_autoptr(GByteArray) payload = g_byte_array_new();
        const BulkName name = {id, (uint32_t)n};

        g_byte_array_append(payload, (const uint8_t *)&name, sizeof(name));
        g_byte_array_append(payload, (const uint8_t *)text, (guint)n);
        frame_append(out, BULK_NAMES, 0, payload->data, payload->len);
}

/* SPDX-License-Identifier: MIT */

/*
 * How fast a daemon answers: clients that each have one batch of questions under way, for some
 * time. Prints one JSON object: lookups a second, and how long a batch took. Form "echo" asks
 * nobody: it is what two programs take that only pass bytes, as many each way, over such a socket.
 *
 * Addresses are in bodies that live: what feed-churn prints ("living START SIZE ..."), on stdin.
 */

#include "wire/bulk.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Batches that are made beforehand, asked in turn. */
enum { N_BATCHES = 64, MAX_SAMPLES = 1 << 20 };

static char *arg_socket, *arg_form;
static int arg_pid = 1000, arg_batch = 1, arg_clients = 1;
static gint64 arg_reply = 600;
static double arg_seconds = 1;
static gboolean arg_named;

static const GOptionEntry OPTIONS[] = {
        {"socket", 0, 0, G_OPTION_ARG_FILENAME, &arg_socket, "The query socket", "PATH"},
        {"form", 0, 0, G_OPTION_ARG_STRING, &arg_form, "json, bulk or echo", "FORM"},
        {"pid", 0, 0, G_OPTION_ARG_INT, &arg_pid, "The process", "PID"},
        {"batch", 0, 0, G_OPTION_ARG_INT, &arg_batch, "Questions at once", "N"},
        {"clients", 0, 0, G_OPTION_ARG_INT, &arg_clients, "Connections", "N"},
        {"reply", 0, 0, G_OPTION_ARG_INT64, &arg_reply, "echo: bytes of a reply", "N"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &arg_seconds, "How long", "S"},
        {"warm", 0, 0, G_OPTION_ARG_NONE, &arg_named, "Ask every batch once beforehand", NULL},
        {0},
};

typedef struct Client {
        int fd;
        unsigned next;   /* batch */
        size_t n_sent;   /* of it */
        GByteArray *in;  /* owned: frames; JSON: nothing */
        double begin;    /* of the batch under way */
        size_t n_left;   /* echo: of the reply */
        bool is_waiting; /* for a reply */
} Client;

static GByteArray *batches[N_BATCHES];
static double samples[MAX_SAMPLES];
static size_t n_samples;
static uint64_t n_lookups, n_bytes;

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
        fprintf(stderr, "bench-query: %s: %s\n", what, strerror(errno));
        exit(1);
}

typedef struct Living {
        uint64_t start;
        uint32_t size;
} Living;

static GArray *living; /* of Living */

static void read_living(void)
{
        char line[65536];
        Living body;

        living = g_array_new(FALSE, FALSE, sizeof(Living));
        while (fgets(line, sizeof(line), stdin))
                if (sscanf(line, "living %" G_GUINT64_FORMAT " %u", &body.start, &body.size) == 2)
                        g_array_append_val(living, body);
}

/* Anywhere in any of them. */
static uint64_t draw_address(GRand *random)
{
        const Living *body;

        if (!living->len)
                return 0x1000;
        body = &g_array_index(living, Living,
                              (guint)g_rand_int_range(random, 0, (gint32)living->len));
        return body->start + (uint64_t)g_rand_int_range(random, 0, (gint32)body->size);
}

static GByteArray *json_batch(GRand *random)
{
        GByteArray *batch = g_byte_array_new();
        g_autoptr(GString) text = g_string_new(
                "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[");
        int i;

        for (i = 0; i < arg_batch; i++)
                g_string_append_printf(text,
                                       "%s{\"pid\":%d,\"addr\":\"0x%" G_GINT64_MODIFIER "x\"}",
                                       i ? "," : "", arg_pid, draw_address(random));
        g_string_append(text, "]}}");
        g_byte_array_append(batch, (const uint8_t *)text->str, (guint)text->len + 1);
        return batch;
}

static GByteArray *bulk_batch(GRand *random)
{
        GByteArray *batch = g_byte_array_new();
        const BulkHeader header = {.size = (uint32_t)((size_t)arg_batch * sizeof(BulkQuery)),
                                   .type = BULK_QUERIES};
        int i;

        g_byte_array_append(batch, (const uint8_t *)&header, sizeof(header));
        for (i = 0; i < arg_batch; i++) {
                const BulkQuery query = {.address = draw_address(random), .pid = arg_pid};

                g_byte_array_append(batch, (const uint8_t *)&query, sizeof(query));
        }
        return batch;
}

static int connect_daemon(void)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_strlcpy(address.sun_path, arg_socket, sizeof(address.sun_path));
        if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                die(arg_socket);
        return fd;
}

static void upgrade(int fd)
{
        static const char CALL[] = "{\"method\":\"org.clrsym.Symbolizer.Bulk\","
                                   "\"parameters\":{\"version\":1},\"upgrade\":true}";
        char reply[4096];

        if (send(fd, CALL, sizeof(CALL), 0) != sizeof(CALL) ||
            recv(fd, reply, sizeof(reply), 0) <= 0 || strstr(reply, "\"error\""))
                die("upgrade");
}

/* The other end, which answers each batch with so many bytes. */
static void echo(int fd)
{
        size_t n_call = batches[0]->len, n_got = 0;
        g_autofree char *reply = g_malloc0((gsize)arg_reply);
        char bytes[65536];
        ssize_t n;

        while ((n = recv(fd, bytes, MIN(sizeof(bytes), n_call - n_got), 0)) > 0) {
                n_got += (size_t)n;
                if (n_got < n_call)
                        continue;
                n_got = 0;
                if (send(fd, reply, (size_t)arg_reply, MSG_NOSIGNAL) < 0)
                        break;
        }
        _exit(0);
}

static int connect_echo(void)
{
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
                die("socketpair");
        if (fork() == 0) {
                close(fds[0]);
                echo(fds[1]);
        }
        close(fds[1]);
        return fds[0];
}

/* True if BYTES end the reply. */
static bool take(Client *client, const uint8_t *bytes, size_t n)
{
        BulkHeader header;

        n_bytes += n;
        if (!strcmp(arg_form, "json"))
                return bytes[n - 1] == '\0';
        if (!strcmp(arg_form, "echo")) {
                client->n_left -= MIN(n, client->n_left);
                return !client->n_left;
        }
        g_byte_array_append(client->in, bytes, (guint)n);
        while (client->in->len >= sizeof(header)) {
                memcpy(&header, client->in->data, sizeof(header));
                if (client->in->len < sizeof(header) + header.size)
                        return false;
                g_byte_array_remove_range(client->in, 0, (guint)sizeof(header) + header.size);
                if (header.type == BULK_ERROR)
                        die("refused");
                if (header.type == BULK_ANSWERS)
                        return true;
        }
        return false;
}

static void send_some(Client *client)
{
        const GByteArray *batch = batches[client->next];
        ssize_t n = send(client->fd, batch->data + client->n_sent, batch->len - client->n_sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN)
                die("send");
        client->n_sent += n > 0 ? (size_t)n : 0;
        client->is_waiting = client->n_sent == batch->len;
}

static void begin_batch(Client *client)
{
        client->next = (client->next + 1) % N_BATCHES;
        client->n_sent = 0;
        client->n_left = (size_t)arg_reply;
        client->begin = now();
        send_some(client);
}

static void receive_some(Client *client)
{
        static uint8_t bytes[1 << 20];
        ssize_t n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN))
                die("recv");
        if (n < 0 || !take(client, bytes, (size_t)n))
                return;
        if (n_samples < MAX_SAMPLES)
                samples[n_samples++] = now() - client->begin;
        n_lookups += (uint64_t)arg_batch;
        begin_batch(client);
}

static void run_for(Client *clients, struct pollfd *fds, double seconds)
{
        double end = now() + seconds;
        int i;

        while (now() < end) {
                for (i = 0; i < arg_clients; i++)
                        fds[i] = (struct pollfd){clients[i].fd,
                                                 clients[i].is_waiting ? POLLIN : POLLIN | POLLOUT,
                                                 0};
                if (poll(fds, (nfds_t)arg_clients, 1000) < 0)
                        die("poll");
                for (i = 0; i < arg_clients; i++) {
                        if (fds[i].revents & POLLOUT)
                                send_some(&clients[i]);
                        if (fds[i].revents & POLLIN)
                                receive_some(&clients[i]);
                }
        }
}

static int compare(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
        g_autoptr(GOptionContext) options = g_option_context_new(NULL);
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        g_autofree struct pollfd *fds = NULL;
        g_autofree Client *clients = NULL;
        bool is_bulk, is_echo;
        double begin;
        int i;

        g_option_context_add_main_entries(options, OPTIONS, NULL);
        if (!g_option_context_parse(options, &argc, &argv, NULL) || !arg_form)
                return 2;
        is_bulk = !strcmp(arg_form, "bulk");
        is_echo = !strcmp(arg_form, "echo");
        if (!is_echo)
                read_living();
        else
                living = g_array_new(FALSE, FALSE, sizeof(Living));
        for (i = 0; i < N_BATCHES; i++)
                batches[i] = is_bulk ? bulk_batch(random) : json_batch(random);
        /* The other end of an echo counts on it. */
        for (i = 1; is_echo && i < N_BATCHES; i++)
                g_byte_array_set_size(batches[i], batches[0]->len);
        clients = g_new0(Client, arg_clients);
        fds = g_new(struct pollfd, arg_clients);
        for (i = 0; i < arg_clients; i++) {
                clients[i] = (Client){.fd = is_echo ? connect_echo() : connect_daemon(),
                                      .in = g_byte_array_new()};
                if (is_bulk)
                        upgrade(clients[i].fd);
                begin_batch(&clients[i]);
        }
        if (arg_named)
                run_for(clients, fds, arg_seconds / 4);
        n_samples = 0;
        n_lookups = n_bytes = 0;
        begin = now();
        run_for(clients, fds, arg_seconds);
        begin = now() - begin;
        qsort(samples, n_samples, sizeof(*samples), compare);
        printf("{\"lookups\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"bytes\":%.0f}\n",
               (double)n_lookups / begin, samples[n_samples / 2] * 1e6,
               samples[n_samples - 1 - n_samples / 100] * 1e6,
               (double)n_bytes / (double)MAX(1, n_samples));
        return 0;
}

/* SPDX-License-Identifier: MIT */

/*
 * A feeder without a trace: one process whose methods come and go as fast as the daemon takes them
 *
 * Bodies of random sizes are placed in a heap with room for several times the number of living
 * bodies, so that a new body usually covers other bounds than the old body at its place. The seed
 * decides which body a new one replaces, and the order of all events.
 *
 * At the end the program prints the expected result, one body a line, numbers in decimal: "living
 * START SIZE LOADED NAME" for living bodies, "early START SIZE LOADED NAME" for some of the bodies
 * that were unloaded first; and before them "sent RECORDS BODIES IL_MAPS NANOSECONDS END". END is
 * the time of the last event.
 */

#include "wire/ingest-client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
        MAX_IN_FLIGHT = INGEST_CLIENT_MAX_IN_FLIGHT,
        /* The heap consists of granules; living bodies use about one in HEAP_SHARE. */
        GRANULE = 64,
        MAX_GRANULES = 40,
        MEAN_GRANULES = 6,
        HEAP_SHARE = 4,
        /* One load in IL_MAP_SHARE has an IL map, of up to MAX_MAP_ENTRIES. */
        IL_MAP_SHARE = 4,
        MAX_MAP_ENTRIES = 40,
        /* One name in OLD_NAME_SHARE is an earlier name. */
        OLD_NAME_SHARE = 8,
        N_TYPES = 500,
        N_EARLY = 200,
        /* ns from one event to the next */
        STEP = 1000,
};

#define HEAP_START UINT64_C(0x7f2000000000)
#define IDS_START  UINT64_C(0x7f1000000000)

static char *arg_socket;
static gint64 arg_bodies = 100000;
static gint64 arg_alive = 10000;
static gint64 arg_seed = 1;
static int arg_pid = 1000;
static gint64 arg_begin = 1000000000000;
static gboolean arg_exit;

static const GOptionEntry OPTIONS[] = {
        {"socket", 0, 0, G_OPTION_ARG_FILENAME, &arg_socket, "The daemon's ingest socket", "PATH"},
        {"bodies", 0, 0, G_OPTION_ARG_INT64, &arg_bodies, "Bodies all in all", "N"},
        {"alive", 0, 0, G_OPTION_ARG_INT64, &arg_alive, "Bodies that live at a time", "N"},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &arg_seed, "What all draws begin with", "N"},
        {"pid", 0, 0, G_OPTION_ARG_INT, &arg_pid, "The process", "PID"},
        {"begin", 0, 0, G_OPTION_ARG_INT64, &arg_begin, "The time before the first event", "NS"},
        {"exit", 0, 0, G_OPTION_ARG_NONE, &arg_exit, "The process exits in the end", NULL},
        {0},
};

/* One body. Its name and method id follow from its number and slot. */
typedef struct Alive {
        uint64_t loaded;
        uint64_t number;
        uint32_t granule; /* index in the heap */
        uint32_t size;
        uint32_t n_granules;
} Alive;

typedef struct Row {
        const Event *load, *unload, *il_map;
} Row;

typedef struct Churn {
        int fd;
        GByteArray *batch; /* owned */
        GByteArray *in;    /* owned: begin of a frame */
        uint64_t n_commits, n_committed;
        bool is_greeted;

        Row row;
        uint64_t time, end;
        uint64_t random;
        uint8_t *heap; /* owned: one byte a granule, true if it is used */
        uint32_t n_heap;
        uint32_t n_filled; /* granules that ever had a body */
        Alive *alive;      /* owned, by slot */
        uint64_t n_records, n_maps;
        GString *early; /* owned: lines */
        unsigned n_early;
} Churn;

static G_GNUC_PRINTF(1, 2) G_NORETURN void die(const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        fputs("feed-churn: ", stderr);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
        exit(1);
}

/* splitmix64; any seed is suitable. */
static uint64_t draw(Churn *churn, uint64_t below)
{
        uint64_t z = churn->random += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        return (z ^ z >> 31) % below;
}

static void connect_daemon(Churn *churn)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        if (strlen(arg_socket) >= sizeof(address.sun_path))
                die("%s: longer than a socket's path can be", arg_socket);
        strcpy(address.sun_path, arg_socket);
        churn->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (churn->fd < 0 ||
            connect(churn->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                die("%s: %s", arg_socket, g_strerror(errno));
}

/* The daemon's replies never fill the socket, so a blocking write is safe. */
static void send_all(Churn *churn, const GByteArray *bytes)
{
        size_t n_sent = 0;

        while (n_sent < bytes->len) {
                ssize_t n =
                        send(churn->fd, bytes->data + n_sent, bytes->len - n_sent, MSG_NOSIGNAL);

                if (n < 0 && errno != EINTR)
                        die("sending: %s", g_strerror(errno));
                n_sent += n > 0 ? (size_t)n : 0;
        }
}

static void on_frame(Churn *churn, const IngestFrame *frame)
{
        switch ((int)frame->type) {
        case INGEST_HELLO:
                churn->is_greeted = true;
                break;
        case INGEST_COMMITTED:
                churn->n_committed++;
                break;
        case INGEST_ERROR:
                die("the daemon hangs up: %s", ingest_get_error(frame));
        }
}

/* Waits for replies of the daemon, and handles them. */
static void receive(Churn *churn)
{
        uint8_t bytes[4096];
        IngestFrame frame;
        ssize_t n = recv(churn->fd, bytes, sizeof(bytes), 0);

        if (n == 0)
                die("the daemon is gone");
        if (n < 0 && errno != EINTR)
                die("receiving: %s", g_strerror(errno));
        if (n > 0)
                g_byte_array_append(churn->in, bytes, (guint)n);
        while ((n = ingest_frame_next(churn->in->data, churn->in->len, &frame)) > 0) {
                on_frame(churn, &frame);
                g_byte_array_remove_range(churn->in, 0, (guint)n);
        }
        if (n < 0)
                die("the daemon does not speak the ingest protocol");
}

static void commit(Churn *churn)
{
        while (churn->n_commits - churn->n_committed >= MAX_IN_FLIGHT)
                receive(churn);
        ingest_put_empty(churn->batch, INGEST_COMMIT);
        send_all(churn, churn->batch);
        g_byte_array_set_size(churn->batch, 0);
        churn->n_commits++;
}

static void greet(Churn *churn)
{
        StreamIdentity *identity = stream_identity_new();

        ingest_put_hello(churn->batch, INGEST_VERSION, "feed-churn");
        memcpy(identity->trace_uuid, "feed-churn", 10);
        memcpy(identity->trace_uuid + 12, &arg_pid, 4);
        identity->scheme = BUFFER_SCHEME_PER_UID;
        identity->uid = getuid();
        g_string_assign(identity->hostname, "soak");
        g_string_assign(identity->clock_name, "monotonic");
        ingest_put_stream_open(churn->batch, 0, identity);
        stream_identity_free(identity);
        while (!churn->is_greeted) {
                send_all(churn, churn->batch);
                g_byte_array_set_size(churn->batch, 0);
                receive(churn);
        }
}

static Value text_value(const char *text)
{
        return (Value){.data = (const uint8_t *)text, .n = (uint32_t)strlen(text)};
}

/* Returns a record of the process at the next moment, without values. */
static Record next_record(Churn *churn, const Event *event)
{
        churn->time += STEP;
        churn->n_records++;
        return (Record){
                .event = event,
                .time = churn->time,
                .process = {.pid_ns = 0, .pid = arg_pid},
                .tid = arg_pid,
        };
}

static void put_record(Churn *churn, const Record *record)
{
        if (!ingest_put_record(churn->batch, 0, record))
                die("a record over the protocol's limit");
        if (churn->batch->len >= INGEST_CLIENT_BATCH_SIZE)
                commit(churn);
}

static uint64_t method_id(const Churn *churn, const Alive *body)
{
        return IDS_START + (uint64_t)(body - churn->alive) * 0x20;
}

static uint64_t start_of(const Alive *body)
{
        return HEAP_START + (uint64_t)body->granule * GRANULE;
}

static void name_of(const Alive *body, char *out, size_t n_out)
{
        /* A thousand bodies share each old name. */
        uint64_t number =
                body->number % OLD_NAME_SHARE ? body->number : body->number - body->number % 1000;

        g_snprintf(out, (gulong)n_out, "Method%" G_GUINT64_FORMAT, number);
}

/* Load and unload have the same layout: method_verbose in V1. */
static void put_method(Churn *churn, const Event *event, const Alive *body)
{
        Record record = next_record(churn, event);
        char name[32], type[48], signature[64];
        unsigned i = 0;

        name_of(body, name, sizeof(name));
        g_snprintf(type, sizeof(type), "Soak.Churn.Type%u", (unsigned)(body->number % N_TYPES));
        g_snprintf(signature, sizeof(signature), "instance int64 (int64,class Argument%u)",
                   (unsigned)(body->number % 97));
        record.values[i++].u = method_id(churn, body);
        record.values[i++].u = 0;
        record.values[i++].u = start_of(body);
        record.values[i++].u = body->size;
        record.values[i++].u = 0x06000001;
        record.values[i++].u = 0x108 | 0x1; /* dynamic, jitted, optimized */
        record.values[i++] = text_value(type);
        record.values[i++] = text_value(name);
        record.values[i++] = text_value(signature);
        record.values[i++].u = 0;
        put_record(churn, &record);
}

static void put_map(Churn *churn, const Alive *body)
{
        Record record = next_record(churn, churn->row.il_map);
        uint32_t il[MAX_MAP_ENTRIES], native[MAX_MAP_ENTRIES], at = 0;
        uint32_t n = 1 + (uint32_t)draw(churn, MAX_MAP_ENTRIES), i;

        for (i = 0; i < n; i++) {
                il[i] = GUINT32_TO_LE(i ? i * 3 : (uint32_t)IL_OFFSET_PROLOG);
                native[i] = GUINT32_TO_LE(at);
                at += 1 + (uint32_t)draw(churn, body->size / n + 1);
        }
        i = 0;
        record.values[i++].u = method_id(churn, body);
        record.values[i++].u = 0;
        record.values[i++].u = 0;
        record.values[i++].u = n;
        record.values[i++] = (Value){.data = (const uint8_t *)il, .n = n};
        record.values[i++] = (Value){.data = (const uint8_t *)native, .n = n};
        record.values[i++].u = 0;
        record.values[i++].u = 0;
        put_record(churn, &record);
        churn->n_maps++;
}

/* Returns a random size: mostly small, with a long tail. */
static uint32_t draw_size(Churn *churn)
{
        uint32_t n = draw(churn, 16) ? MEAN_GRANULES * 2 - 3 : MAX_GRANULES;

        return 8 + (uint32_t)draw(churn, n * GRANULE - 8);
}

/* Places BODY at the first free range that is wide enough, from granule AT on. */
static void place(Churn *churn, Alive *body, uint32_t at)
{
        uint32_t n_free = 0;

        body->n_granules = (body->size + GRANULE - 1) / GRANULE;
        for (;; at++) {
                if (at >= churn->n_heap)
                        at = n_free = 0;
                n_free = churn->heap[at] ? 0 : n_free + 1;
                if (n_free == body->n_granules)
                        break;
        }
        body->granule = at + 1 - body->n_granules;
        memset(churn->heap + body->granule, 1, body->n_granules);
}

static void append_line(GString *out, const char *word, const Alive *body)
{
        char name[32];

        name_of(body, name, sizeof(name));
        g_string_append_printf(out,
                               "%s %" G_GUINT64_FORMAT " %u %" G_GUINT64_FORMAT " "
                               "Soak.Churn.Type%u.%s\n",
                               word, start_of(body), body->size, body->loaded,
                               (unsigned)(body->number % N_TYPES), name);
}

static void unload(Churn *churn, Alive *body)
{
        put_method(churn, churn->row.unload, body);
        memset(churn->heap + body->granule, 0, body->n_granules);
        if (churn->n_early < N_EARLY) {
                append_line(churn->early, "early", body);
                churn->n_early++;
        }
}

static void load(Churn *churn, Alive *body, uint64_t number)
{
        body->number = number;
        body->size = draw_size(churn);
        /* A new heap is filled from its begin. */
        place(churn, body,
              number <= (uint64_t)arg_alive ? churn->n_filled
                                            : (uint32_t)draw(churn, churn->n_heap));
        churn->n_filled = MAX(churn->n_filled, body->granule + body->n_granules);
        put_method(churn, churn->row.load, body);
        body->loaded = churn->time;
        if (draw(churn, IL_MAP_SHARE) == 0)
                put_map(churn, body);
}

/* Appends app_domain_v1, later than END, so that living bodies still have answers. */
static void put_exit(Churn *churn, const Event *event)
{
        Record record = next_record(churn, event);

        record.values[0].u = 1;
        record.values[2] = text_value("app");
        put_record(churn, &record);
}

static void run(Churn *churn)
{
        uint64_t number;

        for (number = 1; number <= (uint64_t)arg_bodies; number++) {
                Alive *body = churn->alive + (number <= (uint64_t)arg_alive
                                                      ? number - 1
                                                      : draw(churn, (uint64_t)arg_alive));

                if (number > (uint64_t)arg_alive)
                        unload(churn, body);
                load(churn, body, number);
        }
        churn->end = churn->time;
        if (arg_exit)
                put_exit(churn, event_by_name("DotNETRuntime:AppDomainUnload_V1"));
        ingest_put_progress(churn->batch, 0, churn->time);
        commit(churn);
        while (churn->n_committed < churn->n_commits)
                receive(churn);
}

static void tell(Churn *churn, gint64 ns)
{
        g_autoptr(GString) lines = g_string_new(NULL);
        int64_t i;

        printf("sent %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT
               " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT "\n",
               churn->n_records, arg_bodies, churn->n_maps, ns, churn->end);
        for (i = 0; i < MIN(arg_alive, arg_bodies); i++)
                append_line(lines, "living", churn->alive + i);
        fputs(lines->str, stdout);
        fputs(churn->early->str, stdout);
}

int main(int argc, char **argv)
{
        g_autoptr(GOptionContext) options = g_option_context_new("- bodies that come and go");
        g_autoptr(GError) error = NULL;
        Churn churn = {0};
        gint64 begin;

        g_option_context_add_main_entries(options, OPTIONS, NULL);
        if (!g_option_context_parse(options, &argc, &argv, &error))
                die("%s", error->message);
        if (!arg_socket || argc > 1 || arg_bodies < 1 || arg_alive < 1 || arg_alive > 1 << 24 ||
            arg_begin < 0)
                die("takes --socket, and numbers from 1 on (see --help)");

        churn.time = (uint64_t)arg_begin;
        churn.random = (uint64_t)arg_seed;
        churn.row = (Row){event_by_name("DotNETRuntime:MethodLoadVerbose_V1"),
                          event_by_name("DotNETRuntime:MethodUnloadVerbose_V1"),
                          event_by_name("DotNETRuntime:MethodILToNativeMap_V1")};
        churn.batch = g_byte_array_sized_new(2 * INGEST_CLIENT_BATCH_SIZE);
        churn.in = g_byte_array_new();
        churn.early = g_string_new(NULL);
        churn.alive = g_new0(Alive, (gsize)arg_alive);
        churn.n_heap = (uint32_t)arg_alive * MEAN_GRANULES * HEAP_SHARE + MAX_GRANULES;
        churn.heap = g_malloc0(churn.n_heap);

        connect_daemon(&churn);
        greet(&churn);
        begin = g_get_monotonic_time();
        run(&churn);
        tell(&churn, (g_get_monotonic_time() - begin) * 1000);

        close(churn.fd);
        g_free(churn.heap);
        g_free(churn.alive);
        g_string_free(churn.early, TRUE);
        g_byte_array_unref(churn.in);
        g_byte_array_unref(churn.batch);
        g_free(arg_socket);
        return 0;
}

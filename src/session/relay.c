/* SPDX-License-Identifier: MIT */
#include "session/relay.h"

#include "session/place.h"
#include "session/session-error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "lttng-relayd"

/* Its options that say where it listens and writes. */
static const struct {
        const char *name;
        char letter;
        size_t port; /* offset in Relay; 0: it is the output */
} OPTIONS[] = {
        {"--control-port", 'C', offsetof(Relay, control_port)},
        {"--data-port", 'D', offsetof(Relay, data_port)},
        {"--live-port", 'L', offsetof(Relay, live_port)},
        {"--output", 'o', 0},
};

void relay_clear(Relay *relay)
{
        g_clear_pointer(&relay->output, g_free);
        *relay = (Relay){0};
}

static uint16_t *port_of(Relay *relay, size_t offset)
{
        return (uint16_t *)(void *)((char *)relay + offset);
}

static int open_loopback(uint16_t port, struct sockaddr_in *ret_address)
{
        *ret_address = (struct sockaddr_in){
                .sin_family = AF_INET,
                .sin_port = htons(port),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

bool relay_listens(uint16_t port)
{
        struct sockaddr_in address;
        int fd = open_loopback(port, &address);
        bool listens = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

        if (fd >= 0)
                close(fd);
        return listens;
}

/* Could one listen there? 0: the number of any port that is free, else PORT; 0 if not. */
static uint16_t free_port(uint16_t port)
{
        struct sockaddr_in address;
        socklen_t n = sizeof(address);
        int fd = open_loopback(port, &address), yes = 1;

        if (fd < 0)
                return 0;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
            getsockname(fd, (struct sockaddr *)&address, &n) < 0)
                address.sin_port = 0;
        close(fd);
        return ntohs(address.sin_port);
}

static void apply(Relay *relay, size_t port, const char *value)
{
        const char *colon = strrchr(value, ':');
        guint64 number;

        if (!port) {
                g_free(relay->output);
                relay->output = g_strdup(value);
        } else if (colon &&
                   g_ascii_string_to_unsigned(colon + 1, 10, 1, UINT16_MAX, &number, NULL)) {
                *port_of(relay, port) = (uint16_t)number;
        }
}

/* Without --output it writes below the home directory that it was started with. */
static char *home_output(pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/environ", (int)pid), *text = NULL;
        const char *home = NULL, *lttng_home = NULL, *at;
        gsize n;

        if (!g_file_get_contents(path, &text, &n, NULL))
                return NULL;
        for (at = text; at < text + n; at += strlen(at) + 1) {
                if (g_str_has_prefix(at, "HOME="))
                        home = at + strlen("HOME=");
                if (g_str_has_prefix(at, "LTTNG_HOME="))
                        lttng_home = at + strlen("LTTNG_HOME=");
        }
        home = lttng_home ? lttng_home : home;
        return home ? g_build_filename(home, "lttng-traces", NULL) : NULL;
}

static void read_command(Relay *relay, char **words)
{
        size_t i;

        for (; *words; words++)
                for (i = 0; i < G_N_ELEMENTS(OPTIONS); i++) {
                        size_t n = strlen(OPTIONS[i].name);
                        char letter[] = {'-', OPTIONS[i].letter, '\0'};

                        if (!strncmp(*words, OPTIONS[i].name, n) && (*words)[n] == '=') {
                                apply(relay, OPTIONS[i].port, *words + n + 1);
                        } else if ((!strcmp(*words, OPTIONS[i].name) || !strcmp(*words, letter)) &&
                                   words[1]) {
                                apply(relay, OPTIONS[i].port, *++words);
                                break;
                        } else if (!strncmp(*words, letter, 2) && (*words)[2]) {
                                apply(relay, OPTIONS[i].port, *words + 2);
                        }
                }
}

static bool is_trusted(uid_t uid)
{
        const struct passwd *user;

        if (uid == geteuid())
                return true;
        user = geteuid() == 0 ? getpwnam(RELAY_SYSTEM_USER) : NULL;
        return user && user->pw_uid == uid;
}

char *relay_other_user(const Relay *relay)
{
        const struct passwd *user;

        if (relay->uid == geteuid())
                return NULL;
        user = getpwuid(relay->uid);
        return user ? g_strdup(user->pw_name) : g_strdup_printf("%u", (unsigned)relay->uid);
}

/* False: the process is no relay daemon, or one that is nothing to us. */
static bool read_process(const char *name, Relay *ret_relay)
{
        g_autofree char *directory = g_build_filename("/proc", name, NULL);
        g_autofree char *comm = g_build_filename(directory, "comm", NULL), *text = NULL;
        g_autofree char *path = g_build_filename(directory, "cmdline", NULL), *line = NULL;
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        struct stat st;
        gsize n;
        char *at;

        if (!g_file_get_contents(comm, &text, NULL, NULL) || strcmp(g_strchomp(text), PROGRAM) ||
            stat(directory, &st) < 0 || !is_trusted(st.st_uid) ||
            !g_file_get_contents(path, &line, &n, NULL) || n == 0) /* a zombie has none */
                return false;
        for (at = line; at < line + n; at += strlen(at) + 1)
                g_ptr_array_add(words, at);
        g_ptr_array_add(words, NULL);
        *ret_relay = (Relay){
                .control_port = RELAY_DEFAULT_CONTROL,
                .data_port = RELAY_DEFAULT_DATA,
                .live_port = RELAY_DEFAULT_LIVE,
                .uid = st.st_uid,
        };
        ret_relay->service.pid = (pid_t)g_ascii_strtoll(name, NULL, 10);
        ret_relay->service.start_ticks = service_start_ticks(ret_relay->service.pid);
        read_command(ret_relay, (char **)words->pdata);
        if (!ret_relay->output)
                ret_relay->output = home_output(ret_relay->service.pid);
        return true;
}

bool relay_find_at(uint16_t live_port, Relay *ret_relay)
{
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        const char *name;

        while (proc && (name = g_dir_read_name(proc))) {
                g_auto(Relay) relay = {0};

                if (!g_ascii_isdigit(*name) || !read_process(name, &relay) ||
                    relay.live_port != live_port || !relay_listens(relay.live_port))
                        continue;
                *ret_relay = relay;
                relay = (Relay){0};
                return true;
        }
        return false;
}

bool relay_find(Relay *ret_relay)
{
        return relay_find_at(RELAY_DEFAULT_LIVE, ret_relay);
}

char *relay_default_output(void)
{
        /* Beside, not among what the system's one keeps there: that may not write to root's. */
        if (geteuid() == 0)
                return g_strdup("/var/lib/clrsym-relay/root");
        return g_build_filename(g_get_user_state_dir(), "clrsym", "relay", NULL);
}

static bool is_ready(void *data)
{
        const Relay *relay = data;

        return relay_listens(relay->live_port) && relay_listens(relay->control_port) &&
               relay_listens(relay->data_port);
}

static bool choose_ports(Relay *relay, GError **error)
{
        static const uint16_t DEFAULTS[] = {RELAY_DEFAULT_CONTROL, RELAY_DEFAULT_DATA,
                                            RELAY_DEFAULT_LIVE};
        uint16_t *ports[] = {&relay->control_port, &relay->data_port, &relay->live_port};
        bool is_default = true;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ports); i++)
                is_default = is_default && !*ports[i] && free_port(DEFAULTS[i]);
        for (i = 0; i < G_N_ELEMENTS(ports); i++) {
                if (!*ports[i])
                        *ports[i] = is_default ? DEFAULTS[i] : free_port(0);
                if (!*ports[i]) {
                        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                                    "no free port on 127.0.0.1 for " PROGRAM);
                        return false;
                }
        }
        return true;
}

bool relay_start(const char *place, const char *output, Relay *relay, GError **error)
{
        g_autofree char *log = g_build_filename(place, PROGRAM ".log", NULL);
        g_autofree char *control = NULL, *data = NULL, *live = NULL, *out = NULL;

        if (!choose_ports(relay, error))
                return false;
        if (g_mkdir_with_parents(output, 0700) < 0) {
                g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                            "cannot make %s for " PROGRAM ": give another --relay-output", output);
                return false;
        }
        g_free(relay->output);
        relay->output = g_strdup(output);
        relay->uid = geteuid();
        control = g_strdup_printf("--control-port=tcp://127.0.0.1:%u", relay->control_port);
        data = g_strdup_printf("--data-port=tcp://127.0.0.1:%u", relay->data_port);
        live = g_strdup_printf("--live-port=tcp://127.0.0.1:%u", relay->live_port);
        out = g_strconcat("--output=", output, NULL);
        return service_start((char *[]){(char *)PROGRAM, control, data, live, out, NULL}, log,
                             is_ready, relay, &relay->service, error);
}

json_t *relay_to_json(const Relay *relay)
{
        json_t *object = service_to_json(&relay->service);

        json_object_set_new(object, "control_port", json_integer(relay->control_port));
        json_object_set_new(object, "data_port", json_integer(relay->data_port));
        json_object_set_new(object, "live_port", json_integer(relay->live_port));
        json_object_set_new(object, "output", json_string(relay->output));
        return object;
}

bool relay_from_json(const json_t *value, Relay *ret_relay)
{
        const char *output = json_string_value(json_object_get(value, "output"));
        Relay relay = {.service = service_from_json(value), .uid = geteuid()};
        size_t i;
        static const char *const NAMES[] = {"control_port", "data_port", "live_port"};

        for (i = 0; i < G_N_ELEMENTS(NAMES); i++)
                *port_of(&relay, OPTIONS[i].port) =
                        (uint16_t)json_integer_value(json_object_get(value, NAMES[i]));
        if (!output || !service_is_running(&relay.service))
                return false;
        relay.output = g_strdup(output);
        *ret_relay = relay;
        return true;
}

bool relay_remembered(const char *place, Relay *ret_relay)
{
        json_t *value = place_read(place, RELAY_FILE, NULL);
        bool is_there = value && relay_from_json(value, ret_relay);

        json_decref(value);
        return is_there;
}

bool relay_remember(const char *place, const Relay *relay, GError **error)
{
        json_t *value = relay_to_json(relay);
        bool ok = place_write(place, RELAY_FILE, value, error);

        json_decref(value);
        return ok;
}

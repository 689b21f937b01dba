/* SPDX-License-Identifier: MIT */
#include "lttng/relay-daemon.h"

#include "lttng/errors.h"
#include "lttng/state-dir.h"
#include "lttng/tcp-port.h"
#include "util/fd.h"
#include "util/proc.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "lttng-relayd"

/* Its options with the addresses that it listens at, and with its directory. */
static const struct {
        const char *name;
        char letter;
        size_t port; /* offset in RelayDaemon; 0: the option is the output */
} OPTIONS[] = {
        {"--control-port", 'C', offsetof(RelayDaemon, control_port)},
        {"--data-port", 'D', offsetof(RelayDaemon, data_port)},
        {"--live-port", 'L', offsetof(RelayDaemon, live_port)},
        {"--output", 'o', 0},
};

void relay_daemon_clear(RelayDaemon *relay)
{
        g_clear_pointer(&relay->output, g_free);
        *relay = (RelayDaemon){0};
}

static uint16_t *relay_port(RelayDaemon *relay, size_t offset)
{
        return (uint16_t *)(void *)((char *)relay + offset);
}

static int loopback_socket(uint16_t port, struct sockaddr_in *ret_address)
{
        *ret_address = (struct sockaddr_in){
                .sin_family = AF_INET,
                .sin_port = htons(port),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* For tcp_port_look(): DATA is the only expected uid. */
static bool uid_is_same(uid_t uid, const void *data)
{
        return uid == *(const uid_t *)data;
}

/* True if only the relay daemon's user listens there, in the network namespace of process PID (0:
 * ours). */
static bool relay_has_port(const RelayDaemon *relay, pid_t pid, uint16_t port)
{
        TcpPort found;

        return tcp_port_look(pid, port, uid_is_same, &relay->uid, &found) && found.is_listened &&
               !found.has_uid;
}

/* PORT if it is free, else 0. With PORT 0: any free port. */
static uint16_t loopback_free_port(uint16_t port)
{
        struct sockaddr_in address;
        socklen_t n = sizeof(address);
        FD_AUTO int fd = loopback_socket(port, &address);
        int yes = 1;

        if (fd < 0)
                return 0;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
            getsockname(fd, (struct sockaddr *)&address, &n) < 0)
                return 0;
        return ntohs(address.sin_port);
}

static void relay_apply_option(RelayDaemon *relay, size_t port, const char *value)
{
        const char *colon = strrchr(value, ':');
        guint64 number;

        if (!port) {
                g_free(relay->output);
                relay->output = g_strdup(value);
        } else if (colon &&
                   g_ascii_string_to_unsigned(colon + 1, 10, 1, UINT16_MAX, &number, NULL)) {
                *relay_port(relay, port) = (uint16_t)number;
        }
}

/* Without --output, the relay daemon writes below the home directory in its environment. */
static char *relay_home_output(pid_t pid)
{
        const char *home = NULL, *lttng_home = NULL, *at;
        size_t n;
        g_autofree char *text = proc_read_file(pid, "environ", PROC_MAX_ENVIRONMENT, &n);

        if (!text)
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

static void relay_read_command(RelayDaemon *relay, char **arguments)
{
        size_t i;

        for (; *arguments; arguments++)
                for (i = 0; i < G_N_ELEMENTS(OPTIONS); i++) {
                        size_t n = strlen(OPTIONS[i].name);
                        char letter[] = {'-', OPTIONS[i].letter, '\0'};

                        if (!strncmp(*arguments, OPTIONS[i].name, n) && (*arguments)[n] == '=') {
                                relay_apply_option(relay, OPTIONS[i].port, *arguments + n + 1);
                        } else if ((!strcmp(*arguments, OPTIONS[i].name) ||
                                    !strcmp(*arguments, letter)) &&
                                   arguments[1]) {
                                relay_apply_option(relay, OPTIONS[i].port, *++arguments);
                                break;
                        } else if (!strncmp(*arguments, letter, 2) && (*arguments)[2]) {
                                relay_apply_option(relay, OPTIONS[i].port, *arguments + 2);
                        }
                }
}

static bool user_is_trusted(uid_t uid)
{
        const struct passwd *user;

        if (uid == geteuid())
                return true;
        user = geteuid() == 0 ? getpwnam(RELAY_SYSTEM_USER) : NULL;
        return user && user->pw_uid == uid;
}

char *relay_daemon_other_user(const RelayDaemon *relay)
{
        const struct passwd *user;

        if (relay->uid == geteuid())
                return NULL;
        user = getpwuid(relay->uid);
        return user ? g_strdup(user->pw_name) : g_strdup_printf("%u", (unsigned)relay->uid);
}

/* False: the process is not a relay daemon, or not a trusted one. */
static bool relay_read_process(const char *name, RelayDaemon *ret_relay)
{
        g_autofree char *directory = g_build_filename("/proc", name, NULL);
        g_autofree char *comm = g_build_filename(directory, "comm", NULL), *text = NULL;
        g_autofree char *line = NULL;
        g_autoptr(GPtrArray) arguments = g_ptr_array_new();
        struct stat st;
        size_t n;
        char *at;

        if (!g_file_get_contents(comm, &text, NULL, NULL) || strcmp(g_strchomp(text), PROGRAM) ||
            stat(directory, &st) < 0 || !user_is_trusted(st.st_uid) ||
            !(line = proc_read_file((pid_t)g_ascii_strtoll(name, NULL, 10), "cmdline",
                                    PROC_MAX_COMMAND, &n)) ||
            n == 0) /* a zombie has none */
                return false;
        for (at = line; at < line + n; at += strlen(at) + 1)
                g_ptr_array_add(arguments, at);
        g_ptr_array_add(arguments, NULL);
        *ret_relay = (RelayDaemon){
                .control_port = RELAY_DEFAULT_CONTROL,
                .data_port = RELAY_DEFAULT_DATA,
                .live_port = RELAY_DEFAULT_LIVE,
                .uid = st.st_uid,
        };
        ret_relay->process.pid = (pid_t)g_ascii_strtoll(name, NULL, 10);
        ret_relay->process.start_ticks = daemon_process_start_ticks(ret_relay->process.pid);
        relay_read_command(ret_relay, (char **)arguments->pdata);
        if (!ret_relay->output)
                ret_relay->output = relay_home_output(ret_relay->process.pid);
        return true;
}

bool relay_daemon_find_at(uint16_t live_port, RelayDaemon *ret_relay)
{
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        const char *name;

        while (proc && (name = g_dir_read_name(proc))) {
                g_auto(RelayDaemon) relay = {0};

                if (!g_ascii_isdigit(*name) || !relay_read_process(name, &relay) ||
                    relay.live_port != live_port ||
                    !relay_has_port(&relay, relay.process.pid, live_port))
                        continue;
                *ret_relay = relay;
                relay = (RelayDaemon){0};
                return true;
        }
        return false;
}

pid_t relay_daemon_net(const RelayDaemon *relay)
{
        return net_namespace_differs(getpid(), relay->process.pid) ? relay->process.pid : 0;
}

static bool uid_is_trusted(uid_t uid, const void *data)
{
        return uid == 0 || user_is_trusted(uid);
}

RelayPort relay_daemon_probe(uint16_t live_port, pid_t *ret_net, char **ret_user)
{
        g_auto(RelayDaemon) relay = {0};
        RelayPort port = RELAY_PORT_TRUSTED;
        TcpPort found = {0};
        pid_t net = 0;

        if (relay_daemon_find_at(live_port, &relay)) {
                net = relay_daemon_net(&relay);
        } else if (!tcp_port_look(0, live_port, uid_is_trusted, NULL, &found) ||
                   !found.is_listened) {
                port = RELAY_PORT_FREE;
        } else if (found.has_uid) {
                port = RELAY_PORT_FOREIGN;
                relay.uid = found.uid;
        }
        if (ret_net)
                *ret_net = net;
        if (ret_user)
                *ret_user = port == RELAY_PORT_FOREIGN ? relay_daemon_other_user(&relay) : NULL;
        return port;
}

bool relay_daemon_find(RelayDaemon *ret_relay)
{
        return relay_daemon_find_at(RELAY_DEFAULT_LIVE, ret_relay);
}

char *relay_daemon_default_output(void)
{
        /* Not in the directory of the system's relay daemon, which may not write to root's. */
        if (geteuid() == 0)
                return g_strdup("/var/lib/clrsym-relay/root");
        return g_build_filename(g_get_user_state_dir(), "clrsym", "relay", NULL);
}

static bool relay_is_ready(void *data)
{
        const RelayDaemon *relay = data;

        return relay_has_port(relay, 0, relay->live_port) &&
               relay_has_port(relay, 0, relay->control_port) &&
               relay_has_port(relay, 0, relay->data_port);
}

static bool relay_choose_ports(RelayDaemon *relay, GError **error)
{
        static const uint16_t DEFAULTS[] = {RELAY_DEFAULT_CONTROL, RELAY_DEFAULT_DATA,
                                            RELAY_DEFAULT_LIVE};
        uint16_t *ports[] = {&relay->control_port, &relay->data_port, &relay->live_port};
        bool is_default = true;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ports); i++)
                is_default = is_default && !*ports[i] && loopback_free_port(DEFAULTS[i]);
        for (i = 0; i < G_N_ELEMENTS(ports); i++) {
                if (!*ports[i])
                        *ports[i] = is_default ? DEFAULTS[i] : loopback_free_port(0);
                if (!*ports[i]) {
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                                    "no free port on 127.0.0.1 for " PROGRAM);
                        return false;
                }
        }
        return true;
}

bool relay_daemon_start(const char *directory, const char *output, RelayDaemon *relay,
                        GError **error)
{
        g_autofree char *log = g_build_filename(directory, PROGRAM ".log", NULL);
        g_autofree char *control = NULL, *data = NULL, *live = NULL, *out = NULL;

        if (!relay_choose_ports(relay, error))
                return false;
        if (g_mkdir_with_parents(output, 0700) < 0) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "cannot make the directory %s for " PROGRAM ": %s", output,
                            g_strerror(errno));
                return false;
        }
        g_free(relay->output);
        relay->output = g_strdup(output);
        relay->uid = geteuid();
        control = g_strdup_printf("--control-port=tcp://127.0.0.1:%u", relay->control_port);
        data = g_strdup_printf("--data-port=tcp://127.0.0.1:%u", relay->data_port);
        live = g_strdup_printf("--live-port=tcp://127.0.0.1:%u", relay->live_port);
        out = g_strconcat("--output=", output, NULL);
        return daemon_process_start((char *[]){(char *)PROGRAM, control, data, live, out, NULL}, 0,
                                    log, relay_is_ready, relay, &relay->process, error);
}

json_t *relay_daemon_to_json(const RelayDaemon *relay)
{
        json_t *object = daemon_process_to_json(&relay->process);

        json_object_set_new(object, "control_port", json_integer(relay->control_port));
        json_object_set_new(object, "data_port", json_integer(relay->data_port));
        json_object_set_new(object, "live_port", json_integer(relay->live_port));
        json_object_set_new(object, "output", json_string(relay->output));
        return object;
}

bool relay_daemon_from_json(const json_t *value, RelayDaemon *ret_relay)
{
        const char *output = json_string_value(json_object_get(value, "output"));
        RelayDaemon relay = {.process = daemon_process_from_json(value), .uid = geteuid()};
        size_t i;
        static const char *const NAMES[] = {"control_port", "data_port", "live_port"};

        for (i = 0; i < G_N_ELEMENTS(NAMES); i++)
                *relay_port(&relay, OPTIONS[i].port) =
                        (uint16_t)json_integer_value(json_object_get(value, NAMES[i]));
        if (!output || !daemon_process_is_running(&relay.process))
                return false;
        relay.output = g_strdup(output);
        *ret_relay = relay;
        return true;
}

bool relay_daemon_remembered(const char *directory, RelayDaemon *ret_relay)
{
        json_auto_t *value = state_dir_read(directory, RELAY_FILE, NULL);

        return value && relay_daemon_from_json(value, ret_relay);
}

bool relay_daemon_remember(const char *directory, const RelayDaemon *relay, GError **error)
{
        json_auto_t *value = relay_daemon_to_json(relay);

        return state_dir_write(directory, RELAY_FILE, value, error);
}

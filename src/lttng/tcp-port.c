/* SPDX-License-Identifier: MIT */
#include "lttng/tcp-port.h"

#include "util/fd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* As in the kernel's include/net/tcp_states.h. */
enum {
        TCP_STATE_ESTABLISHED = 1,
        TCP_STATE_LISTEN = 10,
};

/* The kind of a listener's address: a connection to 127.0.0.1 reaches the listener with the highest
 * kind. */
typedef enum AddressRank {
        ADDRESS_UNREACHED,
        ADDRESS_ANY6, /* [::], also for IPv4 */
        ADDRESS_ANY,  /* 0.0.0.0 */
        ADDRESS_LOOPBACK,
} AddressRank;

/* A row of the table. */
typedef struct TcpSocket {
        char address[33]; /* 8 or 32 hex digits, each word in the machine's byte order */
        unsigned port, state, uid;
        unsigned long inode; /* 0: not accepted yet, or closed by its process */
} TcpSocket;

static bool tcp_socket_parse(const char *line, TcpSocket *ret_socket)
{
        return sscanf(line,
                      " %*u: %32[0-9A-F]:%4x %*32[0-9A-F]:%*4x %2x %*x:%*x %*x:%*x %*x %u %*u %lu",
                      ret_socket->address, &ret_socket->port, &ret_socket->state, &ret_socket->uid,
                      &ret_socket->inode) == 5;
}

static AddressRank tcp_socket_rank(const TcpSocket *socket)
{
        size_t n = strlen(socket->address);
        char loopback[9];

        if (strspn(socket->address, "0") == n)
                return n == 8 ? ADDRESS_ANY : ADDRESS_ANY6;
        /* As IPv6 it is ::ffff:127.0.0.1. */
        snprintf(loopback, sizeof(loopback), "%08X", (unsigned)htonl(INADDR_LOOPBACK));
        return g_str_has_suffix(socket->address, loopback) &&
                               (n == 8 || !strncmp(socket->address, "0000000000000000FFFF", 20) ||
                                !strncmp(socket->address, "00000000000000000000FFFF", 24))
                       ? ADDRESS_LOOPBACK
                       : ADDRESS_UNREACHED;
}

/* The result of looking at a port so far. */
typedef struct TcpLook {
        bool (*trusted)(uid_t uid, const void *data);
        const void *data;
        AddressRank best; /* the highest of the listeners */
        bool has_listener_uid, has_peer_uid;
        uid_t listener_uid, peer_uid;
} TcpLook;

static void tcp_look_add(TcpLook *look, const TcpSocket *socket)
{
        AddressRank rank = tcp_socket_rank(socket);
        bool is_foreign = socket->inode && !look->trusted(socket->uid, look->data);

        if (socket->state == TCP_STATE_ESTABLISHED && rank == ADDRESS_LOOPBACK && is_foreign) {
                look->has_peer_uid = true;
                look->peer_uid = socket->uid;
        }
        if (socket->state != TCP_STATE_LISTEN || rank <= look->best)
                return;
        look->best = rank;
        look->has_listener_uid = is_foreign;
        look->listener_uid = socket->uid;
}

static bool tcp_table_read(pid_t pid, const char *name, char **ret_text)
{
        g_autofree char *path = pid ? g_strdup_printf("/proc/%d/net/%s", (int)pid, name)
                                    : g_strdup_printf("/proc/self/net/%s", name);

        return g_file_get_contents(path, ret_text, NULL, NULL);
}

bool tcp_port_look(pid_t pid, uint16_t port, bool (*trusted)(uid_t uid, const void *data),
                   const void *data, TcpPort *ret_port)
{
        static const char *const TABLES[] = {"tcp", "tcp6"}; /* the second only with IPv6 */
        TcpLook look = {.trusted = trusted, .data = data};
        size_t i, n = 0;

        for (i = 0; i < G_N_ELEMENTS(TABLES); i++) {
                g_autofree char *text = NULL;
                const char *line;

                if (!tcp_table_read(pid, TABLES[i], &text))
                        continue;
                n++;
                for (line = text; line; line = strchr(line, '\n')) {
                        TcpSocket socket;

                        line += *line == '\n';
                        if (tcp_socket_parse(line, &socket) && socket.port == port)
                                tcp_look_add(&look, &socket);
                }
        }
        if (n == 0)
                return false;
        *ret_port = (TcpPort){
                .is_listened = look.best > ADDRESS_UNREACHED,
                .has_uid = look.has_listener_uid || look.has_peer_uid,
                .uid = look.has_listener_uid ? look.listener_uid : look.peer_uid,
        };
        return true;
}

bool net_namespace_differs(pid_t pid, pid_t other)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/net", (int)pid);
        g_autofree char *other_path = g_strdup_printf("/proc/%d/ns/net", (int)other);
        struct stat st, other_st;

        return stat(path, &st) == 0 && stat(other_path, &other_st) == 0 &&
               (st.st_ino != other_st.st_ino || st.st_dev != other_st.st_dev);
}

bool net_namespace_enter(pid_t pid)
{
        char path[64];
        FD_AUTO int fd = -1;

        snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
}

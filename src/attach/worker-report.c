/* SPDX-License-Identifier: MIT */
#include "attach/worker-report.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef union WorkerControl {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(sizeof(int))];
} WorkerControl;

bool worker_packets_follow(int code)
{
        return code == EINTR || code == ECONNRESET;
}

ssize_t worker_report_receive(int fd, WorkerReport *ret_report, int *ret_stream)
{
        WorkerControl control;
        struct iovec part = {ret_report, sizeof(*ret_report)};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof(control.bytes)};
        const struct cmsghdr *header;
        ssize_t n;

        do
                n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        while (n < 0 && worker_packets_follow(errno));
        header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
        *ret_stream = -1;
        if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
                memcpy(ret_stream, CMSG_DATA(header), sizeof(*ret_stream));
        return n;
}

ssize_t worker_report_send(int fd, const WorkerReport *report, int stream)
{
        WorkerControl control = {.header = {.cmsg_len = CMSG_LEN(sizeof(stream)),
                                            .cmsg_level = SOL_SOCKET,
                                            .cmsg_type = SCM_RIGHTS}};
        struct iovec part = {(void *)report, sizeof(*report)};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

        if (stream >= 0) {
                message.msg_control = control.bytes;
                message.msg_controllen = sizeof(control.bytes);
                memcpy(CMSG_DATA(&control.header), &stream, sizeof(stream));
        }
        return sendmsg(fd, &message, MSG_NOSIGNAL);
}

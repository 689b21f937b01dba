/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * IPC: the messages of a .NET runtime's diagnostic port (DOTNET_IPC_V1)
 *
 * A message is a header of 20 bytes (magic, u16 size of the whole message, u8 command set, u8
 * command, u16 zero) and a payload. A connection carries one command and its reply; after the reply
 * to a command that opens an EventPipe session come the session's own bytes. All numbers are
 * little-endian. A string is a u32 count of UTF-16 units, with the NUL, and the units.
 *
 * Replies are not trusted: any program may have sent them.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IPC_HEADER_SIZE 20
#define IPC_MAX_MESSAGE 65535

/* Command set and command. */
typedef enum IpcCommand {
        IPC_STOP_TRACING = 0x0201,
        IPC_COLLECT_TRACING_2 = 0x0203, /* .NET 5 */
        IPC_COLLECT_TRACING_4 = 0x0205, /* .NET 9: can omit stack traces */
        IPC_COLLECT_TRACING_5 = 0x0206, /* .NET 10: can omit events, by their ids */
        IPC_RESUME_RUNTIME = 0x0401,    /* .NET 5; only over the port that suspended it */
        IPC_PROCESS_INFO_2 = 0x0404,    /* .NET 6 */
} IpcCommand;

typedef struct IpcProvider {
        const char *name;
        uint64_t keywords;
        uint32_t level;
} IpcProvider;

/* The request for one EventPipe session. */
typedef struct IpcCollect {
        IpcCommand command; /* one of IPC_COLLECT_TRACING_* */
        IpcProvider provider;
        IpcProvider other; /* name NULL: no second provider */
        /* Make a rundown at the end. IPC_COLLECT_TRACING_2 only: the others use keywords. */
        bool has_rundown;
        /* IPC_COLLECT_TRACING_4 and 5: keywords of the rundown at the end; 0: no rundown. */
        uint64_t rundown_keywords;
        /* The stream is read: the runtime gets a large buffer, and omits only useless events.
         * Otherwise the buffer is small, and the runtime omits as much as it can. */
        bool is_read;
} IpcCollect;

/* Whole messages; the caller frees them. */
GByteArray *ipc_collect_new(const IpcCollect *collect);
GByteArray *ipc_stop_new(uint64_t session);
GByteArray *ipc_process_info_new(void);
GByteArray *ipc_resume_new(void);

/*
 * The announcement, a runtime's first bytes on a connection to a port: "ADVR_V1\0", a cookie that
 * is equal in all announcements of one runtime, u64 its pid in its own namespace, u16 zero.
 */
#define IPC_ANNOUNCEMENT_SIZE      34
#define IPC_ANNOUNCEMENT_COOKIE_AT 8
#define IPC_COOKIE_SIZE            16

bool ipc_is_announcement(const uint8_t bytes[IPC_ANNOUNCEMENT_SIZE]);

typedef struct IpcReply {
        size_t n;
        bool is_broken;
        uint8_t bytes[IPC_MAX_MESSAGE];
} IpcReply;

void ipc_reply_clear(IpcReply *reply);
/* The number of bytes to read next, at most up to the reply's end; 0: complete, or broken. */
size_t ipc_reply_wanted(const IpcReply *reply);
/* Takes N bytes, at most the wanted number. */
void ipc_reply_put(IpcReply *reply, const uint8_t *bytes, size_t n);

typedef enum IpcResult {
        IPC_RESULT_OK,
        IPC_RESULT_ERROR,  /* the runtime refused */
        IPC_RESULT_BROKEN, /* not a message of this protocol */
} IpcResult;

/* The runtime's error codes that are handled here. */
enum {
        IPC_E_BAD_ENCODING = 0x80131384,
        IPC_E_UNKNOWN_COMMAND = 0x80131385,
        IPC_E_UNKNOWN_MAGIC = 0x80131386,
};

/* The result of a complete or broken reply. RET_CODE: the runtime's error, or 0. */
IpcResult ipc_reply_result(const IpcReply *reply, uint32_t *ret_code);
/* If a broken reply is of another version of this protocol, that version, "2"; else NULL. Borrowed
 * from REPLY. */
const char *ipc_reply_other_version(const IpcReply *reply);
/* Each function returns false if the payload does not have that form. */
bool ipc_reply_get_session(const IpcReply *reply, uint64_t *ret_session);

typedef struct IpcProcessInfo {
        uint64_t pid;  /* the process's pid in its own namespace */
        char *version; /* owned, printable ASCII: "10.0.12" */
} IpcProcessInfo;

bool ipc_reply_get_process_info(const IpcReply *reply, IpcProcessInfo *ret_info);

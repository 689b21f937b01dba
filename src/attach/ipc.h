/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * IPC: the messages of a .NET runtime's diagnostic port (DOTNET_IPC_V1)
 *
 * A message is a header of 20 bytes (magic, u16 size of it all, u8 command set, u8 command, u16
 * zero) and a payload. A connection carries one command and its reply; behind the reply to a
 * command that opens an EventPipe session, the session's own bytes. All numbers are little-endian,
 * a string is a u32 count of UTF-16 units, its NUL among them, and the units.
 *
 * No bytes of a runtime are believed: it may be any program.
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
        IPC_COLLECT_TRACING_4 = 0x0205, /* .NET 9: stack traces can be left out */
        IPC_COLLECT_TRACING_5 = 0x0206, /* .NET 10: so can be events, by their ids */
        IPC_PROCESS_INFO_2 = 0x0404,    /* .NET 6 */
} IpcCommand;

/* One EventPipe session with one provider. */
typedef struct IpcCollect {
        IpcCommand command; /* one of IPC_COLLECT_TRACING_* */
        const char *provider;
        uint64_t keywords;
        uint32_t level;
        /*
         * List everything at the end. With IPC_COLLECT_TRACING_2 only: the others would want to be
         * told what.
         */
        bool has_rundown;
} IpcCollect;

/* Whole messages, the caller's. */
GByteArray *ipc_collect_new(const IpcCollect *collect);
GByteArray *ipc_stop_new(uint64_t session);
GByteArray *ipc_process_info_new(void);

typedef struct IpcReply {
        size_t n;
        bool is_broken;
        uint8_t bytes[IPC_MAX_MESSAGE];
} IpcReply;

/* Makes it empty. */
void ipc_reply_clear(IpcReply *reply);
/* How many bytes are to be read next; 0: it is complete, or broken. Never more than belong to it.
 */
size_t ipc_reply_wanted(const IpcReply *reply);
/* Takes bytes, at most as many as are wanted. */
void ipc_reply_put(IpcReply *reply, const uint8_t *bytes, size_t n);

typedef enum IpcResult {
        IPC_RESULT_OK,
        IPC_RESULT_ERROR,  /* the runtime says so */
        IPC_RESULT_BROKEN, /* no message of this protocol */
} IpcResult;

/* The runtime's own error codes that mean something to us. */
enum {
        IPC_E_BAD_ENCODING = 0x80131384,
        IPC_E_UNKNOWN_COMMAND = 0x80131385,
        IPC_E_UNKNOWN_MAGIC = 0x80131386,
};

/* Of a complete or broken reply. */
IpcResult ipc_reply_result(const IpcReply *reply, uint32_t *ret_code);
/* False: the payload is not of that form. */
bool ipc_reply_get_session(const IpcReply *reply, uint64_t *ret_session);

typedef struct IpcProcessInfo {
        uint64_t pid;  /* as the process itself sees it */
        char *version; /* owned, printable ASCII: "10.0.12" */
} IpcProcessInfo;

bool ipc_reply_get_process_info(const IpcReply *reply, IpcProcessInfo *ret_info);

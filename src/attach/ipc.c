/* SPDX-License-Identifier: MIT */
#include "attach/ipc.h"

#include <string.h>

#define MAGIC      "DOTNET_IPC_V1" /* with its NUL */
#define SIZE_AT    14
#define COMMAND_AT 16

#define COMMAND_OK    0xff00
#define COMMAND_ERROR 0xffff

#define ANNOUNCEMENT "ADVR_V1" /* with its NUL */

/* "10.0.12", or with a commit's hash after it; longer text is not a version. */
#define MAX_VERSION 128

/*
 * The size of the runtime's buffer for a session, in MB. Events that do not fit are lost, which is
 * harmless if the stream is discarded. The runtime allocates the buffer as needed; a rundown must
 * fit as a whole.
 */
#define BUFFER_MB       1
#define READ_BUFFER_MB  256
#define FORMAT_NETTRACE 1
#define TO_STREAM       0

/* Optional fields of the command's versions besides buffer, format and providers, in this order. */
typedef enum IpcPart {
        PART_OUTPUT = 1,
        PART_RUNDOWN = 2,         /* u8 */
        PART_RUNDOWN_KEYWORD = 4, /* u64 */
        PART_STACKS = 8,
        PART_FILTER = 16, /* for each provider */
} IpcPart;

static const struct {
        IpcCommand command;
        unsigned parts;
} LAYOUTS[] = {
        {IPC_COLLECT_TRACING_2, PART_RUNDOWN},
        {IPC_COLLECT_TRACING_4, PART_RUNDOWN_KEYWORD | PART_STACKS},
        {IPC_COLLECT_TRACING_5, PART_OUTPUT | PART_RUNDOWN_KEYWORD | PART_STACKS | PART_FILTER},
};

/* Useless events that the wanted keywords enable, too: memory of the JIT, lookups of entry points.
 */
static const uint32_t USELESS[] = {146, 160};

static void ipc_put(GByteArray *out, uint64_t u, unsigned n)
{
        u = GUINT64_TO_LE(u);
        g_byte_array_append(out, (const uint8_t *)&u, n);
}

/* TEXT is ASCII. */
static void ipc_put_string(GByteArray *out, const char *text)
{
        size_t n = strlen(text) + 1, i;

        ipc_put(out, n, 4);
        for (i = 0; i < n; i++)
                ipc_put(out, (uint8_t)text[i], 2);
}

static GByteArray *ipc_message_new(IpcCommand command)
{
        GByteArray *out = g_byte_array_new();

        g_byte_array_append(out, (const uint8_t *)MAGIC, sizeof(MAGIC));
        ipc_put(out, 0, 2);
        ipc_put(out, command >> 8, 1);
        ipc_put(out, command & 0xff, 1);
        ipc_put(out, 0, 2);
        return out;
}

static GByteArray *ipc_message_finish(GByteArray *out)
{
        out->data[SIZE_AT] = (uint8_t)out->len;
        out->data[SIZE_AT + 1] = (uint8_t)(out->len >> 8);
        return out;
}

/* Writes all events but those of a list, or only those of an empty list. In both cases the runtime
 * enables all of them. */
static void ipc_put_filter(GByteArray *out, bool is_read, size_t n)
{
        size_t i;

        ipc_put(out, !is_read, 1);
        ipc_put(out, n, 4);
        for (i = 0; i < n; i++)
                ipc_put(out, USELESS[i], 4);
}

/* N_USELESS: number of the provider's events known to be useless. */
static void ipc_put_provider(GByteArray *out, const IpcCollect *collect,
                             const IpcProvider *provider, unsigned parts, size_t n_useless)
{
        ipc_put(out, provider->keywords, 8);
        ipc_put(out, provider->level, 4);
        ipc_put_string(out, provider->name);
        ipc_put(out, 0, 4);
        if (parts & PART_FILTER)
                ipc_put_filter(out, collect->is_read, collect->is_read ? n_useless : 0);
}

GByteArray *ipc_collect_new(const IpcCollect *collect)
{
        GByteArray *out = ipc_message_new(collect->command);
        unsigned parts = 0;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(LAYOUTS); i++)
                if (LAYOUTS[i].command == collect->command)
                        parts = LAYOUTS[i].parts;
        if (parts & PART_OUTPUT)
                ipc_put(out, TO_STREAM, 4);
        ipc_put(out, collect->is_read ? READ_BUFFER_MB : BUFFER_MB, 4);
        ipc_put(out, FORMAT_NETTRACE, 4);
        if (parts & PART_RUNDOWN)
                ipc_put(out, collect->has_rundown, 1);
        if (parts & PART_RUNDOWN_KEYWORD)
                ipc_put(out, collect->rundown_keywords, 8);
        if (parts & PART_STACKS)
                ipc_put(out, false, 1);
        ipc_put(out, collect->other.name ? 2 : 1, 4);
        ipc_put_provider(out, collect, &collect->provider, parts, G_N_ELEMENTS(USELESS));
        if (collect->other.name)
                ipc_put_provider(out, collect, &collect->other, parts, 0);
        return ipc_message_finish(out);
}

GByteArray *ipc_stop_new(uint64_t session)
{
        GByteArray *out = ipc_message_new(IPC_STOP_TRACING);

        ipc_put(out, session, 8);
        return ipc_message_finish(out);
}

GByteArray *ipc_process_info_new(void)
{
        return ipc_message_finish(ipc_message_new(IPC_PROCESS_INFO_2));
}

GByteArray *ipc_resume_new(void)
{
        return ipc_message_finish(ipc_message_new(IPC_RESUME_RUNTIME));
}

bool ipc_is_announcement(const uint8_t bytes[IPC_ANNOUNCEMENT_SIZE])
{
        return memcmp(bytes, ANNOUNCEMENT, sizeof(ANNOUNCEMENT)) == 0;
}

void ipc_reply_clear(IpcReply *reply)
{
        reply->n = 0;
        reply->is_broken = false;
}

static uint64_t ipc_get(const uint8_t *at, unsigned n)
{
        uint64_t u = 0;

        memcpy(&u, at, n);
        return GUINT64_FROM_LE(u);
}

size_t ipc_reply_wanted(const IpcReply *reply)
{
        if (reply->is_broken)
                return 0;
        if (reply->n < IPC_HEADER_SIZE)
                return IPC_HEADER_SIZE - reply->n;
        return ipc_get(reply->bytes + SIZE_AT, 2) - reply->n;
}

void ipc_reply_put(IpcReply *reply, const uint8_t *bytes, size_t n)
{
        size_t n_before = reply->n;

        g_assert(n <= ipc_reply_wanted(reply));
        memcpy(reply->bytes + reply->n, bytes, n);
        reply->n += n;
        if (n_before < IPC_HEADER_SIZE && reply->n >= IPC_HEADER_SIZE)
                reply->is_broken = memcmp(reply->bytes, MAGIC, sizeof(MAGIC)) != 0 ||
                                   ipc_get(reply->bytes + SIZE_AT, 2) < IPC_HEADER_SIZE;
}

const char *ipc_reply_other_version(const IpcReply *reply)
{
        static const char FAMILY[] = "DOTNET_IPC_V";
        const char *version = (const char *)reply->bytes + strlen(FAMILY);

        return reply->n >= IPC_HEADER_SIZE && !memcmp(reply->bytes, FAMILY, strlen(FAMILY)) &&
                               g_ascii_isdigit(*version) &&
                               memcmp(reply->bytes, MAGIC, sizeof(MAGIC)) &&
                               memchr(version, '\0', sizeof(MAGIC) - strlen(FAMILY))
                       ? version
                       : NULL;
}

IpcResult ipc_reply_result(const IpcReply *reply, uint32_t *ret_code)
{
        unsigned command;

        *ret_code = 0;
        if (reply->is_broken || reply->n < IPC_HEADER_SIZE)
                return IPC_RESULT_BROKEN;
        command = reply->bytes[COMMAND_AT] << 8 | reply->bytes[COMMAND_AT + 1];
        if (command == COMMAND_OK)
                return IPC_RESULT_OK;
        if (command != COMMAND_ERROR || reply->n < IPC_HEADER_SIZE + 4)
                return IPC_RESULT_BROKEN;
        *ret_code = (uint32_t)ipc_get(reply->bytes + IPC_HEADER_SIZE, 4);
        return IPC_RESULT_ERROR;
}

bool ipc_reply_get_session(const IpcReply *reply, uint64_t *ret_session)
{
        if (reply->n != IPC_HEADER_SIZE + 8)
                return false;
        *ret_session = ipc_get(reply->bytes + IPC_HEADER_SIZE, 8);
        return true;
}

/* Skips N bytes. */
static bool ipc_skip(const uint8_t **at, size_t *n_left, size_t n)
{
        if (n > *n_left)
                return false;
        *at += n;
        *n_left -= n;
        return true;
}

/* Finds the next string: its first unit, and the number of units without the NUL. */
static bool ipc_next_string(const uint8_t **at, size_t *n_left, const uint8_t **ret_units,
                            size_t *ret_n)
{
        const uint8_t *count = *at;

        if (!ipc_skip(at, n_left, 4))
                return false;
        *ret_n = ipc_get(count, 4);
        *ret_units = *at;
        /* At most 2^33, which fits into a size_t. */
        if (!ipc_skip(at, n_left, *ret_n * 2))
                return false;
        if (*ret_n && ipc_get(*ret_units + 2 * (*ret_n - 1), 2) == 0)
                (*ret_n)--;
        return true;
}

bool ipc_reply_get_process_info(const IpcReply *reply, IpcProcessInfo *ret_info)
{
        const uint8_t *at = reply->bytes + IPC_HEADER_SIZE, *units = NULL;
        size_t n_left = reply->n - MIN(reply->n, IPC_HEADER_SIZE), n = 0;
        char version[MAX_VERSION + 1] = "";
        const uint8_t *pid = at;
        size_t i;

        if (!ipc_skip(&at, &n_left, 8 + IPC_COOKIE_SIZE))
                return false;
        /* Command line, system, architecture, assembly, version. */
        for (i = 0; i < 5; i++)
                if (!ipc_next_string(&at, &n_left, &units, &n))
                        return false;
        if (n > MAX_VERSION)
                return false;
        for (i = 0; i < n; i++) {
                uint64_t unit = ipc_get(units + 2 * i, 2);

                if (unit >= 0x80 || !g_ascii_isgraph((char)unit))
                        return false;
                version[i] = (char)unit;
        }
        ret_info->pid = ipc_get(pid, 8);
        ret_info->version = g_strdup(version);
        return true;
}

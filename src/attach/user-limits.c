/* SPDX-License-Identifier: MIT */
#include "attach/user-limits.h"

#include "attach/attachment.h"
#include "attach/error.h"

#include <unistd.h>

#define MAX_ATTACHMENTS  1024 /* used unless the variable has another number */
#define MOST_ATTACHMENTS 65536
/* One attachment in RESERVED_PART is reserved, and one in USER_PART is the share of a user. */
#define RESERVED_PART 8
#define USER_PART     4

bool user_is_privileged(uid_t uid)
{
        return uid == 0 || uid == geteuid();
}

unsigned limits_count(const Limits *limits, uid_t uid)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < limits->attachments->len; i++)
                n += attachment_info(limits->attachments->pdata[i])->uid == uid;
        return n;
}

unsigned limits_attachments(const Limits *limits, uid_t caller, uid_t uid)
{
        const unsigned n = limits->attachments->len, n_theirs = limits_count(limits, uid);
        const unsigned shared = limits->max_attachments - limits->max_attachments / RESERVED_PART;
        const unsigned n_left = shared > n ? shared - n : 0;

        if (user_is_privileged(uid))
                return n_theirs + (limits->max_attachments > n ? limits->max_attachments - n : 0);
        if (user_is_privileged(caller))
                return MIN(n_theirs + n_left, (n_theirs + n_left + 1) / 2);
        return MIN(n_theirs + n_left, limits->max_attachments / USER_PART);
}

/* UID NULL: of all users. */
static void limits_add(json_t *rows, const char *limit, const uid_t *uid, uint64_t used,
                       uint64_t max, const char *set)
{
        json_t *owner = uid ? json_integer(*uid) : json_null();

        json_array_append_new(rows,
                              json_pack("{ss so sI sI ss?}", "limit", limit, "uid", owner, "used",
                                        (json_int_t)used, "max", (json_int_t)max, "set", set));
}

void limits_put(const Limits *limits, json_t *rows, const uid_t *uid)
{
        static const struct {
                const char *limit, *set;
        } KEPT[_WORKER_KEEP_MAX] = {
                [WORKER_KEEPS_FILE] = {"spilled-bytes", SPILL_TOTAL_VARIABLE},
                [WORKER_KEEPS_MEMORY] = {"waiting-bytes", NULL},
        };
        WorkerKeep keep;
        const unsigned n = uid ? limits_count(limits, *uid) : limits->attachments->len;

        limits_add(rows, "attachments", uid, n,
                   uid ? limits_attachments(limits, *uid, *uid) : limits->max_attachments,
                   LIMIT_VARIABLE);
        if (limits->account)
                for (keep = 0; keep < _WORKER_KEEP_MAX; keep++)
                        limits_add(rows, KEPT[keep].limit, uid,
                                   worker_account_n_bytes(limits->account, keep, uid),
                                   worker_account_max(limits->account, keep) / (uid ? 2 : 1),
                                   KEPT[keep].set);
}

bool limits_read(Limits *limits, GError **error)
{
        const char *text = g_getenv(LIMIT_VARIABLE);
        guint64 number = MAX_ATTACHMENTS;

        if (text &&
            !g_ascii_string_to_unsigned(text, 10, RESERVED_PART, MOST_ATTACHMENTS, &number, NULL)) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            LIMIT_VARIABLE " is %s: not a number from %d to %d", text,
                            RESERVED_PART, MOST_ATTACHMENTS);
                return false;
        }
        limits->max_attachments = (unsigned)number;
        return true;
}

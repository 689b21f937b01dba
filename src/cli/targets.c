/* SPDX-License-Identifier: MIT */
#include "cli/targets.h"

#include "attach/error.h"
#include "attach/processes.h"
#include "cli/json-field.h"
#include "cli/output.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

bool targets_user(const Options *options, uid_t *ret_uid, GError **error)
{
        const struct passwd *user = getpwnam(options->user);
        guint64 number;

        if (user)
                *ret_uid = user->pw_uid;
        else if (g_ascii_string_to_unsigned(options->user, 10, 0, G_MAXUINT32 - 1, &number, NULL))
                *ret_uid = (uid_t)number;
        else
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "--user %s: there is no such user", options->user);
        return user || !*error;
}

static bool add_arguments(Targets *targets, char **arguments, GError **error)
{
        for (; *arguments; arguments++) {
                guint64 number;
                pid_t pid;

                if (!g_ascii_string_to_unsigned(*arguments, 10, 1, G_MAXINT32, &number, NULL)) {
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                                    "%s is no PID: pgrep -a dotnet lists some", *arguments);
                        return false;
                }
                pid = (pid_t)number;
                g_array_append_val(targets->pids, pid);
        }
        return true;
}

bool targets_init(Targets *targets, const Options *options, GError **error)
{
        bool is_user = options_has(options, OPTION_USER);
        uid_t uid = PROCESSES_ANY_USER;

        *targets = (Targets){.is_json = options_has(options, OPTION_JSON)};
        if (is_user && !targets_user(options, &uid, error))
                return false;
        if (is_user || options_has(options, OPTION_EVERY)) {
                targets->pids = processes_find(uid);
                if (targets->pids->len)
                        return true;
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "no .NET process%s%s that may be looked into%s",
                            is_user ? " of user " : "", is_user ? options->user : "",
                            geteuid() ? ": root may look into all" : "");
                return false;
        }
        targets->pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        return add_arguments(targets, options->arguments, error);
}

void targets_clear(Targets *targets)
{
        g_clear_pointer(&targets->pids, g_array_unref);
        g_clear_error(&targets->failure);
}

void targets_fail(Targets *targets, pid_t pid, GError *error)
{
        if (targets->is_json)
                targets_print_json(json_pack("{s:i, s:s, s:{s:s, s:s}}", "pid", (int)pid, "state",
                                             "failed", "error", "kind",
                                             error->domain == ATTACH_ERROR
                                                     ? attach_error_name((AttachError)error->code)
                                                     : attach_error_name(ATTACH_ERROR_FAILED),
                                             "message", error->message));
        if (targets->failure) {
                output_flush();
                fprintf(stderr, "clrsym: %s\n", targets->failure->message);
                g_clear_error(&targets->failure);
        }
        targets->failure = error;
}

bool targets_end(Targets *targets, GError **error)
{
        if (!targets->failure)
                return true;
        g_propagate_error(error, g_steal_pointer(&targets->failure));
        return false;
}

void targets_print_json(json_t *value)
{
        char *text = json_dumps(value, JSON_COMPACT);

        if (text)
                output_print("%s\n", text);
        free(text);
        json_decref(value);
}

void targets_append_name(GString *out, const json_t *of)
{
        uint64_t pid = field_number(of, "pid"), vpid = field_number(of, "vpid");

        g_string_append_printf(out, "%" G_GUINT64_FORMAT, (guint64)pid);
        if (vpid && vpid != pid)
                g_string_append_printf(
                        out, " (%" G_GUINT64_FORMAT " in pid namespace %" G_GUINT64_FORMAT ")",
                        (guint64)vpid, (guint64)field_number(of, "pid_ns"));
}

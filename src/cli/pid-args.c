/* SPDX-License-Identifier: MIT */
#include "cli/pid-args.h"

#include "attach/error.h"
#include "attach/processes.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "util/message.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool pid_args_user(const Options *options, uid_t *ret_uid, GError **error)
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

ProcessFilter *pid_args_filter(const Options *options, GError **error)
{
        g_autoptr(ProcessFilter) filter = process_filter_new();
        guint i;

        for (i = 0; options->exclude && i < options->exclude->len; i++) {
                const char *rule = options->exclude->pdata[i];
                const char *wrong = process_filter_add(filter, rule);

                if (!wrong)
                        continue;
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED, "--exclude %s: %s", rule,
                            wrong);
                return NULL;
        }
        return g_steal_pointer(&filter);
}

static bool add_arguments(PidArgs *args, char **arguments, GError **error)
{
        for (; *arguments; arguments++) {
                guint64 number;
                pid_t pid;

                if (!g_ascii_string_to_unsigned(*arguments, 10, 1, G_MAXINT32, &number, NULL)) {
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                                    "%s is not a PID: pgrep -a dotnet lists some", *arguments);
                        return false;
                }
                pid = (pid_t)number;
                g_array_append_val(args->pids, pid);
        }
        return true;
}

bool pid_args_init(PidArgs *args, const Options *options, GError **error)
{
        bool is_user = options_has(options, OPTION_USER);
        uid_t uid = PROCESSES_ANY_USER;
        g_autoptr(ProcessFilter) filter = NULL;
        unsigned n_hidden;

        *args = (PidArgs){.is_json = options_has(options, OPTION_JSON)};
        if (is_user && !pid_args_user(options, &uid, error))
                return false;
        if (is_user || options_has(options, OPTION_ALL)) {
                filter = pid_args_filter(options, error);
                if (!filter)
                        return false;
                args->pids = processes_find(uid, filter, &n_hidden);
                /* A user without privileges attaches the user's own processes. */
                if (n_hidden && geteuid() == 0)
                        message_print("clrsym",
                                      "the kernel does not show what %u process%s mapped, so that "
                                      ".NET programs among these are not found: give clrsym the "
                                      "capability CAP_SYS_PTRACE",
                                      n_hidden, n_hidden == 1 ? " has" : "es have");
                if (args->pids->len)
                        return true;
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "no .NET process%s%s that you may inspect%s",
                            is_user ? " of user " : "", is_user ? options->user : "",
                            geteuid() ? ": root may inspect all" : "");
                return false;
        }
        args->pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        return add_arguments(args, options->arguments, error);
}

void pid_args_clear(PidArgs *args)
{
        g_clear_pointer(&args->pids, g_array_unref);
        g_clear_error(&args->failure);
}

void pid_args_fail(PidArgs *args, pid_t pid, GError *error)
{
        if (args->is_json)
                pid_args_print_json(json_pack("{s:i, s:s, s:{s:s, s:s}}", "pid", (int)pid, "state",
                                              "failed", "error", "kind",
                                              error->domain == ATTACH_ERROR
                                                      ? attach_error_name((AttachError)error->code)
                                                      : attach_error_name(ATTACH_ERROR_FAILED),
                                              "message", error->message));
        if (args->failure) {
                output_flush();
                message_print("clrsym", "%s", args->failure->message);
                g_clear_error(&args->failure);
        }
        args->failure = error;
}

bool pid_args_end(PidArgs *args, GError **error)
{
        if (!args->failure)
                return true;
        g_propagate_error(error, g_steal_pointer(&args->failure));
        return false;
}

void pid_args_print_json(json_t *value)
{
        output_json(value);
        json_decref(value);
}

void pid_args_append_name(GString *out, const json_t *of)
{
        uint64_t pid = field_number(of, "pid"), vpid = field_number(of, "vpid");

        g_string_append_printf(out, "%" G_GUINT64_FORMAT, (guint64)pid);
        if (vpid && vpid != pid)
                g_string_append_printf(
                        out, " (%" G_GUINT64_FORMAT " in pid namespace %" G_GUINT64_FORMAT ")",
                        (guint64)vpid, (guint64)field_number(of, "pid_ns"));
}

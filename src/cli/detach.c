/* SPDX-License-Identifier: MIT */
#include "attach/holder-client.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/pid-args.h"
#include "cli/verbs.h"

/* The holder's answer. NULL without ERROR: no holder runs. */
static json_t *holder_ask(const Request *request, GError **error)
{
        int fd = holder_client_ask(request, false, error);

        return fd < 0 ? NULL : holder_client_answer(fd, error);
}

/* Finds all attached processes, or those of one user. */
static bool find_attached(PidArgs *args, const Options *options, GError **error)
{
        const Request request = {.verb = REQUEST_LIST};
        g_autoptr(GError) failure = NULL;
        json_auto_t *answer = NULL;
        json_t *row;
        uid_t uid = 0;
        size_t i;

        *args = (PidArgs){.is_json = options_has(options, OPTION_JSON),
                          .pids = g_array_new(FALSE, FALSE, sizeof(pid_t))};
        if (options_has(options, OPTION_USER) && !pid_args_user(options, &uid, error))
                return false;
        answer = holder_ask(&request, &failure);
        if (failure) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return false;
        }
        json_array_foreach(json_object_get(answer, "attachments"), i, row)
        {
                pid_t pid = (pid_t)field_number(row, "pid");

                if (!options_has(options, OPTION_USER) || field_number(row, "uid") == uid)
                        g_array_append_val(args->pids, pid);
        }
        return true;
}

static void detach_one(PidArgs *args, pid_t pid)
{
        const Request request = {.verb = REQUEST_DETACH, .pid = pid};
        g_autoptr(GString) line = g_string_new(NULL);
        GError *error = NULL;
        json_auto_t *answer = holder_ask(&request, &error);

        if (!answer) {
                if (!error)
                        error = g_error_new(ATTACH_ERROR, ATTACH_ERROR_NOT_ATTACHED,
                                            "process %d is not attached", (int)pid);
                pid_args_fail(args, pid, error);
                return;
        }
        if (args->is_json) {
                json_object_set_new(answer, "state", json_string("detached"));
                pid_args_print_json(json_incref(answer));
                return;
        }
        pid_args_append_name(line, answer);
        g_string_append(line, ": detached");
        output_line(line->str, line->len);
}

bool verb_detach(const Options *options, GError **error)
{
        g_auto(PidArgs) args = {0};
        bool is_found = *options->arguments ? pid_args_init(&args, options, error)
                                            : find_attached(&args, options, error);
        guint i;

        if (!is_found)
                return false;
        for (i = 0; i < args.pids->len; i++)
                detach_one(&args, g_array_index(args.pids, pid_t, i));
        return pid_args_end(&args, error);
}

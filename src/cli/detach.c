/* SPDX-License-Identifier: MIT */
#include "attach/client.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/targets.h"
#include "cli/verbs.h"

/* The answer of a holder, if there is one; NULL without ERROR: there is none. */
static json_t *ask(const Request *request, GError **error)
{
        int fd = client_ask(request, false, error);

        return fd < 0 ? NULL : client_answer(fd, error);
}

/* Those that are attached, of all or of one user. */
static bool find_attached(Targets *targets, const Options *options, GError **error)
{
        const Request request = {.verb = REQUEST_LIST};
        g_autoptr(GError) failure = NULL;
        json_t *answer, *row;
        uid_t uid = 0;
        size_t i;

        *targets = (Targets){.is_json = options_has(options, OPTION_JSON),
                             .pids = g_array_new(FALSE, FALSE, sizeof(pid_t))};
        if (options_has(options, OPTION_USER) && !targets_user(options, &uid, error))
                return false;
        answer = ask(&request, &failure);
        if (failure) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return false;
        }
        json_array_foreach(json_object_get(answer, "attachments"), i, row)
        {
                pid_t pid = (pid_t)field_number(row, "pid");

                if (!options_has(options, OPTION_USER) || field_number(row, "uid") == uid)
                        g_array_append_val(targets->pids, pid);
        }
        json_decref(answer);
        return true;
}

static void detach(Targets *targets, pid_t pid)
{
        const Request request = {.verb = REQUEST_DETACH, .pid = pid};
        g_autoptr(GString) line = g_string_new(NULL);
        GError *error = NULL;
        json_t *answer = ask(&request, &error);

        if (!answer) {
                if (!error)
                        error = g_error_new(ATTACH_ERROR, ATTACH_ERROR_NOT_ATTACHED,
                                            "process %d is not attached", (int)pid);
                targets_fail(targets, pid, error);
                return;
        }
        if (targets->is_json) {
                json_object_set_new(answer, "state", json_string("detached"));
                targets_print_json(answer);
                return;
        }
        targets_append_name(line, answer);
        g_string_append(line, ": detached");
        output_line(line->str, line->len);
        json_decref(answer);
}

bool verb_detach(const Options *options, GError **error)
{
        g_auto(Targets) targets = {0};
        bool is_found = *options->arguments ? targets_init(&targets, options, error)
                                            : find_attached(&targets, options, error);
        guint i;

        if (!is_found)
                return false;
        for (i = 0; i < targets.pids->len; i++)
                detach(&targets, g_array_index(targets.pids, pid_t, i));
        return targets_end(&targets, error);
}

/* SPDX-License-Identifier: MIT */
#include "record/subjects.h"

#include "attach/error.h"
#include "attach/holder-client.h"
#include "attach/processes.h"
#include "attach/search.h"
#include "attach/target.h"
#include "util/fd.h"
#include "util/proc.h"
#include "util/rootfs.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/* In us, between two searches; and after a process that could not be attached yet. */
#define SEARCH_INTERVAL G_TIME_SPAN_SECOND
#define RETRY_INTERVAL  (50 * G_TIME_SPAN_MILLISECOND)

/* A process whose attachment was asked for. */
typedef struct Asked {
        pid_t pid;
        int fd; /* for the answer */
} Asked;

struct Subjects {
        SubjectsSettings settings;
        Search *search;     /* owned */
        GArray *asked;      /* owned, of Asked: the answers have not come yet */
        gint64 next_search; /* us of g_get_monotonic_time() */
        guint first_fd;     /* in the array of the last poll */
        guint n_polled;     /* answers that were polled for */
};

/* A runtime that has just started may open its port in a moment, or take a session then. */
static const AttachError TOO_EARLY[] = {ATTACH_ERROR_NO_PORT, ATTACH_ERROR_REFUSED,
                                        ATTACH_ERROR_BROKEN};

Subjects *subjects_new(const SubjectsSettings *settings)
{
        Subjects *subjects = g_new0(Subjects, 1);

        subjects->settings = *settings;
        subjects->asked = g_array_new(FALSE, FALSE, sizeof(Asked));
        subjects->search = search_new(&(SearchScope){
                .is_whole_machine = settings->is_whole_machine,
                .uid = geteuid() == 0 ? PROCESSES_ANY_USER : geteuid(),
        });
        return subjects;
}

void subjects_free(Subjects *subjects)
{
        guint i;

        if (!subjects)
                return;
        for (i = 0; i < subjects->asked->len; i++)
                close(g_array_index(subjects->asked, Asked, i).fd);
        g_array_unref(subjects->asked);
        search_free(subjects->search);
        g_free(subjects);
}

static Asked subjects_ask(const Subjects *subjects, const Request *request, GError **error)
{
        return (Asked){request->pid,
                       holder_client_ask_in(subjects->settings.holder, request, error)};
}

/* What is not asked for by its pid may have load contexts, which a listing can harm. */
static Asked subjects_ask_to_attach(const Subjects *subjects, pid_t pid, AttachList list,
                                    GError **error)
{
        const Request request = {
                .verb = REQUEST_ATTACH, .pid = pid, .via = ATTACH_VIA_EVENTPIPE, .list = list};

        return subjects_ask(subjects, &request, error);
}

static bool subjects_is_too_early(const GError *refusal)
{
        unsigned i;

        for (i = 0; i < G_N_ELEMENTS(TOO_EARLY); i++)
                if (g_error_matches(refusal, ATTACH_ERROR, (int)TOO_EARLY[i]))
                        return true;
        return false;
}

/* A process that a search found is not attached. */
static void subjects_refuse(Subjects *subjects, pid_t pid, const GError *refusal)
{
        if (subjects_is_too_early(refusal) && search_retry(subjects->search, pid))
                subjects->next_search =
                        MIN(subjects->next_search, g_get_monotonic_time() + RETRY_INTERVAL);
        else
                subjects->settings.note(refusal->message, subjects->settings.data);
}

/* How a process that a search has found comes to be attached. */
typedef enum SubjectWay {
        SUBJECT_CONNECTS,   /* by itself, to the holder's port */
        SUBJECT_IS_CUT_OFF, /* it waits for that port, which is not below its root directory */
        SUBJECT_IS_ASKED,   /* at its own port */
} SubjectWay;

static bool environment_closes_port(const char *environment, size_t n)
{
        Target target = {.pidfd = -1};

        target_take_environment(&target, environment, n);
        g_free(target.directory);
        return target.is_port_off;
}

static SubjectWay subjects_way(const Subjects *subjects, pid_t pid)
{
        const char *port = subjects->settings.port;
        g_autofree char *environment = NULL;
        FD_AUTO int root = -1;
        size_t n;

        /* Anybody can name our port in an environment. */
        if (!search_descends(subjects->search, pid))
                return SUBJECT_IS_ASKED;
        environment = proc_read_file(pid, "environ", PROC_MAX_ENVIRONMENT, &n);
        if (!environment || !memmem(environment, n, port, strlen(port)))
                return SUBJECT_IS_ASKED;
        /* It connects to nothing. The refusal has the reason. */
        if (environment_closes_port(environment, n))
                return SUBJECT_IS_ASKED;
        root = rootfs_open_root(pid);
        return root < 0 || rootfs_is_socket(root, port) ? SUBJECT_CONNECTS : SUBJECT_IS_CUT_OFF;
}

static Asked subjects_ask_for_found(const Subjects *subjects, pid_t pid, GError **error)
{
        const Request request = {.verb = REQUEST_PORT, .pid = pid};

        switch (subjects_way(subjects, pid)) {
        case SUBJECT_CONNECTS:
                break;
        case SUBJECT_IS_CUT_OFF:
                return subjects_ask(subjects, &request, error);
        case SUBJECT_IS_ASKED:
                return subjects_ask_to_attach(subjects, pid, ATTACH_LIST_AUTO, error);
        }
        return (Asked){pid, -1};
}

/* Attaches what a search has found. Nobody waits for the answers. */
static void subjects_search(Subjects *subjects)
{
        g_autoptr(GArray) added = search_look(subjects->search);
        guint i;

        subjects->next_search = g_get_monotonic_time() + SEARCH_INTERVAL;
        for (i = 0; i < added->len; i++) {
                g_autoptr(GError) refusal = NULL;
                const Asked asked =
                        subjects_ask_for_found(subjects, g_array_index(added, pid_t, i), &refusal);

                if (asked.fd >= 0)
                        g_array_append_val(subjects->asked, asked);
        }
}

static void subjects_take_answer(Subjects *subjects, guint i)
{
        const Asked asked = g_array_index(subjects->asked, Asked, i);
        g_autoptr(GError) refusal = NULL;

        json_decref(holder_client_answer(asked.fd, &refusal));
        if (refusal)
                subjects_refuse(subjects, asked.pid, refusal);
        g_array_remove_index_fast(subjects->asked, i);
}

/* Waits for each answer. */
static bool subjects_attach(Subjects *subjects, GError **error)
{
        const SubjectsSettings *settings = &subjects->settings;
        g_autofree Asked *asked = g_new0(Asked, settings->n_pids);
        size_t i, n_attached = 0;

        for (i = 0; i < settings->n_pids; i++)
                asked[i] = subjects_ask_to_attach(subjects, settings->pids[i], ATTACH_LIST_ALWAYS,
                                                  NULL);
        for (i = 0; i < settings->n_pids; i++) {
                g_autoptr(GError) refusal = NULL;
                json_auto_t *answer =
                        asked[i].fd >= 0 ? holder_client_answer(asked[i].fd, &refusal) : NULL;

                n_attached += answer != NULL;
                if (refusal && settings->n_pids == 1) {
                        g_propagate_error(error, g_steal_pointer(&refusal));
                        return false;
                }
                if (refusal)
                        settings->note(refusal->message, settings->data);
        }
        if (settings->n_pids && !n_attached) {
                g_set_error_literal(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                                    "none of the processes can be attached");
                return false;
        }
        return true;
}

bool subjects_begin(Subjects *subjects, GError **error)
{
        size_t i;

        if (subjects->settings.is_whole_machine) {
                subjects_search(subjects);
                while (subjects->asked->len)
                        subjects_take_answer(subjects, subjects->asked->len - 1);
        } else {
                for (i = 0; i < subjects->settings.n_pids; i++)
                        search_add_root(subjects->search, subjects->settings.pids[i]);
                /* Children that run already are not sampled either. */
                g_array_unref(search_look(subjects->search));
        }
        return subjects_attach(subjects, error);
}

void subjects_add_command(Subjects *subjects, pid_t pid)
{
        search_add_root(subjects->search, pid);
}

void subjects_poll(Subjects *subjects, GArray *fds)
{
        const struct pollfd ports = {.fd = search_fd(subjects->search), .events = POLLIN};
        guint i;

        subjects->first_fd = fds->len;
        subjects->n_polled = subjects->asked->len;
        g_array_append_val(fds, ports);
        for (i = 0; i < subjects->n_polled; i++) {
                const struct pollfd asked = {.fd = g_array_index(subjects->asked, Asked, i).fd,
                                             .events = POLLIN};

                g_array_append_val(fds, asked);
        }
}

void subjects_serve(Subjects *subjects, const GArray *fds)
{
        const struct pollfd *polled = &g_array_index(fds, struct pollfd, subjects->first_fd);
        guint i;

        for (i = subjects->n_polled; i-- > 0;)
                if (polled[1 + i].revents)
                        subjects_take_answer(subjects, i);
        subjects->n_polled = 0;
        if ((polled->revents && search_take_ports(subjects->search)) ||
            g_get_monotonic_time() >= subjects->next_search)
                subjects_search(subjects);
}

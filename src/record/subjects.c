/* SPDX-License-Identifier: MIT */
#include "record/subjects.h"

#include "attach/error.h"
#include "attach/holder-client.h"
#include "attach/port-watch.h"
#include "record/search.h"

#include <poll.h>
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
        Search *search;     /* owned; NULL: nothing is searched for */
        PortWatch *ports;   /* owned; NULL: they cannot be watched */
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
        if (settings->is_whole_machine || settings->n_pids) {
                subjects->search = search_new(settings->pids,
                                              settings->is_whole_machine ? 0 : settings->n_pids);
                subjects->ports = port_watch_new();
        }
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
        port_watch_free(subjects->ports);
        g_free(subjects);
}

/* What is not asked for by its pid may have load contexts, which a listing can harm. */
static Asked subjects_ask(const Subjects *subjects, pid_t pid, AttachList list, GError **error)
{
        const Request request = {
                .verb = REQUEST_ATTACH, .pid = pid, .via = ATTACH_VIA_EVENTPIPE, .list = list};

        return (Asked){pid, holder_client_ask_in(subjects->settings.holder, &request, error)};
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

/* Attaches what a search has found. Nobody waits for the answers. */
static void subjects_search(Subjects *subjects)
{
        g_autoptr(GArray) added = search_look(subjects->search);
        guint i;

        subjects->next_search = g_get_monotonic_time() + SEARCH_INTERVAL;
        for (i = 0; i < added->len; i++) {
                g_autoptr(GError) refusal = NULL;
                const Asked asked = subjects_ask(subjects, g_array_index(added, pid_t, i),
                                                 ATTACH_LIST_AUTO, &refusal);

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
                asked[i] = subjects_ask(subjects, settings->pids[i], ATTACH_LIST_ALWAYS, NULL);
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
        if (subjects->settings.is_whole_machine) {
                subjects_search(subjects);
                while (subjects->asked->len)
                        subjects_take_answer(subjects, subjects->asked->len - 1);
        } else if (subjects->search) {
                /* Children that run already are not sampled either. */
                g_array_unref(search_look(subjects->search));
                subjects->next_search = g_get_monotonic_time() + SEARCH_INTERVAL;
        }
        return subjects_attach(subjects, error);
}

void subjects_poll(Subjects *subjects, GArray *fds)
{
        const struct pollfd ports = {.fd = port_watch_fd(subjects->ports), .events = POLLIN};
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
        if (!subjects->search)
                return;
        if ((polled->revents && port_watch_take(subjects->ports)) ||
            g_get_monotonic_time() >= subjects->next_search)
                subjects_search(subjects);
}

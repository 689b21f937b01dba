/* SPDX-License-Identifier: MIT */
#include "record/subjects.h"

#include "attach/error.h"
#include "attach/holder-client.h"
#include "attach/processes.h"
#include "attach/search.h"
#include "record/spawn.h"
#include "util/kept-roots.h"

#include <poll.h>
#include <unistd.h>

/*
 * us between two searches: of the whole machine; of the descendants of a process, where short
 * programs that cannot be attached are to be found, too; and after a process that could not be
 * attached yet.
 */
#define SEARCH_INTERVAL  G_TIME_SPAN_SECOND
#define DESCENT_INTERVAL (200 * G_TIME_SPAN_MILLISECOND)
#define RETRY_INTERVAL   (50 * G_TIME_SPAN_MILLISECOND)

/* us for all answers before the recording begins: for processes of a search, and for processes that
 * the user has named, which have longer than a port may take. */
#define FOUND_LIMIT (3 * G_TIME_SPAN_SECOND)
#define NAMED_LIMIT (15 * G_TIME_SPAN_SECOND)

/* A requested attachment. */
typedef struct Asked {
        pid_t pid;
        int fd; /* for the answer */
        bool is_named;
} Asked;

struct Subjects {
        SubjectsSettings settings;
        Search *search; /* owned */
        GArray *asked;  /* owned, of Asked: without an answer yet */
        /* pid -> owned message, "" for the first: of refusals that are retried. */
        GHashTable *refusals;
        gint64 next_search; /* us of g_get_monotonic_time() */
        guint first_fd;     /* place in the array of the last poll */
        guint n_polled;     /* answers in the last poll */
        guint n_recorded;   /* processes that the user has named, and that are sampled */
        GError *refusal;    /* owned or NULL: of the only named process, before the recording */
        bool has_begun;
};

Subjects *subjects_new(const SubjectsSettings *settings)
{
        Subjects *subjects = g_new0(Subjects, 1);

        subjects->settings = *settings;
        subjects->asked = g_array_new(FALSE, FALSE, sizeof(Asked));
        subjects->refusals = g_hash_table_new_full(NULL, NULL, NULL, g_free);
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
        g_hash_table_unref(subjects->refusals);
        search_free(subjects->search);
        g_clear_error(&subjects->refusal);
        g_free(subjects);
}

/* Keeps the data for naming process PID, which can end before it is named. */
static void subjects_keep(const Subjects *subjects, pid_t pid)
{
        jit_memory_keep(subjects->settings.memory, pid);
        kept_roots_keep(pid);
}

/*
 * A process that was not named by its pid can have load contexts, in which a listing can crash it.
 */
static Asked subjects_ask_to_attach(const Subjects *subjects, pid_t pid, AttachList list,
                                    GError **error)
{
        const Request request = {
                .verb = REQUEST_ATTACH, .pid = pid, .via = ATTACH_VIA_EVENTPIPE, .list = list};

        return (Asked){.pid = pid,
                       .fd = holder_client_ask_in(subjects->settings.holder, &request, error)};
}

/* Such a process is sampled without its runtime, and native code has names. */
static bool refusal_leaves_native(const GError *refusal)
{
        return g_error_matches(refusal, ATTACH_ERROR, ATTACH_ERROR_NO_PORT) ||
               g_error_matches(refusal, ATTACH_ERROR, ATTACH_ERROR_PORT_OFF) ||
               g_error_matches(refusal, ATTACH_ERROR, ATTACH_ERROR_TOO_OLD);
}

static bool subjects_has_ended(const GError *refusal)
{
        return g_error_matches(refusal, ATTACH_ERROR, ATTACH_ERROR_ENDED) ||
               g_error_matches(refusal, ATTACH_ERROR, ATTACH_ERROR_NO_PROCESS);
}

/* A process of a search is not attached. If it has ended, it may have been attached, since it
 * connected; if not, the naming shows it. */
static void subjects_refuse(Subjects *subjects, pid_t pid, const GError *refusal)
{
        const gpointer key = GINT_TO_POINTER(pid);

        if (subjects_has_ended(refusal))
                return;
        if (attach_error_is_early(refusal) && search_retry(subjects->search, pid)) {
                const bool is_first = !g_hash_table_contains(subjects->refusals, key);

                subjects->next_search =
                        MIN(subjects->next_search, g_get_monotonic_time() + RETRY_INTERVAL);
                g_hash_table_replace(subjects->refusals, key,
                                     g_strdup(is_first ? "" : refusal->message));
        } else {
                subjects->settings.note(refusal->message, subjects->settings.data);
                g_hash_table_remove(subjects->refusals, key);
        }
}

static bool subjects_was_attached(const Subjects *subjects, pid_t pid)
{
        const char *logs = subjects->settings.logs, *name;
        g_autoptr(GDir) directory = logs ? g_dir_open(logs, 0, NULL) : NULL;
        g_autofree char *prefix = g_strdup_printf("%d-", (int)pid);

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_prefix(name, prefix))
                        return true;
        return false;
}

void subjects_end(Subjects *subjects)
{
        GHashTableIter iter;
        gpointer pid, message;

        g_hash_table_iter_init(&iter, subjects->refusals);
        while (g_hash_table_iter_next(&iter, &pid, &message))
                if (*(const char *)message &&
                    !subjects_was_attached(subjects, GPOINTER_TO_INT(pid)))
                        subjects->settings.note(message, subjects->settings.data);
        g_hash_table_remove_all(subjects->refusals);
}

/* Attaches the processes of a search, unless they have connected by themselves. Nobody waits for
 * the answers. */
static void subjects_search(Subjects *subjects)
{
        g_autoptr(GArray) added = search_look(subjects->search);
        guint i;

        subjects->next_search =
                g_get_monotonic_time() +
                (subjects->settings.is_whole_machine ? SEARCH_INTERVAL : DESCENT_INTERVAL);
        for (i = 0; i < added->len; i++) {
                g_autoptr(GError) refusal = NULL;
                const pid_t pid = g_array_index(added, pid_t, i);
                const Asked asked =
                        subjects_ask_to_attach(subjects, pid, ATTACH_LIST_AUTO, &refusal);

                subjects_keep(subjects, pid);
                if (asked.fd >= 0)
                        g_array_append_val(subjects->asked, asked);
        }
}

static void subjects_append_fds(const Subjects *subjects, GArray *fds)
{
        guint i;

        for (i = 0; i < subjects->asked->len; i++) {
                const struct pollfd asked = {.fd = g_array_index(subjects->asked, Asked, i).fd,
                                             .events = POLLIN};

                g_array_append_val(fds, asked);
        }
}

/* A process that the user has named is not attached. REFUSAL is taken over. */
static void subjects_refuse_named(Subjects *subjects, GError *refusal)
{
        if (subjects->settings.is_perf_used && refusal_leaves_native(refusal)) {
                g_prefix_error(&refusal, "not attached, so that jitted code has no names: ");
                subjects->settings.note(refusal->message, subjects->settings.data);
                subjects->n_recorded++;
                g_error_free(refusal);
                return;
        }
        if (subjects->settings.n_pids == 1 && !subjects->has_begun) {
                subjects->refusal = refusal;
                return;
        }
        subjects->settings.note(refusal->message, subjects->settings.data);
        g_error_free(refusal);
}

static void subjects_take_answer(Subjects *subjects, guint i)
{
        const Asked asked = g_array_index(subjects->asked, Asked, i);
        g_autoptr(GError) refusal = NULL;

        json_decref(holder_client_answer(asked.fd, &refusal));
        if (!refusal)
                subjects_keep(subjects, asked.pid);
        g_array_remove_index_fast(subjects->asked, i);
        if (asked.is_named && refusal)
                subjects_refuse_named(subjects, g_steal_pointer(&refusal));
        else if (asked.is_named)
                subjects->n_recorded++;
        else if (refusal)
                subjects_refuse(subjects, asked.pid, refusal);
        else
                g_hash_table_remove(subjects->refusals, GINT_TO_POINTER(asked.pid));
}

/* Waits for all answers, up to LIMIT us. */
static void subjects_await(Subjects *subjects, gint64 limit, int wake_fd)
{
        const gint64 deadline = g_get_monotonic_time() + limit;
        const struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
        g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
        gint64 left;
        guint i;

        while (subjects->asked->len && (left = deadline - g_get_monotonic_time()) > 0) {
                g_array_set_size(fds, 0);
                subjects_append_fds(subjects, fds);
                g_array_append_val(fds, wake);
                poll((struct pollfd *)(void *)fds->data, fds->len, (int)((left + 999) / 1000));
                if (g_array_index(fds, struct pollfd, fds->len - 1).revents)
                        return;
                for (i = fds->len - 1; i-- > 0;)
                        if (g_array_index(fds, struct pollfd, i).revents)
                                subjects_take_answer(subjects, i);
        }
}

static void subjects_ask_for_named(Subjects *subjects)
{
        size_t i;

        for (i = 0; i < subjects->settings.n_pids; i++) {
                Asked asked = subjects_ask_to_attach(subjects, subjects->settings.pids[i],
                                                     ATTACH_LIST_ALWAYS, NULL);

                subjects_keep(subjects, subjects->settings.pids[i]);
                asked.is_named = true;
                if (asked.fd >= 0)
                        g_array_append_val(subjects->asked, asked);
        }
}

static void subjects_note_late(const Subjects *subjects)
{
        g_autofree char *note = g_strdup_printf(
                "%u processes are not attached yet, process %d for one: they are sampled, and have "
                "names once they are attached",
                subjects->asked->len, (int)g_array_index(subjects->asked, Asked, 0).pid);

        subjects->settings.note(note, subjects->settings.data);
}

bool subjects_begin(Subjects *subjects, int wake_fd, GError **error)
{
        const SubjectsSettings *settings = &subjects->settings;
        size_t i;

        if (settings->is_whole_machine) {
                subjects_search(subjects);
        } else {
                for (i = 0; i < settings->n_pids; i++)
                        search_add_root(subjects->search, settings->pids[i]);
                /* Running children are not sampled, either. */
                g_array_unref(search_look(subjects->search));
        }
        subjects_ask_for_named(subjects);
        subjects_await(subjects, settings->is_whole_machine ? FOUND_LIMIT : NAMED_LIMIT, wake_fd);
        subjects->has_begun = true;
        if (subjects->refusal) {
                g_propagate_error(error, g_steal_pointer(&subjects->refusal));
                return false;
        }
        if (subjects->asked->len && !spawn_is_woken(wake_fd))
                subjects_note_late(subjects);
        if (!settings->n_pids || subjects->n_recorded || subjects->asked->len)
                return true;
        g_set_error_literal(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "none of the processes can be attached: clrsym doctor PID has the "
                            "reason");
        return false;
}

void subjects_add_command(Subjects *subjects, pid_t pid)
{
        search_add_root(subjects->search, pid);
}

void subjects_poll(Subjects *subjects, GArray *fds)
{
        const struct pollfd ports = {.fd = search_fd(subjects->search), .events = POLLIN};

        subjects->first_fd = fds->len;
        subjects->n_polled = subjects->asked->len;
        g_array_append_val(fds, ports);
        subjects_append_fds(subjects, fds);
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

/* SPDX-License-Identifier: MIT */
#include "record/search.h"

#include "attach/processes.h"
#include "util/proc-stat.h"

#include <unistd.h>

/* In us. After so long without a runtime, a process is taken for another program. */
#define YOUNG (10 * G_TIME_SPAN_SECOND)
/* Between two looks at a process that is not young. */
#define LATER (5 * G_TIME_SPAN_SECOND)

/* A port opens within a tenth of a second, also on a busy machine. */
#define MAX_TRIES 20

/* A process that was met. */
typedef struct Met {
        uint64_t start_ticks;
        char *program;  /* owned: its executable; NULL: not known */
        gint64 since;   /* us of g_get_monotonic_time(): when it became this program */
        gint64 settled; /* the same: when it was looked at last, if it is found or not young; or 0
                         */
        unsigned look;
        unsigned n_tries; /* to attach it */
        bool is_root;     /* or descends from one */
        bool is_found;
} Met;

struct Search {
        GHashTable *met; /* pid -> owned Met */
        uid_t uid;       /* whose processes */
        bool is_whole_machine;
        unsigned look;
};

static void met_free(void *data)
{
        Met *met = data;

        g_free(met->program);
        g_free(met);
}

/* The one that is known of PID; a new one, if none is. */
static Met *search_met(Search *search, pid_t pid)
{
        Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(pid));

        if (!met) {
                met = g_new0(Met, 1);
                g_hash_table_insert(search->met, GINT_TO_POINTER(pid), met);
        }
        return met;
}

Search *search_new(bool is_whole_machine)
{
        Search *search = g_new0(Search, 1);

        search->met = g_hash_table_new_full(NULL, NULL, NULL, met_free);
        search->uid = geteuid() == 0 ? PROCESSES_ANY_USER : geteuid();
        search->is_whole_machine = is_whole_machine;
        return search;
}

void search_free(Search *search)
{
        if (!search)
                return;
        g_hash_table_unref(search->met);
        g_free(search);
}

/* Another program in the same process, or another process, begins again. */
static void search_follow(const Search *search, Met *met, pid_t pid, const ProcStat *stat,
                          gint64 now)
{
        const Met *parent = g_hash_table_lookup(search->met, GINT_TO_POINTER(stat->parent));
        g_autofree char *path = g_strdup_printf("/proc/%d/exe", (int)pid);
        g_autofree char *program = g_file_read_link(path, NULL);

        if (met->since && met->start_ticks == stat->start_ticks &&
            !g_strcmp0(met->program, program))
                return;
        /* Whose child it is shows only at first: its parent may end. */
        if (met->since && met->start_ticks != stat->start_ticks)
                met->is_root = false;
        met->is_root |= parent && parent->is_root;
        g_free(met->program);
        met->program = g_steal_pointer(&program);
        met->start_ticks = stat->start_ticks;
        met->since = now;
        met->settled = 0;
        met->n_tries = 0;
        met->is_found = false;
}

/* True if it is found now. */
static bool search_meet(Search *search, pid_t pid, gint64 now)
{
        Met *met = search_met(search, pid);
        ProcStat stat;

        met->look = search->look;
        if ((met->settled && now - met->settled < LATER) || !proc_stat_read(pid, &stat))
                return false;
        search_follow(search, met, pid, &stat, now);
        if (met->is_found || now - met->since >= YOUNG ||
            !(search->is_whole_machine || met->is_root)) {
                met->settled = now;
                return false;
        }
        met->is_found = process_is_wanted(pid, search->uid, /* filter= */ NULL);
        return met->is_found;
}

static gboolean met_is_gone(gpointer pid, gpointer data, gpointer user)
{
        const Met *met = data;
        const Search *search = user;

        return met->look != search->look;
}

GArray *search_look(Search *search)
{
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        GArray *found = g_array_new(FALSE, FALSE, sizeof(pid_t));
        const gint64 now = g_get_monotonic_time();
        const char *name;

        search->look++;
        while (proc && (name = g_dir_read_name(proc))) {
                pid_t pid = (pid_t)g_ascii_strtoll(name, NULL, 10);

                if (g_ascii_isdigit(*name) && search_meet(search, pid, now))
                        g_array_append_val(found, pid);
        }
        g_hash_table_foreach_remove(search->met, met_is_gone, search);
        return found;
}

void search_add_root(Search *search, pid_t pid)
{
        search_met(search, pid)->is_root = true;
}

bool search_descends(const Search *search, pid_t pid)
{
        const Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(pid));

        return met && met->is_root;
}

bool search_retry(Search *search, pid_t pid)
{
        Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(pid));

        if (!met || ++met->n_tries >= MAX_TRIES)
                return false;
        met->is_found = false;
        met->settled = 0;
        return true;
}

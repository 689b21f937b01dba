/* SPDX-License-Identifier: MIT */
#include "attach/search.h"

#include "attach/processes.h"
#include "util/clock.h"
#include "util/proc-stat.h"
#include "util/proc.h"

#include <unistd.h>

/* us after which a process without a runtime counts as another program. */
#define YOUNG (10 * G_TIME_SPAN_SECOND)
/* us between two checks of a process that is not young, because a machine can have thousands. */
#define LATER (5 * G_TIME_SPAN_SECOND)

/*
 * Reading the mappings of a user's processes takes at most a quarter of the time in the long run,
 * and READ_CREDIT us at once, which suffices for hundreds of ordinary processes that start
 * together.
 */
#define READ_SHARE  4
#define READ_CREDIT G_TIME_SPAN_SECOND

/* us: minimum interval between two re-reads of all processes after lost events. */
#define RECOVER_INTERVAL (10 * G_TIME_SPAN_SECOND)

/* A port opens within a tenth of a second, even on a busy machine. */
#define MAX_TRIES 20

/* A known process. */
typedef struct Met {
        uint64_t start_ticks;
        char *program;  /* owned: its executable; NULL: not known */
        gint64 since;   /* us of g_get_monotonic_time(): when it became this program, or started */
        gint64 settled; /* the same: last check, if it is found or not young; or 0 */
        gint64 next_read; /* the same: earliest next read of its mappings */
        uid_t owner;      /* user at the last read; -1: not read yet */
        unsigned look;
        unsigned n_tries; /* attempts to attach it */
        bool is_read;     /* the members above are known */
        bool is_root;     /* a root, or a descendant of one */
        bool is_put_off;  /* to be read even when it is not young any more */
        bool is_found;
} Met;

/* A user whose processes are read. */
typedef struct SearchUser {
        gint64 paid_until; /* us of g_get_monotonic_time(): READ_SHARE times what was read */
        bool is_slow;      /* and that was reported */
        bool is_hidden;    /* the same */
} SearchUser;

struct Search {
        GHashTable *met;   /* pid -> owned Met */
        GHashTable *users; /* uid -> owned SearchUser */
        SearchScope scope;
        PortWatch *ports;    /* owned; NULL: they cannot be watched */
        gint64 next_recover; /* us of g_get_monotonic_time() */
        unsigned look;
};

static void met_free(void *data)
{
        Met *met = data;

        g_free(met->program);
        g_free(met);
}

/* The known process PID; adds it if necessary. */
static Met *search_met(Search *search, pid_t pid)
{
        Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(pid));

        if (!met) {
                met = g_new0(Met, 1);
                met->owner = (uid_t)-1;
                g_hash_table_insert(search->met, GINT_TO_POINTER(pid), met);
        }
        return met;
}

Search *search_new(const SearchScope *scope)
{
        Search *search = g_new0(Search, 1);

        search->met = g_hash_table_new_full(NULL, NULL, NULL, met_free);
        search->users = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        search->scope = *scope;
        search->ports = port_watch_new();
        return search;
}

void search_free(Search *search)
{
        if (!search)
                return;
        g_hash_table_unref(search->met);
        g_hash_table_unref(search->users);
        port_watch_free(search->ports);
        g_free(search);
}

/* us since the start of the process. */
static gint64 process_age(const ProcStat *stat)
{
        const uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);

        return clock_ns(CLOCK_BOOTTIME) / 1000 -
               (gint64)(stat->start_ticks * (uint64_t)G_TIME_SPAN_SECOND / second);
}

/* Starts again if the process runs another program, or is another process: returns true then. */
static bool search_follow(const Search *search, Met *met, pid_t pid, const ProcStat *stat,
                          gint64 now)
{
        const Met *parent = g_hash_table_lookup(search->met, GINT_TO_POINTER(stat->parent));
        const bool is_same = met->is_read && met->start_ticks == stat->start_ticks;
        g_autofree char *path = g_strdup_printf("/proc/%d/exe", (int)pid);
        g_autofree char *program = g_file_read_link(path, NULL);

        if (is_same && !g_strcmp0(met->program, program))
                return false;
        /* The parent of a process is recorded at first sight, because the parent may exit. */
        if (met->is_read && !is_same)
                met->is_root = false;
        met->is_root |= parent && parent->is_root;
        g_free(met->program);
        met->program = g_steal_pointer(&program);
        met->start_ticks = stat->start_ticks;
        met->since = is_same ? now : now - process_age(stat);
        met->next_read = 0;
        met->n_tries = 0;
        met->is_read = true;
        met->is_found = false;
        return true;
}

static SearchUser *search_user(Search *search, uid_t uid)
{
        SearchUser *user = g_hash_table_lookup(search->users, GUINT_TO_POINTER(uid));

        if (!user) {
                user = g_new0(SearchUser, 1);
                g_hash_table_insert(search->users, GUINT_TO_POINTER(uid), user);
        }
        return user;
}

/* True if its mappings may be read now. */
static bool search_may_read(Search *search, const Met *met, SearchUser *user, gint64 now)
{
        const SearchScope *scope = &search->scope;

        /* Reading our own processes costs no other user time. */
        if (met->owner == geteuid())
                return true;
        if (now < met->next_read)
                return false;
        if (user->paid_until - now < READ_SHARE * READ_CREDIT)
                return true;
        if (!user->is_slow && scope->slow)
                scope->slow(met->owner, scope->data);
        user->is_slow = true;
        return false;
}

/* True if the process is wanted. If its mappings may not be read yet, the read is postponed. */
static bool search_read(Search *search, Met *met, pid_t pid)
{
        const SearchScope *scope = &search->scope;
        const gint64 begin = g_get_monotonic_time();
        SearchUser *user;
        ProcessKind kind;
        gint64 cost;

        met->is_put_off = false;
        if (!proc_uid(pid, &met->owner))
                return false;
        user = search_user(search, met->owner);
        if (!search_may_read(search, met, user, begin)) {
                met->is_put_off = true;
                return false;
        }
        kind = process_kind(pid, scope->uid, scope->filter);
        cost = (g_get_monotonic_time() - begin) * READ_SHARE;
        user->paid_until = MAX(user->paid_until, begin) + cost;
        met->next_read = begin + cost;
        if (kind == PROCESS_HIDDEN && !user->is_hidden && scope->hidden)
                scope->hidden(met->owner, scope->data);
        user->is_hidden |= kind == PROCESS_HIDDEN;
        return kind == PROCESS_WANTED;
}

/* True if the process is found now. */
static bool search_meet(Search *search, pid_t pid, gint64 now)
{
        Met *met = search_met(search, pid);
        ProcStat stat;
        bool begins, is_young;

        met->look = search->look;
        if ((met->settled && now - met->settled < LATER) || !proc_stat_read(pid, &stat) ||
            stat.state == 'Z')
                return false;
        begins = search_follow(search, met, pid, &stat, now);
        is_young = now - met->since < YOUNG;
        if (!met->is_found && (begins || is_young || met->is_put_off) &&
            (search->scope.is_whole_machine || met->is_root)) {
                met->is_found = search_read(search, met, pid);
                met->settled = met->is_found || (!is_young && !met->is_put_off) ? now : 0;
                return met->is_found;
        }
        met->settled = now;
        return false;
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

bool search_has(const Search *search, pid_t pid)
{
        const Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(pid));

        return met && met->is_found;
}

int search_fd(const Search *search)
{
        return port_watch_fd(search->ports);
}

uid_t search_owner(const Search *search, pid_t pid)
{
        const Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(pid));

        return met ? met->owner : (uid_t)-1;
}

/* A lost event may have been the port of any process that is not found yet. */
static void search_recover(Search *search)
{
        const gint64 now = g_get_monotonic_time();
        GHashTableIter iter;
        gpointer value;

        if (now < search->next_recover)
                return;
        search->next_recover = now + RECOVER_INTERVAL;
        g_hash_table_iter_init(&iter, search->met);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Met *met = value;

                if (met->is_found)
                        continue;
                met->is_put_off = true;
                met->settled = 0;
        }
}

/* Any user can choose the pid in the name, but the port belongs to the process's user or to root.
 * If the pid is of another namespace, one read is wasted. */
static bool search_take_port(Search *search, const PortMade *made)
{
        Met *met = g_hash_table_lookup(search->met, GINT_TO_POINTER(made->pid));

        if (!met)
                return true;
        if (met->owner != (uid_t)-1 && made->uid != met->owner && made->uid != 0)
                return false;
        met->since = g_get_monotonic_time();
        met->settled = 0;
        return true;
}

bool search_take_ports(Search *search)
{
        g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(PortMade));
        bool is_time = false;
        guint i;

        if (!port_watch_take(search->ports, made))
                search_recover(search);
        for (i = 0; i < made->len; i++)
                is_time |= search_take_port(search, &g_array_index(made, PortMade, i));
        return is_time;
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

/* SPDX-License-Identifier: MIT */
#include "daemon/pid-cache.h"

#include "daemon/seen-process.h"
#include "util/cpu-share.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc-ns.h"
#include "util/proc.h"

#include <errno.h>
#include <glib.h>

/* Guesses; untuned. */
#define MAX_ENTRIES          256
#define MAX_ENTRIES_PER_USER 64
#define LOOKUP_SHARE         5
#define LOOKUP_BURST         (200 * INT64_C(1000000)) /* ns of CPU */

typedef struct PidEntry {
        ProcessKey asked; /* the namespace and the pid asked for */
        ProcessKey key;   /* the process's own namespace and pid */
        uid_t uid;        /* asked first for it */
        SeenProcess process;
        GList link; /* in `used` */
} PidEntry;

typedef struct PidUser {
        CpuShare share; /* of lookups for the user */
        unsigned n_entries;
} PidUser;

struct PidCache {
        GHashTable *entries; /* ProcessKey in the entry -> owned PidEntry */
        GHashTable *users;   /* uid -> owned PidUser */
        GQueue used;         /* of entries; the head was used last */
        uint64_t own_pid_ns; /* constant */
        ProcessKey missed;   /* no such process ran at `missed_time`, us */
        gint64 missed_time;
};

static void pid_entry_free(gpointer data)
{
        PidEntry *entry = data;

        seen_process_clear(&entry->process);
        g_free(entry);
}

PidCache *pid_cache_new(void)
{
        PidCache *cache = g_new0(PidCache, 1);

        cache->entries =
                g_hash_table_new_full(process_key_hash, process_key_equal, NULL, pid_entry_free);
        cache->users = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        cache->own_pid_ns = proc_own_pid_ns();
        return cache;
}

void pid_cache_free(PidCache *cache)
{
        if (!cache)
                return;
        g_hash_table_unref(cache->entries);
        g_hash_table_unref(cache->users);
        g_free(cache);
}

static PidUser *pid_cache_user(PidCache *cache, uid_t uid)
{
        PidUser *user = g_hash_table_lookup(cache->users, GUINT_TO_POINTER(uid));

        if (!user) {
                user = g_new0(PidUser, 1);
                g_hash_table_insert(cache->users, GUINT_TO_POINTER(uid), user);
        }
        return user;
}

static void pid_cache_remove(PidCache *cache, PidEntry *entry)
{
        pid_cache_user(cache, entry->uid)->n_entries--;
        g_queue_unlink(&cache->used, &entry->link);
        g_hash_table_remove(cache->entries, &entry->asked);
}

/* Makes room for one more entry of UID: drops one of UID's if its share is used up, else any. */
static void pid_cache_make_room(PidCache *cache, uid_t uid)
{
        bool is_own = pid_cache_user(cache, uid)->n_entries >= MAX_ENTRIES_PER_USER;
        GList *at;

        if (!is_own && cache->used.length < MAX_ENTRIES)
                return;
        for (at = cache->used.tail; at; at = at->prev) {
                PidEntry *entry = at->data;

                if (!is_own || entry->uid == uid) {
                        pid_cache_remove(cache, entry);
                        return;
                }
        }
}

/* Takes over PROCESS. */
static void pid_cache_add(PidCache *cache, uid_t uid, const ProcessKey *asked,
                          const ProcessKey *key, SeenProcess process)
{
        PidEntry *entry = g_new0(PidEntry, 1);

        pid_cache_make_room(cache, uid);
        *entry = (PidEntry){.asked = *asked, .key = *key, .uid = uid, .process = process};
        entry->link.data = entry;
        g_queue_push_head_link(&cache->used, &entry->link);
        g_hash_table_insert(cache->entries, &entry->asked, entry);
        pid_cache_user(cache, uid)->n_entries++;
}

static bool pid_cache_look_up(PidCache *cache, uid_t uid, const ProcessKey *asked,
                              ProcessKey *ret_key)
{
        SeenProcess process;
        ProcKey key;

        /* The fastest way for an ended process of the daemon's own namespace. */
        if (asked->pid_ns == cache->own_pid_ns) {
                FD_AUTO int pidfd = pidfd_open(asked->pid, 0);

                if (pidfd < 0 && errno == ESRCH)
                        return false;
        }
        if (!proc_find_key_in(asked->pid_ns, asked->pid, &key))
                return false;
        *ret_key = key.key;
        process = seen_process_open(key.host_pid);
        /* Kept if it is that process, not a later one with its pid. */
        if (proc_is_same_start(proc_start_time(key.host_pid), key.start) &&
            seen_process_lives(&process, g_get_monotonic_time()))
                pid_cache_add(cache, uid, asked, &key.key, process);
        else
                seen_process_clear(&process);
        return true;
}

/* Looks the process up, if UID has time left. Else the process is unknown. */
static bool pid_cache_try(PidCache *cache, uid_t uid, const ProcessKey *asked, ProcessKey *ret_key)
{
        PidUser *user = pid_cache_user(cache, uid);
        bool is_found;

        if (!cpu_share_begin(&user->share, LOOKUP_BURST, LOOKUP_SHARE)) {
                *ret_key = *asked;
                return true;
        }
        is_found = pid_cache_look_up(cache, uid, asked, ret_key);
        cpu_share_end(&user->share);
        return is_found;
}

bool pid_cache_find(PidCache *cache, uid_t uid, uint64_t pid_ns, int32_t pid, ProcessKey *ret_key)
{
        const ProcessKey asked = {pid_ns, pid};
        PidEntry *entry = g_hash_table_lookup(cache->entries, &asked);
        gint64 now = g_get_monotonic_time();

        if (entry && seen_process_lives(&entry->process, now)) {
                g_queue_unlink(&cache->used, &entry->link);
                g_queue_push_head_link(&cache->used, &entry->link);
                *ret_key = entry->key;
                return true;
        }
        if (entry)
                pid_cache_remove(cache, entry);
        if (now - cache->missed_time < SEEN_PROCESS_FRESH_US &&
            process_key_equal(&cache->missed, &asked))
                return false;
        if (pid_cache_try(cache, uid, &asked, ret_key))
                return true;
        cache->missed = asked;
        cache->missed_time = now;
        return false;
}

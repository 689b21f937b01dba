/* SPDX-License-Identifier: MIT */
#include "lttng/trace-list.h"

#include "lttng/state-dir.h"
#include "util/child.h"
#include "util/runtime-path.h"
#include "util/remove-tree.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME "traces"
/* Deep enough for HOST/SESSION/ust/uid/1000/64-bit/index. */
#define MAX_DEPTH 6

/* NULL: it cannot be made. Owned by the caller. */
static char *list_directory(void)
{
        const char *given = runtime_variable("CLRSYM_SESSIONS");
        g_autofree char *path =
                given ? g_strdup(given) : g_build_filename(g_get_user_state_dir(), "clrsym", NULL);

        return g_mkdir_with_parents(path, 0700) == 0 ? g_steal_pointer(&path) : NULL;
}

/* An array of {"session": ..., "path": ...}, oldest first. */
static json_t *list_read(const char *directory)
{
        json_auto_t *object = state_dir_read(directory, FILE_NAME, NULL);
        json_t *traces = json_object_get(object, "traces");

        return json_is_array(traces) ? json_incref(traces) : json_array();
}

static void list_write(const char *directory, json_t *traces)
{
        json_auto_t *object = json_pack("{s:O}", "traces", traces);
        g_autoptr(GError) error = NULL;

        if (!state_dir_write(directory, FILE_NAME, object, &error))
                g_debug("%s", error->message);
}

/* NAME is SESSION-20261121-075400. */
static bool trace_name_is_of(const char *name, const char *session)
{
        size_t n = strlen(session);
        unsigned date, time;
        int n_read = 0;

        return !strncmp(name, session, n) &&
               sscanf(name + n, "-%8u-%6u%n", &date, &time, &n_read) == 2 &&
               name[n + (size_t)n_read] == '\0';
}

GPtrArray *trace_list_find(const char *output, const char *session)
{
        GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
        char hostname[HOST_NAME_MAX + 1] = "";
        g_autofree char *parent = NULL;
        g_autoptr(GDir) directory = NULL;
        const char *name;

        gethostname(hostname, sizeof(hostname) - 1);
        parent = g_build_filename(output, hostname, NULL);
        directory = g_dir_open(parent, 0, NULL);
        while (directory && (name = g_dir_read_name(directory)))
                if (trace_name_is_of(name, session))
                        g_ptr_array_add(paths, g_build_filename(parent, name, NULL));
        return paths;
}

void trace_list_add(const char *output, const char *session, const GPtrArray *before)
{
        g_autoptr(GPtrArray) now = trace_list_find(output, session);
        g_autofree char *directory = list_directory();
        json_auto_t *traces = directory ? list_read(directory) : NULL;
        guint i;

        for (i = 0; traces && i < now->len; i++)
                if (!g_ptr_array_find_with_equal_func((GPtrArray *)before, now->pdata[i],
                                                      g_str_equal, NULL))
                        json_array_append_new(traces, json_pack("{s:s, s:s}", "session", session,
                                                                "path", now->pdata[i]));
        if (traces)
                list_write(directory, traces);
}

/* The time of the last write below PATH, in us since 1970; 0: there are no files. */
static gint64 trace_last_write(const char *path, unsigned depth)
{
        g_autoptr(GDir) directory = NULL;
        struct stat st;
        const char *name;
        gint64 last;

        if (lstat(path, &st) < 0)
                return 0;
        last = (gint64)st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
        directory = depth > 0 && S_ISDIR(st.st_mode) ? g_dir_open(path, 0, NULL) : NULL;
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                last = MAX(last, trace_last_write(below, depth - 1));
        }
        return last;
}

/* Removes a directory with the rights of its owner: root follows no link that the owner has made
 * since. */
static void trace_remove(const char *path)
{
        struct stat st;
        pid_t pid;

        if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
                return;
        if (geteuid() != 0 || st.st_uid == 0) {
                remove_tree(path);
                return;
        }
        pid = fork();
        if (pid == 0) {
                if (setgroups(0, NULL) == 0 && setgid(st.st_gid) == 0 && setuid(st.st_uid) == 0)
                        remove_tree(path);
                _exit(0);
        }
        if (pid > 0)
                child_wait(pid, G_MAXINT64, -1, NULL);
}

/* True if no later entry of the list is of the same session. */
static bool trace_is_newest(const json_t *traces, size_t i)
{
        const char *session =
                json_string_value(json_object_get(json_array_get(traces, i), "session"));
        size_t j;

        for (j = i + 1; j < json_array_size(traces); j++)
                if (!g_strcmp0(session, json_string_value(json_object_get(json_array_get(traces, j),
                                                                          "session"))))
                        return false;
        return true;
}

/* True: the entry is dropped, because its directory is removed or is gone. */
static bool trace_clean(const json_t *traces, size_t i, const TraceListCalls *calls, void *data)
{
        const json_t *trace = json_array_get(traces, i);
        const char *session = json_string_value(json_object_get(trace, "session"));
        const char *path = json_string_value(json_object_get(trace, "path"));
        g_autofree char *name = path ? g_path_get_basename(path) : NULL;
        gint64 last;

        if (!session || !path || !g_path_is_absolute(path) || !trace_name_is_of(name, session) ||
            access(path, F_OK) < 0)
                return true;
        if (trace_is_newest(traces, i) && calls->is_present(data, session))
                return false;
        last = trace_last_write(path, MAX_DEPTH);
        if (g_get_real_time() - last <= (gint64)TRACE_MAX_AGE * G_USEC_PER_SEC &&
            !calls->was_read(data, session, last))
                return false;
        trace_remove(path);
        return access(path, F_OK) < 0;
}

void trace_list_clean(const TraceListCalls *calls, void *data)
{
        g_autofree char *directory = list_directory();
        json_auto_t *traces = directory ? list_read(directory) : NULL;
        size_t i, n = json_array_size(traces);

        for (i = n; i-- > 0;)
                if (trace_clean(traces, i, calls, data))
                        json_array_remove(traces, i);
        if (json_array_size(traces) != n)
                list_write(directory, traces);
}

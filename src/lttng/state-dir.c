/* SPDX-License-Identifier: MIT */
#include "lttng/state-dir.h"

#include "lttng/errors.h"
#include "util/fd.h"
#include "util/runtime-path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_DIRECTORY RUNTIME_SYSTEM "/sessions"
#define LOCK             "lock"
/* Thousands of tracked pids fit in. */
#define MAX_FILE (1u << 20)

static gboolean state_dir_fail(GError **error, const char *what, const char *path)
{
        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED, "cannot %s %s: %s", what, path,
                    g_strerror(errno));
        return FALSE;
}

static char *state_dir_path(GError **error)
{
        const char *given = g_getenv("CLRSYM_SESSIONS"), *runtime = runtime_directory_own();

        if (given && *given)
                return g_strdup(given);
        if (geteuid() == 0)
                return g_strdup(SYSTEM_DIRECTORY);
        if (runtime)
                return g_build_filename(runtime, "clrsym", "sessions", NULL);
        g_set_error(
                error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                "no directory to remember sessions in: set XDG_RUNTIME_DIR, as a login does, or "
                "CLRSYM_SESSIONS to a directory of yours");
        return NULL;
}

static bool state_dir_check(const char *directory, GError **error)
{
        struct stat st;

        if (lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
                return true;
        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                    "%s is not a directory of yours: set CLRSYM_SESSIONS to one", directory);
        return false;
}

char *state_dir_look(GError **error)
{
        g_autofree char *directory = state_dir_path(error);

        if (!directory || access(directory, F_OK) < 0 || !state_dir_check(directory, error))
                return NULL;
        return g_steal_pointer(&directory);
}

char *state_dir_open(GError **error)
{
        g_autofree char *directory = state_dir_path(error), *parent = NULL;

        if (!directory)
                return NULL;
        parent = g_path_get_dirname(directory);
        /* Other programs use the parent as well, but not the directory itself. */
        if (g_mkdir_with_parents(parent, 0755) < 0 ||
            (mkdir(directory, 0700) < 0 && errno != EEXIST)) {
                state_dir_fail(error, "make", directory);
                return NULL;
        }
        return state_dir_check(directory, error) ? g_steal_pointer(&directory) : NULL;
}

int state_dir_lock(const char *directory, GError **error)
{
        g_autofree char *path = g_build_filename(directory, LOCK, NULL);
        FD_AUTO int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd < 0 || flock(fd, LOCK_EX) < 0) {
                state_dir_fail(error, "lock", path);
                return -1;
        }
        return fd_steal(&fd);
}

/* The file's text; NULL with errno set. Does not wait for the writer of a pipe of that name. */
static GString *file_read_text(const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        GString *text = g_string_new(NULL);
        int code = 0;
        struct stat st;
        char bytes[4096];
        ssize_t n = 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                code = errno;
        else if (!S_ISREG(st.st_mode))
                code = EINVAL;
        while (!code && (n = read(fd, bytes, sizeof(bytes))) > 0) {
                g_string_append_len(text, bytes, n);
                if (text->len > MAX_FILE)
                        code = EFBIG;
        }
        if (!code && n < 0)
                code = errno;
        if (!code)
                return text;
        g_string_free(text, TRUE);
        errno = code;
        return NULL;
}

json_t *state_dir_read(const char *directory, const char *name, GError **error)
{
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autoptr(GString) text = file_read_text(path);
        json_error_t wrong;
        json_t *value;

        if (!text) {
                if (errno != ENOENT)
                        state_dir_fail(error, "read", path);
                return NULL;
        }
        value = json_loadb(text->str, text->len, JSON_REJECT_DUPLICATES, &wrong);
        if (!json_is_object(value)) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED, "%s is damaged (%s): remove it",
                            path, value ? "not an object" : wrong.text);
                json_decref(value);
                return NULL;
        }
        return value;
}

gboolean state_dir_write(const char *directory, const char *name, const json_t *value,
                         GError **error)
{
        g_autofree char *path = g_build_filename(directory, name, NULL);
        char *text = json_dumps(value, JSON_INDENT(1));
        gboolean ok = g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                               error);

        free(text);
        return ok;
}

void state_dir_remove(const char *directory, const char *name)
{
        g_autofree char *path = g_build_filename(directory, name, NULL);

        unlink(path);
}

static gint name_compare(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *state_dir_list(const char *directory, const char *suffix)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_str_has_suffix(name, suffix) && strlen(name) > strlen(suffix))
                        g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(suffix)));
        g_ptr_array_sort(names, name_compare);
        return g_steal_pointer(&names);
}

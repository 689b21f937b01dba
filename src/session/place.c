/* SPDX-License-Identifier: MIT */
#include "session/place.h"

#include "session/session-error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_PLACE "/run/clrsym/sessions"
#define LOCK         "lock"
/* Thousands of tracked pids fit in. */
#define MAX_FILE (1u << 20)

static gboolean fail(GError **error, const char *what, const char *path)
{
        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED, "cannot %s %s: %s", what, path,
                    g_strerror(errno));
        return FALSE;
}

static char *find(GError **error)
{
        const char *given = g_getenv("CLRSYM_SESSIONS"), *runtime = g_getenv("XDG_RUNTIME_DIR");

        if (given && *given)
                return g_strdup(given);
        if (geteuid() == 0)
                return g_strdup(SYSTEM_PLACE);
        if (runtime && *runtime)
                return g_build_filename(runtime, "clrsym", "sessions", NULL);
        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                    "no place to remember sessions in: set XDG_RUNTIME_DIR, as a login does, or "
                    "CLRSYM_SESSIONS to a directory of yours");
        return NULL;
}

static bool check(const char *place, GError **error)
{
        struct stat st;

        if (lstat(place, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
                return true;
        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                    "%s is no directory of yours: set CLRSYM_SESSIONS to one", place);
        return false;
}

char *place_look(GError **error)
{
        g_autofree char *place = find(error);

        if (!place || access(place, F_OK) < 0 || !check(place, error))
                return NULL;
        return g_steal_pointer(&place);
}

char *place_open(GError **error)
{
        g_autofree char *place = find(error), *parent = NULL;

        if (!place)
                return NULL;
        parent = g_path_get_dirname(place);
        /* Others have their own things below the parent; nobody has in the directory itself. */
        if (g_mkdir_with_parents(parent, 0755) < 0 || (mkdir(place, 0700) < 0 && errno != EEXIST)) {
                fail(error, "make", place);
                return NULL;
        }
        return check(place, error) ? g_steal_pointer(&place) : NULL;
}

int place_lock(const char *place, GError **error)
{
        g_autofree char *path = g_build_filename(place, LOCK, NULL);
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd < 0 || flock(fd, LOCK_EX) < 0) {
                fail(error, "lock", path);
                if (fd >= 0)
                        close(fd);
                return -1;
        }
        return fd;
}

/* The file's text; NULL with errno set. Does not wait for who may write to a pipe of that name. */
static GString *read_text(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), code = 0;
        GString *text = g_string_new(NULL);
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
        if (fd >= 0)
                close(fd);
        if (!code)
                return text;
        g_string_free(text, TRUE);
        errno = code;
        return NULL;
}

json_t *place_read(const char *place, const char *name, GError **error)
{
        g_autofree char *path = g_build_filename(place, name, NULL);
        g_autoptr(GString) text = read_text(path);
        json_error_t wrong;
        json_t *value;

        if (!text) {
                if (errno != ENOENT)
                        fail(error, "read", path);
                return NULL;
        }
        value = json_loadb(text->str, text->len, JSON_REJECT_DUPLICATES, &wrong);
        if (!json_is_object(value)) {
                g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                            "%s is damaged (%s): remove it", path,
                            value ? "no object" : wrong.text);
                json_decref(value);
                return NULL;
        }
        return value;
}

gboolean place_write(const char *place, const char *name, const json_t *value, GError **error)
{
        g_autofree char *path = g_build_filename(place, name, NULL);
        char *text = json_dumps(value, JSON_INDENT(1));
        gboolean ok = g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                               error);

        free(text);
        return ok;
}

void place_remove(const char *place, const char *name)
{
        g_autofree char *path = g_build_filename(place, name, NULL);

        unlink(path);
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *place_list(const char *place, const char *suffix)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) directory = g_dir_open(place, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, suffix) && strlen(name) > strlen(suffix))
                        g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(suffix)));
        g_ptr_array_sort(names, compare_names);
        return g_steal_pointer(&names);
}

/* SPDX-License-Identifier: MIT */
#include "util/output-path.h"

#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

/* The kernel's limit. */
#define MAX_LINKS 40

/* The link or file that was refused. */
typedef struct PathRefusal {
        char *path;   /* owned: the path up to it; NULL: nothing was refused */
        bool is_link; /* false: a file */
        uid_t uid;    /* its owner */
} PathRefusal;

typedef struct PathWalk {
        int directory; /* the present directory; O_PATH */
        GString *rest; /* owned: the rest of the path */
        GString *done; /* owned: the walked part, for messages */
        unsigned n_links;
        PathRefusal *refusal; /* borrowed or NULL */
} PathWalk;

static void path_walk_clear(PathWalk *walk)
{
        fd_clear(&walk->directory);
        g_string_free(walk->rest, TRUE);
        g_string_free(walk->done, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PathWalk, path_walk_clear)

/* True if the entry of DIRECTORY, with OWNER, may be followed; false: it can be another user's
 * trap. */
static bool entry_is_trusted(int directory, uid_t owner)
{
        struct stat st;

        if (owner == geteuid())
                return true;
        if (fstat(directory, &st) < 0)
                return false;
        return !(st.st_mode & S_ISVTX) || !(st.st_mode & (S_IWGRP | S_IWOTH)) || owner == st.st_uid;
}

static int path_walk_refuse(const PathWalk *walk, const char *name, const struct stat *st)
{
        PathRefusal *refusal = walk->refusal;

        if (refusal && !refusal->path)
                *refusal = (PathRefusal){.path = g_strconcat(walk->done->str, name, NULL),
                                         .is_link = S_ISLNK(st->st_mode),
                                         .uid = st->st_uid};
        return -EACCES;
}

/* Links of procfs lead to open files of a process: their text is not a path. */
static bool directory_is_procfs(int directory)
{
        struct statfs fs;

        return fstatfs(directory, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int path_walk_enter(PathWalk *walk, const char *path)
{
        int fd = openat(walk->directory < 0 ? AT_FDCWD : walk->directory, path,
                        O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

        if (fd < 0)
                return -errno;
        fd_clear(&walk->directory);
        walk->directory = fd;
        return 0;
}

/* Goes to where REST begins: the root directory, or the present one. */
static int path_walk_begin(PathWalk *walk)
{
        const bool is_absolute = walk->rest->str[0] == '/';

        if (!is_absolute && walk->directory >= 0)
                return 0;
        fd_clear(&walk->directory);
        g_string_assign(walk->done, is_absolute ? "/" : "");
        return path_walk_enter(walk, is_absolute ? "/" : ".");
}

/* The next name of REST (owned), which is removed from REST; NULL: none. RET_IS_LAST: at most
 * slashes follow it. */
static char *path_walk_take(PathWalk *walk, bool *ret_is_last)
{
        const char *begin = walk->rest->str + strspn(walk->rest->str, "/");
        const size_t n = strcspn(begin, "/");
        char *name = n ? g_strndup(begin, n) : NULL;

        begin += n;
        *ret_is_last = !begin[strspn(begin, "/")];
        g_string_erase(walk->rest, 0, begin - walk->rest->str);
        return name;
}

/* Follows the link NAME: its text comes before the rest of the path. */
static int path_walk_follow(PathWalk *walk, const char *name, const struct stat *st)
{
        char text[PATH_MAX];
        ssize_t n;

        if (!entry_is_trusted(walk->directory, st->st_uid))
                return path_walk_refuse(walk, name, st);
        if (++walk->n_links > MAX_LINKS)
                return -ELOOP;
        n = readlinkat(walk->directory, name, text, sizeof(text));
        if (n < 0 || (size_t)n == sizeof(text))
                return n < 0 ? -errno : -ENAMETOOLONG;
        g_string_prepend_len(walk->rest, text, n);
        return path_walk_begin(walk);
}

/* NAME is the file: it exists with the status ST, or does not exist (ST NULL). */
static int path_walk_end(PathWalk *walk, char *name, const struct stat *st, OutputPath *ret_path)
{
        g_autofree char *owned = name;

        if (st && S_ISDIR(st->st_mode))
                return -EISDIR;
        if (st && !entry_is_trusted(walk->directory, st->st_uid))
                return path_walk_refuse(walk, name, st);
        *ret_path = (OutputPath){.directory = fd_steal(&walk->directory),
                                 .name = g_steal_pointer(&owned),
                                 .is_there = st != NULL};
        if (st)
                ret_path->stat = *st;
        return 0;
}

/* Walks one name further. 1: the walk continues. */
static int path_walk_step(PathWalk *walk, OutputPath *ret_path)
{
        bool is_last, is_slashed;
        g_autofree char *name = path_walk_take(walk, &is_last);
        struct stat st;
        int r;

        if (!name) /* "/", or a path that ends with a link to a directory */
                return walk->rest->len ? -EISDIR : -ENOENT;
        is_slashed = walk->rest->len > 0;
        if (fstatat(walk->directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT && is_last && !is_slashed
                               ? path_walk_end(walk, g_steal_pointer(&name), NULL, ret_path)
                               : -errno;
        if (S_ISLNK(st.st_mode) && directory_is_procfs(walk->directory)) {
                if (!is_last)
                        return -EACCES;
                return fstatat(walk->directory, name, &st, 0) < 0
                               ? -errno
                               : path_walk_end(walk, g_steal_pointer(&name), &st, ret_path);
        }
        if (S_ISLNK(st.st_mode)) {
                r = path_walk_follow(walk, name, &st);
                return r < 0 ? r : 1;
        }
        if (is_last && !S_ISDIR(st.st_mode))
                return is_slashed ? -ENOTDIR
                                  : path_walk_end(walk, g_steal_pointer(&name), &st, ret_path);
        if (is_last)
                return -EISDIR;
        r = path_walk_enter(walk, name);
        g_string_append(walk->done, name);
        g_string_append_c(walk->done, '/');
        return r < 0 ? r : 1;
}

static int path_walk(const char *path, OutputPath *ret_path, PathRefusal *refusal)
{
        g_auto(PathWalk) walk = {.directory = -1,
                                 .rest = g_string_new(path),
                                 .done = g_string_new(NULL),
                                 .refusal = refusal};
        int r = *path ? path_walk_begin(&walk) : -ENOENT;

        if (r < 0)
                return r;
        do
                r = path_walk_step(&walk, ret_path);
        while (r > 0);
        return r;
}

int output_path_find(OutputPath *ret_path, const char *path)
{
        return path_walk(path, ret_path, /* refusal= */ NULL);
}

void output_path_clear(OutputPath *path)
{
        fd_clear(&path->directory);
        g_clear_pointer(&path->name, g_free);
}

int output_path_open(const char *path, int flags, mode_t mode)
{
        g_auto(OutputPath) found = OUTPUT_PATH_INIT;
        int r = output_path_find(&found, path), fd;

        if (r < 0)
                return r;
        if (!directory_is_procfs(found.directory))
                flags |= O_NOFOLLOW;
        /* Another user may make the file meanwhile: then it is not the checked one. */
        if (!found.is_there && flags & O_CREAT)
                flags |= O_EXCL;
        fd = openat(found.directory, found.name, flags | O_CLOEXEC | O_NOCTTY, mode);
        return fd < 0 ? -errno : fd;
}

char *output_path_error(const char *path, int errno_value)
{
        g_auto(OutputPath) found = OUTPUT_PATH_INIT;
        PathRefusal refusal = {NULL};
        g_autofree char *refused = NULL;

        if (!path || errno_value != EACCES || path_walk(path, &found, &refusal) == 0)
                return g_strdup(g_strerror(errno_value));
        refused = refusal.path;
        if (!refused)
                return g_strdup(g_strerror(errno_value));
        return g_strdup_printf("%s is a %s of user %u, in a directory where others may make files: "
                               "remove it, or give another path",
                               refused, refusal.is_link ? "symbolic link" : "file",
                               (unsigned)refusal.uid);
}

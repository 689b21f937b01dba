/* SPDX-License-Identifier: MIT */
#include "cli/map-file.h"

#include "cli/answer-source.h"
#include "util/atomic-file.h"
#include "util/fd.h"
#include "util/proc.h"
#include "util/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

struct MapFile {
        char *path;       /* owned: path for messages */
        OutputPath place; /* owned; its STAT is not used */
        bool is_of_user;  /* write with the rights of this user: */
        uid_t uid;
        gid_t gid;
        bool is_forced;
        bool is_written;
        struct stat written; /* the file after the last write */
        int lock;            /* owned: descriptor of the written file, locked; -1: none. Renames
                              * keep the lock, and the kernel removes it at the end of clrsym */
};

/* Switches this thread's file access rights to those of the process's user, or back. */
static bool map_file_set_rights(const MapFile *file, bool is_user)
{
        if (!file->is_of_user)
                return true;
        setfsgid(is_user ? file->gid : getegid());
        setfsuid(is_user ? file->uid : geteuid());
        /* setfsuid() and setfsgid() refuse an invalid id, and return the present one. */
        return (uid_t)setfsuid((uid_t)-1) == (is_user ? file->uid : geteuid()) &&
               (gid_t)setfsgid((gid_t)-1) == (is_user ? file->gid : getegid());
}

static void map_file_take_back_rights(const MapFile *file)
{
        if (!map_file_set_rights(file, /* is_user= */ false))
                g_error("cannot take back the rights on files");
}

static bool map_file_stat(const MapFile *file, struct stat *ret_stat)
{
        return fstatat(file->place.directory, file->place.name, ret_stat, AT_SYMLINK_NOFOLLOW) == 0;
}

/* True if the process itself has the file open, because its runtime writes its own map. */
static bool map_file_is_in_use(const MapFile *file, pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        struct stat own, st;
        const char *name;

        if (!directory || !map_file_stat(file, &own))
                return false;
        while ((name = g_dir_read_name(directory))) {
                g_autofree char *entry = g_build_filename(path, name, NULL);

                if (stat(entry, &st) == 0 && st.st_dev == own.st_dev && st.st_ino == own.st_ino)
                        return true;
        }
        return false;
}

/* Finds the directory /tmp of the process, and its user. */
static bool map_file_find(MapFile *file, pid_t pid, GError **error)
{
        FD_AUTO int root = rootfs_open_root(pid);
        g_autofree char *proc = g_strdup_printf("/proc/%d", (int)pid);
        ProcInfo info;
        struct stat st;

        if (root >= 0)
                file->place.directory = rootfs_open(root, "/tmp", O_PATH | O_DIRECTORY);
        if (file->place.directory < 0 || stat(proc, &st) < 0 || !proc_read(pid, &info)) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "cannot open the directory /tmp of process %d: %s%s", (int)pid,
                            g_strerror(errno),
                            errno == EACCES || errno == EPERM
                                    ? " (only its user and root can write its perf map)"
                                    : "");
                return false;
        }
        file->place.name = g_strdup_printf("perf-%d.map", (int)info.levels[info.n_levels - 1].pid);
        file->path = g_strdup_printf("/tmp/%s", file->place.name);
        file->uid = st.st_uid;
        file->gid = st.st_gid;
        file->is_of_user = geteuid() == 0 && file->uid != 0;
        /* Drops root's groups: they would give rights that the user does not have. */
        if (!file->is_of_user || setgroups(0, NULL) == 0)
                return true;
        g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                    "cannot take the rights of user %u, whose file %s is: %s", (unsigned)file->uid,
                    file->path, g_strerror(errno));
        return false;
}

static bool map_file_take_path(MapFile *file, const char *path, GError **error)
{
        const int r = output_path_find(&file->place, path);

        file->path = g_strdup(path);
        if (r < 0) {
                g_autofree char *why = output_path_error(path, -r);

                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot write %s: %s", path, why);
                return false;
        }
        if (file->place.is_there && !S_ISREG(file->place.stat.st_mode)) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "%s is not a regular file: it cannot be replaced", path);
                return false;
        }
        return true;
}

MapFile *map_file_new(pid_t pid, const char *path, bool is_forced, GError **error)
{
        g_autoptr(MapFile) file = g_new0(MapFile, 1);

        file->place = OUTPUT_PATH_INIT;
        file->lock = -1;
        file->is_forced = is_forced;
        if (!(path ? map_file_take_path(file, path, error) : map_file_find(file, pid, error)))
                return NULL;
        if (!is_forced && map_file_is_in_use(file, pid)) {
                g_set_error(
                        error, ANSWER_SOURCE_ERROR, 0,
                        "process %d itself has %s open: its runtime writes its own perf map "
                        "(DOTNET_PerfMapEnabled), which keeps unloaded code; --force replaces it",
                        (int)pid, file->path);
                return NULL;
        }
        return g_steal_pointer(&file);
}

void map_file_free(MapFile *file)
{
        if (!file)
                return;
        fd_clear(&file->lock);
        output_path_clear(&file->place);
        g_free(file->path);
        g_free(file);
}

const char *map_file_path(const MapFile *file)
{
        return file->path;
}

/* True if the file is the one that was written last, unchanged. */
static bool map_file_is_ours(const MapFile *file, const struct stat *st)
{
        const struct stat *written = &file->written;

        return file->is_written && st->st_dev == written->st_dev && st->st_ino == written->st_ino &&
               st->st_size == written->st_size && st->st_mtim.tv_sec == written->st_mtim.tv_sec &&
               st->st_mtim.tv_nsec == written->st_mtim.tv_nsec;
}

MapFileState map_file_state(const MapFile *file)
{
        struct stat st;

        if (!map_file_stat(file, &st))
                return MAP_FILE_MISSING;
        return map_file_is_ours(file, &st) ? MAP_FILE_CURRENT : MAP_FILE_CHANGED;
}

/* True if another clrsym keeps the file current. */
static bool map_file_is_locked(const MapFile *file)
{
        FD_AUTO int fd = -1;
        bool is_locked;

        if (map_file_set_rights(file, /* is_user= */ true))
                fd = openat(file->place.directory, file->place.name,
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
        map_file_take_back_rights(file);
        return is_locked;
}

/* True with ERROR set: another program writes the file. */
static bool map_file_is_foreign(const MapFile *file, GError **error)
{
        if (file->is_forced)
                return false;
        if (!file->is_written && map_file_is_locked(file))
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "another clrsym keeps %s current: use that file, end that clrsym, or "
                            "choose another file by --output; --force replaces the file",
                            file->path);
        else if (file->is_written && map_file_state(file) == MAP_FILE_CHANGED)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "another program has changed %s (a runtime with DOTNET_PerfMapEnabled, "
                            "or another clrsym), so clrsym leaves it alone; --force replaces it",
                            file->path);
        else
                return false;
        return true;
}

/* 0, or a negative errno value. */
static int map_file_replace(MapFile *file, const char *text, size_t n)
{
        g_auto(AtomicFile) output = ATOMIC_FILE_INIT;
        FD_AUTO int lock = -1;
        struct stat st;
        int r = atomic_file_open_in(&output, file->place.directory, file->place.name);

        /* Without a lock, because the file system has none, another clrsym is noticed later. */
        if (r == 0 && flock(output.fd, LOCK_EX | LOCK_NB) == 0)
                lock = fcntl(output.fd, F_DUPFD_CLOEXEC, 0);
        if (r == 0)
                r = atomic_file_write(&output, text, n);
        /* Renaming the file does not change the members that map_file_is_ours() compares. */
        if (r == 0 && fstat(output.fd, &st) < 0)
                r = -errno;
        if (r == 0)
                r = atomic_file_commit(&output, /* sync= */ false);
        if (r == 0) {
                file->written = st;
                file->is_written = true;
                fd_clear(&file->lock);
                file->lock = fd_steal(&lock);
        }
        return r;
}

static void map_file_set_error(const MapFile *file, int error_number, GError **error)
{
        struct stat st;

        if ((error_number == EPERM || error_number == EACCES) && map_file_stat(file, &st))
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "cannot replace %s, which belongs to user %u: remove it", file->path,
                            (unsigned)st.st_uid);
        else
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot write %s: %s", file->path,
                            g_strerror(error_number));
}

MapFileResult map_file_write(MapFile *file, const char *text, size_t n, GError **error)
{
        int r;

        if (map_file_is_foreign(file, error))
                return MAP_FILE_FOREIGN;
        r = map_file_set_rights(file, /* is_user= */ true) ? map_file_replace(file, text, n)
                                                           : -EPERM;
        map_file_take_back_rights(file);
        if (r < 0) {
                map_file_set_error(file, -r, error);
                return MAP_FILE_FAILED;
        }
        return MAP_FILE_WRITTEN;
}

bool map_file_remove(const MapFile *file)
{
        const bool is_ours = map_file_state(file) == MAP_FILE_CURRENT;

        if (is_ours && map_file_set_rights(file, /* is_user= */ true))
                unlinkat(file->place.directory, file->place.name, 0);
        map_file_take_back_rights(file);
        return is_ours;
}

/* SPDX-License-Identifier: MIT */

/*
 * The assembly files of recorded processes: which files are read, and which are not the mapped
 * files
 */

#include "perf/images.h"

#include "support/bundle-file.h"
#include "support/r2r-file.h"
#include "support/suite.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fs.h>

#define NS   UINT64_C(1000000000)
#define PID  G_MAXINT32 /* pid of no process, so without /proc entry */
#define BASE UINT64_C(0x7f0000000000)
/* The runtime maps sections from the begin of a page on. */
#define START      (BASE + 0x10000)
#define ADDRESS(n) (START + (n))

typedef struct World {
        char *directory, *path;
        Mapping mapping; /* mapping of the file; borrows the path */
} World;

static void write_image(const char *path)
{
        uint8_t bytes[N_IMAGE];

        image_build(bytes);
        ck_assert(g_file_set_contents(path, (const char *)bytes, sizeof(bytes), NULL));
}

static uint64_t generation_of(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        long number = 0;

        ck_assert_int_ge(fd, 0);
        if (ioctl(fd, FS_IOC_GETVERSION, &number) < 0)
                number = 0;
        close(fd);
        return (uint32_t)number;
}

/* Maps the present file, one second after it was written: on a busy machine, a test writes its
 * files seconds apart. */
static void world_map_file(World *world)
{
        struct stat status;

        ck_assert_int_eq(stat(world->path, &status), 0);
        world->mapping.since = ((uint64_t)status.st_ctim.tv_sec + 1) * NS;
        world->mapping.major = major(status.st_dev);
        world->mapping.minor = minor(status.st_dev);
        world->mapping.inode = status.st_ino;
        world->mapping.generation = generation_of(world->path);
}

static void world_init(World *world)
{
        world->directory = g_dir_make_tmp("clrsym-images-XXXXXX", NULL);
        ck_assert_ptr_nonnull(world->directory);
        world->path = g_build_filename(world->directory, "a b.dll", NULL);
        write_image(world->path);
        world->mapping = (Mapping){
                .pid = PID,
                .start = START,
                .end = START + 0x1000,
                .has_generation = true,
                .path = world->path,
        };
        world_map_file(world);
}

static void world_deinit(World *world)
{
        g_unlink(world->path);
        g_rmdir(world->directory);
        g_free(world->path);
        g_free(world->directory);
}

static bool init_from(Images *images, const Mapping *mappings, size_t n)
{
        FILE *file = fdopen(memfd_create("mappings", MFD_CLOEXEC), "w+");
        bool ok;
        size_t i;

        ck_assert_ptr_nonnull(file);
        for (i = 0; i < n; i++)
                mapping_write(&mappings[i], file);
        rewind(file);
        ok = images_init(images, fileno(file));
        fclose(file);
        return ok;
}

static void check_code(Images *images, const World *world, int32_t pid, uint64_t address,
                       uint64_t time, uint64_t begin, bool is_missing)
{
        const ImageAddress place = {address, world->path, START};
        ImageCode code = images_find(images, pid, time, &place);

        ck_assert_uint_eq(code.begin, begin);
        ck_assert_int_eq(code.missing != NULL, is_missing);
}

START_TEST(test_found)
{
        World world;
        Images images;
        ImageCode code;

        world_init(&world);
        world.mapping.time = 100;
        ck_assert(init_from(&images, &world.mapping, 1));
        check_code(&images, &world, PID, ADDRESS(CODE), 100, ADDRESS(CODE), false);
        check_code(&images, &world, PID, ADDRESS(CODE + 0x7f), 200, ADDRESS(CODE + 0x20), false);
        check_code(&images, &world, PID, ADDRESS(CODE + 0x80), 200, 0, false);
        check_code(&images, &world, PID, ADDRESS(CODE), 99, 0, false);
        check_code(&images, &world, PID - 1, ADDRESS(CODE), 200, 0, false);
        check_code(&images, &world, PID, START - 1, 200, 0, false);
        check_code(&images, &world, PID, START + 0x1000, 200, 0, false);
        check_code(&images, &world, PID, UINT64_MAX, 200, 0, false);
        code = images_find(&images, PID, 100, &(ImageAddress){ADDRESS(CODE), world.path, START});
        ck_assert_uint_eq(code.mapped, 100);
        code = images_find(&images, PID, 100,
                           &(ImageAddress){ADDRESS(CODE), "/another.dll", START});
        ck_assert_uint_eq(code.begin, 0);
        code = images_find(&images, PID, 100, &(ImageAddress){ADDRESS(CODE), NULL, START});
        ck_assert_uint_eq(code.begin, 0);
        ck_assert_uint_eq(images.n_files, 1);
        images_deinit(&images);
        world_deinit(&world);
}
END_TEST

/* A mapping that begins within the file, and within a function: the code before it is missing. */
START_TEST(test_part)
{
        World world;
        Images images;

        world_init(&world);
        world.mapping.offset = CODE + 0x30;
        ck_assert(init_from(&images, &world.mapping, 1));
        check_code(&images, &world, PID, START, 1, 0, false);
        check_code(&images, &world, PID, START + 0x60, 1, START + 0x60, false);
        images_deinit(&images);
        world.mapping.offset = UINT64_MAX - 4;
        ck_assert(init_from(&images, &world.mapping, 1));
        check_code(&images, &world, PID, START + CODE + 5, 1, 0, false);
        images_deinit(&images);
        world_deinit(&world);
}
END_TEST

/* Offset of the image in the program; not a multiple of the page size. */
#define IN_PROGRAM 0x1230u

/* Writes a single-file program with the image. */
static void write_program(const char *path)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        uint8_t image[N_IMAGE];
        const guint8 kind = 1;

        image_build(image);
        bundle_put_u64(bytes, IN_PROGRAM + N_IMAGE);
        g_byte_array_append(bytes, BUNDLE_MARK, sizeof(BUNDLE_MARK));
        g_byte_array_set_size(bytes, IN_PROGRAM);
        g_byte_array_append(bytes, image, sizeof(image));
        bundle_put_u32(bytes, 6);
        bundle_put_u32(bytes, 0);
        bundle_put_u32(bytes, 1);
        bundle_put_text(bytes, "id");
        g_byte_array_set_size(bytes, bytes->len + 40);
        bundle_put_u64(bytes, IN_PROGRAM);
        bundle_put_u64(bytes, N_IMAGE);
        bundle_put_u64(bytes, 0);
        g_byte_array_append(bytes, &kind, 1);
        bundle_put_text(bytes, "Lib.dll");
        ck_assert(g_file_set_contents(path, (const char *)bytes->data, bytes->len, NULL));
}

/* The program's file has no assembly name, and begins with other code. */
START_TEST(test_program)
{
        World world;
        Images images;
        ImageCode code;

        world_init(&world);
        g_unlink(world.path);
        world.path[strlen(world.path) - strlen(".dll")] = '\0';
        write_program(world.path);
        world_map_file(&world);
        world.mapping.offset = IN_PROGRAM & ~0xfffu;
        world.mapping.end = START + 0x3000;
        ck_assert(init_from(&images, &world.mapping, 1));
        check_code(&images, &world, PID, START + (IN_PROGRAM & 0xfff) + CODE + 1, 1,
                   START + (IN_PROGRAM & 0xfff) + CODE, false);
        code = images_find(&images, PID, 1,
                           &(ImageAddress){START + (IN_PROGRAM & 0xfff) + CODE, world.path, START});
        ck_assert_ptr_null(code.file);
        check_code(&images, &world, PID, START + CODE, 1, 0, false);
        images_deinit(&images);
        /* An address in the program's own code: no image is missing. */
        ck_assert(init_from(&images, &world.mapping, 1));
        check_code(&images, &world, PID, START, 1, 0, false);
        images_deinit(&images);
        world_deinit(&world);
}
END_TEST

static void change_since(World *world)
{
        world->mapping.since -= 2 * NS;
}

static void change_inode(World *world)
{
        world->mapping.inode++;
}

static void change_major(World *world)
{
        world->mapping.major++;
}

static void change_minor(World *world)
{
        world->mapping.minor++;
}

static void remove_file(World *world)
{
        g_unlink(world->path);
}

/* Replaces the file. The old file stays, because the new file could otherwise reuse its inode. */
static void replace_file(World *world)
{
        g_autofree char *old = g_strconcat(world->path, ".old", NULL);

        ck_assert_int_eq(g_rename(world->path, old), 0);
        write_image(world->path);
        world->mapping.since += NS;
        g_unlink(old);
}

static void make_other(World *world)
{
        ck_assert(g_file_set_contents(world->path, "#!/bin/sh", -1, NULL));
        world_map_file(world);
}

static void make_fifo(World *world)
{
        struct stat status;

        g_unlink(world->path);
        ck_assert_int_eq(mkfifo(world->path, 0600), 0);
        ck_assert_int_eq(stat(world->path, &status), 0);
        world->mapping.inode = status.st_ino;
}

static const struct {
        void (*change)(World *world);
        const char *reason;
} WRONG[] = {
        {change_since, "it was changed since it was mapped"},
        {change_inode, "another file is there now"},
        {change_major, "another file is there now"},
        {change_minor, "another file is there now"},
        {remove_file, "it is not there"},
        {replace_file, "another file is there now"},
        {make_other, "it is not a PE file"},
        {make_fifo, "another file is there now"},
};

/* Returns the final report; the caller frees it. */
static char *reported(const Images *images)
{
        int fd = memfd_create("stderr", MFD_CLOEXEC), kept = dup(STDERR_FILENO);
        char *text = g_malloc0(2000);

        dup2(fd, STDERR_FILENO);
        images_report(images);
        dup2(kept, STDERR_FILENO);
        ck_assert_int_ge(pread(fd, text, 1999, 0), 0);
        close(fd);
        close(kept);
        return text;
}

START_TEST(test_missing)
{
        World world;
        Images images;
        ImageCode code;
        char *said, *wanted;

        world_init(&world);
        WRONG[_i].change(&world);
        ck_assert(init_from(&images, &world.mapping, 1));
        code = images_find(&images, PID, 1, &(ImageAddress){ADDRESS(CODE), world.path, START});
        ck_assert_uint_eq(code.begin, 0);
        ck_assert_ptr_nonnull(code.missing);
        ck_assert_uint_eq(code.missing->file, 0);
        said = reported(&images);
        ck_assert_str_eq(said, "");
        images_note_missing(code.missing);
        g_free(said);
        said = reported(&images);
        wanted = g_strdup_printf("clrsym: precompiled code was not looked up in %s: %s\n",
                                 world.path, WRONG[_i].reason);
        ck_assert_str_eq(said, wanted);
        images_deinit(&images);
        g_free(said);
        g_free(wanted);
        world_deinit(&world);
}
END_TEST

/* Generation numbers, on file systems that have them. */
START_TEST(test_generation)
{
        World world;
        Images images;

        world_init(&world);
        if (world.mapping.generation) {
                world.mapping.generation++;
                ck_assert(init_from(&images, &world.mapping, 1));
                check_code(&images, &world, PID, ADDRESS(CODE), 1, 0, true);
                images_deinit(&images);
        }
        world_deinit(&world);
}
END_TEST

START_TEST(test_several)
{
        World world;
        Mapping mappings[4];
        Images images;

        world_init(&world);
        mappings[0] = mappings[1] = mappings[2] = mappings[3] = world.mapping;
        mappings[0].pid = 7;
        mappings[1].pid = 3;
        mappings[2].start += 0x100000;
        mappings[2].end += 0x100000;
        /* Another file was mapped before. */
        mappings[2].time = 50;
        mappings[3].start = mappings[2].start + 0xf00;
        mappings[3].end = mappings[3].start + 0x1000;
        mappings[3].inode++;
        ck_assert(init_from(&images, mappings, 3));
        check_code(&images, &world, 7, ADDRESS(CODE), 1, ADDRESS(CODE), false);
        check_code(&images, &world, 3, ADDRESS(CODE), 1, ADDRESS(CODE), false);
        check_code(&images, &world, PID, ADDRESS(CODE), 60, 0, false);
        check_code(&images, &world, PID, ADDRESS(CODE) + 0x100000, 60, ADDRESS(CODE) + 0x100000,
                   false);
        ck_assert_uint_eq(images.n_files, 1);
        images_deinit(&images);
        ck_assert(init_from(&images, mappings, 4));
        check_code(&images, &world, PID, ADDRESS(CODE) + 0x100000, 60, 0, true);
        images_deinit(&images);
        world_deinit(&world);
}
END_TEST

/* A removed but mapped file: the living process, which is this one, still has it. */
START_TEST(test_of_living)
{
        World world;
        Images images;
        void *memory;
        int fd;

        world_init(&world);
        fd = open(world.path, O_RDONLY | O_CLOEXEC);
        memory = mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE, fd, 0);
        ck_assert_ptr_ne(memory, MAP_FAILED);
        close(fd);
        world.mapping.pid = getpid();
        world.mapping.start = (uintptr_t)memory;
        world.mapping.end = world.mapping.start + 0x1000;
        g_unlink(world.path);
        /* The file's change time changes when one of its names is removed. */
        world.mapping.since += 60 * NS;
        ck_assert(init_from(&images, &world.mapping, 1));
        if (geteuid() == 0)
                check_code(&images, &world, getpid(), world.mapping.start + CODE + 1, 1,
                           world.mapping.start + CODE, false);
        images_deinit(&images);
        munmap(memory, 0x1000);
        world_deinit(&world);
}
END_TEST

/* Fills RET with the mapping of ADDRESS from the kernel. */
static void take_own_mapping(Mapping *ret, const void *address)
{
        FILE *file = fopen("/proc/self/maps", "re");
        char line[4096];
        bool is_found = false;

        ck_assert_ptr_nonnull(file);
        while (!is_found && fgets(line, sizeof(line), file)) {
                line[strcspn(line, "\n")] = '\0';
                if (!mapping_take_map(ret, line))
                        continue;
                is_found = ret->start == (uintptr_t)address;
                if (!is_found)
                        mapping_deinit(ret);
        }
        ck_assert(is_found);
        fclose(file);
}

/* An overlay of two file systems: stat() gives another device than the kernel's list of
 * mappings. */
START_TEST(test_overlay)
{
        g_autofree char *tmpfs = NULL, *upper = NULL, *work = NULL, *options = NULL, *path = NULL;
        struct stat status;
        Mapping mapping;
        World world;
        Images images;
        void *memory;
        int fd;

        if (geteuid() != 0) {
                ck_assert_msg(!g_getenv("CI"), "not root");
                return;
        }
        world_init(&world);
        tmpfs = g_dir_make_tmp("clrsym-upper-XXXXXX", NULL);
        upper = g_build_filename(tmpfs, "upper", NULL);
        work = g_build_filename(tmpfs, "work", NULL);
        options =
                g_strdup_printf("lowerdir=%s,upperdir=%s,workdir=%s", world.directory, upper, work);
        path = g_build_filename(world.directory, "a b.dll", NULL);
        ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
        ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        ck_assert_int_eq(mount("none", tmpfs, "tmpfs", 0, NULL), 0);
        ck_assert_int_eq(mkdir(upper, 0700), 0);
        ck_assert_int_eq(mkdir(work, 0700), 0);
        ck_assert_int_eq(mount("none", world.directory, "overlay", 0, options), 0);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        ck_assert_int_eq(fstat(fd, &status), 0);
        memory = mmap(NULL, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        ck_assert_ptr_ne(memory, MAP_FAILED);
        close(fd);
        take_own_mapping(&mapping, memory);
        ck_assert(mapping.major != major(status.st_dev) || mapping.minor != minor(status.st_dev));
        mapping.pid = PID;
        mapping.since = world.mapping.since;
        ck_assert(init_from(&images, &mapping, 1));
        check_code(&images, &world, PID, mapping.start + CODE, 1, mapping.start + CODE, false);
        images_deinit(&images);
        /* The file is on another mount. */
        mapping.minor++;
        ck_assert(init_from(&images, &mapping, 1));
        check_code(&images, &world, PID, mapping.start + CODE, 1, 0, true);
        images_deinit(&images);
        mapping_deinit(&mapping);
        munmap(memory, 0x1000);
        ck_assert_int_eq(umount(world.directory), 0);
        ck_assert_int_eq(umount(tmpfs), 0);
        g_rmdir(tmpfs);
        world_deinit(&world);
}
END_TEST

/* Without recorded mappings, the mappings come from the processes; files changed after the start of
 * the process are skipped. */
START_TEST(test_asked)
{
        World world;
        Images images;
        ImageCode code;
        void *memory;
        int fd;

        world_init(&world);
        fd = open(world.path, O_RDONLY | O_CLOEXEC);
        memory = mmap(NULL, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        ck_assert_ptr_ne(memory, MAP_FAILED);
        close(fd);
        ck_assert(images_init(&images, -1));
        code = images_find(
                &images, getpid(), UINT64_MAX,
                &(ImageAddress){(uintptr_t)memory + CODE, world.path, (uintptr_t)memory});
        ck_assert_uint_eq(code.begin, 0);
        ck_assert_ptr_nonnull(code.missing);
        images_note_missing(code.missing);
        /* Another process has the image at another address, or had it before this process began. */
        code = images_find(&images, getpid(), UINT64_MAX,
                           &(ImageAddress){(uintptr_t)memory + CODE, world.path, 0x1000});
        ck_assert_ptr_null(code.missing);
        code = images_find(
                &images, getpid(), 1,
                &(ImageAddress){(uintptr_t)memory + CODE, world.path, (uintptr_t)memory});
        ck_assert_ptr_null(code.missing);
        images_deinit(&images);
        munmap(memory, 0x1000);
        world_deinit(&world);
}
END_TEST

static const char *const LINES[] = {
        "\n",
        "1 2 3\n",
        "1 2 3 0 0 0 0 0 0 0 a.dll\n",
        "1 3 3 0 0 0 0 0 0 0 /a.dll\n",
        "-1 2 3 0 0 0 0 0 0 0 /a.dll\n",
        "1 2 0x3 0 0 0 0 0 0 0 /a.dll\n",
        "1 2 3 0 0 0 4294967296 0 0 0 /a.dll\n",
        "1 2 18446744073709551616 0 0 0 0 0 0 0 /a.dll\n",
};

START_TEST(test_no_mappings)
{
        int fd = memfd_create("mappings", MFD_CLOEXEC);
        Images images;

        ck_assert_int_eq(write(fd, LINES[_i], strlen(LINES[_i])), strlen(LINES[_i]));
        lseek(fd, 0, SEEK_SET);
        ck_assert(!images_init(&images, fd));
        images_deinit(&images);
        close(fd);
}
END_TEST

START_TEST(test_none)
{
        Images images;

        ck_assert(images_init(&images, -1));
        ck_assert_uint_eq(
                images_find(&images, PID, 1, &(ImageAddress){ADDRESS(CODE), "/a.dll", START}).begin,
                0);
        images_note_missing(NULL);
        images_report(&images);
        images_deinit(&images);
        ck_assert(!images_init(&images, 100000));
        images_deinit(&images);
}
END_TEST

/* Exchanges two files again and again, in a process of its own. */
static pid_t exchange(const char *one, const char *other)
{
        pid_t pid = fork();

        while (pid == 0)
                if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) < 0)
                        _exit(1);
        return pid;
}

#define RACE_S 3

/* A path that alternately leads to the file and to a pipe: the pipe is never opened, because
 * opening a device could have an effect. */
START_TEST(test_race)
{
        g_autofree char *link = NULL, *other = NULL, *pipe = NULL;
        gint64 end = g_get_monotonic_time() + RACE_S * G_TIME_SPAN_SECOND;
        Mapping mapping;
        char events[256];
        unsigned n_found = 0;
        World world;
        pid_t pid;
        int watch;

        world_init(&world);
        link = g_build_filename(world.directory, "link", NULL);
        other = g_build_filename(world.directory, "other", NULL);
        pipe = g_build_filename(world.directory, "pipe", NULL);
        ck_assert_int_eq(mkfifo(pipe, 0600), 0);
        ck_assert_int_eq(symlink(world.path, link), 0);
        ck_assert_int_eq(symlink(pipe, other), 0);
        watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        ck_assert_int_ge(inotify_add_watch(watch, pipe, IN_OPEN), 0);
        mapping = world.mapping;
        mapping.path = link;
        pid = exchange(link, other);
        while (g_get_monotonic_time() < end) {
                const ImageAddress address = {ADDRESS(CODE), link, START};
                Images images;

                ck_assert(init_from(&images, &mapping, 1));
                n_found += images_find(&images, PID, UINT64_MAX, &address).begin != 0;
                images_deinit(&images);
        }
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert_uint_gt(n_found, 0);
        ck_assert_int_lt(read(watch, events, sizeof(events)), 0);
        close(watch);
        g_unlink(link);
        g_unlink(other);
        g_unlink(pipe);
        world_deinit(&world);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("perf-images");
        TCase *tests = tcase_create("files");

        tcase_add_test(tests, test_found);
        tcase_add_test(tests, test_part);
        tcase_add_test(tests, test_program);
        tcase_add_loop_test(tests, test_missing, 0, G_N_ELEMENTS(WRONG));
        tcase_add_test(tests, test_generation);
        tcase_add_test(tests, test_several);
        tcase_add_test(tests, test_of_living);
        tcase_add_test(tests, test_overlay);
        tcase_add_test(tests, test_asked);
        tcase_add_loop_test(tests, test_no_mappings, 0, G_N_ELEMENTS(LINES));
        tcase_add_test(tests, test_none);
        tcase_set_timeout(tests, 30);
        tcase_add_test(tests, test_race);
        suite_add_tcase(suite, tests);
        return suite;
}

/* SPDX-License-Identifier: MIT */

/*
 * Parts of `clrsym doctor`, with input that other programs may have damaged
 */

#include "util/elf-file.h"
#include "doctor/environment.h"
#include "doctor/runtime-detect.h"
#include "doctor/sessiond-state.h"
#include "util/remove-tree.h"
#include "util/subprocess.h"

#include "support/suite.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An exported symbol of this program. */
extern int exported_for_the_test;
int exported_for_the_test = 1;

#define EXPORTED "exported_for_the_test"

static void hang(int fd, void *data)
{
        if (write(fd, "so far", 6) == 6)
                for (;;)
                        pause();
}

static void talk(int fd, void *data)
{
        char bytes[65536] = {};

        while (write(fd, bytes, sizeof(bytes)) > 0)
                ;
}

static void die(int fd, void *data)
{
        raise(SIGKILL);
}

static void expect_result(void (*work)(int fd, void *data), SubprocessResult wanted)
{
        g_autofree char *output = NULL;

        ck_assert_int_eq(subprocess_call(work, NULL, 1, &output), wanted);
}

START_TEST(ends_a_child_that_does_not_end)
{
        expect_result(hang, SUBPROCESS_TIMEOUT);
        expect_result(talk, SUBPROCESS_TIMEOUT);
        expect_result(die, SUBPROCESS_FAILED);
}
END_TEST

static void expect_runtime(const char *maps, const char *root, const char *runtime)
{
        g_auto(DetectedRuntime) detected = {};

        runtime_detect(maps, root, &detected);
        ck_assert_pstr_eq(detected.directory, runtime);
}

#define LINE(path) "7f0000000000-7f0000001000 r--p 00000000 fe:01 1234567        " path "\n"

START_TEST(reads_maps)
{
        g_auto(DetectedRuntime) detected = {};

        expect_runtime("", NULL, NULL);
        expect_runtime("\n\n7f-", NULL, NULL);
        expect_runtime(LINE("/a/libcoreclr.so"), NULL, "/a");
        expect_runtime("7f0000000000-7f0000001000 r--p 0 0:0 0 /a/libcoreclr.so", NULL, "/a");
        expect_runtime(LINE("/libcoreclr.so"), NULL, "/");
        expect_runtime(LINE("/a/libcoreclr.so (deleted)"), NULL, "/a");
        expect_runtime(LINE("/a\\012b c/libcoreclr.so"), NULL, "/a\nb c");
        expect_runtime(LINE("/root/a/libcoreclr.so"), "/root", "/a");
        expect_runtime(LINE("/rooted/a/libcoreclr.so"), "/root", "/rooted/a");
        expect_runtime(LINE("/a/libcoreclr.so") LINE("/b/libcoreclr.so"), "/", "/a");
        /* Paths that only contain the name of the runtime's library. */
        expect_runtime(LINE("/a/libcoreclr.so.old"), NULL, NULL);
        expect_runtime(LINE("/a/libcoreclr.so/b"), NULL, NULL);
        expect_runtime(LINE("/a/nolibcoreclr.so"), NULL, NULL);
        expect_runtime(LINE("[libcoreclr.so]"), NULL, NULL);
        expect_runtime("/libcoreclr.so\n", NULL, NULL);

        runtime_detect(LINE("/x/libmonosgen-2.0.so") LINE("/lib/ld-musl-x86_64.so.1")
                               LINE("/x/libcoreclrtraceptprovider.so"),
                       NULL, &detected);
        ck_assert(detected.has_mono && detected.has_musl && detected.has_provider);
        runtime_detect(LINE("/x/libmonosgen-2.0.so.1") LINE("/ld-musl-/x")
                               LINE("/libcoreclrtraceptprovider.so/x"),
                       NULL, &detected);
        ck_assert(!detected.has_mono && !detected.has_musl && !detected.has_provider);
}
END_TEST

/* TEXT with its NULs, but without the last NUL. */
#define OF(text) environment_init(&environment, text, sizeof(text) - 1)

START_TEST(reads_environments)
{
        g_auto(Environment) environment = {};

        OF("");
        ck_assert_ptr_null(environment_get(&environment, "A"));
        environment_clear(&environment);
        OF("\0\0=\0A");
        ck_assert_ptr_null(environment_get(&environment, "A"));
        environment_clear(&environment);
        OF("AB=1\0A=2\0A=3");
        ck_assert_str_eq(environment_get(&environment, "A"), "2");
        environment_clear(&environment);
        OF("COMPlus_LTTng=1\0DOTNET_LTTng=0\0DOTNET_EnableEventLog=0x1");
        ck_assert(environment_is_lttng_off(&environment));
        ck_assert(environment_is_event_log_on(&environment));
        environment_clear(&environment);
        OF("DOTNET_LTTng=01\0COMPlus_EnableEventLog=0");
        ck_assert(!environment_is_lttng_off(&environment));
        ck_assert(!environment_is_event_log_on(&environment));
        environment_clear(&environment);
        OF("DOTNET_LTTng=00");
        ck_assert(environment_is_lttng_off(&environment));
        environment_clear(&environment);
        OF("DOTNET_LTTng=off");
        ck_assert(!environment_is_lttng_off(&environment));
        environment_clear(&environment);
        OF("DOTNET_LTTng");
        ck_assert(!environment_is_lttng_off(&environment));
}
END_TEST

/* Opens a copy of this program in memory. Returns its descriptor. */
static int copy_of_us(size_t *ret_n)
{
        g_autofree char *bytes = NULL;
        gsize n;
        int fd = memfd_create("copy", MFD_CLOEXEC);

        ck_assert(g_file_get_contents("/proc/self/exe", &bytes, &n, NULL));
        ck_assert_int_eq(pwrite(fd, bytes, n, 0), (ssize_t)n);
        *ret_n = n;
        return fd;
}

static bool file_exports(int fd, const char *name)
{
        bool is_exported = false;
        ElfFile file;

        if (elf_file_open(&file, fd)) {
                is_exported = elf_file_exports(&file, name);
                elf_file_close(&file);
        }
        return is_exported;
}

START_TEST(finds_what_is_exported)
{
        size_t n;
        int fd = copy_of_us(&n);

        ck_assert(file_exports(fd, EXPORTED));
        ck_assert(!file_exports(fd, "exported_for_the_tes"));
        ck_assert(!file_exports(fd, "exported_for_the_test_"));
        /* The symbol is used here, but the C library defines it. */
        ck_assert(!file_exports(fd, "memfd_create"));
        close(fd);
}
END_TEST

START_TEST(takes_any_bytes)
{
        size_t n, i;
        int fd = copy_of_us(&n);
        Elf64_Ehdr header;

        ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
        /* Changes each byte of the ELF header and of the section table. */
        for (i = 0; i < sizeof(header) + header.e_shnum * sizeof(Elf64_Shdr); i++) {
                off_t at = i < sizeof(header) ? (off_t)i
                                              : (off_t)(header.e_shoff + i - sizeof(header));
                unsigned char byte, odd[] = {0, 0x7f, 0xff};
                size_t j;

                ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
                for (j = 0; j < G_N_ELEMENTS(odd); j++) {
                        ck_assert_int_eq(pwrite(fd, &odd[j], 1, at), 1);
                        (void)file_exports(fd, EXPORTED);
                }
                ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
        }
        ck_assert(file_exports(fd, EXPORTED));
        for (i = n; i > 0; i /= 2) {
                ck_assert_int_eq(ftruncate(fd, (off_t)i - 1), 0);
                ck_assert(!file_exports(fd, EXPORTED));
        }
        close(fd);
}
END_TEST

static const struct {
        const char *names[3];
        unsigned abi;
} SOCKET_ROWS[] = {
        {{"lttng-ust-sock-8", "lttng-ust-sock-8.lock"}, 8},
        {{"lttng-ust-sock-11", "client-lttng-sessiond"}, 11},
        /* A socket that an older LTTng left behind. */
        {{"lttng-ust-sock-11", "lttng-ust-sock-8"}, 8},
        {{"lttng-ust-sock-", "lttng-ust-sock-x", "lttng-ust-sock-99999999"}, 0},
        {{NULL}, 0},
};

START_TEST(reads_socket_versions)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        unsigned i;

        for (i = 0; i < G_N_ELEMENTS(SOCKET_ROWS[_i].names) && SOCKET_ROWS[_i].names[i]; i++) {
                g_autofree char *path = g_build_filename(directory, SOCKET_ROWS[_i].names[i], NULL);

                ck_assert(g_file_set_contents(path, "", 0, NULL));
        }
        ck_assert_uint_eq(sessiond_app_abi(directory), SOCKET_ROWS[_i].abi);
        remove_tree(directory);
        ck_assert_uint_eq(sessiond_app_abi(directory), 0);
}
END_TEST

START_TEST(compares_kinds)
{
        ElfFileKind own, other;
        Elf64_Ehdr header = {.e_ident = ELFMAG, .e_machine = EM_NONE};

        ck_assert(elf_file_own_kind(&own));
        ck_assert(elf_file_is_same_kind(&own, &own));
        ck_assert(elf_file_kind(&header, sizeof(header), &other));
        ck_assert(!elf_file_is_same_kind(&own, &other));
        ck_assert(!elf_file_kind(&header, 19, &other));
        header.e_ident[0] = 0;
        ck_assert(!elf_file_kind(&header, sizeof(header), &other));
}
END_TEST

Suite *suite_new(void)
{
        TCase *tests = tcase_create("doctor");
        Suite *suite = suite_create("doctor");

        tcase_add_test(tests, ends_a_child_that_does_not_end);
        tcase_add_test(tests, reads_maps);
        tcase_add_test(tests, reads_environments);
        tcase_add_test(tests, finds_what_is_exported);
        tcase_add_test(tests, takes_any_bytes);
        tcase_add_test(tests, compares_kinds);
        tcase_add_loop_test(tests, reads_socket_versions, 0, G_N_ELEMENTS(SOCKET_ROWS));
        tcase_set_timeout(tests, 60);
        suite_add_tcase(suite, tests);
        return suite;
}

/* SPDX-License-Identifier: MIT */

/* Code of processes without the runtime's file, kept after they have ended */

#include "record/jit-memory.h"

#include "support/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)4 << 20)
/* The place of the text, beyond the first read. */
#define PLACE (SIZE / 2 + 100)
#define TEXT  "jitted code"

typedef struct Child {
        pid_t pid;
        uint8_t *code; /* its address there and here */
} Child;

static Child child_new(int protection, const char *file)
{
        Child child = {.code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                    -1, 0)};
        int fd;

        ck_assert_ptr_ne(child.code, MAP_FAILED);
        memcpy(child.code + PLACE, TEXT, sizeof(TEXT));
        ck_assert_int_eq(mprotect(child.code, SIZE, protection), 0);
        fd = file ? memfd_create(file, 0) : -1;
        if (fd >= 0)
                ck_assert_int_eq(write(fd, TEXT, sizeof(TEXT)), sizeof(TEXT));
        child.pid = fork();
        ck_assert_int_ge(child.pid, 0);
        while (child.pid == 0)
                pause();
        if (fd >= 0)
                close(fd);
        return child;
}

static void child_end(const Child *child)
{
        kill(child->pid, SIGKILL);
        ck_assert_int_eq(waitpid(child->pid, NULL, 0), child->pid);
        munmap(child->code, SIZE);
}

static bool child_has_text(const JitMemory *memory, const Child *child, uint64_t offset)
{
        char text[sizeof(TEXT)];

        return jit_memory_read(memory, child->pid, offset, text, sizeof(text)) &&
               !memcmp(text, TEXT, sizeof(text));
}

/* After the end of the process, the copy is still there, and is not replaced. */
START_TEST(test_copies_code_without_a_file)
{
        const Child child = child_new(PROT_READ | PROT_EXEC, NULL);
        const uint64_t place = (uint64_t)(uintptr_t)child.code + PLACE;
        JitMemory *memory = jit_memory_new();
        JitMemorySpan span;

        jit_memory_keep(memory, child.pid);
        ck_assert(!jit_memory_has(memory, child.pid) && jit_memory_is_lost(memory, child.pid));
        jit_memory_copy(memory, /* is_last= */ true);
        ck_assert(jit_memory_has(memory, child.pid) && !jit_memory_is_lost(memory, child.pid));
        span = jit_memory_span(memory, child.pid);
        ck_assert(span.begin > 0 && span.begin < span.end);
        child_end(&child);
        jit_memory_copy(memory, /* is_last= */ true);
        ck_assert(child_has_text(memory, &child, place));
        ck_assert(!child_has_text(memory, &child, place + 1));
        ck_assert(!child_has_text(memory, &child, place - PLACE - 1));
        ck_assert(!child_has_text(memory, &child, UINT64_MAX));
        ck_assert_uint_eq(jit_memory_span(memory, child.pid).end, span.end);
        jit_memory_free(memory);
}
END_TEST

/* A copy is made only after a while, unless it is the last one. */
START_TEST(test_does_not_copy_at_once)
{
        const Child child = child_new(PROT_READ | PROT_EXEC, NULL);
        JitMemory *memory = jit_memory_new();
        JitMemorySpan span;

        jit_memory_keep(memory, child.pid);
        jit_memory_copy(memory, /* is_last= */ true);
        span = jit_memory_span(memory, child.pid);
        jit_memory_copy(memory, /* is_last= */ false);
        ck_assert_uint_eq(jit_memory_span(memory, child.pid).begin, span.begin);
        jit_memory_copy(memory, /* is_last= */ true);
        ck_assert_uint_gt(jit_memory_span(memory, child.pid).begin, span.begin);
        child_end(&child);
        jit_memory_free(memory);
}
END_TEST

START_TEST(test_keeps_the_file_of_the_runtime)
{
        const Child child = child_new(PROT_READ | PROT_EXEC, "doublemapper");
        JitMemory *memory = jit_memory_new();

        jit_memory_keep(memory, child.pid);
        jit_memory_copy(memory, /* is_last= */ true);
        child_end(&child);
        ck_assert(child_has_text(memory, &child, 0));
        ck_assert_uint_eq(jit_memory_span(memory, child.pid).end, 0);
        jit_memory_free(memory);
}
END_TEST

/* A part keeps the code of a process that has ended meanwhile; the memory forgets it then. */
START_TEST(test_part)
{
        const Child child = child_new(PROT_READ | PROT_EXEC, _i ? "doublemapper" : NULL);
        const uint64_t place = _i ? 0 : (uint64_t)(uintptr_t)child.code + PLACE;
        JitMemory *memory = jit_memory_new(), *parts[3];
        size_t i;

        jit_memory_keep(memory, child.pid);
        parts[0] = jit_memory_part(memory);
        child_end(&child);
        parts[1] = jit_memory_part(memory);
        parts[2] = jit_memory_part(memory);
        ck_assert(!jit_memory_has(memory, child.pid) && !jit_memory_is_lost(memory, child.pid));
        jit_memory_free(memory);
        for (i = 0; i < G_N_ELEMENTS(parts); i++) {
                ck_assert_int_eq(child_has_text(parts[i], &child, place), i < 2);
                jit_memory_free(parts[i]);
        }
}
END_TEST

/* Without compiled code, and after its end, there is nothing to copy. */
START_TEST(test_copies_nothing)
{
        const Child child = child_new(PROT_READ, NULL);
        JitMemory *memory = jit_memory_new();

        jit_memory_keep(memory, child.pid);
        jit_memory_copy(memory, /* is_last= */ true);
        ck_assert(!jit_memory_has(memory, child.pid) && jit_memory_is_lost(memory, child.pid));
        child_end(&child);
        jit_memory_copy(memory, /* is_last= */ true);
        ck_assert(!jit_memory_has(memory, child.pid) && jit_memory_is_lost(memory, child.pid));
        ck_assert(!jit_memory_is_lost(memory, getpid()));
        jit_memory_free(memory);
}
END_TEST

/* The process of a recording: it has code at the address, and began before. */
START_TEST(test_recorded)
{
        static const struct {
                const char *file;
                size_t at;     /* from the begin of its code */
                bool is_later; /* the process began after the sample */
                bool is_found;
        } ROWS[] = {
                {"doublemapper", PLACE, false, true},
                {NULL, PLACE, false, true},
                {"doublemapper", SIZE << 20, false, false},
                {"doublemapper", PLACE, true, false},
        };
        const Child child = child_new(PROT_READ | PROT_EXEC, ROWS[_i].file);
        const uint64_t code = (uint64_t)(uintptr_t)child.code,
                       now = (uint64_t)g_get_monotonic_time() * 1000;
        JitMemory *memory = jit_memory_new();

        jit_memory_keep_recorded(memory, child.pid, code + ROWS[_i].at,
                                 ROWS[_i].is_later ? now / 2 : now);
        ck_assert_int_eq(jit_memory_has(memory, child.pid), ROWS[_i].is_found);
        ck_assert_int_eq(jit_memory_is_lost(memory, child.pid), !ROWS[_i].is_found);
        child_end(&child);
        ck_assert_int_eq(child_has_text(memory, &child, ROWS[_i].file ? 0 : code + PLACE),
                         ROWS[_i].is_found);
        jit_memory_free(memory);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("jit-memory");
        TCase *tcase = tcase_create("jit-memory");

        tcase_add_test(tcase, test_copies_code_without_a_file);
        tcase_add_test(tcase, test_does_not_copy_at_once);
        tcase_add_test(tcase, test_keeps_the_file_of_the_runtime);
        tcase_add_test(tcase, test_copies_nothing);
        tcase_add_loop_test(tcase, test_part, 0, 2);
        tcase_add_loop_test(tcase, test_recorded, 0, 4);
        suite_add_tcase(suite, tcase);
        return suite;
}

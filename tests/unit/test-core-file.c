/* SPDX-License-Identifier: MIT */

/*
 * Core files for each machine, built by the test: complete, truncated at each byte, and with wrong
 * lengths
 */

#include "moment/core-file.h"

#include "support/suite.h"
#include "util/fd.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE  UINT64_C(0x7f0000000000) /* address of the mapped file, with its header */
#define STACK UINT64_C(0x7ffc00000000)
#define DATA  UINT64_C(0x7f0000100000) /* mapped file without memory in the core file */
#define PAGE  0x1000u

enum { N_THREADS = 2, NOTES_AT = 0x200, CODE_AT = 0x1000, STACK_AT = 0x2000, SIZE = 0x3000 };
enum { MAX_STATUS = 392, INFO_SIZE = 136 };

/* Layouts from the kernel's headers: struct elf_prstatus, and user_regs_struct or user_pt_regs. */
static const struct {
        uint16_t elf_machine;
        const char *name;
        unsigned n_status, n_registers; /* bytes; words */
        unsigned sp;                    /* index of the stack pointer in the status */
        struct {
                unsigned ours, status;
        } same[6];
} MACHINES[] = {
        {EM_X86_64,
         "x86_64",
         336,
         27,
         19,
         /* r15, rbp, rbx, rdi, rip, rax */
         {{15, 0}, {REGISTER_FP, 4}, {3, 5}, {5, 14}, {REGISTER_PC, 16}, {0, 10}}},
        {EM_AARCH64,
         "aarch64",
         392,
         34,
         31,
         /* x0, x6, x16, x29, x30, pc */
         {{0, 0}, {29, 6}, {32, 16}, {REGISTER_FP, 29}, {REGISTER_LR, 30}, {REGISTER_PC, 32}}},
};

/* Segments. */
enum { NOTES, CODE_HEADER, CODE_TEXT, STACK_LOW, STACK_HIGH, N_SEGMENTS };

static void note_add(GByteArray *notes, uint32_t type, const void *bytes, uint32_t n)
{
        const Elf64_Nhdr header = {.n_namesz = 5, .n_descsz = n, .n_type = type};

        g_byte_array_append(notes, (const uint8_t *)&header, sizeof(header));
        g_byte_array_append(notes, (const uint8_t *)"CORE\0\0\0", 8);
        g_byte_array_append(notes, bytes, n);
        g_byte_array_set_size(notes, (notes->len + 3) & ~3u);
}

static void notes_make(GByteArray *notes, unsigned machine)
{
        static const char PATHS[] = "/a/lib.so\0/a/lib.so\0/a/icu.dat";
        const uint64_t files[] = {3,    PAGE, /* begin, end, page */
                                  CODE, CODE + PAGE, 0, CODE + PAGE, CODE + 3 * PAGE, 1,
                                  DATA, DATA + PAGE, 0};
        uint8_t status[MAX_STATUS] = {0}, info[INFO_SIZE] = {0},
                table[sizeof(files) + sizeof(PATHS)];
        uint32_t i;

        for (i = 0; i < N_THREADS; i++) {
                const uint32_t tid = 4711 + i;
                uint64_t registers[MACHINE_MAX_STATUS];
                unsigned j;

                for (j = 0; j < MACHINES[machine].n_registers; j++)
                        registers[j] = 1000 * i + j;
                registers[MACHINES[machine].sp] = STACK + PAGE / 2 + 8 * i;
                memcpy(status + 32, &tid, sizeof(tid));
                memcpy(status + 112, registers, MACHINES[machine].n_registers * sizeof(*registers));
                note_add(notes, NT_PRSTATUS, status, MACHINES[machine].n_status);
                if (i == 0) {
                        memcpy(info + 24, &tid, sizeof(tid));
                        memcpy(info + 40, "server", sizeof("server"));
                        note_add(notes, NT_PRPSINFO, info, sizeof(info));
                }
        }
        memcpy(table, files, sizeof(files));
        memcpy(table + sizeof(files), PATHS, sizeof(PATHS));
        note_add(notes, NT_FILE, table, sizeof(table));
}

/* Writes the begin of a mapped file, with its build id. */
static void file_make(uint8_t *page, unsigned machine)
{
        static const uint8_t ID[] = {4, 0,   0,   0,   3, 0,    0,    0,   NT_GNU_BUILD_ID, 0, 0,
                                     0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef};
        const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                                   .e_type = ET_DYN,
                                   .e_machine = MACHINES[machine].elf_machine,
                                   .e_phoff = sizeof(header),
                                   .e_phentsize = sizeof(Elf64_Phdr),
                                   .e_phnum = 2};
        const Elf64_Phdr segments[] = {
                {.p_type = PT_LOAD, .p_filesz = PAGE, .p_memsz = PAGE},
                {.p_type = PT_NOTE,
                 .p_vaddr = 0x200,
                 .p_offset = 0x200,
                 .p_filesz = sizeof(ID) + 1},
        };

        memcpy(page, &header, sizeof(header));
        memcpy(page + sizeof(header), segments, sizeof(segments));
        memcpy(page + 0x200, ID, sizeof(ID));
}

static void core_make_of(uint8_t *core, unsigned machine)
{
        g_autoptr(GByteArray) notes = g_byte_array_new();
        const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                                   .e_type = ET_CORE,
                                   .e_machine = MACHINES[machine].elf_machine,
                                   .e_phoff = sizeof(header),
                                   .e_phentsize = sizeof(Elf64_Phdr),
                                   .e_phnum = N_SEGMENTS};
        Elf64_Phdr segments[N_SEGMENTS] = {
                [NOTES] = {.p_type = PT_NOTE, .p_offset = NOTES_AT},
                [CODE_HEADER] = {PT_LOAD, PF_R, CODE_AT, CODE, 0, PAGE, PAGE, PAGE},
                [CODE_TEXT] = {PT_LOAD, PF_R | PF_X, CODE_AT + PAGE, CODE + PAGE, 0, 0, 2 * PAGE,
                               PAGE},
                [STACK_LOW] = {PT_LOAD, PF_R | PF_W, STACK_AT, STACK, 0, PAGE - 0x100, PAGE - 0x100,
                               PAGE},
                /* The upper part of the stack, adjacent to the lower part. */
                [STACK_HIGH] = {PT_LOAD, PF_R | PF_W, STACK_AT + PAGE - 0x100, STACK + PAGE - 0x100,
                                0, 0x100, 0x100, PAGE},
        };
        unsigned i;

        notes_make(notes, machine);
        ck_assert_uint_le(NOTES_AT + notes->len, CODE_AT);
        segments[NOTES].p_filesz = notes->len;
        memset(core, 0, SIZE);
        memcpy(core, &header, sizeof(header));
        memcpy(core + sizeof(header), segments, sizeof(segments));
        memcpy(core + NOTES_AT, notes->data, notes->len);
        file_make(core + CODE_AT, machine);
        for (i = 0; i < PAGE; i++)
                core[STACK_AT + i] = (uint8_t)(i / 8);
}

static void core_make(uint8_t *core)
{
        core_make_of(core, 0);
}

static int core_file(const uint8_t *core, size_t n)
{
        const int fd = memfd_create("core", MFD_CLOEXEC);

        ck_assert_int_eq(pwrite(fd, core, n, 0), (ssize_t)n);
        return fd;
}

static void core_refuse(const uint8_t *core, const char *text)
{
        FD_AUTO int fd = core_file(core, SIZE);
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(moment_of_core(fd, &error));
        ck_assert_msg(strstr(error->message, text) != NULL, "%s", error->message);
}

START_TEST(test_whole)
{
        static const uint8_t ID[] = {0xab, 0xcd, 0xef};
        uint8_t core[SIZE];
        g_autoptr(GError) error = NULL;
        g_autoptr(Moment) moment = NULL;
        FD_AUTO int fd = -1;
        unsigned i, j;

        core_make_of(core, (unsigned)_i);
        fd = core_file(core, SIZE);
        moment = moment_of_core(fd, &error);
        ck_assert_msg(moment != NULL, "%s", error ? error->message : "");
        ck_assert_str_eq(moment->machine->name, MACHINES[_i].name);
        ck_assert_int_eq(moment->pid, 4711);
        ck_assert_uint_eq(moment->notes->len, 0);
        ck_assert_uint_eq(moment->threads->len, N_THREADS);
        for (i = 0; i < N_THREADS; i++) {
                const MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);

                ck_assert_int_eq(thread->tid, 4711 + (int)i);
                ck_assert_str_eq(thread->name, "server");
                for (j = 0; j < G_N_ELEMENTS(MACHINES[_i].same); j++)
                        ck_assert_uint_eq(thread->registers[MACHINES[_i].same[j].ours],
                                          1000 * i + MACHINES[_i].same[j].status);
                ck_assert_uint_eq(thread->registers[REGISTER_SP], STACK + PAGE / 2 + 8 * i);
                ck_assert_uint_eq(thread->n_stack, PAGE / 2 - 8 * i);
                ck_assert_uint_eq(thread->stack[0], (PAGE / 2 / 8 + i) & 255);
                ck_assert_uint_eq(thread->stack[thread->n_stack - 1], (PAGE / 8 - 1) & 255);
        }
        ck_assert_uint_eq(moment->mappings->len, 2);
        for (i = 0; i < 2; i++) {
                const MomentMapping *mapping = &g_array_index(moment->mappings, MomentMapping, i);

                ck_assert_uint_eq(mapping->begin, i ? DATA : CODE + PAGE);
                ck_assert_uint_eq(mapping->end, i ? DATA + PAGE : CODE + 3 * PAGE);
                ck_assert_uint_eq(mapping->offset, i ? 0 : PAGE);
                ck_assert_str_eq(mapping->path, i ? "/a/icu.dat" : "/a/lib.so");
                ck_assert_uint_eq(mapping->n_build_id, i ? 0 : sizeof(ID));
                ck_assert_int_eq(memcmp(mapping->build_id, ID, mapping->n_build_id), 0);
        }
}
END_TEST

/* A library of which the core file has only some pages: the remaining code is mapped, too. */
START_TEST(test_pages)
{
        static const struct {
                uint64_t begin, n; /* the only segment of code */
                uint32_t flags;
                unsigned n_mappings;
                uint64_t mappings[3][2]; /* begin, end; in the order of addresses */
        } CASES[] = {
                {PAGE, PAGE, PF_R | PF_X, 2, {{PAGE, 2 * PAGE}, {2 * PAGE, 3 * PAGE}}},
                {2 * PAGE, PAGE, PF_R | PF_X, 2, {{PAGE, 2 * PAGE}, {2 * PAGE, 3 * PAGE}}},
                {0x1800,
                 PAGE,
                 PF_R | PF_X,
                 3,
                 {{PAGE, 0x1800}, {0x1800, 0x2800}, {0x2800, 3 * PAGE}}},
                {PAGE, 0, PF_R | PF_X, 1, {{PAGE, 3 * PAGE}}},
                {2 * PAGE, PAGE, PF_R, 0, {{0}}}, /* data */
                /* Wrong lengths. */
                {PAGE, UINT64_MAX - CODE - PAGE, PF_R | PF_X, 1, {{PAGE, 3 * PAGE}}},
                {2 * PAGE, UINT64_MAX, PF_R | PF_X, 1, {{PAGE, 2 * PAGE}}},
        };
        uint8_t core[SIZE];
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CASES); i++) {
                const Elf64_Phdr text = {PT_LOAD,
                                         CASES[i].flags,
                                         CODE_AT + PAGE,
                                         CODE + CASES[i].begin,
                                         0,
                                         0,
                                         CASES[i].n,
                                         PAGE};
                g_autoptr(Moment) moment = NULL;
                FD_AUTO int fd = -1;
                unsigned n = 0, j, k;

                core_make(core);
                memcpy(core + sizeof(Elf64_Ehdr) + CODE_TEXT * sizeof(text), &text, sizeof(text));
                fd = core_file(core, SIZE);
                moment = moment_of_core(fd, NULL);
                ck_assert_ptr_nonnull(moment);
                for (j = 0; j < moment->mappings->len; j++) {
                        const MomentMapping *mapping =
                                &g_array_index(moment->mappings, MomentMapping, j);

                        if (strcmp(mapping->path, "/a/lib.so") != 0)
                                continue;
                        for (k = 0; k < CASES[i].n_mappings; k++)
                                if (mapping->begin == CODE + CASES[i].mappings[k][0] &&
                                    mapping->end == CODE + CASES[i].mappings[k][1])
                                        break;
                        ck_assert_msg(k < CASES[i].n_mappings, "case %zu: %lx-%lx", i,
                                      (unsigned long)mapping->begin, (unsigned long)mapping->end);
                        ck_assert_uint_eq(mapping->offset, mapping->begin - CODE);
                        ck_assert_uint_eq(mapping->n_build_id, 3);
                        n++;
                }
                ck_assert_msg(n == CASES[i].n_mappings, "case %zu: %u mappings", i, n);
        }
}
END_TEST

/* Words outside of the copies of stacks. */
START_TEST(test_memory)
{
        static const struct {
                uint64_t address;
                bool is_there;
        } CASES[] = {
                {STACK, true},
                {STACK + 3, true},
                {STACK - 1, false},
                {STACK + PAGE - 0x104, true}, /* across two segments */
                {STACK + PAGE - 8, true},
                {STACK + PAGE - 7, false},
                {CODE + PAGE - 8, true},
                {CODE + PAGE - 4, false}, /* the next segment has no bytes in the file */
                {0, false},
                {UINT64_MAX, false},
        };
        uint8_t core[SIZE];
        g_autoptr(Moment) moment = NULL;
        FD_AUTO int fd = -1;
        StackMemory memory;
        size_t i;

        core_make(core);
        fd = core_file(core, SIZE);
        moment = moment_of_core(fd, NULL);
        ck_assert_ptr_nonnull(moment);
        memory = moment_stack_memory(moment);
        for (i = 0; i < G_N_ELEMENTS(CASES); i++) {
                const uint64_t address = CASES[i].address;
                const size_t at = address >= CODE && address < CODE + PAGE
                                          ? CODE_AT + (size_t)(address - CODE)
                                          : STACK_AT + (size_t)(address - STACK);
                uint64_t value;

                ck_assert_int_eq(memory.read(memory.data, 4711, address, &value),
                                 CASES[i].is_there);
                if (CASES[i].is_there)
                        ck_assert_mem_eq(&value, core + at, sizeof(value));
        }
}
END_TEST

/* From a truncated core file, only complete parts are read. */
START_TEST(test_truncated)
{
        uint8_t core[SIZE];
        size_t n;

        core_make_of(core, (unsigned)_i);
        for (n = 0; n < SIZE; n += n < CODE_AT ? 1 : 61) {
                g_autoptr(GError) error = NULL;
                g_autoptr(Moment) moment = NULL;
                FD_AUTO int fd = core_file(core, n);

                moment = moment_of_core(fd, &error);
                ck_assert((moment == NULL) == (error != NULL));
                if (moment && n < SIZE)
                        ck_assert_uint_ge(moment->notes->len, 1);
                if (n >= CODE_AT)
                        ck_assert_ptr_nonnull(moment);
        }
}
END_TEST

START_TEST(test_refused)
{
        const struct {
                size_t at;
                uint8_t value;
                const char *text;
        } CASES[] = {
                {0, 0, "it is not a core file"},
                {EI_CLASS, ELFCLASS32, "it is of another machine"},
                {offsetof(Elf64_Ehdr, e_machine), EM_386, "it is of another machine"},
                /* The status of a thread is longer on this machine. */
                {offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, "it has no threads"},
                {offsetof(Elf64_Ehdr, e_type), ET_DYN, "it is a program or a library"},
                {offsetof(Elf64_Ehdr, e_phnum), 0, "no table of its memory"},
                {offsetof(Elf64_Ehdr, e_phentsize), 1, "no table of its memory"},
                {offsetof(Elf64_Ehdr, e_phoff) + 5, 1, "the table of its memory is missing"},
                {sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz) + 6, 1, "more notes"},
                {sizeof(Elf64_Ehdr), PT_NULL, "it has no threads"},
        };
        uint8_t core[SIZE];
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CASES); i++) {
                core_make(core);
                core[CASES[i].at] = CASES[i].value;
                core_refuse(core, CASES[i].text);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("core-file");
        TCase *tcase = tcase_create("core-file");

        tcase_add_loop_test(tcase, test_whole, 0, G_N_ELEMENTS(MACHINES));
        tcase_add_test(tcase, test_pages);
        tcase_add_test(tcase, test_memory);
        tcase_add_loop_test(tcase, test_truncated, 0, G_N_ELEMENTS(MACHINES));
        tcase_add_test(tcase, test_refused);
        suite_add_tcase(suite, tcase);
        return suite;
}

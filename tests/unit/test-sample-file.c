/* SPDX-License-Identifier: MIT */

/*
 * A perf.data file in several layouts; and files from a recorded process, for unwinding its stacks:
 * the files that are opened, and limits of their cost
 */

#include "unwind/sample-file.h"

#include "perf/stack-roots.h"

#include "support/suite.h"
#include "util/fd.h"

#include <elf.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <zstd.h>

/* Address of the mapped file, and of the function with call frame information. */
#define BASE       UINT64_C(0x7f0000000000)
#define FUNCTION   0x2000u
#define N_FUNCTION 0x800u
/* Callers of the function, by call frame information and by the frame pointer. */
#define BY_FRAME   UINT64_C(0x7f0000002111)
#define BY_POINTER UINT64_C(0x7f0000002222)

/* Offsets of the parts of the mapped file. */
enum { HEADER_AT = 0x1000, SECTIONS_AT = 0x1800, NAMES_AT = 0x1f00, FRAMES_AT = 0x3000 };
#define N_FRAMES 0x10000u

/* An ELF file; each part is under the control of the target. */
typedef struct Library {
        Elf64_Ehdr header;
        Elf64_Phdr segments[2];
        Elf64_Shdr sections[3];
        uint8_t frames[N_FRAMES];
        size_t n_frames;
        uint64_t size; /* size of the file; the space between the parts is a hole */
} Library;

static void library_add(Library *library, const void *bytes, size_t n)
{
        ck_assert_uint_le(library->n_frames + n, sizeof(library->frames));
        memcpy(library->frames + library->n_frames, bytes, n);
        library->n_frames += n;
}

static void library_add_u32(Library *library, uint32_t value)
{
        library_add(library, &value, sizeof(value));
}

/* Adds the frame of the function, which begins at rsp + 16; N bytes of instructions CODE follow. */
static void library_add_frames(Library *library, const uint8_t *code, uint32_t n)
{
        static const uint8_t CIE[] = {1,    'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* pc-relative */
                                      0x0c, 7,   16,                           /* CFA: rsp + 16 */
                                      0x90, 1,                                 /* pc: CFA - 8 */
                                      0,    0};
        const uint32_t padding = (8 - (17 + n) % 8) % 8;
        const uint8_t nothing[8] = {0};

        library->n_frames = 0;
        library_add_u32(library, 4 + sizeof(CIE));
        library_add_u32(library, 0);
        library_add(library, CIE, sizeof(CIE));
        library_add_u32(library, 13 + n + padding);
        library_add_u32(library, (uint32_t)library->n_frames);
        library_add_u32(library, FUNCTION - (uint32_t)(FRAMES_AT + library->n_frames));
        library_add_u32(library, N_FUNCTION);
        library_add(library, nothing, 1);
        if (n)
                library_add(library, code, n);
        library_add(library, nothing, padding);
        library_add_u32(library, 0);
}

static Library library_new(void)
{
        Library library = {
                .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                           .e_type = ET_DYN,
                           .e_machine = EM_X86_64,
                           .e_version = EV_CURRENT,
                           .e_phoff = sizeof(Elf64_Ehdr),
                           .e_shoff = SECTIONS_AT,
                           .e_ehsize = sizeof(Elf64_Ehdr),
                           .e_phentsize = sizeof(Elf64_Phdr),
                           .e_phnum = 2,
                           .e_shentsize = sizeof(Elf64_Shdr),
                           .e_shnum = 3,
                           .e_shstrndx = 2},
                .segments = {{.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_X,
                              .p_filesz = FRAMES_AT + N_FRAMES,
                              .p_memsz = FRAMES_AT + N_FRAMES,
                              .p_align = 0x1000},
                             {.p_type = PT_GNU_EH_FRAME,
                              .p_flags = PF_R,
                              .p_offset = HEADER_AT,
                              .p_vaddr = HEADER_AT,
                              .p_filesz = 20,
                              .p_memsz = 20}},
                .sections = {{0},
                             {.sh_name = 1,
                              .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC,
                              .sh_addr = FRAMES_AT,
                              .sh_offset = FRAMES_AT,
                              .sh_addralign = 8},
                             {.sh_name = 11,
                              .sh_type = SHT_STRTAB,
                              .sh_offset = NAMES_AT,
                              .sh_size = 21,
                              .sh_addralign = 1}},
                .size = FRAMES_AT + N_FRAMES,
        };

        library_add_frames(&library, NULL, 0);
        library.sections[1].sh_size = library.n_frames;
        return library;
}

static void library_write(const Library *library, const char *path)
{
        static const char NAMES[] = "\0.eh_frame\0.shstrtab";
        /* The table has only this function. */
        const int32_t table[] = {0x3b031b01, FRAMES_AT - HEADER_AT - 4, 1, FUNCTION - HEADER_AT,
                                 FRAMES_AT - HEADER_AT + 24};
        FD_AUTO int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, (off_t)library->size), 0);
        ck_assert_int_gt(pwrite(fd, &library->header, sizeof(library->header), 0), 0);
        ck_assert_int_gt(
                pwrite(fd, library->segments, sizeof(library->segments), sizeof(library->header)),
                0);
        ck_assert_int_gt(pwrite(fd, table, sizeof(table), HEADER_AT), 0);
        ck_assert_int_gt(pwrite(fd, library->frames, library->n_frames, FRAMES_AT), 0);
        ck_assert_int_gt(pwrite(fd, library->sections, sizeof(library->sections), SECTIONS_AT), 0);
        ck_assert_int_gt(pwrite(fd, NAMES, sizeof(NAMES), NAMES_AT), 0);
}

static char *directory, *data_path, *library_path;

static void set_up(void)
{
        directory = g_dir_make_tmp("clrsym-sample-file-XXXXXX", NULL);
        data_path = g_build_filename(directory, "perf.data", NULL);
        library_path = g_build_filename(directory, "library.so", NULL);
}

static void tear_down(void)
{
        g_remove(data_path);
        g_remove(library_path);
        g_rmdir(directory);
        g_free(data_path);
        g_free(library_path);
        g_free(directory);
}

/* A perf.data file that the test builds. */
typedef struct Recording {
        GByteArray *records;
        guint record; /* begin of the current record */
} Recording;

static void recording_begin(Recording *recording, uint32_t type)
{
        const struct perf_event_header header = {.type = type};

        recording->record = recording->records->len;
        g_byte_array_append(recording->records, (const uint8_t *)&header, sizeof(header));
}

static void recording_add(Recording *recording, const void *bytes, size_t n)
{
        g_byte_array_append(recording->records, bytes, (guint)n);
}

static void recording_add_u32(Recording *recording, uint32_t value)
{
        recording_add(recording, &value, sizeof(value));
}

static void recording_add_u64(Recording *recording, uint64_t value)
{
        recording_add(recording, &value, sizeof(value));
}

static void recording_end(Recording *recording)
{
        struct perf_event_header header;

        while (recording->records->len % 8)
                recording_add(recording, "", 1);
        memcpy(&header, recording->records->data + recording->record, sizeof(header));
        header.size = (uint16_t)(recording->records->len - recording->record);
        memcpy(recording->records->data + recording->record, &header, sizeof(header));
}

/* Adds the mapping of PATH in process PID; ST: the file at that time. */
static void recording_add_mapping(Recording *recording, pid_t pid, const char *path,
                                  const struct stat *st)
{
        recording_begin(recording, PERF_RECORD_MMAP2);
        recording_add_u32(recording, (uint32_t)pid);
        recording_add_u32(recording, (uint32_t)pid);
        recording_add_u64(recording, BASE);
        recording_add_u64(recording, FRAMES_AT);
        recording_add_u64(recording, 0);
        recording_add_u32(recording, major(st->st_dev));
        recording_add_u32(recording, minor(st->st_dev));
        recording_add_u64(recording, st->st_ino);
        recording_add_u64(recording, 0);
        recording_add_u32(recording, PROT_READ | PROT_EXEC);
        recording_add_u32(recording, MAP_PRIVATE);
        recording_add(recording, path, strlen(path) + 1);
        recording_end(recording);
}

#define STACK_AT UINT64_C(0x7ffff000)

static void recording_add_sample(Recording *recording, pid_t pid)
{
        const uint64_t stack[] = {0, BY_FRAME, 0, 0, 0, BY_POINTER};

        recording_begin(recording, PERF_RECORD_SAMPLE);
        recording_add_u64(recording, BASE + FUNCTION + 5);
        recording_add_u32(recording, (uint32_t)pid);
        recording_add_u32(recording, (uint32_t)pid);
        recording_add_u64(recording, 1000); /* time */
        recording_add_u64(recording, 0);    /* callers in the kernel */
        recording_add_u64(recording, 2);    /* 64-bit registers: BP, SP, IP */
        recording_add_u64(recording, STACK_AT + 32);
        recording_add_u64(recording, STACK_AT);
        recording_add_u64(recording, BASE + FUNCTION + 5);
        recording_add_u64(recording, sizeof(stack));
        recording_add(recording, stack, sizeof(stack));
        recording_add_u64(recording, sizeof(stack));
        recording_end(recording);
}

static void recording_add_name(Recording *recording, pid_t pid, const char *name)
{
        recording_begin(recording, PERF_RECORD_COMM);
        recording_add_u32(recording, (uint32_t)pid);
        recording_add_u32(recording, (uint32_t)pid);
        recording_add(recording, name, strlen(name) + 1);
        recording_end(recording);
}

/* Samples of the event have these members, with copies of stacks. */
static const struct perf_event_attr ATTR = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(ATTR),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8,
        .sample_stack_user = 48,
};

#define MAGIC UINT64_C(0x32454c4946524550)

static void recording_write(const Recording *recording)
{
        const uint64_t header[13] = {MAGIC,
                                     sizeof(header),
                                     sizeof(ATTR) + 16,
                                     sizeof(header),
                                     sizeof(ATTR) + 16,
                                     sizeof(header) + sizeof(ATTR) + 16,
                                     recording->records->len};
        const uint64_t no_ids[2] = {0};
        FILE *file = fopen(data_path, "we");

        ck_assert(file && fwrite(header, sizeof(header), 1, file) == 1 &&
                  fwrite(&ATTR, sizeof(ATTR), 1, file) == 1 &&
                  fwrite(no_ids, sizeof(no_ids), 1, file) == 1 &&
                  fwrite(recording->records->data, recording->records->len, 1, file) == 1 &&
                  fclose(file) == 0);
}

/* Writes the format of perf record to a pipe: the attributes are a record. */
static void recording_write_pipe(const Recording *recording)
{
        const uint64_t header[2] = {MAGIC, sizeof(header)};
        const struct perf_event_header record = {.type = PERF_RECORD_HEADER_ATTR,
                                                 .size = sizeof(record) + sizeof(ATTR)};
        FILE *file = fopen(data_path, "we");

        /* The size of perf's own records is not always a multiple of 8. */
        const struct perf_event_header odd = {.type = PERF_RECORD_HEADER_FEATURE,
                                              .size = sizeof(odd) + 12};

        ck_assert(file && fwrite(header, sizeof(header), 1, file) == 1 &&
                  fwrite(&odd, sizeof(odd), 1, file) == 1 &&
                  fwrite("\3\0\0\0\0\0\0\0host", 12, 1, file) == 1 &&
                  fwrite(&record, sizeof(record), 1, file) == 1 &&
                  fwrite(&ATTR, sizeof(ATTR), 1, file) == 1 &&
                  fwrite(recording->records->data, recording->records->len, 1, file) == 1 &&
                  fclose(file) == 0);
}

/* Writes the format of perf record -z: the records are one zstd stream, here in pieces of PIECE
 * bytes. */
static void recording_compress(Recording *recording, size_t piece)
{
        GByteArray *records = recording->records;
        ZSTD_CStream *stream = ZSTD_createCStream();
        uint8_t bytes[4096];
        size_t at, n;

        recording->records = g_byte_array_new();
        for (at = 0; at < records->len; at += n) {
                ZSTD_outBuffer out = {bytes, sizeof(bytes), 0};
                ZSTD_inBuffer in = {records->data + at, MIN(piece, records->len - at), 0};
                uint64_t n_packed;

                n = in.size;
                ck_assert_uint_eq(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush), 0);
                n_packed = out.pos;
                recording_begin(recording, PERF_RECORD_COMPRESSED2);
                recording_add(recording, &n_packed, sizeof(n_packed));
                recording_add(recording, bytes, out.pos);
                recording_end(recording);
        }
        ZSTD_freeCStream(stream);
        g_byte_array_unref(records);
}

/* Collects the chains of all samples in the order of time, as a GArray of uint64_t each. */
static bool chains_take(const QueuedSample *sample, void *data)
{
        GArray *chain = g_array_new(FALSE, FALSE, sizeof(uint64_t));

        g_array_append_vals(chain, sample->chain, sample->n_chain);
        g_ptr_array_add(data, chain);
        return true;
}

static void sample_ignore(void *data, const PerfAttr *event, const PerfSample *sample)
{
}

/* Checks that each step reads more of the file, and not beyond its end. */
static int check_progress(uint64_t n_read, uint64_t n_total, void *data)
{
        uint64_t *before = data;

        ck_assert_uint_ge(n_read, *before);
        ck_assert_uint_le(n_read, n_total);
        *before = n_read;
        return 0;
}

static GPtrArray *file_read_chains(const MethodFinder *methods, StackCounts *ret_counts)
{
        const SampleFileCalls calls = {.sample = sample_ignore};
        const StackSources sources = {.methods = methods};
        GPtrArray *chains = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
        g_autoptr(GError) error = NULL;
        uint64_t n_read = 0;
        SampleFile file;

        ck_assert(sample_file_open(&file, data_path, &error));
        file.data.features.machine = g_strdup("x86_64"); /* on any machine */
        file.progress = check_progress, file.progress_data = &n_read;
        ck_assert(sample_file_scan(&file, &sources, &calls, &error));
        n_read = 0;
        ck_assert(sample_file_walk(&file, &calls, &error));
        n_read = 0;
        if (file.walk)
                stack_walk_count(file.walk, ret_counts);
        ck_assert(sample_file_read(&file, chains_take, chains, &error));
        sample_file_close(&file);
        return chains;
}

/* Unwinds the recording, and frees its records. */
static GPtrArray *recording_unwind_with(Recording *recording, const MethodFinder *methods,
                                        StackCounts *ret_counts)
{
        recording_write(recording);
        g_byte_array_unref(recording->records);
        return file_read_chains(methods, ret_counts);
}

static GPtrArray *recording_unwind(Recording *recording, StackCounts *ret_counts)
{
        return recording_unwind_with(recording, NULL, ret_counts);
}

static void check_chain(const GPtrArray *chains, guint number, const uint64_t *want, guint n)
{
        const GArray *chain;

        ck_assert_uint_lt(number, chains->len);
        chain = chains->pdata[number];
        ck_assert_uint_eq(chain->len, n);
        ck_assert_mem_eq(chain->data, want, n * sizeof(*want));
}

/* Returns the caller in a sample with two frames. */
static uint64_t caller_of_sample(const GPtrArray *chains, guint number)
{
        const GArray *chain = chains->pdata[number];

        ck_assert_uint_eq(chain->len, 3);
        ck_assert_uint_eq(g_array_index(chain, uint64_t, 0), PERF_CONTEXT_USER);
        ck_assert_uint_eq(g_array_index(chain, uint64_t, 1), BASE + FUNCTION + 5);
        return g_array_index(chain, uint64_t, 2);
}

/* Returns the caller in the N-th last sample. */
static uint64_t caller_of_last_sample(const GPtrArray *chains, guint n)
{
        return caller_of_sample(chains, chains->len - n);
}

/* Returns the caller in the sample of a process that had PATH mapped when ST was its status. */
static uint64_t unwound_caller(const char *path, const struct stat *st, StackCounts *ret_counts)
{
        Recording recording = {.records = g_byte_array_new()};
        g_autoptr(GPtrArray) chains = NULL;

        recording_add_mapping(&recording, getpid(), path, st);
        recording_add_sample(&recording, getpid());
        chains = recording_unwind(&recording, ret_counts);
        return caller_of_last_sample(chains, 1);
}

/* Layouts of a file, and their samples. */
typedef enum Layout {
        LAYOUT_FILE,
        LAYOUT_PIPE,
        LAYOUT_COMPRESSED,
        LAYOUT_PIECES, /* small pieces: records cross their borders */
        LAYOUT_CUT,    /* a killed recording: the last record is truncated */
        _LAYOUT_MAX,
} Layout;

START_TEST(reads_each_layout)
{
        const Library library = library_new();
        Recording recording = {.records = g_byte_array_new()};
        g_autoptr(GPtrArray) chains = NULL;
        g_auto(StackCounts) counts = {0};
        struct stat st;
        int i;

        library_write(&library, library_path);
        ck_assert_int_eq(stat(library_path, &st), 0);
        recording_add_mapping(&recording, getpid(), library_path, &st);
        for (i = 0; i < 3; i++)
                recording_add_sample(&recording, getpid());
        switch ((Layout)_i) {
        case LAYOUT_CUT:
                g_byte_array_set_size(recording.records, recording.records->len - 8);
                break;
        case LAYOUT_COMPRESSED:
                recording_compress(&recording, 100000);
                break;
        case LAYOUT_PIECES:
                recording_compress(&recording, 13);
                break;
        default:
                break;
        }
        (_i == LAYOUT_PIPE ? recording_write_pipe : recording_write)(&recording);
        g_byte_array_unref(recording.records);
        chains = file_read_chains(NULL, &counts);
        ck_assert_uint_eq(chains->len, _i == LAYOUT_CUT ? 2 : 3);
        for (i = 0; i < (int)chains->len; i++)
                ck_assert_uint_eq(caller_of_sample(chains, (guint)i), BY_FRAME);
}
END_TEST

/* Refused files, with the reason. */
static const struct {
        const char *reason;
        size_t at; /* offset of the changed bytes */
        uint64_t value;
} REFUSED[] = {
        {"other byte order", 0, UINT64_C(0x50455246494c4532)},
        {"not a perf.data file", 0, 7},
        {"not a perf.data file", 8, 90},
        {"attributes of its events", 24, UINT64_MAX},
        {"records are not in it", 40, UINT64_MAX},
        {"later version of perf", 104 + 24, UINT64_C(1) << 25},
        {"no valid size", 104 + sizeof(ATTR) + 16, (uint64_t)4 << 48},
        {"trace of a processor", 104 + sizeof(ATTR) + 16, (uint64_t)48 << 48 | 71},
        {"compressed records", 104 + sizeof(ATTR) + 16, (uint64_t)48 << 48 | 81},
};

START_TEST(refuses_by_name)
{
        const SampleFileCalls calls = {.sample = sample_ignore};
        Recording recording = {.records = g_byte_array_new()};
        g_autoptr(GError) error = NULL;
        SampleFile file;
        FD_AUTO int fd = -1;

        recording_add_name(&recording, 7, "a long name");
        recording_add_sample(&recording, 7), recording_write(&recording);
        g_byte_array_unref(recording.records);
        fd = open(data_path, O_WRONLY | O_CLOEXEC);
        ck_assert_int_eq(pwrite(fd, &REFUSED[_i].value, 8, (off_t)REFUSED[_i].at), 8);
        ck_assert(!sample_file_open(&file, data_path, &error) ||
                  (file.data.features.machine = g_strdup("x86_64"),
                   !sample_file_scan(&file, &(const StackSources){0}, &calls, &error)));
        ck_assert_msg(strstr(error->message, REFUSED[_i].reason) != NULL, "%s", error->message);
        sample_file_close(&file);
}
END_TEST

START_TEST(unwinds_by_the_files_frames)
{
        const Library library = library_new();
        g_auto(StackCounts) counts = {0};
        struct stat st;

        library_write(&library, library_path);
        ck_assert_int_eq(stat(library_path, &st), 0);
        ck_assert_uint_eq(unwound_caller(library_path, &st, &counts), BY_FRAME);
        ck_assert_uint_eq(counts.n_missing, 0);
}
END_TEST

/* Methods with a sample 5 bytes after their begin. */
static const struct {
        uint8_t code[6];
        MethodSearch search;
        uint64_t caller;
} METHODS[] = {
        {{0x50, 0x90, 0x90, 0x90, 0x90, 0x90}, METHOD_FOUND, BY_FRAME}, /* push rax */
        {{0x50, 0x90, 0x90, 0x90, 0x90, 0x90}, METHOD_UNREAD, BY_POINTER},
        {{0x50, 0x90, 0x90, 0x90, 0x90, 0x90}, METHOD_FOREIGN, BY_POINTER},
        {{0x55, 0x48, 0x8b, 0xec, 0x90, 0x90}, METHOD_FOUND, BY_POINTER}, /* mov rbp, rsp */
        /* One code address on the stack, which could be the method's return address, too. */
        {{0}, METHOD_UNKNOWN, STACK_HIDDEN_MARK},
};

static MethodSearch find_method(void *data, const MethodPlace *place, MethodCode *ret_code,
                                uint64_t *ret_start)
{
        const int i = *(const int *)data;

        ck_assert_int_eq(place->pid, getpid());
        ck_assert(place->time == 1000 && place->begin == BASE);
        *ret_code = (MethodCode){.bytes = METHODS[i].code, .n = sizeof(METHODS[i].code)};
        *ret_start = place->address - 5;
        return METHODS[i].search;
}

START_TEST(unwinds_by_the_code_of_methods)
{
        const MethodFinder methods = {.find = find_method, .data = &_i};
        Recording recording = {.records = g_byte_array_new()};
        g_auto(StackCounts) counts = {0};
        g_autoptr(GPtrArray) chains = NULL;

        recording_add_mapping(&recording, getpid(), "/memfd:doublemapper (deleted)",
                              &(struct stat){0});
        recording_add_sample(&recording, getpid());
        chains = recording_unwind_with(&recording, &methods, &counts);
        ck_assert_uint_eq(counts.n_unread, METHODS[_i].search == METHOD_UNREAD);
        if (METHODS[_i].caller == STACK_HIDDEN_MARK) {
                const uint64_t want[] = {PERF_CONTEXT_USER, BASE + FUNCTION + 5, STACK_HIDDEN_MARK,
                                         BY_POINTER};

                check_chain(chains, 0, want, G_N_ELEMENTS(want));
                return;
        }
        ck_assert_uint_eq(caller_of_last_sample(chains, 1), METHODS[_i].caller);
}
END_TEST

/* Replacements of the library after it was mapped. */
typedef enum Replacement {
        BY_PIPE,
        BY_LINK_TO_PIPE,
        BY_DEVICE,
        BY_SOCKET_NAME,
        BY_OTHER_FILE,
        BY_LINK_TO_OTHER_FILE,
        _REPLACEMENT_MAX,
} Replacement;

static const char *other_path;

static bool replace_library(Replacement replacement)
{
        const Library library = library_new();

        switch (replacement) {
        case BY_PIPE:
                return mkfifo(library_path, 0666) == 0;
        case BY_LINK_TO_PIPE:
                return mkfifo(other_path, 0666) == 0 && symlink(other_path, library_path) == 0;
        case BY_DEVICE: /* /dev/null under another name */
                return mknod(library_path, S_IFCHR | 0666, makedev(1, 3)) == 0;
        case BY_SOCKET_NAME:
                return mknod(library_path, S_IFSOCK | 0666, 0) == 0;
        case BY_OTHER_FILE:
                library_write(&library, library_path);
                return true;
        case BY_LINK_TO_OTHER_FILE:
                library_write(&library, other_path);
                return symlink(other_path, library_path) == 0;
        case _REPLACEMENT_MAX:
                break;
        }
        return false;
}

/* The kernel reports each opening of a file in the directory. */
START_TEST(opens_nothing_else)
{
        g_autofree char *outside = g_dir_make_tmp("clrsym-outside-XXXXXX", NULL);
        g_autofree char *other = g_build_filename(outside, "other", NULL);
        FD_AUTO int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        const Library library = library_new();
        g_auto(StackCounts) counts = {0};
        char events[4096];
        struct stat st;

        other_path = other;
        library_write(&library, library_path);
        ck_assert_int_eq(stat(library_path, &st), 0);
        ck_assert_int_eq(g_remove(library_path), 0);
        if (!replace_library((Replacement)_i)) {
                /* Only root makes devices. */
                ck_assert_int_eq(errno, EPERM);
        } else {
                /* Its inode number can be free again. */
                st.st_ino += 1 << 20;
                ck_assert_int_ge(inotify_add_watch(watch, library_path, IN_OPEN), 0);
                ck_assert_int_ge(inotify_add_watch(watch, outside, IN_OPEN), 0);
                ck_assert_uint_eq(unwound_caller(library_path, &st, &counts), BY_POINTER);
                ck_assert_msg(read(watch, events, sizeof(events)) < 0, "case %d: it was opened",
                              _i);
                ck_assert_uint_eq(counts.n_missing, 1);
        }
        g_remove(other);
        g_rmdir(outside);
}
END_TEST

/* Claims of the process that exceed its data. */
typedef enum Claim {
        CLAIM_SEGMENT,
        CLAIM_SECTION,
        CLAIM_N_SEGMENTS,
        CLAIM_N_SECTIONS,
        CLAIM_NAMES,
        CLAIM_LENGTH,
        CLAIM_REGISTER,
        CLAIM_EXPRESSION,
        _CLAIM_MAX,
} Claim;

static Library library_claiming(Claim claim)
{
        /* Register number 80,000,000; a smaller integer type would make it register 7. */
        static const uint8_t MANY_REGISTERS[] = {0x09, 0x80, 0xe8, 0x92, 0x26, 7};
        /* The CFA is an expression of 3,000,000,000 bytes. */
        static const uint8_t LONG_EXPRESSION[] = {0x0f, 0x80, 0xbc, 0xc1, 0x96, 0x0b, 0x77, 0};
        const uint64_t much = UINT64_C(3000000000);
        Library library = library_new();
        const uint32_t length = 0xb2d05e00;

        library.size = 2 * much;
        switch (claim) {
        case CLAIM_SEGMENT:
                library.segments[1].p_filesz = much;
                library.header.e_shnum = 0;
                library.header.e_shoff = 0;
                break;
        case CLAIM_SECTION:
                library.sections[1].sh_size = much;
                library.segments[1].p_type = PT_NULL;
                break;
        case CLAIM_N_SEGMENTS:
                library.header.e_phnum = PN_XNUM;
                library.sections[0].sh_info = (uint32_t)(much / sizeof(Elf64_Phdr));
                break;
        case CLAIM_N_SECTIONS:
                library.header.e_shnum = 0;
                library.sections[0].sh_size = much / sizeof(Elf64_Shdr);
                break;
        case CLAIM_NAMES:
                library.sections[2].sh_size = much;
                library.segments[1].p_type = PT_NULL;
                break;
        case CLAIM_LENGTH:
                memcpy(library.frames + 24, &length, sizeof(length));
                break;
        case CLAIM_REGISTER:
                library_add_frames(&library, MANY_REGISTERS, sizeof(MANY_REGISTERS));
                break;
        case CLAIM_EXPRESSION:
                library_add_frames(&library, LONG_EXPRESSION, sizeof(LONG_EXPRESSION));
                break;
        case _CLAIM_MAX:
                break;
        }
        return library;
}

/* Returns the peak size of the address space in bytes. */
static uint64_t memory_peak(void)
{
        g_autofree char *text = NULL;

        ck_assert(g_file_get_contents("/proc/self/status", &text, NULL, NULL));
        return g_ascii_strtoull(strstr(text, "VmPeak:") + 7, NULL, 10) * 1024;
}

START_TEST(allocates_no_more_than_is_there)
{
        const struct rlimit limit = {UINT64_C(12) << 30, UINT64_C(12) << 30};
        const Library library = library_claiming((Claim)_i);
        const uint64_t before = memory_peak();
        g_auto(StackCounts) counts = {0};
        uint64_t caller, grown;
        struct stat st;

        ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
        library_write(&library, library_path);
        ck_assert_int_eq(stat(library_path, &st), 0);
        caller = unwound_caller(library_path, &st, &counts);
        grown = memory_peak() - before;
        ck_assert_msg(grown < (64u << 20), "claim %d: %" G_GUINT64_FORMAT " bytes", _i, grown);
        ck_assert_msg(caller == BY_FRAME || caller == BY_POINTER, "claim %d", _i);
}
END_TEST

/* A function with 60,000 call frame instructions; the sample makes the unwinder execute them. */
START_TEST(bounds_what_a_process_costs)
{
        enum { HOG = 1000, OTHER = 2000, N_SAMPLES = 2500 };
        static const uint8_t code[60000];
        const struct rlimit limit = {20, 20};
        Recording recording = {.records = g_byte_array_new()};
        Library library = library_new();
        g_auto(StackCounts) counts = {0};
        g_autoptr(GPtrArray) chains = NULL;
        struct stat st;
        int i;

        ck_assert_int_eq(setrlimit(RLIMIT_CPU, &limit), 0);
        library_add_frames(&library, code, sizeof(code));
        library.sections[1].sh_size = library.n_frames;
        library_write(&library, library_path);
        ck_assert_int_eq(stat(library_path, &st), 0);
        recording_add_name(&recording, HOG, "hog");
        recording_add_mapping(&recording, HOG, library_path, &st);
        recording_add_mapping(&recording, OTHER, library_path, &st);
        for (i = 0; i < N_SAMPLES; i++)
                recording_add_sample(&recording, HOG);
        recording_add_sample(&recording, OTHER);
        chains = recording_unwind(&recording, &counts);
        ck_assert_uint_eq(caller_of_sample(chains, 0), BY_FRAME);
        ck_assert_uint_eq(caller_of_last_sample(chains, 2), BY_POINTER);
        ck_assert_uint_eq(caller_of_last_sample(chains, 1), BY_FRAME);
        ck_assert_str_eq(counts.spent, "hog (1000)");
        ck_assert_uint_gt(counts.n_spent, 0);
        ck_assert_uint_lt(counts.n_spent, N_SAMPLES * 3 / 4);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("sample-file");
        TCase *tests = tcase_create("sample-file");

        tcase_add_checked_fixture(tests, set_up, tear_down);
        tcase_add_loop_test(tests, reads_each_layout, 0, _LAYOUT_MAX);
        tcase_add_loop_test(tests, refuses_by_name, 0, G_N_ELEMENTS(REFUSED));
        tcase_add_test(tests, unwinds_by_the_files_frames);
        tcase_add_loop_test(tests, unwinds_by_the_code_of_methods, 0, G_N_ELEMENTS(METHODS));
        tcase_add_loop_test(tests, opens_nothing_else, 0, _REPLACEMENT_MAX);
        tcase_add_loop_test(tests, allocates_no_more_than_is_there, 0, _CLAIM_MAX);
        tcase_add_test(tests, bounds_what_a_process_costs);
        tcase_set_timeout(tests, 60);
        suite_add_tcase(suite, tests);
        return suite;
}

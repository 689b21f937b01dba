/* SPDX-License-Identifier: MIT */
#include "moment/core-file.h"

#include "metadata/byte-cursor.h"
#include "moment/core-memory.h"
#include "perf/mapping-kind.h"
#include "util/elf-file.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

/* Offsets in the note NT_PRSTATUS (struct elf_prstatus in sys/procfs.h), on all machines. */
enum { STATUS_TID = 32, STATUS_REGISTERS = 112 };
/* The same for NT_PRPSINFO (struct elf_prpsinfo), and its minimal size. */
enum { INFO_PID = 24, INFO_NAME = 40, INFO_NAME_SIZE = 16, INFO_SIZE = 136 };
/*
 * Limits of a mapped file: rows of its table of segments, and bytes of its notes. Notes with a
 * build id are at the begin of the file.
 */
enum { MAX_FILE_SEGMENTS = 64, MAX_FILE_NOTES = 4096 };
/* Maximum of mappings of a file before its code. */
#define MAX_PIECES 64u

/* A row of NT_FILE. */
typedef struct CoreFile {
        uint64_t begin, end, offset;
        const char *path; /* borrowed from the notes */
} CoreFile;

typedef struct Core {
        CoreMemory memory;    /* its segments are the process's memory */
        Elf64_Phdr *segments; /* owned: all segments */
        unsigned n_segments;
        uint8_t *notes; /* owned */
        size_t n_notes;
        GArray *files; /* owned, of CoreFile, by address */
        Moment *moment;
        char name[INFO_NAME_SIZE + 1];
        bool is_cut;           /* truncated */
        unsigned n_without_id; /* mappings of libraries without a build id in the core */
} Core;

static bool core_fail(GError **error, const char *what)
{
        g_set_error_literal(error, MOMENT_ERROR, 0, what);
        return false;
}

/* The number of segments; if it exceeds 16 bits, the first section has it. */
static bool core_count_segments(const Core *core, const Elf64_Ehdr *header, uint64_t *ret)
{
        Elf64_Shdr section;

        *ret = header->e_phnum;
        if (header->e_phnum != PN_XNUM)
                return true;
        if (core_file_read(&core->memory, header->e_shoff, &section, sizeof(section)) !=
            sizeof(section))
                return false;
        *ret = section.sh_info;
        return true;
}

static bool core_read_header(Core *core, GError **error)
{
        Elf64_Ehdr header;
        uint64_t n;

        if (core_file_read(&core->memory, 0, &header, sizeof(header)) != sizeof(header) ||
            memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
                return core_fail(error,
                                 "it is not a core file: unpack a compressed core file first; "
                                 "coredumpctl dump -o FILE writes that of a crash");
        if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
            !(core->moment->machine = machine_find_elf(header.e_machine)))
                return core_fail(error,
                                 "it is of another machine: only core files of 64-bit programs "
                                 "on x86-64 and arm64 are supported");
        if (header.e_type != ET_CORE)
                return core_fail(error, "it is a program or a library, not a core file");
        if (header.e_phentsize != sizeof(Elf64_Phdr) || !core_count_segments(core, &header, &n) ||
            !n || n > CORE_MAX_SEGMENTS)
                return core_fail(error,
                                 "it has no table of its memory, or an unreadable one: the file "
                                 "is damaged, or truncated at its begin");
        core->n_segments = (unsigned)n;
        core->segments = g_new0(Elf64_Phdr, n);
        return core_file_read(&core->memory, header.e_phoff, core->segments,
                              n * sizeof(Elf64_Phdr)) == n * sizeof(Elf64_Phdr) ||
               core_fail(error, "it is truncated: the table of its memory is missing");
}

static int segment_compare(gconstpointer a, gconstpointer b)
{
        const Elf64_Phdr *x = a, *y = b;

        return (x->p_vaddr > y->p_vaddr) - (x->p_vaddr < y->p_vaddr);
}

static void core_sort_memory(Core *core)
{
        unsigned i;

        core->memory.segments = g_array_new(FALSE, FALSE, sizeof(Elf64_Phdr));
        for (i = 0; i < core->n_segments; i++)
                if (core->segments[i].p_type == PT_LOAD && core->segments[i].p_memsz)
                        g_array_append_val(core->memory.segments, core->segments[i]);
        g_array_sort(core->memory.segments, segment_compare);
}

/* Notes */

static void core_take_thread(Core *core, const uint8_t *bytes, size_t n)
{
        const Machine *machine = core->moment->machine;
        MomentThread thread = {0};
        uint32_t tid;

        if (n < STATUS_REGISTERS + machine->n_of_status * sizeof(uint64_t) ||
            core->moment->threads->len == CORE_MAX_THREADS)
                return;
        memcpy(&tid, bytes + STATUS_TID, sizeof(tid));
        if (!tid || tid > G_MAXINT32)
                return;
        thread.tid = (pid_t)tid;
        machine_take_status(machine, bytes + STATUS_REGISTERS, thread.registers);
        g_array_append_val(core->moment->threads, thread);
}

static void core_take_info(Core *core, const uint8_t *bytes, size_t n)
{
        uint32_t pid;

        if (n < INFO_SIZE)
                return;
        memcpy(&pid, bytes + INFO_PID, sizeof(pid));
        if (pid && pid <= G_MAXINT32)
                core->moment->pid = (pid_t)pid;
        memcpy(core->name, bytes + INFO_NAME, INFO_NAME_SIZE);
}

/*
 * Reads NT_FILE: the number of rows, the size of a page, the rows, and their NUL-terminated paths.
 */
static void core_take_files(Core *core, const uint8_t *bytes, size_t n)
{
        ByteCursor cursor = {.at = bytes, .n = n};
        const uint64_t n_rows = byte_cursor_u64(&cursor), page = byte_cursor_u64(&cursor);
        const char *path;
        uint64_t i;

        if (cursor.has_failed || n_rows > MIN(cursor.n / 24, CORE_MAX_FILES))
                return;
        path = (const char *)cursor.at + n_rows * 24;
        for (i = 0; i < n_rows; i++) {
                CoreFile file = {.begin = byte_cursor_u64(&cursor), .path = path};
                const size_t left = n - (size_t)(path - (const char *)bytes);
                const char *end = memchr(path, 0, left);

                file.end = byte_cursor_u64(&cursor);
                file.offset = byte_cursor_u64(&cursor) * page;
                if (!end)
                        return;
                path = end + 1;
                if (file.begin < file.end)
                        g_array_append_val(core->files, file);
        }
}

static void core_take_notes(Core *core, const uint8_t *notes, size_t n)
{
        ByteCursor cursor = {.at = notes, .n = n};

        while (cursor.n >= sizeof(Elf64_Nhdr)) {
                const uint32_t n_name = byte_cursor_u32(&cursor),
                               n_bytes = byte_cursor_u32(&cursor);
                const uint32_t type = byte_cursor_u32(&cursor);
                const uint8_t *name = byte_cursor_take(&cursor, ((size_t)n_name + 3) & ~(size_t)3);
                const uint8_t *bytes = byte_cursor_take(&cursor, n_bytes);

                if (!name || !bytes)
                        return;
                byte_cursor_take(&cursor, MIN(-(size_t)n_bytes & 3, cursor.n));
                if (n_name != sizeof("CORE") || memcmp(name, "CORE", sizeof("CORE")) != 0)
                        continue;
                if (type == NT_PRSTATUS)
                        core_take_thread(core, bytes, n_bytes);
                else if (type == NT_PRPSINFO)
                        core_take_info(core, bytes, n_bytes);
                else if (type == NT_FILE)
                        core_take_files(core, bytes, n_bytes);
        }
}

static int file_compare(gconstpointer a, gconstpointer b)
{
        const CoreFile *x = a, *y = b;

        return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool core_read_notes(Core *core, GError **error)
{
        unsigned i;

        for (i = 0; i < core->n_segments && !core->notes; i++) {
                const Elf64_Phdr *segment = &core->segments[i];

                if (segment->p_type != PT_NOTE || !segment->p_filesz)
                        continue;
                if (segment->p_filesz > CORE_MAX_NOTES)
                        return core_fail(error, "it has more notes than a core file has");
                core->notes = g_malloc0(segment->p_filesz);
                core->n_notes = core_file_read(&core->memory, segment->p_offset, core->notes,
                                               (size_t)segment->p_filesz);
        }
        core_take_notes(core, core->notes, core->n_notes);
        g_array_sort(core->files, file_compare);
        if (!core->moment->threads->len)
                return core_fail(error, "it has no threads: it is damaged, or truncated");
        return true;
}

/* Mappings */

/* Finds the build id of the file mapped at BEGIN, if the core has the file's first pages. */
static void core_find_build_id(const Core *core, uint64_t begin, MomentMapping *mapping)
{
        Elf64_Phdr segments[MAX_FILE_SEGMENTS];
        uint8_t notes[MAX_FILE_NOTES], id[ELF_MAX_BUILD_ID];
        uint64_t base = 0;
        Elf64_Ehdr header;
        size_t n, i;

        if (core_memory_read(&core->memory, begin, &header, sizeof(header)) != sizeof(header) ||
            memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_phentsize != sizeof(*segments) || header.e_phnum > MAX_FILE_SEGMENTS)
                return;
        n = header.e_phnum * sizeof(*segments);
        if (core_memory_read(&core->memory, begin + header.e_phoff, segments, n) != n)
                return;
        for (i = header.e_phnum; i-- > 0;)
                if (segments[i].p_type == PT_LOAD && !segments[i].p_offset)
                        base = begin - segments[i].p_vaddr;
        for (i = 0; i < header.e_phnum && !mapping->n_build_id; i++) {
                if (segments[i].p_type != PT_NOTE)
                        continue;
                n = core_memory_read(&core->memory, base + segments[i].p_vaddr, notes,
                                     (size_t)MIN(segments[i].p_filesz, sizeof(notes)));
                n = elf_notes_build_id(notes, n, id);
                if (n && n <= sizeof(mapping->build_id)) {
                        memcpy(mapping->build_id, id, n);
                        mapping->n_build_id = (uint8_t)n;
                }
        }
}

/* The index of the last file that begins at or before ADDRESS; -1: none. */
static int core_file_before(const Core *core, uint64_t address)
{
        guint low = 0, high = core->files->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(core->files, CoreFile, middle).begin <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        return (int)low - 1;
}

static void core_add_mapping(Core *core, uint64_t begin, uint64_t end, int number)
{
        const CoreFile *file = number >= 0 ? &g_array_index(core->files, CoreFile, number) : NULL;
        /* perf gives anonymous memory its address as the offset, too. */
        MomentMapping mapping = {.begin = begin, .end = end, .offset = begin};
        unsigned n;

        if (file) {
                mapping.offset = file->offset + (begin - file->begin);
                /* The mapping with the file's begin precedes its code. */
                for (n = 0; number >= 0 && n < MAX_PIECES; number--, n++) {
                        const CoreFile *first = &g_array_index(core->files, CoreFile, number);

                        if (strcmp(first->path, file->path) != 0)
                                break;
                        if (!first->offset) {
                                core_find_build_id(core, first->begin, &mapping);
                                break;
                        }
                }
        }
        core->n_without_id += file && !mapping.n_build_id && strstr(file->path, ".so");
        mapping.path = g_strdup(file ? file->path : "");
        g_array_append_val(core->moment->mappings, mapping);
}

/*
 * Takes the memory from BEGIN to END of SEGMENT, mapped from FILE (NULL: anonymous), if the runtime
 * can have compiled code there.
 */
static void core_take_code(Core *core, const Elf64_Phdr *segment, const CoreFile *file,
                           uint64_t begin, uint64_t end)
{
        const uint64_t at = begin - segment->p_vaddr;
        const MomentCode code = {
                .offset = file ? file->offset + (begin - file->begin) : begin,
                .place = segment->p_offset + at,
                .n = at < segment->p_filesz ? MIN(end - begin, segment->p_filesz - at) : 0,
        };

        if (code.n && (!file || mapping_kind_of_dso(file->path) == MAPPING_JITTED))
                g_array_append_val(core->moment->code, code);
}

/* Finds the executable memory, in pieces of one file or of none. */
static void core_find_mappings(Core *core)
{
        unsigned i;

        for (i = 0; i < core->n_segments; i++) {
                const Elf64_Phdr *segment = &core->segments[i];
                uint64_t at = segment->p_vaddr, end;

                if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
                    segment->p_memsz > UINT64_MAX - at)
                        continue;
                for (end = at + segment->p_memsz;
                     at < end && core->moment->mappings->len < CORE_MAX_MAPPINGS;) {
                        const int before = core_file_before(core, at);
                        const CoreFile *file =
                                before >= 0 ? &g_array_index(core->files, CoreFile, before) : NULL;
                        const bool is_in = file && at < file->end;
                        const guint next = (guint)(before + 1);
                        uint64_t until = end;

                        if (is_in)
                                until = MIN(until, file->end);
                        if (next < core->files->len)
                                until = MIN(until,
                                            g_array_index(core->files, CoreFile, next).begin);
                        core_add_mapping(core, at, until, is_in ? before : -1);
                        core_take_code(core, segment, is_in ? file : NULL, at, until);
                        at = until;
                }
        }
}

/* The index of the segment with ADDRESS; without one, of the next segment. */
static guint core_segment_from(const Core *core, uint64_t address)
{
        const guint next = core_memory_before(&core->memory, address);
        const Elf64_Phdr *before =
                next ? &g_array_index(core->memory.segments, Elf64_Phdr, next - 1) : NULL;

        return before && address - before->p_vaddr < before->p_memsz ? next - 1 : next;
}

/*
 * Adds the memory from BEGIN to the end of row NUMBER of the files, as far as no segment has it. A
 * row is one mapping, so a segment that is not executable shows that the whole row is not.
 */
static void core_find_left_out_of(Core *core, int number, uint64_t begin)
{
        const CoreFile *file = &g_array_index(core->files, CoreFile, number);
        const GArray *segments = core->memory.segments;
        const guint first = core_segment_from(core, begin);
        guint i;

        for (i = first; i < segments->len; i++) {
                const Elf64_Phdr *segment = &g_array_index(segments, Elf64_Phdr, i);

                if (segment->p_vaddr >= file->end)
                        break;
                if (!(segment->p_flags & PF_X))
                        return;
        }
        for (i = first; begin < file->end && core->moment->mappings->len < CORE_MAX_MAPPINGS; i++) {
                const Elf64_Phdr *segment =
                        i < segments->len ? &g_array_index(segments, Elf64_Phdr, i) : NULL;

                if (!segment || segment->p_vaddr >= file->end) {
                        core_add_mapping(core, begin, file->end, number);
                        break;
                }
                if (begin < segment->p_vaddr)
                        core_add_mapping(core, begin, segment->p_vaddr, number);
                if (segment->p_memsz >= file->end - segment->p_vaddr)
                        break;
                begin = MAX(begin, segment->p_vaddr + segment->p_memsz);
        }
}

/*
 * gcore leaves out memory that files have, and createdump without --full leaves out most pages of
 * libraries. Only dumped pages of the same row show whether a row is executable.
 */
static void core_find_left_out(Core *core)
{
        uint64_t done = 0;
        guint i;

        for (i = 0; i < core->files->len; i++) {
                const CoreFile *file = &g_array_index(core->files, CoreFile, i);

                if (done < file->end)
                        core_find_left_out_of(core, (int)i, MAX(done, file->begin));
                done = MAX(done, file->end);
        }
}

static void core_copy_stacks(Core *core)
{
        Moment *moment = core->moment;
        g_autofree uint8_t *buffer = g_malloc(MOMENT_MAX_STACK);
        guint i;

        moment->max_stack = (uint32_t)MIN(
                MOMENT_MAX_STACK, (MOMENT_MAX_STACKS / moment->threads->len) & ~UINT64_C(7));
        for (i = 0; i < moment->threads->len; i++) {
                MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);

                g_strlcpy(thread->name, core->name, sizeof(thread->name));
                thread->n_stack = (uint32_t)core_memory_read(
                        &core->memory, thread->registers[REGISTER_SP], buffer, moment->max_stack);
                if (thread->n_stack)
                        thread->stack = g_memdup2(buffer, thread->n_stack);
        }
}

/* Notes a truncated core, and libraries without a build id. */
static void core_note_missing(Core *core)
{
        unsigned i;

        if (core->n_without_id)
                g_ptr_array_add(core->moment->notes,
                                g_strdup_printf("%u parts of libraries have no build id in the "
                                                "core file: their code has no names, and callers "
                                                "can be missing below it",
                                                core->n_without_id));
        for (i = 0; i < core->n_segments && !core->is_cut; i++) {
                const Elf64_Phdr *segment = &core->segments[i];

                core->is_cut = segment->p_filesz &&
                               (segment->p_offset > core->memory.size ||
                                segment->p_filesz > core->memory.size - segment->p_offset);
        }
        if (core->is_cut)
                g_ptr_array_add(core->moment->notes,
                                g_strdup("the core file is truncated (see ulimit -c, and "
                                         "ProcessSizeMax= of coredump.conf(5)): stacks can be "
                                         "missing, or end too early"));
}

Moment *moment_of_core(int fd, GError **error)
{
        Core core = {.memory.fd = fd, .files = g_array_new(FALSE, FALSE, sizeof(CoreFile))};
        struct stat st;
        bool ok;

        core.moment = moment_new(0);
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
                ok = core_fail(error, "it is not a regular file");
        } else {
                core.memory.size = (uint64_t)st.st_size;
                ok = core_read_header(&core, error) && core_read_notes(&core, error);
        }
        if (ok) {
                /* Without NT_PRPSINFO, use the first thread, the one that crashed. */
                if (!core.moment->pid)
                        core.moment->pid = g_array_index(core.moment->threads, MomentThread, 0).tid;
                core_sort_memory(&core);
                core_find_mappings(&core);
                core_find_left_out(&core);
                core_copy_stacks(&core);
                core.moment->core = core_memory_dup(&core.memory);
                core_note_missing(&core);
        }
        g_free(core.segments);
        g_clear_pointer(&core.memory.segments, g_array_unref);
        g_free(core.notes);
        g_array_unref(core.files);
        if (ok)
                return core.moment;
        moment_free(core.moment);
        return NULL;
}

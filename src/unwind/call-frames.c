/* SPDX-License-Identifier: MIT */
#include "unwind/call-frames.h"

#include "symbols/mapped-file.h"
#include "symbols/process-accounts.h"
#include "unwind/frame-code.h"
#include "util/fd.h"

#include <string.h>

typedef enum FrameFileState {
        FRAME_FILE_UNREAD, /* or dropped */
        FRAME_FILE_READ,
        FRAME_FILE_EMPTY, /* it has no readable call frame information */
        FRAME_FILE_MISSING,
} FrameFileState;

typedef struct FrameFile {
        FrameFileState state;
        int32_t owner;        /* the process that it was read for */
        Elf64_Phdr *segments; /* owned */
        unsigned n_segments;
        FrameTable table; /* owned */
        bool is_debug_read;
        FrameTable debug; /* owned: of its debug file */
        /* Owned, or NULL: owned place in the file -> owned CallFrame of the instructions there. */
        GHashTable *ends;
        uint8_t build_id[ELF_MAX_BUILD_ID];
        size_t n_build_id; /* 0: none, or not read */
        uint64_t n_missed; /* frames that it was missing for */
} FrameFile;

struct CallFrames {
        const Machine *machine;      /* borrowed */
        const AddressSpaces *spaces; /* borrowed */
        const DebugFinder *debug;    /* borrowed, or NULL */
        GHashTable *files;           /* owned: FrameFile by number of the mapped file */
        GHashTable *accounts;        /* owned, of process_accounts_new() */
        uint64_t n_bytes;            /* of all files in memory */
};

static void frame_file_free(void *data)
{
        FrameFile *file = data;

        frame_table_deinit(&file->table);
        frame_table_deinit(&file->debug);
        g_clear_pointer(&file->ends, g_hash_table_unref);
        free(file->segments);
        g_free(file);
}

CallFrames *call_frames_new(const Machine *machine, const AddressSpaces *spaces,
                            const DebugFinder *debug)
{
        CallFrames *frames = g_new0(CallFrames, 1);

        frames->machine = machine;
        frames->spaces = spaces;
        frames->debug = debug;
        frames->files = g_hash_table_new_full(NULL, NULL, NULL, frame_file_free);
        frames->accounts = process_accounts_new();
        return frames;
}

void call_frames_free(CallFrames *frames)
{
        if (!frames)
                return;
        g_hash_table_unref(frames->files);
        g_hash_table_unref(frames->accounts);
        g_free(frames);
}

static size_t frame_file_size(const FrameFile *file)
{
        return frame_table_size(&file->table) + frame_table_size(&file->debug) +
               file->n_segments * sizeof(*file->segments) +
               (file->ends ? g_hash_table_size(file->ends) * sizeof(CallFrame) : 0);
}

static void call_frames_forget_file(CallFrames *frames, FrameFile *file)
{
        const size_t n = frame_file_size(file);

        frames->n_bytes -= n;
        process_accounts_get(frames->accounts, file->owner)->n_bytes -= n;
        frame_table_deinit(&file->table);
        frame_table_deinit(&file->debug);
        file->is_debug_read = false;
        g_clear_pointer(&file->ends, g_hash_table_unref);
        g_clear_pointer(&file->segments, free);
        file->n_segments = 0;
        file->state = FRAME_FILE_UNREAD;
}

/* Drops the files that were read for the process with most bytes. */
static void call_frames_make_room(CallFrames *frames)
{
        const ProcessAccount *most = NULL;
        int32_t owner = 0;
        GHashTableIter iter;
        void *key, *value;

        g_hash_table_iter_init(&iter, frames->accounts);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                const ProcessAccount *account = value;

                if (most && account->n_bytes <= most->n_bytes)
                        continue;
                most = account;
                owner = GPOINTER_TO_INT(key);
        }
        g_hash_table_iter_init(&iter, frames->files);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                FrameFile *file = value;

                if (file->owner == owner && frame_file_size(file) > 0)
                        call_frames_forget_file(frames, file);
        }
}

/* True if FILE is the mapped one, by the recorded build id, if there is one. */
static bool mapped_file_is(const MappedFile *mapped, const ElfFile *file)
{
        return !mapped->n_build_id ||
               elf_file_has_build_id(file, mapped->build_id, mapped->n_build_id);
}

/* Sets the state, and what belongs to it. */
static void frame_file_read(FrameFile *file, const Machine *machine, const MappedFile *mapped)
{
        FD_AUTO int fd = mapped_file_open(mapped);
        ElfFile elf;

        file->state = FRAME_FILE_MISSING;
        if (fd < 0 || !elf_file_open(&elf, fd))
                return;
        if (elf.header.e_machine == machine->elf_machine && mapped_file_is(mapped, &elf)) {
                file->state = frame_table_read(&file->table, &elf, FRAME_SECTION_EH)
                                      ? FRAME_FILE_READ
                                      : FRAME_FILE_EMPTY;
                file->n_build_id = elf_file_build_id(&elf, file->build_id);
                file->segments = g_steal_pointer(&elf.segments);
                file->n_segments = elf.n_segments;
        }
        elf_file_close(&elf);
}

/* Counts the bytes of FILE, which had N_BEFORE before. */
static void call_frames_count(CallFrames *frames, const FrameFile *file, size_t n_before)
{
        const size_t n = frame_file_size(file) - n_before;

        process_accounts_get(frames->accounts, file->owner)->n_bytes += n;
        frames->n_bytes += n;
}

/* Charges PID for the work, and counts the bytes of FILE, which had N_BEFORE before. */
static void call_frames_account_for(CallFrames *frames, int32_t pid, const FrameFile *file,
                                    size_t n_before)
{
        process_accounts_get(frames->accounts, pid)->work +=
                CALL_FRAMES_FILE_WORK + frame_file_size(file) - n_before;
        call_frames_count(frames, file, n_before);
}

/* Reads the debug file, once. */
static void call_frames_read_debug(CallFrames *frames, int32_t pid, FrameFile *file,
                                   const MappedFile *mapped)
{
        const size_t n_before = frame_file_size(file);
        FD_AUTO int fd = -1;
        ElfFile elf;

        file->is_debug_read = true;
        if (!frames->debug || !file->n_build_id)
                return;
        fd = frames->debug->open(frames->debug->data, pid, file->build_id, file->n_build_id,
                                 mapped->path);
        if (fd < 0 || !elf_file_open(&elf, fd))
                return;
        frame_table_read(&file->debug, &elf, FRAME_SECTION_DEBUG);
        elf_file_close(&elf);
        call_frames_account_for(frames, pid, file, n_before);
}

/* The entry of the file, or of its debug file, for its own address. */
static bool call_frames_find_entry(CallFrames *frames, int32_t pid, FrameFile *file,
                                   const MappedFile *mapped, uint64_t address, FrameEntry *ret)
{
        if (file->state == FRAME_FILE_READ && frame_table_find(&file->table, address, ret))
                return true;
        if (!file->is_debug_read)
                call_frames_read_debug(frames, pid, file, mapped);
        return frame_table_find(&file->debug, address, ret);
}

/* Reads the file for process PID. */
static void call_frames_read(CallFrames *frames, int32_t pid, FrameFile *file,
                             const MappedFile *mapped)
{
        file->state = FRAME_FILE_EMPTY;
        if (!mapped_file_is_native(mapped))
                return;
        frame_file_read(file, frames->machine, mapped);
        file->owner = pid;
        call_frames_account_for(frames, pid, file, 0);
}

static FrameFile *call_frames_file(CallFrames *frames, uint32_t number)
{
        FrameFile *file = g_hash_table_lookup(frames->files, GUINT_TO_POINTER(number));

        if (!file) {
                file = g_new0(FrameFile, 1);
                g_hash_table_insert(frames->files, GUINT_TO_POINTER(number), file);
        }
        return file;
}

/*
 * Replaces FRAME, at PLACE of the file, AT bytes into a function of N bytes, by that of its
 * instructions, if they leave the function and agree about the stack.
 */
static void mapped_file_read_end(const MappedFile *mapped, uint64_t place, size_t at, size_t n,
                                 CallFrame *frame)
{
        FD_AUTO int fd = mapped_file_open(mapped);
        g_autofree uint8_t *bytes = g_malloc(n);
        const MethodCode code = {.bytes = bytes, .n = n};
        CallFrame end;
        ElfFile elf;
        bool is_mapped;

        if (fd < 0 || !elf_file_open(&elf, fd))
                return;
        is_mapped = mapped_file_is(mapped, &elf);
        elf_file_close(&elf);
        if (is_mapped && pread(fd, bytes, n, (off_t)(place - at)) == (ssize_t)n &&
            frame_code_read_end_x86_64(&code, at, &end) && end.cfa.offset == frame->cfa.offset)
                *frame = end;
}

/* The same, for the function ENTRY of FILE with the address OWN; what was found is remembered. */
static void call_frames_find_end(CallFrames *frames, int32_t pid, FrameFile *file,
                                 const MappedFile *mapped, uint64_t place, const FrameEntry *entry,
                                 uint64_t own, CallFrame *frame)
{
        const size_t n_before = frame_file_size(file);
        const CallFrame *known;
        CallFrame *end;

        if (!file->ends)
                file->ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        known = g_hash_table_lookup(file->ends, &place);
        if (known) {
                *frame = *known;
                return;
        }
        if (g_hash_table_size(file->ends) == CALL_FRAMES_MAX_ENDS)
                g_hash_table_remove_all(file->ends);
        end = g_memdup2(frame, sizeof(*frame));
        mapped_file_read_end(mapped, place, (size_t)(own - entry->begin), (size_t)entry->size, end);
        *frame = *end;
        g_hash_table_insert(file->ends, g_memdup2(&place, sizeof(place)), end);
        call_frames_count(frames, file, n_before);
        process_accounts_get(frames->accounts, pid)->work += CALL_FRAMES_END_WORK + entry->size;
}

FrameSearch call_frames_find(CallFrames *frames, int32_t pid, const SpaceMapping *mapping,
                             uint64_t address, bool is_leaf, CallFrame *ret)
{
        const uint64_t place = address - mapping->begin + mapping->offset;
        ProcessAccount *account = process_accounts_get(frames->accounts, pid);
        FrameFile *file = call_frames_file(frames, mapping->file);
        const MappedFile *mapped = address_spaces_file(frames->spaces, mapping->file);
        FrameEntry entry;
        uint64_t own, work;
        bool is_found;

        /* Not later: the tables that RET will borrow from would go. */
        if (frames->n_bytes > CALL_FRAMES_MAX_BYTES)
                call_frames_make_room(frames);
        if (account->work >= CALL_FRAMES_MAX_WORK) {
                account->n_refused++;
                return FRAMES_SPENT;
        }
        if (file->state == FRAME_FILE_UNREAD)
                call_frames_read(frames, pid, file, mapped);
        if (file->state == FRAME_FILE_MISSING) {
                file->n_missed++;
                return FRAMES_MISSING;
        }
        if (!elf_segments_address(file->segments, file->n_segments, 0, place, &own) ||
            !call_frames_find_entry(frames, pid, file, mapped, own, &entry))
                return FRAMES_NONE;
        is_found = call_frame_read(ret, frames->machine, &entry, own, &work);
        account->work += work;
        if (is_found && is_leaf && frames->machine->kind == MACHINE_X86_64 &&
            entry.size <= CALL_FRAMES_MAX_CODE && account->work < CALL_FRAMES_MAX_WORK / 2 &&
            call_frame_has_popped(ret))
                call_frames_find_end(frames, pid, file, mapped, place, &entry, own, ret);
        return is_found ? FRAMES_FOUND : FRAMES_NONE;
}

const char *call_frames_most_missing(const CallFrames *frames)
{
        const char *path = NULL;
        uint64_t most = 0;
        GHashTableIter iter;
        void *key, *value;

        g_hash_table_iter_init(&iter, frames->files);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                const FrameFile *file = value;

                if (file->n_missed <= most)
                        continue;
                most = file->n_missed;
                path = address_spaces_file(frames->spaces, GPOINTER_TO_UINT(key))->path;
        }
        return path;
}

int32_t call_frames_most_spent(const CallFrames *frames)
{
        return process_accounts_most_refused(frames->accounts);
}

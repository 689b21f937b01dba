/* SPDX-License-Identifier: MIT */
#include "unwind/call-frames.h"

#include "perf/mount-device.h"
#include "util/fd.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

typedef struct FrameFile {
        int fd; /* owned */
        Elf *elf;
        Dwarf_CFI *cfi; /* NULL: there is no information */
        bool is_missing;
        uint64_t n_missed; /* frames */
} FrameFile;

struct CallFrames {
        const AddressSpaces *spaces; /* borrowed */
        GHashTable *files;           /* owned: FrameFile by number of the mapped file */
        unsigned n_open;
};

static void frame_file_free(void *data)
{
        FrameFile *file = data;

        if (file->cfi)
                dwarf_api(NULL)->dwarf_cfi_end(file->cfi);
        if (file->elf)
                elf_end(file->elf);
        fd_clear(&file->fd);
        g_free(file);
}

CallFrames *call_frames_new(const AddressSpaces *spaces)
{
        CallFrames *frames = g_new0(CallFrames, 1);

        elf_version(EV_CURRENT);
        frames->spaces = spaces;
        frames->files = g_hash_table_new_full(NULL, NULL, NULL, frame_file_free);
        return frames;
}

void call_frames_free(CallFrames *frames)
{
        if (!frames)
                return;
        g_hash_table_unref(frames->files);
        g_free(frames);
}

static int mapped_file_open(const MappedFile *mapped, const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        uint32_t major, minor;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return -1;
        if (mapped->n_build_id)
                return fd_steal(&fd);
        if (st.st_ino != mapped->inode)
                return -1;
        if (major(st.st_dev) == mapped->major && minor(st.st_dev) == mapped->minor)
                return fd_steal(&fd);
        if (mount_device_find(fd, mapped->pid, &major, &minor) && major == mapped->major &&
            minor == mapped->minor)
                return fd_steal(&fd);
        return -1;
}

static bool frame_file_is(const FrameFile *file, const MappedFile *mapped)
{
        const void *build_id;

        if (!file->elf || elf_kind(file->elf) != ELF_K_ELF ||
            gelf_getclass(file->elf) != ELFCLASS64)
                return false;
        return !mapped->n_build_id || (dwarf_api(NULL)->dwelf_elf_gnu_build_id(
                                               file->elf, &build_id) == mapped->n_build_id &&
                                       memcmp(build_id, mapped->build_id, mapped->n_build_id) == 0);
}

/* Native code of a file, which could be there. What .NET compiles is in memory or in a .dll. */
static bool mapped_file_is_native(const MappedFile *mapped)
{
        return (mapped->inode || mapped->n_build_id) && mapped->path[0] == '/' &&
               !g_str_has_prefix(mapped->path, "/memfd:") &&
               !g_str_has_prefix(mapped->path, "/dev/") && !g_str_has_suffix(mapped->path, ".dll");
}

static FrameFile *call_frames_open(CallFrames *frames, const MappedFile *mapped)
{
        g_autofree char *in_root = g_strdup_printf("/proc/%d/root%s", mapped->pid, mapped->path);
        FrameFile *file = g_new0(FrameFile, 1);

        file->fd = -1;
        if (!mapped_file_is_native(mapped) || frames->n_open == CALL_FRAMES_MAX_FILES)
                return file;
        file->fd = mapped_file_open(mapped, mapped->path);
        if (file->fd < 0)
                file->fd = mapped_file_open(mapped, in_root);
        file->elf = file->fd >= 0 ? elf_begin(file->fd, ELF_C_READ, NULL) : NULL;
        file->is_missing = !frame_file_is(file, mapped);
        if (!file->is_missing)
                file->cfi = dwarf_api(NULL)->dwarf_getcfi_elf(file->elf);
        if (file->cfi)
                frames->n_open++;
        else
                fd_clear(&file->fd);
        return file;
}

/* The address in the file's own numbers of what is at OFFSET. */
static bool frame_file_address(const FrameFile *file, uint64_t offset, uint64_t *ret_address)
{
        size_t i, n;

        if (elf_getphdrnum(file->elf, &n) < 0)
                return false;
        for (i = 0; i < n && i <= INT_MAX; i++) {
                GElf_Phdr header;

                if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD ||
                    offset < header.p_offset || offset - header.p_offset >= header.p_filesz)
                        continue;
                *ret_address = offset - header.p_offset + header.p_vaddr;
                return true;
        }
        return false;
}

Dwarf_Frame *call_frames_find(CallFrames *frames, const SpaceMapping *mapping, uint64_t address)
{
        void *key = GUINT_TO_POINTER(mapping->file);
        FrameFile *file = g_hash_table_lookup(frames->files, key);
        Dwarf_Frame *frame = NULL;
        uint64_t own;

        if (!file) {
                file = call_frames_open(frames, address_spaces_file(frames->spaces, mapping->file));
                g_hash_table_insert(frames->files, key, file);
        }
        if (!file->cfi ||
            !frame_file_address(file, address - mapping->begin + mapping->offset, &own) ||
            dwarf_api(NULL)->dwarf_cfi_addrframe(file->cfi, own, &frame) != 0)
                return NULL;
        return frame;
}

bool call_frames_is_missing(CallFrames *frames, const SpaceMapping *mapping)
{
        FrameFile *file = g_hash_table_lookup(frames->files, GUINT_TO_POINTER(mapping->file));

        if (!file || !file->is_missing)
                return false;
        file->n_missed++;
        return true;
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

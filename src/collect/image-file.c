/* SPDX-License-Identifier: MIT */
#include "collect/image-file.h"

#include "metadata/pe-file.h"
#include "pdb/debug-directory.h"
#include "util/fd.h"
#include "util/hex-text.h"
#include "util/rootfs.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Files that are opened; further ones have no identity. */
#define MAX_FILES 65536u

/* The result of looking for a file. */
typedef struct KnownImage {
        uint8_t guid[16]; /* of its PDB */
        dev_t device;
        ino_t inode; /* PERF_WRITER_NO_INODE: not on this machine */
} KnownImage;

struct ImageFiles {
        GHashTable *by_path; /* owned: owned path -> owned KnownImage */
};

/* Reads bytes of hexadecimal digits; returns their number, at most N. */
static unsigned digits_read(const char *digits, uint8_t *ret, unsigned n)
{
        unsigned i;
        int byte;

        for (i = 0; i < n && (byte = hex_byte(digits + 2 * i)) >= 0; i++)
                ret[i] = (uint8_t)byte;
        return digits[2 * i] ? 0 : i;
}

static const char *member(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));

        return text ? text : "";
}

bool image_identity_read(ImageIdentity *ret, const char *text)
{
        json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        const char *type = member(object, "type");
        bool ok = true;

        *ret = (ImageIdentity){0};
        if (!strcmp(type, "ELF")) {
                ret->n_build_id = (uint8_t)digits_read(member(object, "build_id"), ret->build_id,
                                                       sizeof(ret->build_id));
        } else if (!strcmp(type, "PE")) {
                ret->kind = IMAGE_PE;
                ret->has_guid = digits_read(member(object, "signature"), ret->guid,
                                            sizeof(ret->guid)) == sizeof(ret->guid);
        } else {
                ok = false;
        }
        json_decref(object);
        return ok;
}

ImageFiles *image_files_new(void)
{
        ImageFiles *files = g_new0(ImageFiles, 1);

        files->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return files;
}

void image_files_free(ImageFiles *files)
{
        g_hash_table_unref(files->by_path);
        g_free(files);
}

/* True if the file at PATH, in the root directory of PID, is the recorded one. PID 0: in our own
 * root directory. */
static bool image_file_find(KnownImage *ret, int32_t pid, const char *path,
                            const ImageIdentity *identity)
{
        FD_AUTO int root = rootfs_open_root(pid);
        FD_AUTO int fd = root >= 0 ? rootfs_open_file(root, path) : -1;
        const char *reason;
        struct stat status;
        PeFile pe;

        if (fd < 0 || fstat(fd, &status) < 0 || pe_file_read(&pe, fd, 0, &reason) < 0 ||
            !debug_directory_is_of(&pe, identity->guid))
                return false;
        ret->device = status.st_dev;
        ret->inode = status.st_ino;
        return true;
}

static const KnownImage *image_files_get(ImageFiles *files, const ImageIdentity *identity,
                                         const PerfWriterMapping *mapping)
{
        static const KnownImage NOT_KNOWN = {.inode = PERF_WRITER_NO_INODE};
        KnownImage *file = g_hash_table_lookup(files->by_path, mapping->path);

        /* Another build can have been at the path before. */
        if (file)
                return !memcmp(file->guid, identity->guid, sizeof(file->guid)) ? file : &NOT_KNOWN;
        if (!identity->has_guid || g_hash_table_size(files->by_path) >= MAX_FILES)
                return &NOT_KNOWN;
        file = g_new0(KnownImage, 1);
        file->inode = PERF_WRITER_NO_INODE;
        if (!image_file_find(file, 0, mapping->path, identity))
                image_file_find(file, mapping->pid, mapping->path, identity);
        memcpy(file->guid, identity->guid, sizeof(file->guid));
        g_hash_table_insert(files->by_path, g_strdup(mapping->path), file);
        return file;
}

void image_files_identify(ImageFiles *files, const ImageIdentity *identity,
                          PerfWriterMapping *mapping)
{
        const KnownImage *file = image_files_get(files, identity, mapping);

        mapping->major = major(file->device);
        mapping->minor = minor(file->device);
        mapping->inode = file->inode;
}

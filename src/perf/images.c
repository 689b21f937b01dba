/* SPDX-License-Identifier: MIT */
#include "perf/images.h"

#include "perf/mapping-file.h"
#include "perf/proc-maps.h"
#include "perf/r2r-image.h"
#include "util/array.h"
#include "util/fd.h"
#include "util/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Limit in bytes of all functions and names. Above it, the files of the process with the most bytes
 * are evicted.
 */
#define MAX_BYTES (256u << 20)

#define CHANGED  "it was changed since it was mapped"
#define TOO_MUCH "the files of its process take too much to read"

const char IMAGE_IN_ANY[] = "";

/* A file that was read: an assembly, an assembly in a single-file program, or another file. */
struct ImageFile {
        dev_t device;
        ino_t inode;
        struct timespec changed;
        uint64_t begin;     /* offset of the assembly in the file */
        const char *reason; /* static: why no code is readable; NULL: code is readable */
        int32_t owner;      /* the process that it was read for */
        bool is_forgotten;  /* evicted: read again when needed */
        bool has_read_names;
        size_t n_bytes;    /* memory of its functions and names */
        char *bundled;     /* owned: its name in the program; NULL: the file is the assembly */
        R2RImage image;    /* owned */
        ImageNames *names; /* owned; NULL: none, or not read yet */
};

/* Takes over the mapping's path. */
static bool images_take_mapping(void *data, const Mapping *mapping)
{
        Images *images = data;

        return image_mappings_take(&images->mappings, mapping);
}

static bool images_read_mappings(Images *images, FILE *file)
{
        char *line = NULL;
        size_t n_line = 0;
        bool ok = true;
        ssize_t n;

        while (ok && (n = getline(&line, &n_line, file)) > 0) {
                Mapping mapping;

                if (line[n - 1] == '\n')
                        line[n - 1] = '\0';
                ok = mapping_take_line(&mapping, line) && images_take_mapping(images, &mapping);
        }
        free(line);
        return ok && !ferror(file);
}

bool images_init(Images *images, int fd)
{
        FILE *file;
        bool ok;

        *images = (Images){.asks_living = fd < 0};
        if (fd < 0)
                return true;
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        file = fd >= 0 ? fdopen(fd, "r") : NULL;
        if (!file) {
                if (fd >= 0)
                        close(fd);
                return false;
        }
        ok = images_read_mappings(images, file);
        fclose(file);
        image_mappings_sort(&images->mappings);
        return ok;
}

static void image_file_clear(ImageFile *file)
{
        r2r_image_deinit(&file->image);
        image_names_free(file->names);
        free(file->bundled);
        file->names = NULL;
        file->bundled = NULL;
        file->has_read_names = false;
}

void images_deinit(Images *images)
{
        size_t i;

        for (i = 0; i < images->n_files; i++)
                image_file_clear(&images->files[i]);
        free(images->files);
        hash_index_deinit(&images->by_inode);
        image_mappings_deinit(&images->mappings);
        image_sources_deinit(&images->sources);
        *images = (Images){0};
}

void images_forget_mappings(Images *images)
{
        image_mappings_deinit(&images->mappings);
}

/* Sets the memory of FILE to N bytes. */
static void images_account(Images *images, ImageFile *file, size_t n)
{
        images->n_bytes += n - file->n_bytes;
        image_sources_hold(&images->sources, file->owner, (ptrdiff_t)n - (ptrdiff_t)file->n_bytes);
        file->n_bytes = n;
}

/* Above the limit, evicts files of the process with the most bytes, except KEPT. */
static void images_make_room(Images *images, const ImageFile *kept)
{
        const pid_t owner = image_sources_largest(&images->sources);
        size_t i;

        for (i = 0; images->n_bytes > MAX_BYTES && i < images->n_files; i++) {
                ImageFile *file = &images->files[i];

                if (file == kept || file->owner != owner || !file->n_bytes)
                        continue;
                image_file_clear(file);
                images_account(images, file, 0);
                file->is_forgotten = true;
        }
}

static bool moment_is(const struct timespec *one, const struct timespec *other)
{
        return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

static bool image_file_is(const void *rows, uint32_t number, const void *key)
{
        const ImageFile *file = (const ImageFile *)rows + number, *other = key;

        return file->device == other->device && file->inode == other->inode &&
               file->begin == other->begin && moment_is(&file->changed, &other->changed);
}

/* The row of the file, new if there is none; NULL: no memory. */
static ImageFile *images_file(Images *images, const ImageFile *key, bool *ret_is_new)
{
        const uint64_t hash = hash_number(hash_number(key->inode, key->device), key->begin);
        uint32_t number =
                hash_index_find(&images->by_inode, hash, image_file_is, images->files, key);

        *ret_is_new = number == INDEX_NONE;
        if (number != INDEX_NONE)
                return &images->files[number];
        if (!array_grow(&images->files, &images->n_files_size, images->n_files + 1,
                        sizeof(*images->files)) ||
            !hash_index_add(&images->by_inode, hash, (uint32_t)images->n_files))
                return NULL;
        images->files[images->n_files] = *key;
        return &images->files[images->n_files++];
}

/* Reads the file's functions, or sets the reason. */
static void image_file_read(ImageFile *file, const ImageBytes *bytes, const BundleFile *bundled)
{
        struct stat after;

        file->reason = NULL;
        file->is_forgotten = false;
        if (r2r_image_read(&file->image, bytes, &file->reason) < 0)
                return;
        file->bundled = bundled ? strdup(bundled->name) : NULL;
        if (bundled && !file->bundled)
                file->reason = mapping_file_reason(ENOMEM);
        else if (fstat(bytes->fd, &after) < 0 || !moment_is(&after.st_ctim, &file->changed))
                file->reason = CHANGED;
        if (file->reason)
                image_file_clear(file);
}

/*
 * Reads an assembly's functions. BUNDLED: the assembly's part of the file; NULL: the whole file.
 * Returns why it cannot be read, or NULL.
 */
static const char *images_read_file(Images *images, int32_t pid, const ImageBytes *bytes,
                                    const struct stat *status, const BundleFile *bundled,
                                    size_t *ret_file)
{
        const ImageFile key = {
                .device = status->st_dev,
                .inode = status->st_ino,
                .changed = status->st_ctim,
                .begin = bytes->begin,
                .owner = pid,
        };
        bool is_new;
        ImageFile *file = images_file(images, &key, &is_new);

        if (!file)
                return mapping_file_reason(ENOMEM);
        if (is_new || file->is_forgotten) {
                file->owner = pid;
                image_file_read(file, bytes, bundled);
                images_account(images, file,
                               file->image.functions.n * sizeof(*file->image.functions.rows));
                images_make_room(images, file);
        }
        if (!file->reason)
                *ret_file = (size_t)(file - images->files) + 1;
        return file->reason;
}

/* Reads the assembly that has the code at OFFSET of the mapped file. */
static const char *images_read_mapped(Images *images, const Mapping *mapping, uint64_t offset,
                                      int fd, const struct stat *status, uint64_t *work,
                                      size_t *ret_file)
{
        ImageBytes bytes = {.fd = fd, .work = work};
        BundleFile bundled;
        const bool is_in_program =
                !mapping_is_assembly(mapping) &&
                bundles_find_at(&images->sources.bundles, fd, offset, work, &bundled);

        if (is_in_program)
                bytes.begin = bundled.begin;
        return images_read_file(images, mapping->pid, &bytes, status,
                                is_in_program ? &bundled : NULL, ret_file);
}

/* Returns NULL, and the caller closes RET_FD; or why the file cannot be opened (static). */
static const char *open_mapped(const Mapping *mapping, MappingSource source, int *ret_fd,
                               struct stat *ret_status)
{
        /* A build id alone does not prove that the file is unchanged. */
        if (!mapping->inode)
                return "the recording has no device and inode of it";
        return mapping_file_open(mapping, source, ret_fd, ret_status);
}

static const char *images_try_source(Images *images, const Mapping *mapping, uint64_t offset,
                                     MappingSource source, uint64_t *work, size_t *ret_file)
{
        FD_AUTO int fd = -1;
        struct stat status;
        const char *reason = open_mapped(mapping, source, &fd, &status);

        return reason ? reason
                      : images_read_mapped(images, mapping, offset, fd, &status, work, ret_file);
}

/*
 * Sets the file, or the reason. Runtimes do not report the unload of precompiled code, so if
 * several files were mapped there, the code could be of any of them.
 */
static void images_look_for(Images *images, ImageMapping *row, uint64_t offset)
{
        const pid_t pid = row->mapping.pid;
        uint64_t work = SOURCES_FILE_WORK;
        MappingSource source;

        row->reason = NULL;
        row->file = 0;
        if (!image_sources_may_look(&images->sources, pid)) {
                row->reason = TOO_MUCH;
                return;
        }
        if (!image_mappings_is_alone(&images->mappings, &row->mapping)) {
                row->reason = "another file was mapped there, too";
                return;
        }
        for (source = MAPPING_HERE; source < _MAPPING_SOURCE_MAX && !row->file; source++) {
                const char *reason =
                        images_try_source(images, &row->mapping, offset, source, &work, &row->file);

                /* Keep the reason for the path that perf saw: it is the useful one. */
                if (!row->reason)
                        row->reason = reason;
        }
        image_sources_add_work(&images->sources, pid, work);
}

/* perf may have found a later mapping: DSO is the file that it found. */
static ImageMapping *images_mapping_at(const Images *images, int32_t pid, uint64_t address,
                                       uint64_t time, const char *dso)
{
        ImageMapping *found = image_mappings_find(&images->mappings, pid, address, time);

        return found && (dso == IMAGE_IN_ANY || !strcmp(found->mapping.path, dso)) ? found : NULL;
}

/* Reads the mappings of each process once; an unreadable process has none. */
static void images_ask_living(Images *images, int32_t pid)
{
        if (!image_mappings_add_process(&images->mappings, pid))
                return;
        proc_maps_read(pid, images_take_mapping, images);
        image_mappings_sort(&images->mappings);
}

/* The path that the runtime reports: an assembly in a single-file program is beside the program. */
static char *path_of_assembly(const Mapping *mapping, const ImageFile *file)
{
        const int n = (int)(strrchr(mapping->path, '/') + 1 - mapping->path);
        char *path;

        if (!file->bundled)
                return strdup(mapping->path);
        return asprintf(&path, "%.*s%s", n, mapping->path, file->bundled) < 0 ? NULL : path;
}

/* Reads the names of the mapping's file. */
static void images_read_names(Images *images, const Mapping *mapping, ImageFile *file)
{
        char *assembly = path_of_assembly(mapping, file);
        const ImagePlace place = {
                .pid = mapping->pid, .path = assembly, .sources = &images->sources};
        uint64_t work = SOURCES_FILE_WORK;
        bool is_open = false;
        MappingSource source;
        struct stat status;

        for (source = MAPPING_HERE; assembly && source < _MAPPING_SOURCE_MAX && !is_open;
             source++) {
                FD_AUTO int fd = -1;

                is_open = !open_mapped(mapping, source, &fd, &status);
                if (is_open)
                        image_names_read(&file->names, &(ImageBytes){fd, file->begin, &work},
                                         &place);
        }
        free(assembly);
        file->has_read_names = true;
        image_sources_add_work(&images->sources, mapping->pid, work);
        if (!file->names)
                return;
        images_account(images, file, file->n_bytes + image_names_size(file->names));
        images_make_room(images, file);
}

/* A lookup may read the metadata of further assemblies. */
static bool images_search(Images *images, ImageFile *file, uint32_t rva, ImageMethod *ret)
{
        const size_t before = image_names_size(file->names);
        const bool is_found = image_names_find(file->names, rva, ret);
        const size_t grown = image_names_size(file->names) - before;

        if (grown) {
                images_account(images, file, file->n_bytes + grown);
                images_make_room(images, file);
        }
        return is_found;
}

bool images_name(Images *images, const ImageCode *code, ImageName *ret)
{
        ImageMethod method;
        ImageFile *file;

        if (!code->begin || !code->mapping->file)
                return false;
        file = &images->files[code->mapping->file - 1];
        images->sources.process = code->mapping->mapping.pid;
        if (!file->has_read_names && !file->is_forgotten &&
            image_sources_may_look(&images->sources, code->mapping->mapping.pid))
                images_read_names(images, &code->mapping->mapping, file);
        if (!file->names || !images_search(images, file, code->rva, &method))
                return false;
        *ret = (ImageName){.method = method,
                           .start = code->begin - (code->rva - method.name.method.begin)};
        return true;
}

clrsym_body images_body(const ImageName *name)
{
        const R2RName *method = &name->method.name;
        clrsym_body body = {
                .name_space = method->name_space,
                .name = method->name,
                .signature = method->signature,
                .stub_name_space = method->stub_name_space,
                .stub_name = method->stub_name,
                .stub_signature = method->stub_signature,
                .module_path = name->method.path,
                .start = name->start,
                .size = method->method.end - method->method.begin,
                .token = method->token,
                .tier = CLRSYM_TIER_READY_TO_RUN,
                .source = CLRSYM_SOURCE_R2R_ENTRY,
                .unloaded = CLRSYM_ALIVE,
                .type_arg_names = method->type_args,
                .is_thunk = method->is_thunk,
        };

        memcpy(body.module_pdb_guid, name->method.guid, sizeof(body.module_pdb_guid));
        return body;
}

ImageCode images_find(Images *images, int32_t pid, uint64_t time, const ImageAddress *address)
{
        const R2RFunction *function;
        const Mapping *mapping;
        ImageMapping *row;
        uint64_t position;
        uint32_t distance;

        if (!address->dso || (images->asks_living && address->dso == IMAGE_IN_ANY))
                return (ImageCode){0};
        if (images->asks_living)
                images_ask_living(images, pid);
        row = images_mapping_at(images, pid, address->address, time, address->dso);
        if (!row)
                return (ImageCode){0};
        mapping = &row->mapping;
        /*
         * The pid may be reused, but another process hardly has the same file at the same address.
         */
        if (images->asks_living && address->base != mapping->start - mapping->offset)
                return (ImageCode){0};
        position = address->address - mapping->start;
        if (position > UINT64_MAX - mapping->offset)
                return (ImageCode){0};
        images->sources.process = pid;
        if ((!row->file && !row->reason) ||
            (row->file && images->files[row->file - 1].is_forgotten))
                images_look_for(images, row, position + mapping->offset);
        /* Most other files have no assemblies: only a missing assembly is reported. */
        if (!row->file)
                return (ImageCode){.missing = mapping_is_assembly(mapping) ? row : NULL};
        function = r2r_image_find(&images->files[row->file - 1].image, position + mapping->offset,
                                  &distance);
        if (!function || distance > position)
                return (ImageCode){0};
        return (ImageCode){
                .begin = address->address - distance,
                .rva = function->begin,
                .mapping = row,
                .file = images->files[row->file - 1].bundled ? NULL : mapping->path,
                /* /proc does not show when a live process mapped a file. */
                .mapped = images->asks_living ? 0 : mapping->time,
        };
}

int32_t images_costly_process(const Images *images)
{
        const ImageProcess *process = image_mappings_most_left_out(&images->mappings);
        const pid_t spent = image_sources_spent(&images->sources);

        return spent ? spent : process ? process->pid : 0;
}

void images_note_missing(ImageMapping *missing)
{
        if (missing)
                missing->is_missed = true;
}

void images_report(const Images *images)
{
        const ImageMapping *first = NULL;
        char path[1024];
        TextBuffer writer = {.buffer = path, .size = sizeof(path)};
        size_t i, n = 0;

        for (i = 0; i < images->mappings.n_rows; i++) {
                if (!images->mappings.rows[i]->is_missed)
                        continue;
                if (!first)
                        first = images->mappings.rows[i];
                n++;
        }
        if (!first)
                return;
        text_buffer_put_printable(&writer, first->mapping.path);
        text_buffer_end(&writer);
        fprintf(stderr, "clrsym: precompiled code was not looked up in %s: %s", path,
                first->reason);
        if (n > 1)
                fprintf(stderr, "; nor in %zu other files", n - 1);
        fprintf(stderr, "\n");
}

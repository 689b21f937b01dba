/* SPDX-License-Identifier: MIT */
#include "perf/images.h"

#include "lines/bundle.h"
#include "perf/mapping-file.h"
#include "perf/proc-maps.h"
#include "perf/r2r-image.h"
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
 * A limit for all functions and names: a program may map many large files that claim to have as
 * many.
 */
#define MAX_BYTES (256u << 20)

const char IMAGE_IN_ANY[] = "";

/* An assembly's file that was read, or an assembly in a single-file program. */
struct ImageFile {
        dev_t device;
        ino_t inode;
        struct timespec changed;
        uint64_t begin;    /* of the assembly in the file */
        char *bundled;     /* owned: its name in the program; NULL: the file is the assembly */
        R2RImage image;    /* owned */
        ImageNames *names; /* owned; NULL: there are none, or they were not read yet */
        bool has_read_names;
};

struct ImageMapping {
        Mapping mapping; /* owned */
        size_t file;     /* number in files, from 1; 0: no file */
        const char
                *reason; /* static: why there is no file; NULL with `file` 0: not looked for yet */
        bool is_missed;
};

/* Room for one more element of SIZE bytes. */
static bool images_make_room(void *array, size_t n, size_t *n_size, size_t size)
{
        char **elements = array, *moved;
        size_t wanted = *n_size ? *n_size * 2 : 64;

        if (n < *n_size)
                return true;
        moved = realloc(*elements, wanted * size);
        if (!moved)
                return false;
        *elements = moved;
        *n_size = wanted;
        return true;
}

static int compare_numbers(const void *one, const void *other)
{
        const Mapping *a = &(*(ImageMapping *const *)one)->mapping;
        const Mapping *b = &(*(ImageMapping *const *)other)->mapping;

        if (a->pid != b->pid)
                return a->pid < b->pid ? -1 : 1;
        return (a->time > b->time) - (a->time < b->time);
}

/* Takes over the mapping's path. */
static bool keep_mapping(void *data, const Mapping *mapping)
{
        Images *images = data;
        ImageMapping *row = images_make_room(&images->mappings, images->n_mappings,
                                             &images->n_mappings_size, sizeof(ImageMapping *))
                                    ? calloc(1, sizeof(*row))
                                    : NULL;

        if (!row) {
                free(mapping->path);
                return false;
        }
        row->mapping = *mapping;
        images->mappings[images->n_mappings++] = row;
        return true;
}

static void sort_mappings(Images *images)
{
        if (images->n_mappings)
                qsort(images->mappings, images->n_mappings, sizeof(*images->mappings),
                      compare_numbers);
}

static bool read_mappings(Images *images, FILE *file)
{
        char *line = NULL;
        size_t n_line = 0;
        bool ok = true;
        ssize_t n;

        while (ok && (n = getline(&line, &n_line, file)) > 0) {
                Mapping mapping;

                if (line[n - 1] == '\n')
                        line[n - 1] = '\0';
                ok = mapping_take_line(&mapping, line) && keep_mapping(images, &mapping);
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
        ok = read_mappings(images, file);
        fclose(file);
        sort_mappings(images);
        return ok;
}

void images_deinit(Images *images)
{
        size_t i;

        for (i = 0; i < images->n_mappings; i++) {
                mapping_deinit(&images->mappings[i]->mapping);
                free(images->mappings[i]);
        }
        for (i = 0; i < images->n_files; i++) {
                r2r_image_deinit(&images->files[i].image);
                image_names_free(images->files[i].names);
                free(images->files[i].bundled);
        }
        free(images->mappings);
        free(images->living);
        free(images->files);
        *images = (Images){0};
}

static bool same_moment(const struct timespec *one, const struct timespec *other)
{
        return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

/* The number of the file, from 1; 0 if it was not read yet. */
static size_t known_file(const Images *images, const struct stat *status, uint64_t begin)
{
        size_t i;

        for (i = 0; i < images->n_files; i++) {
                const ImageFile *file = &images->files[i];

                if (file->device == status->st_dev && file->inode == status->st_ino &&
                    file->begin == begin && same_moment(&file->changed, &status->st_ctim))
                        return i + 1;
        }
        return 0;
}

/* BUNDLED: the part of the file that is the assembly; NULL: all of it. */
static const char *read_file(Images *images, int fd, const struct stat *status,
                             const BundleFile *bundled, size_t *ret_file)
{
        ImageFile file = {
                .device = status->st_dev,
                .inode = status->st_ino,
                .changed = status->st_ctim,
                .begin = bundled ? bundled->begin : 0,
        };
        const char *reason = NULL;
        struct stat after;
        size_t n_bytes;

        *ret_file = known_file(images, status, file.begin);
        if (*ret_file)
                return NULL;
        if (r2r_image_read(&file.image, fd, file.begin, &reason) < 0)
                return reason;
        file.bundled = bundled ? strdup(bundled->name) : NULL;
        n_bytes = file.image.functions.n * sizeof(*file.image.functions.rows);
        if (fstat(fd, &after) < 0 || !same_moment(&after.st_ctim, &status->st_ctim))
                reason = "it was changed since it was mapped";
        else if ((bundled && !file.bundled) || n_bytes > MAX_BYTES - images->n_bytes ||
                 !images_make_room(&images->files, images->n_files, &images->n_files_size,
                                   sizeof(file)))
                reason = "no memory left";
        if (reason) {
                r2r_image_deinit(&file.image);
                free(file.bundled);
                return reason;
        }
        images->n_bytes += n_bytes;
        images->files[images->n_files++] = file;
        *ret_file = images->n_files;
        return NULL;
}

/* The file that was mapped: it has the code at OFFSET. */
static const char *read_mapped(Images *images, const Mapping *mapping, uint64_t offset, int fd,
                               const struct stat *status, size_t *ret_file)
{
        BundleFile bundled;

        bool is_in_program = !mapping_is_assembly(mapping) && bundle_find_at(fd, offset, &bundled);

        return read_file(images, fd, status, is_in_program ? &bundled : NULL, ret_file);
}

/* NULL, and the caller closes RET_FD; or why the file is not there (static). */
static const char *open_mapped(const Mapping *mapping, MappingSource source, int *ret_fd,
                               struct stat *ret_status)
{
        /* By the build id alone it is not certain that the file was not changed. */
        if (!mapping->inode)
                return "perf recorded its build id, not which file it is";
        return mapping_file_open(mapping, source, ret_fd, ret_status);
}

static const char *try_source(Images *images, const Mapping *mapping, uint64_t offset,
                              MappingSource source, size_t *ret_file)
{
        FD_AUTO int fd = -1;
        struct stat status;
        const char *reason = open_mapped(mapping, source, &fd, &status);

        return reason ? reason : read_mapped(images, mapping, offset, fd, &status, ret_file);
}

/* And the same bytes of it are at an address. */
static bool same_file(const Mapping *one, const Mapping *other)
{
        return one->major == other->major && one->minor == other->minor &&
               one->inode == other->inode &&
               one->start - one->offset == other->start - other->offset;
}

/*
 * The runtime reports precompiled code without its unload, so it could be of another file that was
 * there at another time.
 */
static bool is_alone(const Images *images, const Mapping *mapping)
{
        size_t i;

        for (i = 0; i < images->n_mappings; i++) {
                const Mapping *other = &images->mappings[i]->mapping;

                if (other->pid == mapping->pid && other->start < mapping->end &&
                    mapping->start < other->end && !same_file(other, mapping))
                        return false;
        }
        return true;
}

static void look_for(Images *images, ImageMapping *row, uint64_t offset)
{
        MappingSource source;

        if (!is_alone(images, &row->mapping)) {
                row->reason = "another file was mapped there, too";
                return;
        }
        for (source = MAPPING_HERE; source < _MAPPING_SOURCE_MAX && !row->file; source++) {
                const char *reason = try_source(images, &row->mapping, offset, source, &row->file);

                /* The reason for the path that perf saw is the useful one. */
                if (!row->reason)
                        row->reason = reason;
        }
}

/* perf knows later mappings too: DSO is the file that it found. */
static ImageMapping *mapping_at(const Images *images, int32_t pid, uint64_t address, uint64_t time,
                                const char *dso)
{
        size_t low = 0, high = images->n_mappings;
        ImageMapping *found = NULL;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (images->mappings[middle]->mapping.pid < pid)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < images->n_mappings; low++) {
                ImageMapping *row = images->mappings[low];
                const Mapping *mapping = &row->mapping;

                if (mapping->pid != pid || mapping->time > time)
                        break;
                if (address >= mapping->start && address < mapping->end)
                        found = row;
        }
        return found && (dso == IMAGE_IN_ANY || !strcmp(found->mapping.path, dso)) ? found : NULL;
}

/* Each process is asked once; one that cannot be asked has no mappings. */
static void ask_living(Images *images, int32_t pid)
{
        size_t i;

        for (i = images->n_living; i > 0; i--)
                if (images->living[i - 1] == pid)
                        return;
        if (!images_make_room(&images->living, images->n_living, &images->n_living_size,
                              sizeof(pid)))
                return;
        images->living[images->n_living++] = pid;
        proc_maps_read(pid, keep_mapping, images);
        sort_mappings(images);
}

/* Where the runtime has the assembly: beside the program, if it is in that. */
static char *path_of_assembly(const Mapping *mapping, const ImageFile *file)
{
        const int n = (int)(strrchr(mapping->path, '/') + 1 - mapping->path);
        char *path;

        if (!file->bundled)
                return strdup(mapping->path);
        return asprintf(&path, "%.*s%s", n, mapping->path, file->bundled) < 0 ? NULL : path;
}

/* Reads the names of the mapping's file, which was found before. */
static void images_read_names(Images *images, const Mapping *mapping, ImageFile *file)
{
        char *assembly = path_of_assembly(mapping, file);
        const ImagePlace place = {.pid = mapping->pid, .path = assembly};
        bool is_open = false;
        MappingSource source;
        struct stat status;

        for (source = MAPPING_HERE; assembly && source < _MAPPING_SOURCE_MAX && !is_open;
             source++) {
                FD_AUTO int fd = -1;

                is_open = !open_mapped(mapping, source, &fd, &status);
                if (is_open)
                        image_names_read(&file->names, fd, file->begin, &place);
        }
        free(assembly);
        file->has_read_names = true;
        if (!file->names)
                return;
        if (image_names_size(file->names) > MAX_BYTES - images->n_bytes) {
                image_names_free(file->names);
                file->names = NULL;
        } else {
                images->n_bytes += image_names_size(file->names);
        }
}

/* A search may read the metadata of further assemblies. */
static bool images_search(Images *images, ImageNames *names, uint32_t rva, ImageMethod *ret)
{
        const size_t before = image_names_size(names);
        const bool is_found = image_names_find(names, rva, ret);
        const size_t grown = image_names_size(names) - before;

        images->n_bytes +=
                grown < MAX_BYTES - images->n_bytes ? grown : MAX_BYTES - images->n_bytes;
        return is_found;
}

bool images_name(Images *images, const ImageCode *code, ImageName *ret)
{
        ImageMethod method;
        ImageFile *file;

        if (!code->begin || !code->mapping->file)
                return false;
        file = &images->files[code->mapping->file - 1];
        if (!file->has_read_names)
                images_read_names(images, &code->mapping->mapping, file);
        if (!file->names || !images_search(images, file->names, code->rva, &method))
                return false;
        *ret = (ImageName){.method = method,
                           .start = code->begin - (code->rva - method.name.method.begin)};
        return true;
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
                ask_living(images, pid);
        row = mapping_at(images, pid, address->address, time, address->dso);
        if (!row)
                return (ImageCode){0};
        mapping = &row->mapping;
        /*
         * Another process can have the pid now, but hardly with the same file at the same address.
         */
        if (images->asks_living && address->base != mapping->start - mapping->offset)
                return (ImageCode){0};
        position = address->address - mapping->start;
        if (position > UINT64_MAX - mapping->offset)
                return (ImageCode){0};
        if (!row->file && !row->reason)
                look_for(images, row, position + mapping->offset);
        /* Most programs have no assemblies in them. */
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
                /* A live process does not report when it mapped a file. */
                .mapped = images->asks_living ? 0 : mapping->time,
        };
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

        for (i = 0; i < images->n_mappings; i++) {
                if (!images->mappings[i]->is_missed)
                        continue;
                if (!first)
                        first = images->mappings[i];
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

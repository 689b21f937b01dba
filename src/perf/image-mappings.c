/* SPDX-License-Identifier: MIT */
#include "perf/image-mappings.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* Limit of overlapping mappings that a lookup visits: a guess. */
#define MAX_COVERED 1024u

void image_mappings_deinit(ImageMappings *mappings)
{
        size_t i;

        for (i = 0; i < mappings->n_rows; i++) {
                mapping_deinit(&mappings->rows[i]->mapping);
                free(mappings->rows[i]);
        }
        free(mappings->rows);
        free(mappings->processes);
        hash_index_deinit(&mappings->by_pid);
        *mappings = (ImageMappings){0};
}

static bool process_is(const void *rows, uint32_t number, const void *key)
{
        return ((const ImageProcess *)rows)[number].pid == *(const int32_t *)key;
}

/* NULL: no memory. */
static ImageProcess *mappings_process(ImageMappings *mappings, int32_t pid, bool *ret_is_new)
{
        const uint64_t hash = hash_number(0, (uint64_t)pid);
        uint32_t number =
                hash_index_find(&mappings->by_pid, hash, process_is, mappings->processes, &pid);

        *ret_is_new = number == INDEX_NONE;
        if (number != INDEX_NONE)
                return &mappings->processes[number];
        if (!array_grow(&mappings->processes, &mappings->n_processes_size,
                        mappings->n_processes + 1, sizeof(ImageProcess)) ||
            !hash_index_add(&mappings->by_pid, hash, (uint32_t)mappings->n_processes))
                return NULL;
        mappings->processes[mappings->n_processes] = (ImageProcess){.pid = pid};
        return &mappings->processes[mappings->n_processes++];
}

bool image_mappings_add_process(ImageMappings *mappings, int32_t pid)
{
        bool is_new;

        return mappings_process(mappings, pid, &is_new) && is_new;
}

static bool mappings_keep(ImageMappings *mappings, const Mapping *mapping)
{
        ImageMapping *row = array_grow(&mappings->rows, &mappings->n_rows_size,
                                       mappings->n_rows + 1, sizeof(ImageMapping *))
                                    ? calloc(1, sizeof(*row))
                                    : NULL;

        if (!row)
                return false;
        row->mapping = *mapping;
        mappings->rows[mappings->n_rows++] = row;
        return true;
}

bool image_mappings_take(ImageMappings *mappings, const Mapping *mapping)
{
        const size_t n = sizeof(ImageMapping) + sizeof(ImageMapping *) + strlen(mapping->path) + 1;
        bool is_new, is_kept = false;
        ImageProcess *process = mappings_process(mappings, mapping->pid, &is_new);

        if (process && (process->n_bytes > IMAGE_MAPPINGS_OF_PROCESS - n ||
                        mappings->n_bytes > IMAGE_MAPPINGS_OF_ALL - n)) {
                process->n_left_out++;
                free(mapping->path);
                return true;
        }
        is_kept = process && mappings_keep(mappings, mapping);
        if (!is_kept) {
                free(mapping->path);
                return false;
        }
        process->n_bytes += n;
        mappings->n_bytes += n;
        return true;
}

static int row_compare(const void *one, const void *other)
{
        const Mapping *a = &(*(ImageMapping *const *)one)->mapping;
        const Mapping *b = &(*(ImageMapping *const *)other)->mapping;

        if (a->pid != b->pid)
                return a->pid < b->pid ? -1 : 1;
        if (a->start != b->start)
                return a->start < b->start ? -1 : 1;
        return (a->time > b->time) - (a->time < b->time);
}

void image_mappings_sort(ImageMappings *mappings)
{
        size_t i;

        if (mappings->n_rows)
                qsort(mappings->rows, mappings->n_rows, sizeof(*mappings->rows), row_compare);
        for (i = 0; i < mappings->n_rows; i++) {
                const ImageMapping *before = i ? mappings->rows[i - 1] : NULL;
                ImageMapping *row = mappings->rows[i];

                row->reach = row->mapping.end;
                if (before && before->mapping.pid == row->mapping.pid && before->reach > row->reach)
                        row->reach = before->reach;
        }
}

/* The number of rows before the first mapping of process PID that starts at LIMIT or higher. */
static size_t mappings_count_before(const ImageMappings *mappings, int32_t pid, uint64_t limit)
{
        size_t low = 0, high = mappings->n_rows;

        while (low < high) {
                const size_t middle = low + (high - low) / 2;
                const Mapping *mapping = &mappings->rows[middle]->mapping;

                if (mapping->pid < pid || (mapping->pid == pid && mapping->start < limit))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

ImageMapping *image_mappings_find(const ImageMappings *mappings, int32_t pid, uint64_t address,
                                  uint64_t time)
{
        size_t i = address == UINT64_MAX ? 0 : mappings_count_before(mappings, pid, address + 1);
        ImageMapping *found = NULL;
        unsigned n_seen;

        for (n_seen = 0; i > 0 && n_seen < MAX_COVERED; n_seen++) {
                ImageMapping *row = mappings->rows[--i];
                const Mapping *mapping = &row->mapping;

                if (mapping->pid != pid || row->reach <= address)
                        break;
                if (mapping->end > address && mapping->time <= time &&
                    (!found || mapping->time > found->mapping.time))
                        found = row;
        }
        return found;
}

/* True if both map one file at the same base address. */
static bool mapping_is_same_file(const Mapping *one, const Mapping *other)
{
        return one->major == other->major && one->minor == other->minor &&
               one->inode == other->inode &&
               one->start - one->offset == other->start - other->offset;
}

bool image_mappings_is_alone(const ImageMappings *mappings, const Mapping *mapping)
{
        size_t i = mappings_count_before(mappings, mapping->pid, mapping->end);
        unsigned n_seen;

        for (n_seen = 0; i > 0; n_seen++) {
                const ImageMapping *row = mappings->rows[--i];
                const Mapping *other = &row->mapping;

                if (other->pid != mapping->pid || row->reach <= mapping->start)
                        return true;
                if (n_seen == MAX_COVERED ||
                    (other->end > mapping->start && !mapping_is_same_file(other, mapping)))
                        return false;
        }
        return true;
}

const ImageProcess *image_mappings_most_left_out(const ImageMappings *mappings)
{
        const ImageProcess *most = NULL;
        size_t i;

        for (i = 0; i < mappings->n_processes; i++) {
                const ImageProcess *process = &mappings->processes[i];

                if (process->n_left_out && (!most || process->n_left_out > most->n_left_out))
                        most = process;
        }
        return most;
}

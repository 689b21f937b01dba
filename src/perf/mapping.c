/* SPDX-License-Identifier: MIT */
#include "perf/mapping.h"

#include "perf/mapping-kind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mapping_deinit(Mapping *mapping)
{
        free(mapping->path);
        mapping->path = NULL;
}

/* Parses a number in BASE at *TEXT and the text END after it. Moves *TEXT behind both. */
static bool mapping_take_number(const char **text, int base, const char *end, uint64_t max,
                                uint64_t *ret)
{
        size_t n = strlen(end);
        char *rest;

        if (!((**text >= '0' && **text <= '9') || (base == 16 && **text >= 'a' && **text <= 'f')))
                return false;
        errno = 0;
        *ret = strtoull(*text, &rest, base);
        if (errno || rest == *text || *ret > max || strncmp(rest, end, n) != 0)
                return false;
        *text = rest + n;
        return true;
}

static bool take_u32(const char **text, int base, const char *end, uint32_t *ret)
{
        uint64_t number;

        if (!mapping_take_number(text, base, end, UINT32_MAX, &number))
                return false;
        *ret = (uint32_t)number;
        return true;
}

static bool take_pid(const char **text, const char *end, int32_t *ret)
{
        uint64_t number;

        if (!mapping_take_number(text, 10, end, INT32_MAX, &number))
                return false;
        *ret = (int32_t)number;
        return true;
}

static bool keep_path(Mapping *mapping, const char *path)
{
        if (*path != '/' || mapping->start >= mapping->end)
                return false;
        mapping->path = strdup(path);
        return mapping->path != NULL;
}

/* "7f10c7680000-7f10c81cc000 r-xp 00000000 fe:00 350922          /a.dll" */
bool mapping_take_columns(Mapping *mapping, const char *line, const char **ret_path)
{
        *mapping = (Mapping){0};
        if (!mapping_take_number(&line, 16, "-", UINT64_MAX, &mapping->start) ||
            !mapping_take_number(&line, 16, " ", UINT64_MAX, &mapping->end) || strlen(line) < 6 ||
            line[2] != 'x' || line[4] != ' ')
                return false;
        line += 5;
        if (!mapping_take_number(&line, 16, " ", UINT64_MAX, &mapping->offset) ||
            !take_u32(&line, 16, ":", &mapping->major) ||
            !take_u32(&line, 16, " ", &mapping->minor) ||
            !mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->inode))
                return false;
        *ret_path = line + strspn(line, " ");
        return mapping->start < mapping->end;
}

bool mapping_take_map(Mapping *mapping, const char *line)
{
        const char *path;

        return mapping_take_columns(mapping, line, &path) && keep_path(mapping, path);
}

bool mapping_is_assembly(const Mapping *mapping)
{
        return mapping_kind_of_dso(mapping->path) == MAPPING_IMAGE;
}

bool mapping_may_have_assemblies(const Mapping *mapping)
{
        return mapping_is_assembly(mapping) || mapping_kind_of_dso(mapping->path) == MAPPING_OTHER;
}

void mapping_write(const Mapping *mapping, FILE *file)
{
        fprintf(file,
                "%" PRId32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
                " %" PRIu32 " %" PRIu64 " %d %" PRIu64 " %s\n",
                mapping->pid, mapping->start, mapping->end, mapping->offset, mapping->time,
                mapping->since, mapping->major, mapping->minor, mapping->inode,
                mapping->has_generation, mapping->generation, mapping->path);
}

bool mapping_take_line(Mapping *mapping, const char *line)
{
        uint32_t has_generation;

        *mapping = (Mapping){0};
        if (!(take_pid(&line, " ", &mapping->pid) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->start) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->end) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->offset) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->time) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->since) &&
              take_u32(&line, 10, " ", &mapping->major) &&
              take_u32(&line, 10, " ", &mapping->minor) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->inode) &&
              take_u32(&line, 10, " ", &has_generation) &&
              mapping_take_number(&line, 10, " ", UINT64_MAX, &mapping->generation)))
                return false;
        mapping->has_generation = has_generation;
        return keep_path(mapping, line);
}

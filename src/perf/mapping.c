/* SPDX-License-Identifier: MIT */
#include "perf/mapping.h"

#include "perf/mapping-kind.h"
#include "util/seconds-text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mapping_deinit(Mapping *mapping)
{
        free(mapping->path);
        mapping->path = NULL;
}

/*
 * Parses a number in BASE (0: by its prefix) at *TEXT and the text END after it. Moves *TEXT after
 * both.
 */
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

/* "473.414890639" in the text from BEGIN, at whose END it ends */
static bool mapping_take_seconds(const char *begin, const char *end, uint64_t *ret_ns)
{
        const char *at = end;

        while (at > begin && at[-1] != ' ')
                at--;
        return end - at > 10 && end[-10] == '.' && seconds_parse(at, ret_ns) == end;
}

/* "fe:00 350922 0]: ", or "<0a8e9e6786b3>]: ": of an ELF file, perf can record the build id
 * instead. */
static bool mapping_take_file(Mapping *mapping, const char **text)
{
        static const char END[] = ">]: ";

        if (**text == '<') {
                *text += 1 + strspn(*text + 1, "0123456789abcdef");
                if (strncmp(*text, END, sizeof(END) - 1) != 0)
                        return false;
                *text += sizeof(END) - 1;
                return true;
        }
        if (!take_u32(text, 16, ":", &mapping->major) ||
            !take_u32(text, 16, " ", &mapping->minor) ||
            !mapping_take_number(text, 10, " ", UINT64_MAX, &mapping->inode) ||
            !mapping_take_number(text, 10, "]: ", UINT64_MAX, &mapping->generation))
                return false;
        /* What was mapped before the recording is from /proc, which has no generations. */
        mapping->has_generation = mapping->generation != 0;
        return true;
}

/* "PERF_RECORD_MMAP2 7/7: [0x7f10c7680000(0xb4c000) @ 0 fe:00 350922 0]: r-xp /a.dll" */
bool mapping_take_event(Mapping *mapping, const char *line)
{
        static const char RECORD[] = ": PERF_RECORD_MMAP2 ";
        const char *at = strstr(line, RECORD);
        uint64_t tid, n;

        *mapping = (Mapping){0};
        if (!at || !mapping_take_seconds(line, at, &mapping->time))
                return false;
        at += sizeof(RECORD) - 1;
        if (!take_pid(&at, "/", &mapping->pid) ||
            !mapping_take_number(&at, 10, ": [", UINT64_MAX, &tid) ||
            !mapping_take_number(&at, 0, "(", UINT64_MAX, &mapping->start) ||
            !mapping_take_number(&at, 0, ") @ ", UINT64_MAX - mapping->start, &n) ||
            !mapping_take_number(&at, 0, " ", UINT64_MAX, &mapping->offset) ||
            !mapping_take_file(mapping, &at) || strlen(at) < 6 || at[2] != 'x' || at[4] != ' ')
                return false;
        mapping->end = mapping->start + n;
        return keep_path(mapping, at + 5);
}

/* "7f10c7680000-7f10c81cc000 r-xp 00000000 fe:00 350922          /a.dll" */
bool mapping_take_map(Mapping *mapping, const char *line)
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
        return keep_path(mapping, line + strspn(line, " "));
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

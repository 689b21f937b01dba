/* SPDX-License-Identifier: MIT */

/*
 * What source lines cost, with the memory that they take:
 *
 *     bench-lines points PDB...         all sequence points of all methods, cold and warm
 *     bench-lines modules ASSEMBLY...   the first line of each, as a program asks for it
 *
 * "Cold" includes the reading of the file, which is in the page cache.
 */

#include "lines/lines.h"
#include "pdb/debug-directory.h"
#include "pdb/pdb-points.h"

#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double milliseconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double resident_mib(void)
{
        unsigned long size = 0, pages = 0;
        FILE *file = fopen("/proc/self/statm", "re");

        if (!file || fscanf(file, "%lu %lu", &size, &pages) != 2)
                exit(1);
        fclose(file);
        return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static Pdb pdb_open(const char *path)
{
        const char *reason;
        char *bytes;
        gsize n;
        Pdb pdb;

        if (!g_file_get_contents(path, &bytes, &n, NULL) ||
            !pdb_read(&pdb, (uint8_t *)bytes, n, NULL, &reason)) {
                fprintf(stderr, "%s: cannot be read\n", path);
                exit(1);
        }
        return pdb;
}

/* How many methods have points, and how many points. */
static void count_points(const Pdb *pdb, uint64_t *n_methods, uint64_t *n_points)
{
        uint32_t n = metadata_n_rows(&pdb->metadata, METADATA_METHOD_DEBUG_INFORMATION), method;
        PdbPoints points;

        for (method = 1; method <= n; method++) {
                if (!pdb_points_init(&points, pdb, method))
                        continue;
                ++*n_methods;
                while (pdb_points_next(&points))
                        ++*n_points;
        }
}

static void bench_points(char **paths, int n)
{
        double begin = milliseconds(), memory = resident_mib(), cold, warm;
        uint64_t n_methods = 0, n_points = 0, ignored = 0;
        Pdb *pdbs = g_new0(Pdb, n);
        int i;

        for (i = 0; i < n; i++) {
                pdbs[i] = pdb_open(paths[i]);
                count_points(&pdbs[i], &n_methods, &n_points);
        }
        cold = milliseconds() - begin;
        memory = resident_mib() - memory;
        begin = milliseconds();
        for (i = 0; i < n; i++)
                count_points(&pdbs[i], &ignored, &ignored);
        warm = milliseconds() - begin;
        printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %.2f %.2f %.1f\n", n_methods, n_points,
               cold, warm, memory);
        for (i = 0; i < n; i++)
                pdb_deinit(&pdbs[i]);
        g_free(pdbs);
}

static void assembly_guid(const char *path, uint8_t ret[PDB_GUID_SIZE])
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        DebugDirectory directory;
        const char *reason;
        PeFile image;

        if (fd < 0 || pe_file_read(&image, fd, 0, &reason) < 0 ||
            debug_directory_read(&directory, &image, &reason) < 0) {
                fprintf(stderr, "%s: cannot be read\n", path);
                exit(1);
        }
        memcpy(ret, directory.id.guid, PDB_GUID_SIZE);
        close(fd);
}

static void bench_modules(char **paths, int n)
{
        double memory = resident_mib(), all = 0, longest = 0;
        Lines *lines = lines_new();
        int i, n_found = 0;

        for (i = 0; i < n; i++) {
                uint8_t guid[PDB_GUID_SIZE];
                SourceLine line;
                LineQuestion question = {
                        .module_path = paths[i], .pdb_guid = guid, .token = 0x06000001, .il = 0};
                double begin, took;

                assembly_guid(paths[i], guid);
                begin = milliseconds();
                while (lines_find(lines, &question, &line) == LINE_NONE &&
                       question.token < 0x06000010)
                        question.token++;
                took = milliseconds() - begin;
                n_found += lines_find(lines, &question, &line) == LINE_FOUND;
                all += took;
                longest = took > longest ? took : longest;
        }
        printf("%d %.2f %.2f %.1f\n", n_found, all / n, longest, resident_mib() - memory);
        lines_free(lines);
}

int main(int argc, char **argv)
{
        if (argc > 2 && !strcmp(argv[1], "points"))
                bench_points(argv + 2, argc - 2);
        else if (argc > 2 && !strcmp(argv[1], "modules"))
                bench_modules(argv + 2, argc - 2);
        else
                return 2;
        return 0;
}

/* SPDX-License-Identifier: MIT */

/*
 * Prints the sequence points of portable PDBs, and of PDBs embedded in assemblies: FILE METHOD IL
 * LINE COLUMN END-LINE END-COLUMN DOCUMENT, or FILE METHOD IL hidden. With --quiet, only reads
 * them, and prints their number.
 */

#include "pdb/debug-directory.h"
#include "pdb/pdb-points.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES (64u << 20)

static bool is_quiet;

static unsigned long print_points(const Pdb *pdb, const char *name)
{
        uint32_t n = metadata_n_rows(&pdb->metadata, METADATA_METHOD_DEBUG_INFORMATION), i;
        unsigned long n_points = 0;
        char path[4096];
        PdbPoints points;

        for (i = 1; i <= n; i++) {
                if (!pdb_points_init(&points, pdb, i))
                        continue;
                while (pdb_points_next(&points)) {
                        const PdbPoint *point = &points.point;

                        n_points++;
                        if (is_quiet)
                                continue;
                        if (point->is_hidden) {
                                printf("%s %u %u hidden\n", name, i, point->il);
                        } else {
                                if (!pdb_document_path(pdb, point->document, path, sizeof(path)))
                                        *path = '\0';
                                printf("%s %u %u %u %u %u %u %s\n", name, i, point->il, point->line,
                                       point->column, point->end_line, point->end_column, path);
                        }
                }
                if (points.has_failed)
                        printf("%s %u damaged\n", name, i);
        }
        return n_points;
}

/* Reads the file's PDB, on the heap; NULL: none. */
static uint8_t *read_pdb(int fd, size_t *ret_n)
{
        const char *reason;
        DebugDirectory directory;
        struct stat status;
        uint8_t *bytes;
        PeFile image;

        if (pe_file_read(&image, fd, 0, &reason) == 0) {
                if (debug_directory_read(&directory, &image, &reason) < 0 ||
                    debug_directory_unpack(&directory, &image, MAX_BYTES, &bytes, ret_n, &reason) <
                            0)
                        return NULL;
                return bytes;
        }
        if (fstat(fd, &status) < 0 || !(bytes = malloc((size_t)status.st_size + 1)))
                return NULL;
        *ret_n = (size_t)status.st_size;
        if (pread(fd, bytes, *ret_n, 0) == status.st_size)
                return bytes;
        free(bytes);
        return NULL;
}

int main(int argc, char **argv)
{
        unsigned long n = 0;
        const char *reason;
        int i;

        is_quiet = argc > 1 && !strcmp(argv[1], "--quiet");
        for (i = 1 + is_quiet; i < argc; i++) {
                int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
                size_t n_bytes = 0;
                uint8_t *bytes = fd >= 0 ? read_pdb(fd, &n_bytes) : NULL;
                Pdb pdb;

                if (fd >= 0)
                        close(fd);
                if (!bytes || !pdb_read(&pdb, bytes, n_bytes, NULL, &reason)) {
                        fprintf(stderr, "%s: %s\n", argv[i], bytes ? reason : "no PDB");
                        return 1;
                }
                n += print_points(&pdb, argv[i]);
                pdb_deinit(&pdb);
        }
        if (is_quiet)
                printf("%lu\n", n);
        return 0;
}

/* SPDX-License-Identifier: MIT */

/* A file that claims to be a portable PDB, or an assembly with an embedded one. */

#include "fuzz.h"
#include "pdb/debug-directory.h"
#include "pdb/pdb-points.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_PDB     (8u << 20)
#define MAX_METHODS 512u

static void check_points(const Pdb *pdb, uint32_t method)
{
        PdbPoints points;
        PdbPoint found;
        uint32_t il = 0;

        if (!pdb_points_init(&points, pdb, method))
                return;
        while (pdb_points_next(&points)) {
                FUZZ_REQUIRE(points.point.il >= il);
                FUZZ_REQUIRE(points.point.line <= points.point.end_line);
                il = points.point.il;
        }
        if (pdb_find_point(pdb, method, il, &found))
                FUZZ_REQUIRE(!found.is_hidden && found.il <= il && points.has_visible);
        if (pdb_first_point(pdb, method, &found))
                FUZZ_REQUIRE(!found.is_hidden && points.has_visible);
        pdb_kickoff_method(pdb, method);
}

/* Sets *RET_ID if the file is a PDB. */
static void check_pdb(uint8_t *bytes, size_t n, const PdbCheck *check, PdbId *ret_id)
{
        const char *reason = NULL;
        uint32_t n_methods, i;
        MetadataSpan checksum;
        char path[256];
        Pdb pdb;

        if (!pdb_read(&pdb, bytes, n, check, &reason)) {
                FUZZ_REQUIRE(reason && *reason);
                return;
        }
        FUZZ_REQUIRE(pdb.n <= n);
        *ret_id = pdb.id;
        n_methods = metadata_n_rows(&pdb.metadata, METADATA_METHOD_DEBUG_INFORMATION);
        for (i = 0; i <= n_methods + 1; i += n_methods / MAX_METHODS + 1)
                check_points(&pdb, i);
        for (i = 0; i < 64; i++)
                if (pdb_document_checksum(&pdb, i, &checksum))
                        FUZZ_REQUIRE(checksum.at >= pdb.bytes && checksum.n <= pdb.n);
        for (i = 0; i < 64; i++)
                if (pdb_document_path(&pdb, i, path, sizeof(path)))
                        FUZZ_REQUIRE(*path && strlen(path) < sizeof(path));
        pdb_deinit(&pdb);
}

static void check_image(int fd)
{
        DebugDirectory directory;
        const char *reason = NULL;
        uint8_t *bytes;
        PeFile image;
        PdbId id;
        size_t n;

        if (pe_file_read(&image, fd, 0, &reason) == 0 &&
            debug_directory_read(&directory, &image, &reason) == 0) {
                FUZZ_REQUIRE(memchr(directory.path, 0, sizeof(directory.path)));
                if (debug_directory_unpack(&directory, &image, MAX_PDB, &bytes, &n, &reason) == 0) {
                        FUZZ_REQUIRE(n <= MAX_PDB);
                        check_pdb(bytes, n, NULL, &id);
                        return;
                }
        }
        FUZZ_REQUIRE(reason && *reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const uint8_t CHECKSUM[PDB_CHECKSUM_SIZE];
        PdbCheck check = {.checksum = CHECKSUM};
        static int fd = -1;
        unsigned i;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (fd < 0)
                fd = memfd_create("fuzz-pdb", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
        FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
        for (i = 0; i < 2; i++) {
                uint8_t *bytes = malloc(size + 1);

                FUZZ_REQUIRE(bytes);
                memcpy(bytes, data, size);
                check_pdb(bytes, size, i ? &check : NULL, &check.id);
        }
        check_image(fd);
        return 0;
}

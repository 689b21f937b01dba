/* SPDX-License-Identifier: MIT */

/* A file that claims to be an assembly, and metadata without one: an assembly's or a PDB's. */

#include "fuzz.h"
#include "metadata/metadata-names.h"
#include "metadata/method-signature.h"
#include "metadata/pe-file.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ROWS     256u
#define MAX_METADATA (8u << 20)

static uint64_t sum;

static void touch(const void *bytes, size_t n)
{
        const uint8_t *at = bytes;

        while (n--)
                sum += *at++;
}

static void check_cell(const Metadata *metadata, uint32_t value)
{
        const char *text = metadata_string(metadata, value);
        const uint8_t *guid = metadata_guid(metadata, value);
        MetadataTable table;
        MetadataSpan blob;
        uint32_t rid;
        unsigned code;

        if (text)
                touch(text, strnlen(text, 64));
        if (guid)
                touch(guid, 16);
        if (metadata_blob(metadata, value, &blob))
                touch(blob.at, blob.n < 64 ? blob.n : 64);
        for (code = 0; code < _METADATA_CODE_MAX; code++)
                if (metadata_decode((MetadataCode)code, value, &table, &rid))
                        FUZZ_REQUIRE((unsigned)table < _METADATA_TABLE_MAX);
}

static void check_name(const Metadata *metadata, MetadataTable table, uint32_t rid)
{
        char name[200];
        uint32_t i, n;

        if (metadata_type_name(metadata, table, rid, name, sizeof(name)))
                FUZZ_REQUIRE(strlen(name) < sizeof(name));
        else
                FUZZ_REQUIRE(!*name);
        n = metadata_n_generic_params(metadata, table, rid);
        for (i = 0; i < n && i < 4; i++)
                metadata_generic_param(metadata, table, rid, i);
        if (table == METADATA_METHOD_DEF) {
                FUZZ_REQUIRE(metadata_method_type(metadata, rid) <=
                             metadata_n_rows(metadata, METADATA_TYPE_DEF));
                metadata_method_name(metadata, rid);
                FUZZ_REQUIRE(metadata_method_signature(metadata, rid, name, sizeof(name))
                                     ? strlen(name) < sizeof(name)
                                     : !*name);
        }
}

static void check_table(const Metadata *metadata, MetadataTable table)
{
        uint32_t n = metadata_n_rows(metadata, table), rid, value;
        unsigned column;

        FUZZ_REQUIRE(!metadata_cell(metadata, table, 0, 0, &value));
        FUZZ_REQUIRE(!metadata_cell(metadata, table, n + 1, 0, &value));
        for (rid = 1; rid <= n; rid += n / MAX_ROWS + 1) {
                for (column = 0; metadata_cell(metadata, table, rid, column, &value); column++)
                        check_cell(metadata, value);
                FUZZ_REQUIRE(column > 0);
                check_name(metadata, table, rid);
        }
}

static void check_metadata(const uint8_t *bytes, size_t n)
{
        Metadata metadata;
        const char *reason = NULL;
        unsigned table;

        if (!metadata_read(&metadata, bytes, n, &reason)) {
                FUZZ_REQUIRE(reason && *reason);
                return;
        }
        for (table = 0; table < _METADATA_TABLE_MAX; table++)
                check_table(&metadata, (MetadataTable)table);
}

static void check_image(int fd, uint64_t begin)
{
        PeFile file;
        const char *reason = NULL;
        uint8_t *bytes;
        size_t n;

        if (pe_file_read(&file, fd, begin, &reason) == 0 &&
            pe_file_read_metadata(&file, MAX_METADATA, &bytes, &n, &reason) == 0) {
                FUZZ_REQUIRE(n <= MAX_METADATA);
                check_metadata(bytes, n);
                free(bytes);
        } else {
                FUZZ_REQUIRE(reason && *reason);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fd = -1;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (fd < 0)
                fd = memfd_create("fuzz-metadata", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
        FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
        check_metadata(data, size);
        check_image(fd, 0);
        check_image(fd, 64);
        return 0;
}

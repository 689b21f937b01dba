/* SPDX-License-Identifier: MIT */

/* A file that claims to be a precompiled assembly with maps; and a map alone. */

#include "fuzz.h"
#include "metadata/r2r-names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_CHECKED 512u
/* Maximum bytes of a text. */
#define MAX_TEXT 4096u

static void check_map(const R2RMap *map)
{
        int32_t il = 0;
        uint32_t i;

        for (i = 0; i < map->n; i += map->n / MAX_CHECKED + 1)
                FUZZ_REQUIRE(r2r_map_lookup(map, map->entries[map->n - 1].native, &il) ||
                             map->entries[map->n - 1].native < map->entries[0].native);
        r2r_map_lookup(map, 0, &il);
        r2r_map_lookup(map, UINT32_MAX, &il);
}

/* Each instance of each method has the same extent within its page. */
static void check_bodies(const R2RCode *code, const R2RMethod *method)
{
        uint32_t size = method->end - method->begin, rid;
        R2RMethod found;

        for (rid = 0; rid < 64; rid++)
                if (r2r_code_find_body(code, rid, method->begin, size, &found))
                        FUZZ_REQUIRE(found.end - found.begin == size &&
                                     (found.begin - method->begin) % 4096 == 0);
}

static void check_method(const R2RCode *code, const R2RMethod *method)
{
        R2RMethod found;
        R2RMap map;

        FUZZ_REQUIRE(method->begin < method->end);
        FUZZ_REQUIRE(r2r_code_find(code, method->begin, &found));
        FUZZ_REQUIRE(found.function == method->function && found.end == method->end);
        check_bodies(code, method);
        if (r2r_code_map(code, method->function, &map) < 0)
                return;
        check_map(&map);
        free(map.entries);
}

static void check_code(const R2RCode *code)
{
        uint32_t n = r2r_code_n_functions(code), i;
        R2RMethod method;

        for (i = 0; i <= n; i += n / MAX_CHECKED + 1)
                if (r2r_code_method(code, i, &method))
                        check_method(code, &method);
        for (i = 0; i < 64; i++)
                r2r_code_find_method(code, i, &method);
        r2r_code_find(code, UINT32_MAX, &method);
}

/* A named method has all members of its name, and the code of the query. */
static void check_names(const R2RCode *code, const PeFile *pe)
{
        R2RNames *names = r2r_names_new(code);
        uint32_t n = r2r_code_n_functions(code), i;
        R2RMethod method;
        R2RName name;

        FUZZ_REQUIRE(names);
        r2r_names_take(names, 0, pe);
        for (i = 0; i <= n; i += n / MAX_CHECKED + 1) {
                if (!r2r_code_method(code, i, &method) ||
                    !r2r_names_find(names, method.end - 1, &name))
                        continue;
                FUZZ_REQUIRE(name.method.function == i && name.token >> 24 == 6);
                FUZZ_REQUIRE(*name.name && strlen(name.name_space) < MAX_TEXT &&
                             strlen(name.signature) < MAX_TEXT);
                FUZZ_REQUIRE(!name.type_args ||
                             (*name.type_args && strlen(name.type_args) < MAX_TEXT));
        }
        r2r_names_find(names, UINT32_MAX, &name);
        r2r_names_free(names);
}

/* A composite image that contains the MVIDs of its assemblies. */
static void check_composite(const PeFile *pe, const uint8_t *data, size_t size)
{
        const char *reason = NULL;
        R2RCode *composite, *code;
        char owner[64];
        size_t i;

        if (r2r_code_owner(pe, owner, sizeof(owner)) == 0)
                FUZZ_REQUIRE(memchr(owner, 0, sizeof(owner)));
        if (r2r_code_read_composite(&composite, pe, &reason) < 0) {
                FUZZ_REQUIRE(reason && *reason);
                return;
        }
        for (i = 0; i + R2R_MVID_SIZE <= size; i += 4)
                if (r2r_code_component(&code, composite, data + i) == 0) {
                        check_code(code);
                        r2r_code_free(code);
                }
        check_names(composite, pe);
        r2r_code_free(composite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fd = -1;
        const char *reason = NULL;
        R2RCode *code;
        R2RMap map;
        PeFile pe;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (fd < 0)
                fd = memfd_create("fuzz-r2r-code", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
        FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
        if (size && r2r_map_decode(&map, data + 1, size - 1, data[0] & 3) == 0) {
                FUZZ_REQUIRE(map.n <= size * 8);
                check_map(&map);
                free(map.entries);
        }
        if (pe_file_read(&pe, fd, 0, &reason) == 0 && r2r_code_read(&code, &pe, &reason) == 0) {
                check_code(code);
                check_names(code, &pe);
                r2r_code_free(code);
        } else {
                FUZZ_REQUIRE(reason && *reason);
        }
        if (pe_file_read(&pe, fd, 0, &reason) == 0)
                check_composite(&pe, data, size);
        return 0;
}

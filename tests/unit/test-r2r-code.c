/* SPDX-License-Identifier: MIT */

/*
 * The maps of precompiled code: built by the test, and those of the runtime's own library, if a
 * runtime is installed
 */

#include "metadata/r2r-code.h"

#include "metadata/metadata.h"
#include "metadata/native-format.h"
#include "metadata/r2r-signature.h"
#include "support/corelib.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Numbers: bytes, value, and number of bytes read; 0: refused. */
static const struct {
        const char *bytes;
        size_t n;
        uint32_t value;
        size_t n_read;
} NUMBERS[] = {
        {"\x00", 1, 0, 1},
        {"\xfe", 1, 127, 1},
        {"\x01\x02", 2, 128, 2},
        {"\xfd\xff", 2, 0x3fff, 2},
        {"\x03\x00\x02", 3, 0x4000, 3},
        {"\x07\x00\x00\x02", 4, 0x200000, 4},
        {"\x0f\x78\x56\x34\x12", 5, 0x12345678, 5},
        {"\x0f\xff\xff\xff\xff", 5, UINT32_MAX, 5},
        {"\x1f\xff\xff\xff\xff", 5, 0, 0},
        {"\x01", 1, 0, 0},
        {"\x0f\x78\x56\x34", 4, 0, 0},
        {"", 0, 0, 0},
};

START_TEST(test_number)
{
        const NativeTable table = {(const uint8_t *)NUMBERS[_i].bytes, NUMBERS[_i].n};
        uint32_t value = 0;
        size_t offset = 0;

        ck_assert_int_eq(native_number(&table, &offset, &value), NUMBERS[_i].n_read > 0);
        ck_assert_uint_eq(value, NUMBERS[_i].value);
        ck_assert_uint_eq(offset, NUMBERS[_i].n_read);
}
END_TEST

/* Element 3 alone in the first block, 17 and 18 in the second. */
START_TEST(test_array)
{
        static const uint8_t BYTES[] = {
                20 << 3,
                2,
                4, /* 20 elements, offsets of 1 byte; the two blocks */
                3 << 3,
                0xaa, /* one element, number 3 */
                1 << 1,
                1 << 1,
                1 << 1, /* low half, low quarter, lower pair, ... */
                (2 | 2 << 2) << 1,
                0xbb,
                0xcc, /* the other branch is further on */
        };
        const NativeTable table = {BYTES, sizeof(BYTES)};
        size_t offset = 0;

        ck_assert_uint_eq(native_array_n(&table), 20);
        ck_assert(native_array_find(&table, 3, &offset));
        ck_assert_uint_eq(BYTES[offset], 0xaa);
        ck_assert(!native_array_find(&table, 2, &offset));
        ck_assert(!native_array_find(&table, 19, &offset));
        ck_assert(!native_array_find(&table, 20, &offset));
        ck_assert(!native_array_find(&table, UINT32_MAX, &offset));
}
END_TEST

/* Signatures of instances. */
static const struct {
        const char *bytes;
        size_t n;
        uint32_t rid; /* 0: refused */
        size_t n_read;
        uint32_t module;
} SIGNATURES[] = {
        {"\x00\x05", 2, 5, 2, 0},
        {"\x04\x05\x02\x08\x3e", 5, 5, 5, 0},                       /* M<int, __Canon> */
        {"\x40\x15\x12\x09\x01\x3e\x07", 7, 7, 7, 0},               /* C<__Canon>.M */
        {"\x44\x15\x11\x09\x01\x0e\x07\x01\x1d\x05", 10, 7, 10, 0}, /* S<string>.M<byte[]> */
        {"\x40\x3f\x02\x12\x09\x07", 6, 7, 6, 2},     /* the type belongs to another module */
        {"\x40\x14\x08\x02\x00\x00\x07", 7, 7, 7, 0}, /* int[,] */
        {"\x08\x05", 2, 0, 0, 0},
        {"\x20\x05", 2, 0, 0, 0},
        {"\x40\x77\x05", 3, 0, 0, 0},
        {"\x04\x05\x02\x08", 4, 0, 0, 0},
        {"", 0, 0, 0, 0},
};

START_TEST(test_signature)
{
        const ByteCursor cursor = {.at = (const uint8_t *)SIGNATURES[_i].bytes,
                                   .n = SIGNATURES[_i].n};
        R2RInstance instance = {0};
        bool is_good = r2r_signature_read(cursor, &instance);

        ck_assert_int_eq(is_good, SIGNATURES[_i].rid > 0);
        if (!is_good)
                return;
        ck_assert_uint_eq(instance.rid, SIGNATURES[_i].rid);
        ck_assert_uint_eq(instance.n, SIGNATURES[_i].n_read);
        ck_assert_uint_eq(instance.module, SIGNATURES[_i].module);
}
END_TEST

/* A type nested thousands of times is refused before the stack overflows. */
START_TEST(test_deep_signature)
{
        uint8_t bytes[10000];
        R2RInstance instance;

        memset(bytes, 0x1d, sizeof(bytes));
        bytes[0] = 0x40;
        ck_assert(!r2r_signature_read((ByteCursor){.at = bytes, .n = sizeof(bytes)}, &instance));
}
END_TEST

/* Maps: bytes, and "NATIVE:IL ..."; NULL: refused. */
static const struct {
        const char *bytes;
        size_t n;
        bool has_bits;
        const char *map;
} MAPS[] = {
        /* Nibbles: 4 bytes of bounds, no variables; 2 entries: {0, -2, 0}, {0x13, 0, 2}. */
        {"\x04\x02\x01\x3a\x23", 5, false, "0:-2 13:0"},
        /* The same with surplus bytes. */
        {"\x06\x02\x01\x3a\x23\x00\x00", 7, false, "0:-2 13:0"},
        {"\x00", 1, false, ""},
        {"\x00", 1, true, ""},
        /* Too few bytes; more entries than bytes; no end. */
        {"\x04\x02\x01\x3a", 4, false, NULL},
        {"\x04\x07\x01\x3a\x23", 5, false, NULL},
        {"\x04\x02\x01\xba\xbb", 5, false, NULL},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, false, NULL},
        {"", 0, false, NULL},
        /* Bits: 2 entries of 2 + 5 + 2 bits: {0, 0, 1}, {2, 0x13, 3}. */
        {"\x05\x42\x01\x80\x9c", 5, true, NULL},
        {"\x05\x42\x01\x80\x9c\x03", 6, true, "0:-2 13:0"},
        {"\x04\x42\x01\x80\x9c\x03", 6, true, NULL},
        /* A number with too many bits. */
        {"\x06\xc2\x47\x01\x00\x00\x00\x00", 8, true, NULL},
};

START_TEST(test_map)
{
        g_autoptr(GString) text = g_string_new(NULL);
        R2RMap map;
        uint32_t i;
        int r = r2r_map_decode(&map, (const uint8_t *)MAPS[_i].bytes, MAPS[_i].n,
                               MAPS[_i].has_bits ? 2 : 0);

        if (!MAPS[_i].map) {
                ck_assert_int_eq(r, -EBADMSG);
                ck_assert_ptr_null(map.entries);
                return;
        }
        ck_assert_int_eq(r, 0);
        for (i = 0; i < map.n; i++)
                g_string_append_printf(text, "%s%x:%d", i ? " " : "", map.entries[i].native,
                                       map.entries[i].il);
        free(map.entries);
        ck_assert_str_eq(text->str, MAPS[_i].map);
}
END_TEST

START_TEST(test_lookup)
{
        static R2RMapEntry ENTRIES[] = {
                {4, 0, 0},  {4, -2, 0},  {8, 5, 0},   {8, 3, 0},  {8, 9, 0},
                {12, 7, 0}, {12, -1, 0}, {16, -1, 0}, {16, 2, 0}, {20, -3, 0},
        };
        static const struct {
                uint32_t native;
                bool is_found;
                int32_t il;
        } ROWS[] = {
                {0, false, 0},  {3, false, 0},          {4, true, 0},  {7, true, 0},
                {8, true, 3},   {11, true, 3},          {12, true, 7}, {16, true, -1},
                {20, true, -3}, {UINT32_MAX, true, -3},
        };
        const R2RMap map = {ENTRIES, G_N_ELEMENTS(ENTRIES)};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                int32_t il = 0;

                ck_assert_int_eq(r2r_map_lookup(&map, ROWS[i].native, &il), ROWS[i].is_found);
                ck_assert_int_eq(il, ROWS[i].il);
        }
}
END_TEST

static int read_file(R2RCode **ret, int fd, const char **ret_reason)
{
        PeFile pe;
        int r = pe_file_read(&pe, fd, 0, ret_reason);

        return r < 0 ? r : r2r_code_read(ret, &pe, ret_reason);
}

/* Checks that each method has a map which begins with its prolog and lies within the method. */
static void check_method(const R2RCode *code, const R2RMethod *method)
{
        R2RMethod found;
        uint32_t i;
        R2RMap map;

        ck_assert_int_eq(r2r_code_map(code, method->function, &map), 0);
        ck_assert_uint_gt(map.n, 0);
        ck_assert_uint_eq(map.entries[0].native, 0);
        ck_assert_int_eq(map.entries[0].il, R2R_IL_PROLOG);
        for (i = 1; i < map.n; i++)
                ck_assert_uint_le(map.entries[i - 1].native, map.entries[i].native);
        ck_assert_uint_le(map.entries[map.n - 1].native, method->end - method->begin);
        free(map.entries);
        ck_assert(r2r_code_find(code, method->begin, &found));
        ck_assert_uint_eq(found.function, method->function);
        ck_assert(r2r_code_find(code, method->end - 1, &found));
        ck_assert_uint_eq(found.function, method->function);
}

static bool maps_equal(const R2RCode *code, uint32_t one, uint32_t other)
{
        bool are_equal;
        R2RMap a, b;
        uint32_t i;

        ck_assert_int_eq(r2r_code_map(code, one, &a), 0);
        ck_assert_int_eq(r2r_code_map(code, other, &b), 0);
        are_equal = a.n == b.n;
        for (i = 0; are_equal && i < a.n; i++)
                are_equal = a.entries[i].native == b.entries[i].native &&
                            a.entries[i].il == b.entries[i].il &&
                            a.entries[i].source == b.entries[i].source;
        free(a.entries);
        free(b.entries);
        return are_equal;
}

/* Checks that a request for an ambiguous instance succeeds only if all candidates have the same
 * map. */
static void check_instance(const R2RCode *code, const R2RMethod *method, uint32_t rid)
{
        const uint64_t start = UINT64_C(0x7f0000000000) + method->begin;
        const uint32_t size = method->end - method->begin;
        bool are_equal = true;
        R2RMethod other;
        uint32_t at = 0;

        while (r2r_code_next_instance(code, rid, start, size, &at, &other))
                are_equal = are_equal && maps_equal(code, method->function, other.function);
        ck_assert_int_eq(r2r_code_find_body(code, rid, start, size, &other), are_equal);
}

START_TEST(test_corelib)
{
        g_autofree char *path = corelib_find();
        const uint64_t base = UINT64_C(0x7f0000000000);
        const char *reason = NULL;
        uint32_t i, n_methods = 0, n_tokens = 0, n_found = 0;
        R2RCode *code;
        R2RMethod method, found;
        R2ROrigin origin;
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

        if (fd < 0) {
                ck_assert_msg(!g_getenv("CI"), "no dotnet on PATH");
                return;
        }
        if (read_file(&code, fd, &reason) < 0) {
                close(fd);
                ck_assert_str_eq(reason, R2R_OTHER_MACHINE);
                return;
        }
        close(fd);
        for (i = 0; i < r2r_code_n_functions(code); i++)
                if (r2r_code_method(code, i, &method)) {
                        check_method(code, &method);
                        if (r2r_code_origin(code, i, &origin) && origin.signature.n)
                                check_instance(code, &method, origin.rid);
                        n_methods++;
                }
        ck_assert_uint_gt(n_methods, 10000);
        ck_assert_uint_lt(n_methods, r2r_code_n_functions(code));
        for (i = 1; i < 40000; i++) {
                if (!r2r_code_find_method(code, i, &method))
                        continue;
                n_tokens++;
                n_found += r2r_code_find_body(code, i, base + method.begin,
                                              method.end - method.begin, &found) &&
                           found.function == method.function;
                /* This searches all instances, which is slow. */
                if (n_tokens % 256 == 1)
                        ck_assert(!r2r_code_find_body(code, i, base + method.begin + 1,
                                                      method.end - method.begin, &found));
        }
        ck_assert_uint_gt(n_tokens, 10000);
        ck_assert_uint_eq(n_found, n_tokens);
        r2r_code_free(code);
}
END_TEST

static void file_open(const char *name, PeFile *ret)
{
        char path[512];
        const char *reason;

        snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
        ck_assert_int_eq(pe_file_read(ret, open(path, O_RDONLY | O_CLOEXEC), 0, &reason), 0);
}

/* Reads the MVID of an assembly whose code is in the composite image. */
static void component_mvid(const char *name, uint8_t ret[R2R_MVID_SIZE])
{
        const char *reason = "";
        Metadata metadata;
        char owner[64];
        uint8_t *bytes;
        R2RCode *code;
        uint32_t cell;
        PeFile pe;
        size_t n;

        file_open(name, &pe);
        ck_assert_int_eq(r2r_code_owner(&pe, owner, sizeof(owner)), 0);
        ck_assert_str_eq(owner, "app.r2r.dll");
        ck_assert_int_eq(r2r_code_owner(&pe, owner, 5), -ENOENT);
        ck_assert_int_eq(r2r_code_read(&code, &pe, &reason), -EBADMSG);
        ck_assert_str_eq(reason, R2R_IN_COMPOSITE);
        ck_assert_int_eq(pe_file_read_metadata(&pe, 1 << 20, &bytes, &n, &reason), 0);
        ck_assert(metadata_read(&metadata, bytes, n, &reason));
        ck_assert(metadata_cell(&metadata, METADATA_MODULE, 1, MODULE_MVID, &cell));
        memcpy(ret, metadata_guid(&metadata, cell), R2R_MVID_SIZE);
        free(bytes);
        close(pe.fd);
}

/* Checks that the two methods have the same code as in the separately compiled assembly. */
static void compare_codes(const R2RCode *code, const R2RCode *own)
{
        R2RMethod method, expected;
        R2RMap map, expected_map;
        uint32_t rid;

        for (rid = 1; rid <= 2; rid++) {
                ck_assert(r2r_code_find_method(code, rid, &method));
                ck_assert(r2r_code_find_method(own, rid, &expected));
                ck_assert_uint_eq(method.end - method.begin, expected.end - expected.begin);
                ck_assert_int_eq(r2r_code_map(code, method.function, &map), 0);
                ck_assert_int_eq(r2r_code_map(own, expected.function, &expected_map), 0);
                ck_assert_uint_gt(map.n, 3);
                ck_assert_uint_eq(map.n, expected_map.n);
                ck_assert_int_eq(
                        memcmp(map.entries, expected_map.entries, map.n * sizeof(*map.entries)), 0);
                free(map.entries);
                free(expected_map.entries);
        }
        ck_assert(!r2r_code_find_method(code, 3, &method));
}

START_TEST(test_composite)
{
        static const char *const NAMES[][2] = {{"component-one", "own-one"},
                                               {"component-two", "own-two"}};
        uint8_t mvid[R2R_MVID_SIZE] = "an unknown one";
        R2RCode *composite, *codes[2], *own;
        const char *reason;
        R2RMethod method;
        unsigned i;
        PeFile pe;

        file_open("composite", &pe);
        ck_assert_int_eq(r2r_code_read_composite(&composite, &pe, &reason), 0);
        close(pe.fd);
        ck_assert(!r2r_code_find_method(composite, 1, &method));
        ck_assert_int_eq(r2r_code_component(&codes[0], composite, mvid), -ENOENT);
        for (i = 0; i < 2; i++) {
                component_mvid(NAMES[i][0], mvid);
                ck_assert_int_eq(r2r_code_component(&codes[i], composite, mvid), 0);
        }
        /* Shared data stays valid. */
        r2r_code_free(composite);
        for (i = 0; i < 2; i++) {
                file_open(NAMES[i][1], &pe);
                ck_assert_int_eq(r2r_code_owner(&pe, (char[8]){0}, 8), -ENOENT);
                ck_assert_int_eq(r2r_code_read_composite(&composite, &pe, &reason), -EBADMSG);
                ck_assert_int_eq(r2r_code_read(&own, &pe, &reason), 0);
                close(pe.fd);
                compare_codes(codes[i], own);
                r2r_code_free(codes[i]);
                r2r_code_free(own);
        }
}
END_TEST

/* Three assemblies with six instances of each of the first two methods, all in one image. */
START_TEST(test_composite_instances)
{
        static const char *const NAMES[] = {"generic-aaa", "generic-bbb", "generic-ccc"};
        uint8_t mvid[R2R_MVID_SIZE];
        R2RCode *composite, *code;
        unsigned n_found, i, k, rid;
        bool is_found[256] = {0};
        R2RMethod method, found;
        const char *reason;
        PeFile pe;

        file_open("composite-generic", &pe);
        ck_assert_int_eq(r2r_code_read_composite(&composite, &pe, &reason), 0);
        close(pe.fd);
        ck_assert_uint_lt(r2r_code_n_functions(composite), sizeof(is_found));
        for (i = 0; i < 3; i++) {
                component_mvid(NAMES[i], mvid);
                ck_assert_int_eq(r2r_code_component(&code, composite, mvid), 0);
                n_found = 0;
                for (k = 0; k < r2r_code_n_functions(code); k++)
                        for (rid = 1; rid <= 2; rid++) {
                                if (!r2r_code_method(code, k, &method) ||
                                    !r2r_code_find_body(code, rid, 0x7f0000000000 + method.begin,
                                                        method.end - method.begin, &found) ||
                                    found.function != k)
                                        continue;
                                ck_assert(!is_found[k]);
                                is_found[k] = true;
                                n_found++;
                        }
                ck_assert_uint_eq(n_found, 6);
                r2r_code_free(code);
        }
        r2r_code_free(composite);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("r2r-code");
        TCase *tests = tcase_create("maps");

        tcase_set_timeout(tests, 60);
        tcase_add_loop_test(tests, test_number, 0, G_N_ELEMENTS(NUMBERS));
        tcase_add_test(tests, test_array);
        tcase_add_loop_test(tests, test_signature, 0, G_N_ELEMENTS(SIGNATURES));
        tcase_add_test(tests, test_deep_signature);
        tcase_add_loop_test(tests, test_map, 0, G_N_ELEMENTS(MAPS));
        tcase_add_test(tests, test_lookup);
        tcase_add_test(tests, test_composite);
        tcase_add_test(tests, test_composite_instances);
        tcase_add_test(tests, test_corelib);
        suite_add_tcase(suite, tests);
        return suite;
}

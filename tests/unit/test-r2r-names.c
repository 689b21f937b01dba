/* SPDX-License-Identifier: MIT */

/*
 * Names of precompiled code: signatures of instances, and images. The small ones in TEST_DATA are
 * real; System.Private.CoreLib is the one beside the dotnet on PATH.
 */

#include "lines/image-names.h"
#include "metadata/method-signature.h"

#include "support/corelib.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ImageNames *names_of(const char *path)
{
        static ImageSources sources;
        const ImagePlace place = {.path = path, .sources = &sources};
        ImageNames *names = NULL;
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_msg(image_names_read(&names, &(ImageBytes){.fd = fd}, &place) == 0, "%s", path);
        close(fd);
        return names;
}

static ImageNames *names_in(const char *name)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
        return names_of(path);
}

/* Signatures of instances, and their texts. Tokens belong to the image "own-one", whose first type
 * is <Module>, and whose second is One. */
static const struct {
        const char *bytes;
        size_t n;
        const char *owner; /* NULL: no name */
        const char *args;
} SIGNATURES[] = {
        {"\x00\x05", 2, "", ""},
        {"\x04\x05\x02\x08\x3e", 5, "", "System.Int32,System.__Canon"},
        {"\x40\x15\x12\x08\x01\x3e\x07", 7, "One[System.__Canon]", ""},
        {"\x44\x15\x11\x08\x01\x0e\x07\x01\x1d\x05", 10, "One[System.String]", "System.Byte[]"},
        {"\x40\x15\x12\x08\x02\x15\x12\x08\x01\x02\x18\x07", 12,
         "One[One[System.Boolean],System.IntPtr]", ""},
        {"\x40\x14\x08\x02\x00\x00\x07", 7, "System.Int32[,]", ""},
        {"\x40\x0f\x08\x07", 4, "System.Int32*", ""},
        {"\x40\x10\x0d\x07", 4, "System.Double&", ""},
        {"\x40\x14\x08\x02\x01\x05\x00\x07", 8, NULL, NULL}, /* array with a length */
        {"\x40\x14\x08\x01\x00\x00\x07", 7, NULL, NULL},     /* array of one dimension */
        {"\x40\x15\x12\x81\x00\x01\x3e\x07", 8, NULL, NULL}, /* no such type */
        {"\x40\x3f\x02\x12\x08\x07", 6, NULL, NULL},         /* another module's type */
        {"\x40\x13\x00\x07", 4, NULL, NULL},                 /* a type parameter */
        {"\x40\x1b\x00\x00\x01\x07", 6, NULL, NULL},         /* a pointer to a function */
        {"\x40\x1f\x08\x08\x07", 5, NULL, NULL},             /* a modifier */
        {"\x40\x15\x12\x08\x01", 5, NULL, NULL},             /* truncated */
        {"", 0, NULL, NULL},
};

/* Return types of the variants of async methods, from the signatures of the methods. */
static const struct {
        const char *task, *result;
} RESULTS[] = {
        {"class System.Threading.Tasks.Task  (bool)", "void  (bool)"},
        {"instance class System.Threading.Tasks.Task  ()", "instance void  ()"},
        {"class System.Threading.Tasks.Task`1<int32>  (bool)", "int32  (bool)"},
        {"value class System.Threading.Tasks.ValueTask`1<class A`1<!0>>  ()", "class A`1<!0>  ()"},
        {"instance generic class System.Threading.Tasks.Task`1<!!0>  (!!0)",
         "instance generic !!0  (!!0)"},
        {"generic value class System.Threading.Tasks.ValueTask  ()", "generic void  ()"},
        {"int32  (class System.Threading.Tasks.Task)", ""},
        {"class System.Threading.Tasks.TaskScheduler  ()", ""},
        {"class System.Threading.Tasks.Task`1<int32", ""},
        {"instance ", ""},
        {"", ""},
};

START_TEST(test_unwrap)
{
        char text[128];

        g_strlcpy(text, RESULTS[_i].task, sizeof(text));
        method_signature_unwrap_task(text);
        ck_assert_str_eq(text, RESULTS[_i].result);
}
END_TEST

static const Metadata *module_find(void *data, uint32_t module)
{
        return module ? NULL : data;
}

static void own_metadata(Metadata *ret, uint8_t **ret_bytes)
{
        const char *reason = "";
        char path[512];
        PeFile pe;
        size_t n;

        snprintf(path, sizeof(path), "%s/own-one", TEST_DATA);
        ck_assert_int_eq(pe_file_read(&pe, open(path, O_RDONLY | O_CLOEXEC), 0, &reason), 0);
        ck_assert_int_eq(pe_file_read_metadata(&pe, 1 << 20, ret_bytes, &n, &reason), 0);
        ck_assert(metadata_read(ret, *ret_bytes, n, &reason));
        close(pe.fd);
}

START_TEST(test_signature)
{
        const ByteCursor cursor = {.at = (const uint8_t *)SIGNATURES[_i].bytes,
                                   .n = SIGNATURES[_i].n};
        char owner[64] = "", args[64] = "";
        R2RText of_owner = {.buffer = owner, .size = sizeof(owner)};
        R2RText of_args = {.buffer = args, .size = sizeof(args)};
        R2RText small = {.buffer = owner, .size = 4};
        Metadata metadata;
        const R2RModules modules = {module_find, &metadata};
        uint8_t *bytes;
        bool ok;

        own_metadata(&metadata, &bytes);
        ok = r2r_signature_name(cursor, &modules, &of_owner, &of_args);
        ck_assert_int_eq(ok, SIGNATURES[_i].owner != NULL);
        if (ok) {
                ck_assert_str_eq(owner, SIGNATURES[_i].owner);
                ck_assert_str_eq(args, SIGNATURES[_i].args);
                /* A buffer that is too small is an error, not a truncated name. */
                of_args = (R2RText){.buffer = args, .size = sizeof(args)};
                ck_assert_int_eq(r2r_signature_name(cursor, &modules, &small, &of_args),
                                 strlen(SIGNATURES[_i].owner) < 4);
        }
        free(bytes);
}
END_TEST

static const struct {
        const char *image;
        uint32_t rva, token;
        const char *text;
} METHODS[] = {
        {"own-one", 0x106a0, 0x06000001, "One Sum int32  (int32[])"},
        {"own-one", 0x10701, 0x06000002, "One Guard int32  (class System.String)"},
        {"own-two", 0x106b0, 0x06000002, "Two Name class System.String  (class System.Object)"},
        {"image", 0x107b3, 0x06000001,
         "LibMap.Mapped Walk class System.Collections.Generic.IEnumerable`1<int32>  (int32)"},
        {"image", 0x108a0, 0x06000007, "LibMap.Mapped+<Walk>d__0 MoveNext instance bool  ()"},
        {"arm64", 0x106e0, 0x06000001, "One Sum int32  (int32[])"},
        {"arm64", 0x10767, 0x06000002, "One Guard int32  (class System.String)"}, /* a handler */
        {"arm64", 0x10768, 0, NULL},
        {"image", 0x10000, 0, NULL},
        {"image", UINT32_MAX, 0, NULL},
};

START_TEST(test_method)
{
        ImageNames *names = names_in(METHODS[_i].image);
        char text[512];
        ImageMethod found;
        const R2RName *name = &found.name;
        bool ok = image_names_find(names, METHODS[_i].rva, &found);

        ck_assert_int_eq(ok, METHODS[_i].text != NULL);
        if (ok) {
                snprintf(text, sizeof(text), "%s %s %s", name->name_space, name->name,
                         name->signature);
                ck_assert_str_eq(text, METHODS[_i].text);
                ck_assert_uint_eq(name->token, METHODS[_i].token);
                ck_assert_ptr_null(name->type_args);
                ck_assert(name->method.begin <= METHODS[_i].rva &&
                          METHODS[_i].rva < name->method.end);
                ck_assert_str_eq(strrchr(found.path, '/') + 1, METHODS[_i].image);
        }
        ck_assert_uint_gt(image_names_size(names), 0);
        image_names_free(names);
}
END_TEST

/* Finds the method again by the fields of the runtime's events: the type arguments are the same, or
 * unknown. */
static bool find_again(ImageNames *names, const ImageMethod *method)
{
        g_autofree char *args = g_strdup(method->name.type_args);
        g_autofree char *name_space = g_strdup(method->name.name_space);
        const ImageBody body = {
                .module_path = method->path,
                .guid = method->guid,
                .name_space = name_space,
                .token = method->name.token,
                .size = method->name.method.end - method->name.method.begin,
                .start = UINT64_C(0x7f0000000000) + method->name.method.begin,
        };
        const char *again = image_names_find_type_args(names, &body);

        ck_assert(!again || !g_strcmp0(again, args));
        return again;
}

static char *line_of(const R2RName *name)
{
        return g_strdup_printf("%x %s %s %s %s", name->token, name->name_space, name->name,
                               name->signature, name->type_args ? name->type_args : "-");
}

/* Adds a line for each method with a name. Returns the number of bodies with type arguments. */
static unsigned add_lines(GPtrArray *lines, const char *path)
{
        ImageNames *names = names_of(path);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        unsigned n_found = 0;
        const char *reason;
        ImageMethod found;
        R2RMethod method;
        R2RCode *code;
        PeFile pe;
        uint32_t i;

        ck_assert_int_eq(pe_file_read(&pe, fd, 0, &reason), 0);
        if (r2r_code_read_composite(&code, &pe, &reason) < 0)
                ck_assert_int_eq(r2r_code_read(&code, &pe, &reason), 0);
        close(fd);
        for (i = 0; i < r2r_code_n_functions(code); i++)
                if (r2r_code_method(code, i, &method) &&
                    image_names_find(names, method.end - 1, &found)) {
                        g_ptr_array_add(lines, line_of(&found.name));
                        n_found += find_again(names, &found);
                }
        r2r_code_free(code);
        image_names_free(names);
        return n_found;
}

static char *place(const char *dir, const char *name, const char *from)
{
        g_autofree char *source = g_build_filename(TEST_DATA, from, NULL), *bytes = NULL;
        char *path = g_build_filename(dir, name, NULL);
        gsize n;

        ck_assert(g_file_get_contents(source, &bytes, &n, NULL));
        ck_assert(g_file_set_contents(path, bytes, (gssize)n, NULL));
        return path;
}

static int compare_lines(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two assemblies, compiled into one image, and each into an image of its own. */
static const struct {
        const char *one, *two; /* files with the names of the assemblies */
        const char *expected[2];
} COMPOSITES[] = {
        {"component-one", "component-two", {"own-one", "own-two"}},
        {"component-one", NULL, {"own-one"}},
        {NULL, "component-two", {"own-two"}},
        {"component-two", "component-one", {NULL}},
        {NULL, NULL, {NULL}},
};

START_TEST(test_composite)
{
        g_autofree char *dir = g_dir_make_tmp("names-XXXXXX", NULL);
        g_autofree char *composite = place(dir, "app.r2r.dll", "composite");
        g_autoptr(GPtrArray) expected = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        const char *const files[] = {COMPOSITES[_i].one, COMPOSITES[_i].two};
        static const char *const NAMES[] = {"One.dll", "Two.dll"};
        guint i;

        for (i = 0; i < 2; i++) {
                if (files[i])
                        g_free(place(dir, NAMES[i], files[i]));
                if (COMPOSITES[_i].expected[i]) {
                        g_autofree char *own =
                                g_build_filename(TEST_DATA, COMPOSITES[_i].expected[i], NULL);

                        add_lines(expected, own);
                }
        }
        add_lines(lines, composite);
        g_ptr_array_sort(expected, compare_lines);
        g_ptr_array_sort(lines, compare_lines);
        ck_assert_uint_eq(lines->len, expected->len);
        for (i = 0; i < lines->len; i++)
                ck_assert_str_eq(g_ptr_array_index(lines, i), g_ptr_array_index(expected, i));
        ck_assert_int_eq(lines->len > 0, COMPOSITES[_i].expected[0] != NULL);
        g_unlink(composite);
        for (i = 0; i < 2; i++) {
                g_autofree char *path = g_build_filename(dir, NAMES[i], NULL);

                g_unlink(path);
        }
        g_rmdir(dir);
}
END_TEST

/* Every method has a name, and all names differ: instances differ in their arguments. */
START_TEST(test_corelib)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *path = corelib_find();
        unsigned n_generic = 0, n_found;
        guint i;

        if (!path) {
                ck_assert_msg(!g_getenv("CI"), "no dotnet on PATH");
                return;
        }
        n_found = add_lines(lines, path);
        for (i = 0; i < lines->len; i++) {
                char *line = g_ptr_array_index(lines, i);

                n_generic += !g_str_has_suffix(line, " -");
                ck_assert(g_hash_table_add(seen, line));
        }
        ck_assert_uint_gt(lines->len, 10000);
        ck_assert_uint_gt(n_generic, 500);
        /* The remaining instances have the length and the page offset of another instance. */
        ck_assert_uint_gt(n_found, n_generic * 9 / 10);
}
END_TEST

START_TEST(test_refused)
{
        g_autofree char *path = g_build_filename(TEST_DATA, "component-one", NULL);
        static ImageSources sources;
        const ImagePlace place = {.path = path, .sources = &sources};
        ImageNames *names = NULL;
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_eq(image_names_read(&names, &(ImageBytes){.fd = fd}, &place), -EBADMSG);
        ck_assert_ptr_null(names);
        close(fd);
        image_names_free(NULL);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("r2r-names");
        TCase *tests = tcase_create("names");

        tcase_set_timeout(tests, 60);
        tcase_add_loop_test(tests, test_unwrap, 0, G_N_ELEMENTS(RESULTS));
        tcase_add_loop_test(tests, test_signature, 0, G_N_ELEMENTS(SIGNATURES));
        tcase_add_loop_test(tests, test_method, 0, G_N_ELEMENTS(METHODS));
        tcase_add_loop_test(tests, test_composite, 0, G_N_ELEMENTS(COMPOSITES));
        tcase_add_test(tests, test_corelib);
        tcase_add_test(tests, test_refused);
        suite_add_tcase(suite, tests);
        return suite;
}

/* SPDX-License-Identifier: MIT */

/*
 * Names of types by their tokens: from the metadata of a compiled assembly; no name if the GUID is
 * another or the text is damaged
 */

#include "lines/type-names.h"
#include "pdb/debug-directory.h"
#include "util/guid-text.h"

#include "support/suite.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

static char *assembly_path(void)
{
        return g_build_filename(TEST_DATA, "embedded", NULL);
}

static void assembly_guid(uint8_t ret_guid[PDB_GUID_SIZE])
{
        g_autofree char *path = assembly_path();
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        DebugDirectory directory;
        const char *reason;
        PeFile image;

        ck_assert_int_eq(pe_file_read(&image, fd, 0, &reason), 0);
        ck_assert_int_eq(debug_directory_read(&directory, &image, &reason), 0);
        memcpy(ret_guid, directory.id.guid, PDB_GUID_SIZE);
        close(fd);
}

/* "$" is the module, "%" its GUID. Every assembly's first type is <Module>. */
static const struct {
        const char *text;
        const char *names; /* NULL: no names */
} ROWS[] = {
        {"02000001@%@$", "<Module>"},
        {"02000001@%@$,02000001@%@$", "<Module>,<Module>"},
        {"02000001@%@$[02000001@%@$]", "<Module>[<Module>]"},
        {"02000001@%@$[02000001@%@$,02000001@%@$[]][,]", "<Module>[<Module>,<Module>[]][,]"},
        /* Another assembly, or an unknown one. */
        {"02000001@00000000-0000-0000-0000-000000000001@$", NULL},
        {"02000001@-@$", NULL},
        {"02000001@%@$.not", NULL},
        {"02000001@%@$,02000001@%@$.not", NULL},
        /* A missing type, and tokens that are no types. */
        {"02ffffff@%@$", NULL},
        {"02000000@%@$", NULL},
        {"06000001@%@$", NULL},
        /* Damaged. */
        {"", NULL},
        {"0200000", NULL},
        {"0200000X@%@$", NULL},
        {"02000001", NULL},
        {"02000001@", NULL},
        {"02000001@%", NULL},
        {"02000001@%@", NULL},
        {"02000001@%@$\\", NULL},
        {"02000001@%@$,", NULL},
        {"02000001@%@$[", NULL},
        {"02000001@%@$[,", NULL},
        {"02000001@%@$[02000001@%@$", NULL},
        {"02000001@%@$]", NULL},
        {"02000001@%@$[]x", NULL},
};

/* Returns TEXT with the path and the GUID filled in. */
static char *row_text(const char *text)
{
        g_autofree char *path = assembly_path();
        uint8_t guid[PDB_GUID_SIZE];
        char guid_text[GUID_TEXT_SIZE];
        GString *out = g_string_new(NULL);

        assembly_guid(guid);
        guid_to_text(guid, guid_text);
        for (; *text; text++) {
                if (*text == '$')
                        g_string_append(out, path);
                else if (*text == '%')
                        g_string_append(out, guid_text);
                else
                        g_string_append_c(out, *text);
        }
        return g_string_free(out, FALSE);
}

START_TEST(test_names)
{
        static ImageSources nowhere;
        g_autofree char *text = row_text(ROWS[_i].text);
        TypeNames *names = type_names_new();
        unsigned round;

        /* In the second round, the metadata is cached. */
        for (round = 0; round < 2; round++)
                ck_assert_pstr_eq(type_names_find(names, &nowhere, 0, text), ROWS[_i].names);
        type_names_free(names);
}
END_TEST

/* Nested types: a limit, and no stack overflow. */
START_TEST(test_depth)
{
        static ImageSources nowhere;
        g_autofree char *type = row_text("02000001@%@$");
        g_autoptr(GString) text = g_string_new(type);
        TypeNames *names = type_names_new();
        unsigned i;

        for (i = 0; i < 100000; i++) {
                g_string_append_c(text, '[');
                g_string_append(text, type);
        }
        ck_assert_ptr_null(type_names_find(names, &nowhere, 0, text->str));
        type_names_free(names);
}
END_TEST

/* More modules than the cache keeps. */
START_TEST(test_many_modules)
{
        static ImageSources nowhere;
        TypeNames *names = type_names_new();
        unsigned i;

        for (i = 0; i < 100; i++) {
                g_autofree char *form = g_strdup_printf("02000001@%%@$%s", i % 10 ? ".not" : "");
                g_autofree char *text = row_text(form);

                text[strlen(text) - 1] = i % 10 ? (char)('a' + i % 7) : text[strlen(text) - 1];
                ck_assert_pstr_eq(type_names_find(names, &nowhere, 0, text),
                                  i % 10 ? NULL : "<Module>");
        }
        type_names_free(names);
}
END_TEST

START_TEST(test_params)
{
        static ImageSources nowhere;
        g_autofree char *path = assembly_path();
        const char *of_type = "", *of_method = "";
        uint8_t guid[PDB_GUID_SIZE];
        TypeNamesMethod method = {.module_path = path, .pdb_guid = guid, .token = 0x06000001};
        TypeNames *names = type_names_new();

        assembly_guid(guid);
        type_names_find_params(names, &nowhere, 0, &method, &of_type, &of_method);
        /* The first method belongs to a generic type. */
        ck_assert_str_eq(of_type, "T");
        ck_assert_ptr_null(of_method);
        method.token = 0x06ffffff;
        type_names_find_params(names, &nowhere, 0, &method, &of_type, &of_method);
        ck_assert_ptr_null(of_type);
        method.module_path = NULL;
        type_names_find_params(names, &nowhere, 0, &method, &of_type, &of_method);
        ck_assert_ptr_null(of_method);
        type_names_free(names);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("type-names");
        TCase *tcase = tcase_create("type-names");

        tcase_add_loop_test(tcase, test_names, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_depth);
        tcase_add_test(tcase, test_many_modules);
        tcase_add_test(tcase, test_params);
        suite_add_tcase(suite, tcase);
        return suite;
}

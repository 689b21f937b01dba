/* SPDX-License-Identifier: MIT */

/*
 * Search for PDBs: embedded, beside the assembly, in symbol directories, replaced ones, and ones of
 * other builds; images in symbol directories; and source maps. A compiler made all files.
 */

#include "lines/lines.h"
#include "lines/precompiled.h"
#include "lines/source-map.h"
#include "lines/symbol-dirs.h"
#include "metadata/r2r-code.h"
#include "pdb/debug-directory.h"

#include "support/suite.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A GUID that no file has. */
#define OTHER_GUID ((const uint8_t *)"0123456789abcdef")

/* Writes a file below a new directory DIR; the file is removed by its name. */
static char *place(const char *dir, const char *path, const char *data)
{
        g_autofree char *from = g_build_filename(TEST_DATA, data, NULL), *bytes = NULL;
        char *to = g_build_filename(dir, path, NULL);
        g_autofree char *parent = g_path_get_dirname(to);
        gsize n;

        ck_assert(g_file_get_contents(from, &bytes, &n, NULL));
        ck_assert_int_eq(g_mkdir_with_parents(parent, 0700), 0);
        ck_assert(g_file_set_contents(to, bytes, (gssize)n, NULL));
        return to;
}

/* Reads the GUID from the stream #Pdb. */
static void portable_guid(uint8_t ret_guid[PDB_GUID_SIZE])
{
        g_autofree char *path = g_build_filename(TEST_DATA, "portable", NULL), *bytes = NULL;
        const uint8_t *header;
        gsize n;

        ck_assert(g_file_get_contents(path, &bytes, &n, NULL));
        header = memmem(bytes, n, "#Pdb", 4);
        ck_assert_ptr_nonnull(header);
        memcpy(ret_guid, bytes + (header[-8] | header[-7] << 8), PDB_GUID_SIZE);
}

static void embedded_guid(uint8_t ret_guid[PDB_GUID_SIZE])
{
        g_autofree char *path = g_build_filename(TEST_DATA, "embedded", NULL);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        DebugDirectory directory;
        const char *reason;
        PeFile image;

        ck_assert_int_eq(pe_file_read(&image, fd, 0, &reason), 0);
        ck_assert_int_eq(debug_directory_read(&directory, &image, &reason), 0);
        memcpy(ret_guid, directory.id.guid, PDB_GUID_SIZE);
        close(fd);
}

static LineStatus ask(Lines *lines, const char *path, const uint8_t *guid, SourceLine *ret)
{
        const LineQuestion question = {
                .module_path = path, .pdb_guid = guid, .token = 0x06000003, .il = 1000};

        return lines_find(lines, &question, ret);
}

START_TEST(test_embedded)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        g_autofree char *path = place(dir, "LibEmb.dll", "embedded");
        Lines *lines = lines_new();
        SourceLine line, first;
        LineQuestion question;
        uint8_t guid[PDB_GUID_SIZE];

        embedded_guid(guid);
        question = (LineQuestion){.module_path = path, .pdb_guid = guid, .token = 0x06000003};
        ck_assert_int_eq(ask(lines, path, guid, &line), LINE_FOUND);
        ck_assert_int_eq(ask(lines, path, NULL, &line), LINE_NO_PDB);
        ck_assert_str_eq(line.file, "/mnt/src/mini/LibEmb/Emb.cs");
        ck_assert_int_eq(lines_find_first(lines, &question, &first), LINE_FOUND);
        ck_assert_uint_le(first.line, line.line);
        ck_assert_int_eq(ask(lines, path, OTHER_GUID, &line), LINE_PDB_OTHER);
        question.is_other_il = true;
        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_OTHER_IL);
        question.is_other_il = false;
        question.il = -1;
        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_NO_IL);
        question.token = 0x02000001;
        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_NO_MODULE);
        question.il = 0;
        question.token = 0x06ffffff;
        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_NONE);
        question.module_path = "LibEmb";
        question.pdb_guid = NULL;
        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_NO_PDB);
        lines_free(lines);
        g_unlink(path);
        g_rmdir(dir);
}
END_TEST

/* Without the assembly, the GUID alone decides. */
/* Removes the file, and its parents below DIR that are empty then. */
static void remove_file(const char *path, const char *dir)
{
        char *parent = g_path_get_dirname(path);

        g_unlink(path);
        while (strlen(parent) > strlen(dir) && g_rmdir(parent) == 0) {
                char *next = g_path_get_dirname(parent);

                g_free(parent);
                parent = next;
        }
        g_free(parent);
}

START_TEST(test_directories)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        char small[80], large[80], mixed[80], cache[80];
        uint8_t guid[PDB_GUID_SIZE];
        g_autofree char *symbols = g_build_filename(dir, "symbols", NULL);
        g_autofree char *assembly = g_build_filename(dir, "app", "LibMap.dll", NULL);
        const char *const places[] = {
                "app/LibMap.pdb", "symbols/LibMap.pdb", small, large, mixed, cache};
        size_t i;

        portable_guid(guid);
        ck_assert(symbol_dirs_path("symbols", "LibMap.pdb", guid, SYMBOL_SERVER, small,
                                   sizeof(small)));
        ck_assert(symbol_dirs_path("symbols", "LibMap.pdb", guid, SYMBOL_SERVER_LARGE, large,
                                   sizeof(large)));
        ck_assert(symbol_dirs_path("symbols", "LibMap.pdb", guid, SYMBOL_SERVER_MIXED, mixed,
                                   sizeof(mixed)));
        /* The path in the spelling of dotnet-symbol and of debuggers. */
        ck_assert(symbol_dirs_path("symbols", "libmap.pdb", guid, SYMBOL_SERVER_MIXED, cache,
                                   sizeof(cache)));
        for (i = 0; i < G_N_ELEMENTS(places); i++) {
                Lines *lines = lines_new();
                g_autofree char *path = NULL;
                SourceLine line;

                ck_assert(lines_add_directory(lines, symbols));
                ck_assert(lines_add_map(lines, "/_", "/home/me"));
                ck_assert_int_eq(ask(lines, assembly, guid, &line), LINE_PDB_MISSING);
                lines_free(lines);
                lines = lines_new();
                path = place(dir, places[i], "portable");
                ck_assert(lines_add_directory(lines, symbols));
                ck_assert(lines_add_map(lines, "/_", "/home/me"));
                ck_assert_int_eq(ask(lines, assembly, guid, &line), LINE_FOUND);
                ck_assert_msg(g_str_has_prefix(line.file, "/home/me/src/"), "%s", line.file);
                /* A name alone does not identify a PDB; a PDB without GUID and checksum matches
                 * nothing. */
                ck_assert_int_eq(ask(lines, assembly, NULL, &line), LINE_NO_PDB);
                ck_assert_int_eq(ask(lines, assembly, OTHER_GUID, &line),
                                 i < 2 ? LINE_PDB_OTHER : LINE_PDB_MISSING);
                lines_free(lines);
                remove_file(path, dir);
        }
        g_rmdir(dir);
}
END_TEST

/* The assembly was loaded from memory: the module has a name and no file. */
START_TEST(test_memory)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        g_autofree char *symbols = g_build_filename(dir, "symbols", NULL), *path = NULL;
        g_autofree char *old = NULL;
        char server[100];
        const char *const places[] = {"symbols/Lib.Map.pdb", "symbols/lib.map.pdb", server};
        uint8_t guid[PDB_GUID_SIZE];
        Lines *lines = lines_new();
        SourceLine line;
        size_t i;

        /* Without symbol directories and without a cache in the home directory. */
        old = g_strdup(g_getenv("HOME"));
        g_unsetenv("HOME");
        g_unsetenv("CLRSYM_SYMBOLS");
        portable_guid(guid);
        ck_assert_int_eq(ask(lines, "Lib.Map", guid, &line), LINE_NO_PDB);
        lines_free(lines);
        if (old)
                g_setenv("HOME", old, true);
        ck_assert(symbol_dirs_path("symbols", "Lib.Map.pdb", guid, SYMBOL_SERVER_MIXED, server,
                                   sizeof(server)));
        for (i = 0; i < G_N_ELEMENTS(places); i++) {
                lines = lines_new();
                path = place(dir, places[i], "portable");
                ck_assert(lines_add_directory(lines, symbols));
                ck_assert_int_eq(ask(lines, "Lib.Map", guid, &line), LINE_FOUND);
                ck_assert_int_eq(ask(lines, "Lib.Map", NULL, &line), LINE_NO_PDB);
                ck_assert_int_eq(ask(lines, "Lib.Map", OTHER_GUID, &line),
                                 i < 2 ? LINE_PDB_OTHER : LINE_PDB_MISSING);
                /* The name is not used as a path. */
                ck_assert_int_eq(ask(lines, "../symbols/Lib.Map", guid, &line), LINE_PDB_MISSING);
                ck_assert_int_eq(ask(lines, "Lib", guid, &line), LINE_PDB_MISSING);
                lines_free(lines);
                remove_file(path, dir);
                g_clear_pointer(&path, g_free);
        }
        g_rmdir(dir);
}
END_TEST

/* The PDB was compiled under another name than the assembly's; the event has the PDB's name. */
START_TEST(test_name_of_build)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        g_autofree char *symbols = g_build_filename(dir, "symbols", NULL);
        g_autofree char *assembly = g_build_filename(dir, "app", "Lib.Map.dll", NULL);
        const char *const paths[] = {"Lib.Map", assembly};
        const char *const builds[] = {"C:\\obj\\Other.pdb", "/_/obj/Other.pdb", "Other.pdb"};
        uint8_t guid[PDB_GUID_SIZE];
        SourceLine line;
        size_t i, j;

        portable_guid(guid);
        for (i = 0; i < G_N_ELEMENTS(paths); i++)
                for (j = 0; j < G_N_ELEMENTS(builds); j++) {
                        Lines *lines = lines_new();
                        g_autofree char *path = place(dir, "symbols/Other.pdb", "portable");
                        LineQuestion question = {.module_path = paths[i],
                                                 .pdb_guid = guid,
                                                 .token = 0x06000003,
                                                 .il = 1000};

                        ck_assert(lines_add_directory(lines, symbols));
                        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_PDB_MISSING);
                        question.pdb_path = builds[j];
                        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_FOUND);
                        /* The name alone does not match. */
                        question.pdb_guid = OTHER_GUID;
                        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_PDB_OTHER);
                        question.pdb_path = "/_/obj/..";
                        ck_assert_int_eq(lines_find(lines, &question, &line), LINE_PDB_MISSING);
                        lines_free(lines);
                        remove_file(path, dir);
                }
        g_rmdir(dir);
}
END_TEST

/* Returns a body of the image as if the image were mapped at 0x7f0000000000. */
static PrecompiledQuestion body_of(const char *path, uint8_t ret_guid[PDB_GUID_SIZE])
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        DebugDirectory directory;
        const char *reason;
        R2RMethod method;
        R2RCode *code;
        PeFile image;
        uint32_t rid = 1;

        ck_assert_int_eq(pe_file_read(&image, fd, 0, &reason), 0);
        ck_assert_int_eq(debug_directory_read(&directory, &image, &reason), 0);
        ck_assert_int_eq(r2r_code_read(&code, &image, &reason), 0);
        while (!r2r_code_find_method(code, rid, &method))
                ck_assert_uint_lt(++rid, 1000);
        r2r_code_free(code);
        close(fd);
        memcpy(ret_guid, directory.id.guid, PDB_GUID_SIZE);
        return (PrecompiledQuestion){
                .module_path = "/nowhere/LibMap.dll",
                .pdb_guid = ret_guid,
                .token = 0x06000000 | rid,
                .size = method.end - method.begin,
                .start = 0x7f0000000000 + method.begin,
        };
}

static bool ask_image(ImageSources *sources, const PrecompiledQuestion *question)
{
        Precompiled *precompiled = precompiled_new();
        PrecompiledAnswer answer = {0}, again = {0};
        bool is_found = precompiled_find(precompiled, sources, question, &answer);

        /* The cached result is the same. */
        ck_assert_int_eq(precompiled_find(precompiled, sources, question, &again), is_found);
        ck_assert_int_eq(memcmp(&again, &answer, sizeof(answer)), 0);
        precompiled_free(precompiled);
        return is_found;
}

/* An image whose file was moved. */
START_TEST(test_image)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        g_autofree char *other = place(dir, "a/LibMap.dll", "embedded");
        g_autofree char *right = place(dir, "b/LibMap.dll", "../r2r-code/image");
        g_autofree char *older = place(dir, "c/LibMap.dll/5f2a0c111000/LibMap.dll", "embedded");
        g_autofree char *keyed =
                place(dir, "c/LibMap.dll/A01B2C3D8000/LibMap.dll", "../r2r-code/image");
        g_autofree char *newer = place(dir, "c/LibMap.dll/b0000000a000/LibMap.dll", "portable");
        g_autofree char *small =
                place(dir, "d/libmap.dll/A01B2C3D8000/libmap.dll", "../r2r-code/image");
        g_autofree char *a = g_path_get_dirname(other), *b = g_path_get_dirname(right);
        g_autofree char *c = g_build_filename(dir, "c", NULL);
        g_autofree char *d = g_build_filename(dir, "d", NULL);
        uint8_t guid[PDB_GUID_SIZE];
        PrecompiledQuestion question = body_of(right, guid);
        ImageSources sources = {0};

        ck_assert(!ask_image(&sources, &question));
        ck_assert(symbol_dirs_add(&sources.dirs, a));
        ck_assert(!ask_image(&sources, &question));
        ck_assert(symbol_dirs_add(&sources.dirs, b));
        ck_assert(ask_image(&sources, &question));
        /* Another program has the same path: the name alone does not match. */
        question.pdb_guid = OTHER_GUID;
        ck_assert(!ask_image(&sources, &question));
        question.pdb_guid = guid;
        /* Layout of symbol servers, among other builds. */
        image_sources_deinit(&sources);
        ck_assert(symbol_dirs_add(&sources.dirs, c));
        ck_assert(ask_image(&sources, &question));
        question.start += 16;
        ck_assert(!ask_image(&sources, &question));
        question.start -= 16;
        /* Layout of debuggers' caches. */
        image_sources_deinit(&sources);
        ck_assert(symbol_dirs_add(&sources.dirs, d));
        ck_assert(ask_image(&sources, &question));
        image_sources_deinit(&sources);
        remove_file(small, dir);
        remove_file(other, dir);
        remove_file(right, dir);
        remove_file(older, dir);
        remove_file(keyed, dir);
        remove_file(newer, dir);
        g_rmdir(dir);
}
END_TEST

/* An assembly whose code is in a composite image beside it. */
START_TEST(test_composite)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        g_autofree char *path = place(dir, "One.dll", "../r2r-code/component-one");
        g_autofree char *composite = NULL;
        PrecompiledQuestion question = {.module_path = "/nowhere/One.dll",
                                        .token = 0x06000001,
                                        .size = 0x58, /* Sum() */
                                        .start = 0x7f00000108c0};
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        DebugDirectory directory;
        ImageSources sources = {0};
        const char *reason;
        PeFile image;

        ck_assert_int_eq(pe_file_read(&image, fd, 0, &reason), 0);
        ck_assert_int_eq(debug_directory_read(&directory, &image, &reason), 0);
        close(fd);
        question.pdb_guid = directory.id.guid;
        ck_assert(symbol_dirs_add(&sources.dirs, dir));
        ck_assert(!ask_image(&sources, &question));
        composite = place(dir, "app.r2r.dll", "../r2r-code/own-two");
        ck_assert(!ask_image(&sources, &question));
        g_free(composite);
        composite = place(dir, "app.r2r.dll", "../r2r-code/composite");
        ck_assert(ask_image(&sources, &question));
        question.token++;
        ck_assert(!ask_image(&sources, &question));
        image_sources_deinit(&sources);
        remove_file(composite, dir);
        remove_file(path, dir);
        g_rmdir(dir);
}
END_TEST

/* Clears the debug directory's mark of a portable PDB: the PDB then has the Windows format. */
static void make_windows(const char *path)
{
        static const uint8_t PORTABLE[] = {0x00, 0x01, 0x4d, 0x50, 0x02, 0x00, 0x00, 0x00};
        g_autofree char *bytes = NULL;
        uint8_t *entry;
        gsize n;

        ck_assert(g_file_get_contents(path, &bytes, &n, NULL));
        entry = memmem(bytes, n, PORTABLE, sizeof(PORTABLE));
        ck_assert_ptr_nonnull(entry);
        memset(entry, 0, 4);
        ck_assert(g_file_set_contents(path, bytes, (gssize)n, NULL));
}

/* The reason concerns the module itself, not an image that only has its name. */
START_TEST(test_windows)
{
        g_autofree char *dir = g_dir_make_tmp("lines-XXXXXX", NULL);
        g_autofree char *path = place(dir, "LibEmb.dll", "embedded");
        Lines *lines = lines_new();
        uint8_t guid[PDB_GUID_SIZE];
        SourceLine line;

        embedded_guid(guid);
        make_windows(path);
        ck_assert(lines_add_directory(lines, dir));
        ck_assert_int_eq(ask(lines, path, guid, &line), LINE_PDB_WINDOWS);
        ck_assert_int_eq(ask(lines, "/nowhere/LibEmb.dll", guid, &line), LINE_PDB_MISSING);
        lines_free(lines);
        remove_file(path, dir);
        g_rmdir(dir);
}
END_TEST

static const struct {
        const char *path, *expected;
} MAPPED[] = {
        {"/_/src/a.cs", "/home/me/a.cs"},
        {"/_/src", "/home/me"},
        {"/_/srcs/a.cs", "/o/srcs/a.cs"},
        {"/_/other/a.cs", "/o/other/a.cs"},
        {"C:\\w\\a.cs", "/w\\a.cs"},
        {"a.cs", "a.cs"},
        {"", ""},
};

START_TEST(test_source_map)
{
        g_autofree char *mapped = NULL;
        SourceMap map = {0};

        ck_assert(source_map_add(&map, "/_/", "/o/"));
        ck_assert(source_map_add(&map, "/_/src", "/home/me"));
        ck_assert(source_map_add(&map, "C:\\w", "/w"));
        mapped = source_map_apply(&map, MAPPED[_i].path);
        ck_assert_str_eq(mapped, MAPPED[_i].expected);
        source_map_deinit(&map);
}
END_TEST

START_TEST(test_paths)
{
        const uint8_t guid[PDB_GUID_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        char path[100];

        ck_assert(symbol_dirs_path("/s", "A.pdb", guid, SYMBOL_SERVER_LARGE, path, sizeof(path)));
        ck_assert_str_eq(path, "/s/A.pdb/0403020106050807090A0B0C0D0E0F10FFFFFFFF/A.pdb");
        ck_assert(symbol_dirs_path("/s", "a.pdb", guid, SYMBOL_SERVER_MIXED, path, sizeof(path)));
        ck_assert_str_eq(path, "/s/a.pdb/0403020106050807090a0b0c0d0e0f10FFFFFFFF/a.pdb");
        ck_assert(!symbol_dirs_path("/s", "../A.pdb", guid, SYMBOL_PLAIN, path, sizeof(path)));
        ck_assert(!symbol_dirs_path("/s", "..", guid, SYMBOL_PLAIN, path, sizeof(path)));
        ck_assert(!symbol_dirs_path("/s", "", guid, SYMBOL_PLAIN, path, sizeof(path)));
        ck_assert(!symbol_dirs_path("/s", "A.pdb", guid, SYMBOL_SERVER, path, 20));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("lines");
        TCase *tcase = tcase_create("lines");

        tcase_add_test(tcase, test_embedded);
        tcase_add_test(tcase, test_directories);
        tcase_add_test(tcase, test_memory);
        tcase_add_test(tcase, test_name_of_build);
        tcase_add_test(tcase, test_image);
        tcase_add_test(tcase, test_composite);
        tcase_add_test(tcase, test_windows);
        tcase_add_loop_test(tcase, test_source_map, 0, G_N_ELEMENTS(MAPPED));
        tcase_add_test(tcase, test_paths);
        suite_add_tcase(suite, tcase);
        return suite;
}

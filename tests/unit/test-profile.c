/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "profile/calltree.h"
#include "profile/html-samples.h"
#include "util/printable-string.h"
#include "support/profile-folded.h"
#include "support/suite.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t managed(Profile *profile, const char *name, const char *tier, bool is_marked)
{
        return profile_frame(profile, &(ProfileFrame){.name = name,
                                                      .module = "App.dll",
                                                      .kind = FRAME_MANAGED,
                                                      .tier = tier,
                                                      .is_marked = is_marked});
}

/* Adds N samples of a stack, the leaf first. */
static void add(Profile *profile, const char *comm, int tid, unsigned n, const uint32_t *frames,
                size_t n_frames)
{
        while (n--)
                profile_add(profile, &(ProfileSample){.comm = comm,
                                                      .pid = 100,
                                                      .tid = tid,
                                                      .period = 1,
                                                      .frames = frames,
                                                      .n_frames = n_frames});
}

#define ADD(profile, comm, tid, n, ...)                                                            \
        add(profile, comm, tid, n, (const uint32_t[]){__VA_ARGS__},                                \
            sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static char *folded(const Profile *profile, bool annotate)
{
        g_autofree char *directory = g_dir_make_tmp(NULL, NULL);
        g_autofree char *path = g_build_filename(directory, "x.folded", NULL);
        g_autoptr(GError) error = NULL;
        char *text = NULL;

        ck_assert_msg(profile_write_folded(profile, path, annotate, &error), "%s",
                      error ? error->message : "");
        ck_assert(g_file_get_contents(path, &text, NULL, NULL));
        ck_assert_int_eq(g_unlink(path), 0);
        ck_assert_int_eq(g_rmdir(directory), 0); /* no other file is left */
        return text;
}

START_TEST(test_equal_frames)
{
        g_autoptr(Profile) profile = profile_new();
        char name[] = "A()";
        uint32_t a = managed(profile, name, "QuickJitted", false);
        ProfileFrame other = {.name = "A()", .kind = FRAME_NATIVE, .module = "App.dll"};

        name[0] = 'B'; /* the profile has a copy */
        ck_assert_uint_eq(managed(profile, "A()", "QuickJitted", false), a);
        ck_assert_uint_ne(managed(profile, "B()", "QuickJitted", false), a);
        ck_assert_uint_ne(managed(profile, "A()", "OptimizedTier1", false), a);
        ck_assert_uint_ne(managed(profile, "A()", NULL, false), a);
        ck_assert_uint_ne(managed(profile, "A()", "QuickJitted", true), a);
        ck_assert_uint_ne(profile_frame(profile, &other), a);
        other.kind = FRAME_MANAGED;
        other.tier = "QuickJitted";
        ck_assert_uint_eq(profile_frame(profile, &other), a);
        other.module = NULL;
        ck_assert_uint_ne(profile_frame(profile, &other), a);
}
END_TEST

START_TEST(test_folded)
{
        g_autoptr(Profile) profile = profile_new();
        uint32_t main = managed(profile, "Main()", "OptimizedTier1", false);
        uint32_t quick = managed(profile, "Work()", "QuickJitted", false);
        uint32_t hot = managed(profile, "Work()", "OptimizedTier1", false);
        uint32_t last = managed(profile, "Work()", "OptimizedTier1", true);
        uint32_t futex =
                profile_frame(profile, &(ProfileFrame){.name = "futex", .kind = FRAME_KERNEL});
        g_autofree char *plain = NULL, *annotated = NULL;

        ADD(profile, "app", 100, 2, quick, main);
        ADD(profile, "app", 101, 3, hot, main);
        ADD(profile, "app", 100, 1, last, main);
        ADD(profile, "app", 100, 1, main);
        ADD(profile, "pool", 102, 1, futex, main);
        add(profile, "pool", 102, 4, NULL, 0);
        ck_assert_uint_eq(profile_n_samples(profile), 12);

        plain = folded(profile, false);
        ck_assert_str_eq(plain, "app;Main() 1\n"
                                "app;Main();Work() 5\n"
                                "app;Main();Work() ~ 1\n"
                                "pool 4\n"
                                "pool;Main();futex 1\n");
        annotated = folded(profile, true);
        ck_assert_str_eq(annotated, "app;Main()_[j] 1\n"
                                    "app;Main()_[j];Work()_[j] 5\n"
                                    "app;Main()_[j];Work() ~_[j] 1\n"
                                    "pool 4\n"
                                    "pool;Main()_[j];futex_[k] 1\n");
}
END_TEST

START_TEST(test_folded_lines)
{
        g_autoptr(Profile) profile = profile_new();
        uint32_t first = profile_frame(profile, &(ProfileFrame){.name = "Main()",
                                                                .kind = FRAME_MANAGED,
                                                                .file = "/src/a;b.cs",
                                                                .line = 7});
        uint32_t second = profile_frame(profile, &(ProfileFrame){.name = "Main()",
                                                                 .kind = FRAME_MANAGED,
                                                                 .file = "c.cs",
                                                                 .line = 8});
        g_autofree char *plain = NULL, *annotated = NULL;

        ADD(profile, "app", 100, 3, first);
        ADD(profile, "app", 100, 2, second);
        plain = folded(profile, false);
        ck_assert_str_eq(plain, "app;Main():a:b.cs:7 3\n"
                                "app;Main():c.cs:8 2\n");
        annotated = folded(profile, true);
        ck_assert_str_eq(annotated, "app;Main():a:b.cs:7_[j] 3\n"
                                    "app;Main():c.cs:8_[j] 2\n");
}
END_TEST

static const struct {
        const char *name, *folded;
} NAMES[] = {
        {"Plain(int, string)", "Plain(int, string)"},
        {"a;b;", "a:b:"},
        {"two\nlines\r", "two\\u{a}lines\\u{d}"},
        {"Worker 3", "Worker_3"},
        {"Worker  3.5", "Worker__3.5"},
        {"Worker 3.", "Worker_3."},
        {"Worker3", "Worker3"},
        {"3", "3"},
        {"x ", "x_"},
        {" x", "_x"},
        {" ", "_"},
        {"", "[unknown]"},
        {"[unknown]", "[unknown]"},
        {NULL, "[unknown]"},
        {"\xff\xc3", "\\u{fffd}\\u{fffd}"},
        {"\xc0\xaf", "\\u{fffd}\\u{fffd}"},
        {"esc\x1b[31m\x7f", "esc\\u{1b}[31m\\u{7f}"},
        {"\xe2\x80\xae<b>\xef\xbf\xbf", "\\u{202e}<b>\\u{ffff}"},
        {"Ma\xc3\x9f\x65 \xf0\x9f\x98\x80", "Ma\xc3\x9f\x65 \xf0\x9f\x98\x80"},
};

START_TEST(test_folded_name)
{
        g_autoptr(Profile) profile = profile_new();
        uint32_t frame = profile_frame(profile, &(ProfileFrame){.name = NAMES[_i].name});
        g_autofree char *got = NULL, *want = NULL;

        ADD(profile, NAMES[_i].name, 1, 7, frame, frame);
        got = folded(profile, false);
        want = g_strdup_printf("%s;%s;%s 7\n", NAMES[_i].folded, NAMES[_i].folded,
                               NAMES[_i].folded);
        ck_assert_str_eq(got, want);
}
END_TEST

static const struct {
        const char *module, *name;
} MODULES[] = {
        {"/usr/lib/libc.so.6", "[libc.so.6]"},
        {"App.dll", "[App.dll]"},
        {"/", "[/]"},
        {"[kernel.kallsyms]", "[kernel.kallsyms]"},
        {"/x/", "[/x/]"},
        {"", "[unknown]"},
        {NULL, "[unknown]"},
        {"//anon\n", "[anon\\u{a}]"},
};

/* A frame without a name gets the name of its module. */
START_TEST(test_no_name)
{
        g_autoptr(Profile) profile = profile_new();
        const ProfileFrame frames[] = {
                {.module = MODULES[_i].module, .kind = FRAME_NATIVE},
                {.name = "[unknown]", .module = MODULES[_i].module, .kind = FRAME_NATIVE}};
        uint32_t frame = profile_frame(profile, &frames[0]);
        g_autofree char *got = NULL, *want = g_strdup_printf("x;%s 1\n", MODULES[_i].name);

        ck_assert_uint_eq(profile_frame(profile, &frames[1]), frame);
        ADD(profile, "x", 1, 1, frame);
        got = folded(profile, false);
        ck_assert_str_eq(got, want);
}
END_TEST

START_TEST(test_comment)
{
        g_autoptr(Profile) profile = profile_new();
        uint32_t frame = managed(profile, "#name", NULL, false);
        g_autofree char *text = NULL;

        ADD(profile, "#comm", 1, 1, frame);
        text = folded(profile, false);
        ck_assert_str_eq(text, "_comm;#name 1\n");
}
END_TEST

/* Random stacks, against sums over all samples by the text of the stack. */
START_TEST(test_model)
{
        g_autoptr(Profile) profile = profile_new();
        g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        uint32_t numbers[12];
        size_t i, n_samples = 5000;

        for (i = 0; i < G_N_ELEMENTS(numbers); i++) {
                const char name[] = {(char)('a' + i / 2), 0};

                numbers[i] = managed(profile, name, i % 2 ? "QuickJitted" : NULL, false);
        }
        for (i = 0; i < n_samples; i++) {
                uint32_t frames[8];
                size_t j, n = (size_t)g_rand_int_range(random, 0, G_N_ELEMENTS(frames) + 1);
                int comm = g_rand_int_range(random, 0, 2);
                GString *path = g_string_new(comm ? "x" : "y");
                gpointer sum;

                for (j = n; j-- > 0;) {
                        int k = g_rand_int_range(random, 0, G_N_ELEMENTS(numbers));

                        frames[j] = numbers[k];
                        g_string_append_printf(path, ";%c", 'a' + k / 2);
                }
                add(profile, comm ? "x" : "y", comm, 1, frames, n);
                sum = g_hash_table_lookup(sums, path->str);
                g_hash_table_insert(sums, g_string_free(path, FALSE),
                                    GSIZE_TO_POINTER(GPOINTER_TO_SIZE(sum) + 1));
        }
        text = folded(profile, false);
        lines = g_strsplit(text, "\n", -1);
        ck_assert_uint_eq(g_strv_length(lines), g_hash_table_size(sums) + 1);
        for (i = 0; lines[i] && *lines[i]; i++) {
                char *space = strrchr(lines[i], ' ');

                *space = '\0';
                ck_assert_uint_eq(GPOINTER_TO_SIZE(g_hash_table_lookup(sums, lines[i])),
                                  g_ascii_strtoull(space + 1, NULL, 10));
                g_hash_table_remove(sums, lines[i]);
        }
}
END_TEST

START_TEST(test_tree)
{
        g_autoptr(Profile) profile = profile_new();
        uint32_t main = managed(profile, "Main", NULL, false);
        uint32_t quick = managed(profile, "Work", "QuickJitted", false);
        uint32_t hot = managed(profile, "Work", "OptimizedTier1", false);
        uint32_t last = managed(profile, "Work", "OptimizedTier1", true);
        uint32_t idle = managed(profile, "Idle", NULL, false);
        g_autofree uint32_t *merged = NULL;
        g_autoptr(CallTree) tree = NULL;
        const CallNode *work;
        uint32_t node;

        ADD(profile, "app", 1, 2, quick, main);
        ADD(profile, "app", 1, 5, hot, main);
        ADD(profile, "app", 1, 1, last, main);
        ADD(profile, "app", 1, 2, idle, quick, main);
        ADD(profile, "app", 1, 10, idle, main);
        merged = profile_merge_frames(profile, MERGE_TIERS_AND_MARKS);
        tree = call_tree_new(profile, merged);

        ck_assert_uint_eq(call_node(tree, 0)->total, 20);
        ck_assert_uint_eq(tree->depth, 4);
        node = call_tree_next(tree, 0, false);
        ck_assert_int_eq((int)call_node_frame(tree, node)->kind, (int)FRAME_COMM);
        node = call_tree_next(tree, node, false);
        ck_assert_str_eq(call_node_frame(tree, node)->name, "Main");
        /* Both have 10 samples, so the order is by name. */
        node = call_tree_next(tree, node, false);
        ck_assert_str_eq(call_node_frame(tree, node)->name, "Idle");
        node = call_tree_next(tree, node, false);
        work = call_node(tree, node);
        ck_assert_uint_eq(work->total, 10);
        ck_assert_uint_eq(work->self, 8);
        ck_assert_str_eq(call_node_frame(tree, node)->tier, "OptimizedTier1");
        ck_assert(!call_node_frame(tree, node)->is_marked);
        ck_assert_uint_eq(g_array_index(tree->variants, CallVariant, work->variants).total, 5);
        ck_assert_uint_eq(call_tree_next(tree, node, true), CALL_NONE);
        node = call_tree_next(tree, node, false);
        ck_assert_uint_eq(call_node(tree, node)->total, 2);
        ck_assert_uint_eq(call_tree_next(tree, node, false), CALL_NONE);
}
END_TEST

START_TEST(test_empty)
{
        g_autoptr(Profile) profile = profile_new();
        g_autofree char *text = folded(profile, false);

        ck_assert_str_eq(text, "");
}
END_TEST

static const struct {
        const char *path;
        bool is_known;
        ProfileForm form;
} PATHS[] = {
        {"-", false, 0},
        {"a/b.folded", true, PROFILE_FORM_FOLDED},
        {"a/b.speedscope.json", true, PROFILE_FORM_SPEEDSCOPE},
        {"b.pb.gz", true, PROFILE_FORM_PPROF},
        {"b.otlp.gz", true, PROFILE_FORM_OTLP},
        {"b.firefox.json.gz", true, PROFILE_FORM_FIREFOX},
        {".svg", true, PROFILE_FORM_SVG},
        {"b.svg.html", true, PROFILE_FORM_HTML},
        {"folded", false, 0},
        {"x.json", false, 0},
        {"x.json.gz", false, 0},
        {"x.pb", false, 0},
        {"x.svg.txt", false, 0},
        {"", false, 0},
};

START_TEST(test_form)
{
        ProfileForm form = _PROFILE_FORM_MAX;

        ck_assert(profile_form_of_path(PATHS[_i].path, &form) == PATHS[_i].is_known);
        ck_assert_int_eq((int)form, (int)(PATHS[_i].is_known ? PATHS[_i].form : _PROFILE_FORM_MAX));
}
END_TEST

START_TEST(test_errors)
{
        static const struct {
                const char *path, *message;
        } ROWS[] = {
                {"/nowhere/at/all/x.svg",
                 "cannot write /nowhere/at/all/x.svg: No such file or directory"},
                {"x.txt", "unknown output format: x.txt"},
        };
        g_autoptr(Profile) profile = profile_new();
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GError) error = NULL;

                ck_assert(!profile_write(profile, ROWS[i].path, NULL, &error));
                ck_assert_msg(g_str_has_prefix(error->message, ROWS[i].message), "%s",
                              error->message);
        }
}
END_TEST

static const struct {
        const char *event;
        bool is_clock;
} EVENTS[] = {
        {NULL, false},           {"", false},       {"cpu-clock", true},   {"cpu-clock:u", true},
        {"task-clock:uk", true}, {"cycles", false}, {"cpu-clocks", false},
};

/* Returns the sum of every third number of the lists after NAME. */
static uint64_t sum_cells(const char *page, const char *name, unsigned *ret_n)
{
        const char *at = strstr(page, name);
        uint64_t sum = 0;

        ck_assert_ptr_nonnull(at);
        for (*ret_n = 0, at += strlen(name); *at != '}';) {
                char *end;
                const uint64_t number = strtoull(at, &end, 10);

                if (end == at) {
                        at++;
                        continue;
                }
                sum += ++*ret_n % 3 == 0 ? number : 0;
                at = end;
        }
        *ret_n /= 3;
        return sum;
}

/* A recording of any length: the intervals become longer, and no sample is lost. */
START_TEST(test_page_size)
{
        enum { N_SAMPLES = 2000000, N_STACKS = 1000, N_THREADS = 8, MAX_SIZE = 3 << 20 };
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "a.html", NULL);
        g_autofree char *page = NULL;
        g_autoptr(Profile) profile = profile_new();
        uint32_t frames[N_STACKS], i;
        unsigned n_cells;
        gsize size;

        for (i = 0; i < N_STACKS; i++) {
                g_autofree char *name = g_strdup_printf("Method%u()", i);

                frames[i] = profile_frame(profile, &(ProfileFrame){.name = name});
        }
        for (i = 0; i < N_SAMPLES; i++)
                profile_add(profile,
                            &(ProfileSample){
                                    .comm = "app",
                                    .pid = 1,
                                    .tid = 1 + g_rand_int_range(random, 0, N_THREADS),
                                    .time = 1000 * (uint64_t)i,
                                    .frames = &frames[g_rand_int_range(random, 0, N_STACKS)],
                                    .n_frames = 1,
                            });
        ck_assert(profile_write(profile, path, NULL, NULL));
        ck_assert(g_file_get_contents(path, &page, &size, NULL));
        ck_assert_uint_lt(size, MAX_SIZE);
        ck_assert_uint_eq(sum_cells(page, "\"cells\":", &n_cells), N_SAMPLES);
        ck_assert_uint_le(n_cells, HTML_MAX_CELLS);
        /* Fewer intervals would lose resolution. */
        ck_assert_uint_gt(n_cells, HTML_MAX_CELLS / 2);
        g_unlink(path);
        g_rmdir(directory);
}
END_TEST

START_TEST(test_event)
{
        ck_assert(profile_event_unit(EVENTS[_i].event)->is_time == EVENTS[_i].is_clock);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("profile");
        TCase *tcase = tcase_create("profile");

        tcase_add_test(tcase, test_equal_frames);
        tcase_add_test(tcase, test_folded);
        tcase_add_test(tcase, test_folded_lines);
        tcase_add_loop_test(tcase, test_folded_name, 0, G_N_ELEMENTS(NAMES));
        tcase_add_loop_test(tcase, test_no_name, 0, G_N_ELEMENTS(MODULES));
        tcase_add_test(tcase, test_comment);
        tcase_add_loop_test(tcase, test_model, 0, 4);
        tcase_add_test(tcase, test_tree);
        tcase_add_test(tcase, test_empty);
        tcase_add_loop_test(tcase, test_form, 0, G_N_ELEMENTS(PATHS));
        tcase_add_test(tcase, test_errors);
        tcase_add_loop_test(tcase, test_event, 0, G_N_ELEMENTS(EVENTS));
        suite_add_tcase(suite, tcase);
        tcase = tcase_create("size");
        tcase_set_timeout(tcase, 120);
        tcase_add_test(tcase, test_page_size);
        suite_add_tcase(suite, tcase);
        return suite;
}

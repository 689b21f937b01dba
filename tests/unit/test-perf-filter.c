/* SPDX-License-Identifier: MIT */

/*
 * Parts of perf's filter: callchains, places, settings, names and their labels
 */

#include "perf/chain.h"
#include "perf/stack-roots.h"
#include "perf/folded-labels.h"
#include "perf/mapping-kind.h"
#include "perf/settings.h"

#include "support/suite.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define KERNEL PERF_CONTEXT_KERNEL
#define USER   PERF_CONTEXT_USER
#define K(n)   (UINT64_C(0xffffffff81000000) + (n))

enum {
        MAX_LINKS = 6,
};

static const struct {
        uint64_t addresses[10];
        size_t n;
        struct {
                uint64_t ip, address;
                bool is_user;
        } links[MAX_LINKS];
        size_t n_links;
} CHAINS[] = {
        {{0}, 0, {{0}}, 0},
        {{USER, 100, 200, 300}, 4, {{100, 100, true}, {200, 199, true}, {300, 299, true}}, 3},
        {{KERNEL, K(1), K(9), USER, 100, 200},
         6,
         {{K(1), K(1), false}, {K(9), K(8), false}, {100, 100, true}, {200, 199, true}},
         4},
        {{KERNEL, USER, KERNEL, K(1)}, 4, {{K(1), K(1), false}}, 1},
        /* Address 0 is never a return address. */
        {{USER, 100, 0}, 3, {{100, 100, true}, {0, 0, true}}, 2},
        /* Without a marker, the half of the address space decides. */
        {{K(1), 100}, 2, {{K(1), K(1), false}, {100, 99, true}}, 2},
        /* A guest's frames are dropped. */
        {{PERF_CONTEXT_GUEST_USER, 100}, 2, {{100, 100, false}}, 1},
        {{USER}, 1, {{0}}, 0},
        /* The number after PERF_CONTEXT_USER_DEFERRED stands for the user part of the chain. */
        {{KERNEL, K(1), (uint64_t)-640, 4711}, 4, {{K(1), K(1), false}}, 1},
        /* The mark for a truncated copy of the stack. */
        {{USER, 100, 200, STACK_CUT_MARK}, 4, {{100, 100, true}, {200, 199, true}}, 2},
};

START_TEST(test_chain)
{
        Chain chain = chain_of(CHAINS[_i].addresses, CHAINS[_i].n);
        ChainLink link;
        size_t n;

        ck_assert_int_eq(chain_has_links(chain), CHAINS[_i].n_links > 0);
        for (n = 0; chain_next(&chain, &link); n++) {
                ck_assert_uint_lt(n, CHAINS[_i].n_links);
                ck_assert_uint_eq(link.ip, CHAINS[_i].links[n].ip);
                ck_assert_uint_eq(link.address, CHAINS[_i].links[n].address);
                ck_assert_int_eq(link.is_user, CHAINS[_i].links[n].is_user);
        }
        ck_assert_uint_eq(n, CHAINS[_i].n_links);
}
END_TEST

static const struct {
        const char *dso;
        MappingKind place;
        bool with_symbol, without; /* whether the mapping may have managed code */
} PLACES[] = {
        {NULL, MAPPING_NOWHERE, false, true},
        {"", MAPPING_NOWHERE, false, true},
        {"[unknown]", MAPPING_NOWHERE, false, true},
        {"/memfd:doublemapper (deleted)", MAPPING_JITTED, true, true},
        /* A program that runs from a sealed memfd. */
        {"/memfd:sealed (deleted)", MAPPING_OTHER, false, true},
        {"//anon", MAPPING_JITTED, true, true},
        {"[JIT] tid 12", MAPPING_JITTED, true, true},
        {"/tmp/perf-12.map", MAPPING_JITTED, true, true},
        {"/a/System.Private.CoreLib.dll", MAPPING_IMAGE, true, true},
        {"/a/App.DLL (deleted)", MAPPING_IMAGE, true, true},
        {"/a/app.exe", MAPPING_IMAGE, true, true},
        {"/lib/libc.so.6", MAPPING_LIBRARY, false, false},
        {"/a/libcoreclr.so", MAPPING_LIBRARY, false, false},
        {"/a/libold.so (deleted)", MAPPING_LIBRARY, false, false},
        {"[vdso]", MAPPING_LIBRARY, false, false},
        {"/a.so/program", MAPPING_OTHER, false, true},
        {"/usr/bin/some.sorted", MAPPING_OTHER, false, true},
        {"/usr/share/dotnet/dotnet", MAPPING_OTHER, false, true},
};

START_TEST(test_place)
{
        MappingKind place = mapping_kind_of_dso(PLACES[_i].dso);

        ck_assert_int_eq(place, PLACES[_i].place);
        ck_assert_int_eq(mapping_kind_may_be_managed(place, "symbol"), PLACES[_i].with_symbol);
        ck_assert_int_eq(mapping_kind_may_be_managed(place, NULL), PLACES[_i].without);
}
END_TEST

static const char *const REFUSED[] = {
        "",           "trace",      "trace=",
        "nothing=1",  "format=svg", "names=long",
        "style=long", "style",      "style=",
        "names",      "tier=1",     "map=1",
        "map=1=",     "map=1=0",    "map=1=x",
        "map=1=2:",   "map=1=2:3 ", "map==1",
        "map=-1=2",   "clock=1",    "clock=1,-1",
        "clock=,1",   "wait=-1",    "wait=1.5",
        "report=",    "event=",     "map=1=99999999999",
        "clock=1,2,", "clock=1,2x", "format",
        "wait",       "mappings=",  "mappings=-1",
        "mappings",
};

START_TEST(test_settings_refused)
{
        char *argument = g_strdup(REFUSED[_i]);
        Settings settings;
        char reason[200] = "";

        ck_assert(!settings_read(&settings, &argument, 1, reason, sizeof(reason)));
        ck_assert_str_ne(reason, "");
        settings_deinit(&settings);
        g_free(argument);
}
END_TEST

START_TEST(test_settings)
{
        static const char *const ARGUMENTS[] = {
                "trace=/a=b", "format=folded", "names=full",   "style=short",
                "tier",       "annotate",      "event=cycles", "map=30=4026531836:7",
                "map=10=8",   "mapped-only",   "clock=-5,6",   "wait=70",
                "report=9",
        };
        Settings settings;
        char reason[200];
        const PidMap *map;

        ck_assert(settings_read(&settings, (char **)ARGUMENTS, G_N_ELEMENTS(ARGUMENTS), reason,
                                sizeof(reason)));
        ck_assert_str_eq(settings.trace, "/a=b");
        ck_assert_int_eq(settings.form, FORM_FOLDED);
        ck_assert_int_eq(settings.style, CLRSYM_STYLE_SHORT);
        ck_assert(settings.has_tier && settings.is_annotated && settings.is_mapped_only);
        ck_assert_str_eq(settings.event, "cycles");
        ck_assert(settings.has_clock);
        ck_assert_int_eq(settings.clock_offset, -5);
        ck_assert_uint_eq(settings.clock_slack, 6);
        ck_assert_uint_eq(settings.wait_ms, 70);
        ck_assert_int_eq(settings.report_fd, 9);
        map = settings_map(&settings, 30);
        ck_assert(map && map->has_pid_ns && map->pid_ns == 4026531836 && map->pid == 7);
        map = settings_map(&settings, 10);
        ck_assert(map && !map->has_pid_ns && map->pid == 8);
        ck_assert_ptr_null(settings_map(&settings, 20));
        settings_deinit(&settings);
}
END_TEST

START_TEST(test_settings_together)
{
        static const char *const TWICE[] = {"map=1=2", "map=1=3"}, *const BOTH[] = {"trace=a",
                                                                                    "socket=b"};
        Settings settings;
        char reason[200];

        ck_assert(!settings_read(&settings, (char **)TWICE, 2, reason, sizeof(reason)));
        ck_assert(strstr(reason, "mapped twice"));
        settings_deinit(&settings);
        ck_assert(!settings_read(&settings, (char **)BOTH, 2, reason, sizeof(reason)));
        settings_deinit(&settings);
        ck_assert(settings_read(&settings, NULL, 0, reason, sizeof(reason)));
        ck_assert_int_eq(settings.form, FORM_TEXT);
        ck_assert_int_eq(settings.report_fd, -1);
        settings_deinit(&settings);
}
END_TEST

static const struct {
        const char *symbol, *label;
} LABELS[] = {
        {"main", "main"},
        {"operator;()", "operator:()"},
        {"a;b;c", "a:b:c"},
        {"T.M(int, int)", "T.M(int, int)"},
        {"ends 12", "ends_12"},
        {"ends  1.5", "ends__1.5"},
        {"ends12", "ends12"},
        {"blank ", "blank_"},
        {" blank", "_blank"},
        {"two\nlines", "two\\u{a}lines"},
        {"\x1b[31mred", "\\u{1b}[31mred"},
        {"\xff", "\\u{fffd}"},
        {"12", "12"},
        {" ", "_"},
};

START_TEST(test_labels)
{
        Frames frames;
        FoldedLabels labels = {0};
        uint32_t i, frame, label, first;

        ck_assert(frames_init(&frames, CLRSYM_STYLE_CSHARP));
        for (i = 0; i < G_N_ELEMENTS(LABELS); i++) {
                frame = frames_symbol(&frames, NAMED_NATIVE, LABELS[i].symbol, "/lib/x.so");
                label = folded_labels_frame(&labels, &frames, frame);
                ck_assert_str_eq(folded_labels_text(&labels, label), LABELS[i].label);
                ck_assert_uint_eq(folded_labels_frame(&labels, &frames, frame), label);
        }
        /* One name in two libraries: one label and two frames. */
        first = frames_symbol(&frames, NAMED_NATIVE, "main", "/lib/x.so");
        frame = frames_symbol(&frames, NAMED_NATIVE, "main", "/lib/y.so");
        ck_assert_uint_ne(first, frame);
        ck_assert_uint_eq(folded_labels_frame(&labels, &frames, first),
                          folded_labels_frame(&labels, &frames, frame));
        frame = frames_symbol(&frames, NAMED_UNKNOWN, NULL, "/lib/z z.so");
        ck_assert_str_eq(folded_labels_text(&labels, folded_labels_frame(&labels, &frames, frame)),
                         "[z z.so]");
        frame = frames_symbol(&frames, NAMED_KERNEL, NULL, "[kernel.kallsyms]");
        ck_assert_str_eq(folded_labels_text(&labels, folded_labels_frame(&labels, &frames, frame)),
                         "[kernel.kallsyms]");
        frame = frames_symbol(&frames, NAMED_UNKNOWN, NULL, NULL);
        ck_assert_str_eq(folded_labels_text(&labels, folded_labels_frame(&labels, &frames, frame)),
                         "[unknown]");
        frame = frames_text(&frames, "#x;y 3");
        ck_assert_str_eq(folded_labels_text(&labels, folded_labels_comm(&labels, &frames, frame)),
                         "_x:y_3");
        frame = frames_text(&frames, "");
        ck_assert_str_eq(folded_labels_text(&labels, folded_labels_comm(&labels, &frames, frame)),
                         "[unknown]");
        folded_labels_clear(&labels);
        labels.is_annotated = true;
        frame = frames_symbol(&frames, NAMED_KERNEL, "do_idle", "[kernel.kallsyms]");
        ck_assert_str_eq(folded_labels_text(&labels, folded_labels_frame(&labels, &frames, frame)),
                         "do_idle_[k]");
        folded_labels_deinit(&labels);
        frames_deinit(&frames);
}
END_TEST

START_TEST(test_frames)
{
        clrsym_answer answer = {
                .pid = 1,
                .generation = 1,
                .body = {.name_space = "N.T",
                         .name = "M",
                         .signature = "void  (int32)",
                         .module_path = "/a/b/App.dll",
                         .start = 0x1000,
                         .tier = CLRSYM_TIER_OPTIMIZED},
        };
        clrsym_line line = {.file = "/src/a.cs", .line = 12, .column = 3};
        Frames frames;
        uint32_t one, other;
        NamedFrame frame;
        char text[40];
        int i;

        ck_assert(frames_init(&frames, CLRSYM_STYLE_CSHARP));
        one = frames_body(&frames, &answer, NULL, false, NULL);
        frame = frames_get(&frames, one);
        ck_assert_str_eq(frame.name, "N.T.M(int)");
        ck_assert_str_eq(frame.module, "App.dll");
        ck_assert(frame.kind == NAMED_MANAGED && !frame.is_marked);
        ck_assert_uint_eq(frames_body(&frames, &answer, NULL, false, NULL), one);
        /* An uncertain answer for the same body, and another body at the same address. */
        other = frames_body(&frames, &answer, NULL, true, NULL);
        ck_assert(other != one && frames_get(&frames, other).is_marked);
        /* Another line of the same body is another frame. */
        other = frames_body(&frames, &answer, NULL, false, &line);
        ck_assert_uint_ne(other, one);
        ck_assert_uint_eq(frames_body(&frames, &answer, NULL, false, &line), other);
        ck_assert_str_eq(frames_get(&frames, other).file, "/src/a.cs");
        ck_assert_uint_eq(frames_get(&frames, other).line, 12);
        ck_assert_ptr_null(frames_get(&frames, one).file);
        line.line++;
        ck_assert_uint_ne(frames_body(&frames, &answer, NULL, false, &line), other);
        answer.body.loaded = 5;
        answer.body.name = NULL;
        answer.body.method_id = 0xabc;
        answer.body.module_path = NULL;
        other = frames_body(&frames, &answer, "/x/Image.dll", false, NULL);
        ck_assert_uint_ne(other, one);
        ck_assert_str_eq(frames_get(&frames, other).name, "method 0xabc");
        ck_assert_str_eq(frames_get(&frames, other).module, "Image.dll");
        /* perf may give an address another text than before. */
        for (i = 0; i < 100; i++) {
                snprintf(text, sizeof(text), "symbol%d", i % 7);
                one = frames_symbol(&frames, NAMED_NATIVE, text, "/lib/x.so");
                ck_assert_str_eq(frames_get(&frames, one).name, text);
        }
        ck_assert_uint_lt(frames.n, 20);
        frames_clear(&frames);
        one = frames_symbol(&frames, NAMED_NATIVE, "again", NULL);
        ck_assert_uint_eq(one, 0);
        ck_assert_ptr_null(frames_get(&frames, one).module);
        frames_deinit(&frames);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("perf-filter");
        TCase *tcase = tcase_create("perf-filter");

        tcase_add_loop_test(tcase, test_chain, 0, G_N_ELEMENTS(CHAINS));
        tcase_add_loop_test(tcase, test_place, 0, G_N_ELEMENTS(PLACES));
        tcase_add_loop_test(tcase, test_settings_refused, 0, G_N_ELEMENTS(REFUSED));
        tcase_add_test(tcase, test_settings);
        tcase_add_test(tcase, test_settings_together);
        tcase_add_test(tcase, test_labels);
        tcase_add_test(tcase, test_frames);
        suite_add_tcase(suite, tcase);
        return suite;
}

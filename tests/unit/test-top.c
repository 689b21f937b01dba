/* SPDX-License-Identifier: MIT */

/*
 * The shares of samples: by the leaf, by frames in the stack, and by the thread; and the methods of
 * user code
 */

#include "profile/top.h"
#include "support/suite.h"

#include <string.h>

/* The stack, the leaf first; then the name of the share. */
static const struct {
        const char *comm;
        struct {
                const char *name, *module;
                FrameKind kind;
        } frames[3];
        const char *share;
} ROWS[] = {
        {"app", {{"Main()", "App.dll", FRAME_MANAGED}}, "managed code"},
        {"app",
         {{"memcpy", "/lib/libc.so.6", FRAME_NATIVE},
          {"[libclrjit.so]", "/x/libclrjit.so", FRAME_NATIVE},
          {"Main()", "App.dll", FRAME_MANAGED}},
         "JIT"},
        {"app", {{"memcpy", "/lib/libc.so.6", FRAME_NATIVE}}, "other native code"},
        {"app", {{"futex", "[kernel]", FRAME_KERNEL}}, "kernel"},
        {"app", {{"[unknown]", NULL, FRAME_UNKNOWN}}, "unknown"},
        {".NET Server GC", {{"futex", "[kernel]", FRAME_KERNEL}}, "garbage collector"},
        {".NET BGC", {{"[libcoreclr.so]", "/x/libcoreclr.so", FRAME_NATIVE}}, "garbage collector"},
        {"app", {{"[libclrgc.so]", "/x/libclrgc.so", FRAME_NATIVE}}, "garbage collector"},
        {"app",
         {{"madvise", "/lib/libc.so.6", FRAME_NATIVE},
          {"WKS::gc_heap::garbage_collect", "/x/libcoreclr.so", FRAME_NATIVE},
          {"Main()", "App.dll", FRAME_MANAGED}},
         "garbage collector"},
        {"app",
         {{"SVR::gc_heap::gc1(int)", "/x/libcoreclr.so", FRAME_NATIVE}},
         "garbage collector"},
        {"app", {{"[libcoreclr.so]", "/x/libcoreclr.so", FRAME_NATIVE}}, "runtime"},
        {"app", {{"WKS::GCHeap::Alloc", "/x/libcoreclr.so", FRAME_NATIVE}}, "runtime"},
        {"app", {{"WKS::gc_heap::gc100", "/x/libcoreclr.so", FRAME_NATIVE}}, "runtime"},
        {"app", {{"gc_heap::gc1", "/x/libcoreclr.so", FRAME_NATIVE}}, "runtime"},
        {"app", {{"WKS::gc_heap::gc1", "/x/libmine.so", FRAME_NATIVE}}, "other native code"},
        {"app", {{"WKS::gc_heap::gc1", "App.dll", FRAME_MANAGED}}, "managed code"},
        {"app",
         {{"[libcoreclr.so]", "/x/libcoreclr.so", FRAME_NATIVE},
          {"System.Runtime.StackFrameIterator.Next(void*)", "CoreLib.dll", FRAME_MANAGED},
          {"Main()", "App.dll", FRAME_MANAGED}},
         "exception handling"},
        {"app",
         {{"[libcoreclr.so]", "/x/libcoreclr.so", FRAME_NATIVE},
          {"void [System.Private.CoreLib] System.Runtime.EH::RhThrowEx(object)", "CoreLib.dll",
           FRAME_MANAGED},
          {"Main()", "App.dll", FRAME_MANAGED}},
         "exception handling"},
        {"app",
         {{"IL_Throw", "/x/libcoreclr.so", FRAME_NATIVE}, {"Main()", "App.dll", FRAME_MANAGED}},
         "exception handling"},
        /* A signal handler. */
        {"app",
         {{"[libcoreclr.so]", "/x/libcoreclr.so", FRAME_NATIVE},
          {"Handle()", "App.dll", FRAME_MANAGED},
          {"System.Runtime.EH.DispatchEx(void*)", "CoreLib.dll", FRAME_MANAGED}},
         "runtime"},
        {"app", {{"My.System.Runtime.EH.Run()", "App.dll", FRAME_MANAGED}}, "managed code"},
        {"app", {{"System.Runtime.EHX.Run()", "App.dll", FRAME_MANAGED}}, "managed code"},
};

START_TEST(test_share)
{
        g_autoptr(Profile) profile = profile_new();
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *line = g_strdup_printf(" 100.0 %%  %s", ROWS[_i].share);
        uint32_t frames[G_N_ELEMENTS(ROWS[_i].frames)];
        bool is_managed = false;
        size_t n = 0;

        for (; n < G_N_ELEMENTS(frames) && ROWS[_i].frames[n].name; n++) {
                is_managed |= ROWS[_i].frames[n].kind == FRAME_MANAGED;
                frames[n] =
                        profile_frame(profile, &(ProfileFrame){.name = ROWS[_i].frames[n].name,
                                                               .module = ROWS[_i].frames[n].module,
                                                               .kind = ROWS[_i].frames[n].kind});
        }
        profile_add(profile, &(ProfileSample){.comm = ROWS[_i].comm,
                                              .pid = 100,
                                              .tid = 101,
                                              .period = 1,
                                              .frames = frames,
                                              .n_frames = n});
        top_append(text, profile, NULL, 3, 100);
        ck_assert_msg(g_str_has_prefix(text->str, line), "%s", text->str);
        /* Only this share. */
        ck_assert_msg(strchr(text->str, '\n') + 1 == strstr(text->str, "\n    SELF"), "%s",
                      text->str);
        ck_assert((strstr(text->str, "METHOD") != NULL) == is_managed);
}
END_TEST

/* Modules, and whether they are user code. */
static const struct {
        const char *module;
        FrameKind kind;
        bool is_yours;
} MODULES[] = {
        {"shop.dll", FRAME_MANAGED, true},
        {"/app/shop.dll", FRAME_MANAGED, true},
        {"/app/shop.dll", FRAME_NATIVE, false},
        {"/app/libshop.so", FRAME_NATIVE, false},
        {NULL, FRAME_MANAGED, false},
        {"", FRAME_MANAGED, false},
        {"System.Private.CoreLib.dll", FRAME_MANAGED, false},
        {"/app/System.Private.CoreLib.dll", FRAME_MANAGED, false},
        {"System.Private.CoreLib", FRAME_MANAGED, false},
        {"Microsoft.AspNetCore.dll", FRAME_MANAGED, false},
        {"mscorlib.dll", FRAME_MANAGED, false},
        {"netstandard.dll", FRAME_MANAGED, false},
        {"/dotnet/shared/Microsoft.Other.App/1.0.0/Other.dll", FRAME_MANAGED, false},
        {"/home/shared/shop.dll", FRAME_MANAGED, true},
        /* Packages. */
        {"System.CommandLine.dll", FRAME_MANAGED, true},
        {"Microsoft.EntityFrameworkCore.dll", FRAME_MANAGED, true},
        {"system.linq.dll", FRAME_MANAGED, true},
        {".dll", FRAME_MANAGED, true},
};

START_TEST(test_your_code)
{
        g_autoptr(Profile) profile = profile_new();
        g_autoptr(GString) text = g_string_new(NULL);
        const uint32_t frame = profile_frame(profile, &(ProfileFrame){.name = "Work()",
                                                                      .module = MODULES[_i].module,
                                                                      .kind = MODULES[_i].kind});

        profile_add(profile, &(ProfileSample){.period = 1, .frames = &frame, .n_frames = 1});
        top_append(text, profile, NULL, 3, 100);
        ck_assert_msg((strstr(text->str, "METHOD OF YOUR CODE") != NULL) == MODULES[_i].is_yours,
                      "%s", text->str);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("top");
        TCase *tcase = tcase_create("top");

        tcase_add_loop_test(tcase, test_share, 0, G_N_ELEMENTS(ROWS));
        tcase_add_loop_test(tcase, test_your_code, 0, G_N_ELEMENTS(MODULES));
        suite_add_tcase(suite, tcase);
        return suite;
}

/* SPDX-License-Identifier: MIT */

/*
 * Incomplete and damaged images: the tracker refuses or takes them, and never crashes. test-model
 * checks that a good image is complete: it replaces trackers by trackers from their images.
 */

#include "tracker/checkpoint.h"

#include "support/script.h"
#include "support/suite.h"

#include <string.h>

/* A script with at least one item of each kind. */
static const char SCRIPT[] =
        "100 RuntimeInformationStart CommandLine=app RuntimeDllPath=/lib/libcoreclr.so\n"
        "110 ModuleLoad_V2 module=1 path=/a.dll\n"
        "120 MethodJittingStarted_V1 id=7 ns=N name=Begun tid=5\n"
        "130 MethodLoadVerbose_V1 id=1 start=0x1000 size=64 ns=N name=One module=1\n"
        "131 MethodILToNativeMap_V1 id=1 CountOfMapEntries=3 ILOffsets=-2,0,7 "
        "NativeOffsets=0,4,300\n"
        "140 MethodLoadVerbose_V1 id=2 start=0x2000 size=64 ns=N name=Two module=1\n"
        "150 MethodUnloadVerbose_V1 id=2 start=0x2000 size=64 ns=N name=Two module=1\n"
        "160 MethodLoadVerbose_V1 id=3 start=0x2010 size=100000 ns=N name=Large\n"
        "161 ILStubGenerated StubMethodID=11 ManagedInteropMethodName=Read\n"
        "162 MethodLoadVerbose_V1 id=11 start=0x400000 size=64 ns=dynamicClass "
        "name=IL_STUB_PInvoke\n"
        "163 ILStubGenerated StubMethodID=12 module=1 ManagedInteropMethodNamespace=N "
        "ManagedInteropMethodName=Write ManagedInteropMethodSignature=void()\n"
        "170 R2RGetEntryPoint id=4 entry=0x900000 ns=N name=Entry\n"
        "180 DotNETRuntimeRundown:DCEndInit_V1\n"
        "181 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=1 start=0x1000 size=64 ns=N name=One\n"
        "182 DotNETRuntimeRundown:DCEndComplete_V1\n"
        "183 DotNETRuntimeRundown:DCEndInit_V1\n"
        "184 DotNETRuntimeRundown:MethodDCEndILToNativeMap id=5 CountOfMapEntries=1 ILOffsets=0 "
        "NativeOffsets=9\n"
        "190 MethodJitInliningSucceeded\n"
        "191 MethodJitInliningFailed FailReason=big\n"
        "200 MethodLoadVerbose_V1 pid=200 id=1 start=0x1000 size=64 ns=N name=Other\n"
        "210 AppDomainUnload_V1 pid=200\n"
        "3000000000 MethodLoadVerbose_V1 pid=200 id=1 start=0x1000 size=64 ns=N name=Next\n"
        "10: 220 MethodLoadVerbose_V1 id=9 start=0x5000 size=64 ns=N name=Nine\n"
        "10: gap 230 240 5\n"
        "10: progress 250\n";

static bool append(void *data, const uint8_t *bytes, size_t n)
{
        g_byte_array_append(data, bytes, (guint)n);
        return true;
}

static GByteArray *image_new(void)
{
        Tracker *tracker = script_tracker(SCRIPT);
        GByteArray *image = g_byte_array_new();

        tracker_age(tracker, 0);
        tracker_age(tracker, 0);
        ck_assert(checkpoint_write(tracker, append, image));
        tracker_free(tracker);
        return image;
}

/* Reads a copy of the exact size, so that the address sanitizer sees a read beyond the end. */
static bool is_taken(const uint8_t *bytes, size_t n, GByteArray *ret_image)
{
        g_autofree uint8_t *copy = g_memdup2(bytes, n);
        Tracker *tracker = tracker_new();
        CheckpointReader *reader = checkpoint_reader_new(tracker);
        bool is_good;

        checkpoint_reader_take(reader, copy, n);
        is_good = checkpoint_reader_finish(reader);
        if (is_good && ret_image)
                ck_assert(checkpoint_write(tracker, append, ret_image));
        tracker_free(tracker);
        return is_good;
}

START_TEST(test_whole)
{
        g_autoptr(GByteArray) image = image_new(), again = g_byte_array_new();

        ck_assert(is_taken(image->data, image->len, again));
        ck_assert_uint_eq(again->len, image->len);
        ck_assert_mem_eq(again->data, image->data, image->len);
}
END_TEST

START_TEST(test_cut)
{
        g_autoptr(GByteArray) image = image_new();
        size_t n;

        for (n = 0; n < image->len; n++)
                ck_assert(!is_taken(image->data, n, NULL));
        append(image, (const uint8_t *)"", 1);
        ck_assert(!is_taken(image->data, image->len, NULL));
}
END_TEST

/* If a changed image is taken, the tracker can write, answer and free it like any other. */
START_TEST(test_changed)
{
        g_autoptr(GByteArray) image = image_new();
        unsigned n_taken = 0, n_refused = 0, bit;
        size_t i;

        for (i = 0; i < image->len; i++)
                for (bit = 0; bit < 8; bit++) {
                        g_autoptr(GByteArray) again = g_byte_array_new();
                        bool is_good;

                        image->data[i] ^= (uint8_t)(1 << bit);
                        is_good = is_taken(image->data, image->len, again);
                        n_taken += is_good;
                        n_refused += !is_good;
                        image->data[i] ^= (uint8_t)(1 << bit);
                }
        ck_assert_uint_gt(n_taken, 0);
        ck_assert_uint_gt(n_refused, n_taken / 8);
}
END_TEST

/* A sink that refuses the first piece. */
static bool refuse(void *data, const uint8_t *bytes, size_t n)
{
        return false;
}

START_TEST(test_not_taken)
{
        Tracker *tracker = script_tracker(SCRIPT);

        ck_assert(!checkpoint_write(tracker, refuse, NULL));
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("image");
        TCase *tcase = tcase_create("image");

        tcase_set_timeout(tcase, 100);
        tcase_add_test(tcase, test_whole);
        tcase_add_test(tcase, test_cut);
        tcase_add_test(tcase, test_changed);
        tcase_add_test(tcase, test_not_taken);
        suite_add_tcase(suite, tcase);
        return suite;
}

/* SPDX-License-Identifier: MIT */

/* A file that claims to be a precompiled assembly. */

#include "fuzz.h"
#include "perf/r2r-image.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A found function contains the address of the offset. */
static void check_find(const R2RImage *image, uint64_t offset)
{
        uint32_t distance;
        const R2RFunction *function = r2r_image_find(image, offset, &distance);

        if (!function)
                return;
        FUZZ_REQUIRE(function >= image->functions.rows);
        FUZZ_REQUIRE(function < image->functions.rows + image->functions.n);
        FUZZ_REQUIRE(distance < function->end - function->begin);
}

static void check_image(const R2RImage *image, uint64_t n_file)
{
        size_t i;

        for (i = 0; i < image->functions.n; i++) {
                FUZZ_REQUIRE(image->functions.rows[i].begin < image->functions.rows[i].end);
                FUZZ_REQUIRE(i == 0 ||
                             image->functions.rows[i - 1].end <= image->functions.rows[i].begin);
        }
        for (i = 0; i < n_file; i += n_file / 512 + 1)
                check_find(image, i);
        check_find(image, n_file);
        check_find(image, UINT64_MAX);
}

static void check_funclets(const R2RImage *image, int fd)
{
        R2RFunclets funclets;
        size_t i;

        if (r2r_image_read_funclets(image, &(ImageBytes){.fd = fd}, &funclets) < 0)
                FUZZ_REQUIRE(!funclets.begins && !funclets.n);
        for (i = 0; i < funclets.n; i++) {
                FUZZ_REQUIRE(r2r_funclets_have(&funclets, funclets.begins[i]));
                FUZZ_REQUIRE(i == 0 || funclets.begins[i - 1] <= funclets.begins[i]);
        }
        r2r_funclets_deinit(&funclets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fd = -1;
        R2RImage image;
        const char *reason = NULL;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (fd < 0)
                fd = memfd_create("fuzz-r2r-image", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
        FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
        if (r2r_image_read(&image, &(ImageBytes){.fd = fd}, &reason) == 0) {
                FUZZ_REQUIRE(image.functions.n * sizeof(*image.functions.rows) <= 64u << 20);
                check_image(&image, size);
                check_funclets(&image, fd);
        } else {
                FUZZ_REQUIRE(reason && *reason);
                FUZZ_REQUIRE(!image.functions.rows && !image.functions.n);
        }
        r2r_image_deinit(&image);
        return 0;
}

/* SPDX-License-Identifier: MIT */

/* A file that claims to be a single-file program. */

#include "fuzz.h"
#include "lines/bundle.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool see_image(const ImageBytes *image, void *data)
{
        FUZZ_REQUIRE(image->fd >= 0 && image->begin <= INT64_MAX);
        (*(unsigned *)data)++;
        return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fd = -1;
        Bundles bundles = {0};
        BundleFile file;
        uint64_t work = 0;
        unsigned n = 0;
        size_t at;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (fd < 0)
                fd = memfd_create("fuzz-bundle", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
        FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
        FUZZ_REQUIRE(!bundles_find_image_in(&bundles, fd, "/a/App.dll", &work, see_image, &n));
        FUZZ_REQUIRE(n <= 1);
        for (at = 0; at <= size; at += size / 16 + 1)
                if (bundles_find_at(&bundles, fd, at, &work, &file))
                        FUZZ_REQUIRE(file.begin <= at && at - file.begin < file.size &&
                                     *file.name && strlen(file.name) < sizeof(file.name));
        bundles_deinit(&bundles);
        return 0;
}

/* SPDX-License-Identifier: MIT */

/* A file of saved samples, packed or not, with any bytes. */

#include "cli/saved-profile.h"
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const int fd = memfd_create("saved", MFD_CLOEXEC);
        gzFile stream;
        g_autoptr(GError) error = NULL;
        const SavedTarget target = {NULL, false};
        SavedProfile saved;
        bool is_read;

        FUZZ_REQUIRE(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
        stream = gzdopen(fd, "rb");
        is_read = saved_profile_read_stream(stream, "input", &target, &saved, &error);
        gzclose(stream);
        FUZZ_REQUIRE(is_read == (error == NULL));
        if (is_read)
                saved_profile_clear(&saved);
        return 0;
}

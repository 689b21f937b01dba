/* SPDX-License-Identifier: MIT */

/* perf's file with any bytes, while it grows: u8 size of the part that is there first, then the
 * file. */

#include "fuzz.h"
#include "record/tally.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        const size_t part = fuzz_take(&input, 1);
        const size_t n_first = input.n * part / 256;
        const int fd = memfd_create("perf.data", MFD_CLOEXEC);
        char path[64];
        Tally *tally;
        uint64_t n_before;

        FUZZ_REQUIRE(fd >= 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        FUZZ_REQUIRE(write(fd, input.at, n_first) == (ssize_t)n_first);
        tally = tally_new(path, 0, NULL);
        tally_update(tally);
        n_before = tally_samples(tally);
        FUZZ_REQUIRE(write(fd, input.at + n_first, input.n - n_first) ==
                     (ssize_t)(input.n - n_first));
        tally_update(tally);
        /* A record has a header of at least 8 bytes. */
        FUZZ_REQUIRE(tally_samples(tally) >= n_before && tally_samples(tally) <= input.n / 8);
        tally_free(tally);
        close(fd);
        return 0;
}

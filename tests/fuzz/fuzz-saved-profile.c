/* SPDX-License-Identifier: MIT */

/* Named samples that were saved to a file, decompressed, of any bytes. */

#include "cli/saved-profile.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(GInputStream) stream =
                g_memory_input_stream_new_from_data(data, (gssize)size, /* destroy= */ NULL);
        g_autoptr(GError) error = NULL;
        const SavedTarget target = {NULL, false};
        SavedProfile saved;
        const bool is_read = saved_profile_read_stream(stream, "input", &target, &saved, &error);

        FUZZ_REQUIRE(is_read == (error == NULL));
        if (is_read)
                saved_profile_clear(&saved);
        return 0;
}

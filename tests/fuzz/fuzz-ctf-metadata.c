/* SPDX-License-Identifier: MIT */

/* Metadata of a CTF trace with any bytes, TSDL or JSON, and its compiled programs. */

#include "ctf/layout.h"
#include "ctf/metadata.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(CtfTraceClass) trace = NULL;
        GHashTable *counts, *layouts;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        trace = ctf_metadata_parse(data, size, NULL);
        if (!trace)
                return 0;
        counts = event_counts_new();
        layouts = ctf_layouts_new(trace, EVENT_USE_ALL, counts);
        g_hash_table_destroy(layouts);
        g_hash_table_destroy(counts);
        return 0;
}

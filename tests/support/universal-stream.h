/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Nettrace streams of Universal events for tests, in the format of dotnet-trace collect-linux
 * (UniversalProviders.md of microsoft/perfview)
 */

#include <glib.h>
#include <stdbool.h>

/* The events in the stream's metadata. */
typedef enum UniversalTestRow {
        UNIVERSAL_CPU,
        UNIVERSAL_SWITCH,
        UNIVERSAL_PROCESS,
        UNIVERSAL_EXIT,
        UNIVERSAL_MAPPING, /* with an additional field */
        UNIVERSAL_SYMBOL,
        UNIVERSAL_LATER_PROCESS, /* of a later version */
        UNIVERSAL_OTHER_SAMPLE,  /* an unknown event */
        UNIVERSAL_OTHER_FIELDS,  /* with fields in another order */
} UniversalTestRow;

/* Thread 1 is 5/6; thread 2 is an idle CPU. The stack is 0x1000, 0xffffffff81000000. */
typedef struct UniversalTestEvent {
        UniversalTestRow row;
        unsigned thread;
        bool has_stack;
        const char *payload; /* hexadecimal digits */
} UniversalTestEvent;

/* N events at intervals of 2000 ns, on CPU 3. Owned by the caller. */
GByteArray *universal_stream(const UniversalTestEvent *events, size_t n);

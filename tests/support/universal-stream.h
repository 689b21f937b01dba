/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Nettrace streams of Universal events for tests, as dotnet-trace collect-linux writes them:
 * UniversalProviders.md of microsoft/perfview
 */

#include <glib.h>
#include <stdbool.h>

/* The events that a stream describes. */
typedef enum UniversalTestRow {
        UNIVERSAL_CPU,
        UNIVERSAL_SWITCH,
        UNIVERSAL_PROCESS,
        UNIVERSAL_EXIT,
        UNIVERSAL_MAPPING, /* with a field more than it is known with */
        UNIVERSAL_SYMBOL,
        UNIVERSAL_LATER_PROCESS, /* of a later version */
        UNIVERSAL_OTHER_SAMPLE,  /* of an event that is not known */
        UNIVERSAL_OTHER_FIELDS,  /* with its fields in another order */
} UniversalTestRow;

/* Thread 1 is 5/6; thread 2 is a CPU without work. The stack is 0x1000, 0xffffffff81000000. */
typedef struct UniversalTestEvent {
        UniversalTestRow row;
        unsigned thread;
        bool has_stack;
        const char *payload; /* hexadecimal digits */
} UniversalTestEvent;

/* N events, 2000 ns after each other, on CPU 3. Owned by the caller. */
GByteArray *universal_stream(const UniversalTestEvent *events, size_t n);

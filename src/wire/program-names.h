/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Program names: which names of programs a feeder has sent
 *
 * The context procname of LTTng is the name of a thread; that of a main thread is the program's.
 * It is in each of the thread's events, and sent once.
 */

#include "event/record.h"

/* Bytes of a thread's name in the kernel. */
#define PROGRAM_NAME_MAX 16

typedef struct ProgramNames {
        GHashTable *sent; /* owned or NULL: owned ProcessKey -> hash of the name */
        /* The name that was seen last, which mostly is that of the next record, too: it is looked
         * at first. */
        ProcessKey process;
        uint32_t n_latest; /* bytes; 0: none */
        uint8_t latest[PROGRAM_NAME_MAX];
} ProgramNames;

void program_names_clear(ProgramNames *names);

/* True if the record has a name that has to be sent: it is new, or another one than before. */
bool program_names_note(ProgramNames *names, const Record *record);

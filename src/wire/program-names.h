/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Program names: the names of programs that a feeder has sent
 *
 * LTTng's context procname is the name of a thread; a main thread has the program's name. Each
 * event of the thread has the name; it is sent once.
 */

#include "event/record.h"

/* Bytes of a thread's name in the kernel. */
#define PROGRAM_NAME_MAX 16

typedef struct ProgramNames {
        GHashTable *sent; /* owned or NULL: owned ProcessKey -> hash of the name */
        /* The latest name, compared first, because the next record usually has it, too. */
        ProcessKey process;
        uint32_t n_latest; /* bytes; 0: none */
        uint8_t latest[PROGRAM_NAME_MAX];
} ProgramNames;

void program_names_clear(ProgramNames *names);

/* True if the record's name has to be sent, because it is new or has changed. */
bool program_names_note(ProgramNames *names, const Record *record);

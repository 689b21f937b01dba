/* SPDX-License-Identifier: MIT */
#pragma once

/* MethodFinder: the source of the machine code of compiled methods */

#include "unwind/frame-code.h"

#include <sys/types.h>

/* An address of compiled code, in the file of its memory. */
typedef struct MethodPlace {
        pid_t pid;
        uint64_t time; /* ns of perf's clock */
        uint64_t address;
        uint64_t begin, end; /* addresses of the mapping */
        uint64_t offset;     /* offset of BEGIN in the file */
} MethodPlace;

typedef enum MethodSearch {
        METHOD_FOUND,   /* also a stub, see MethodCode */
        METHOD_UNKNOWN, /* the method at the address, or its code at that time, is not known */
        METHOD_UNREAD,  /* the code of the process, which has a runtime, cannot be read */
        METHOD_FOREIGN, /* the same of a process that is not known to have a runtime */
} MethodSearch;

typedef struct MethodFinder {
        /* Process PID had a runtime at TIME, ns of perf's clock; NULL: each can have one. */
        bool (*has)(void *data, pid_t pid, uint64_t time);
        /* Sets the method at PLACE, and its start, if it is found; valid until the next call. */
        MethodSearch (*find)(void *data, const MethodPlace *place, MethodCode *ret_code,
                             uint64_t *ret_start);
        void *data;
} MethodFinder;

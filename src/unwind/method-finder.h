/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * MethodFinder: where the unwinder gets the machine code of compiled methods
 */

#include "unwind/frame-code.h"

#include <sys/types.h>

/* An address of compiled code, in the file that its memory is of. */
typedef struct MethodPlace {
        pid_t pid;
        uint64_t time; /* ns of perf's clock */
        uint64_t address;
        uint64_t begin, end; /* addresses of the mapping */
        uint64_t offset;     /* in the file, of BEGIN */
} MethodPlace;

typedef enum MethodSearch {
        METHOD_FOUND,   /* also a stub, see MethodCode */
        METHOD_UNKNOWN, /* which method is there, or its code as it was then */
        METHOD_UNREAD,  /* the process's code is not to be had */
} MethodSearch;

typedef struct MethodFinder {
        /* Sets the method at PLACE, and where it begins, if it is found; valid until the next
         * call. */
        MethodSearch (*find)(void *data, const MethodPlace *place, MethodCode *ret_code,
                             uint64_t *ret_start);
        void *data;
} MethodFinder;

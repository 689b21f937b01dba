/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R signature: which method an instance in a ReadyToRun image is of
 */

#include "metadata/byte-cursor.h"

typedef struct R2RInstance {
        uint32_t rid;       /* in the table of methods, or of member references */
        bool is_member_ref; /* the method is another assembly's */
        uint32_t module;    /* number of the assembly that has the method; 0: the image's own */
        size_t n;           /* bytes of the signature */
} R2RInstance;

/* Reads the signature that begins at the cursor. False if it is not one. */
bool r2r_signature_read(ByteCursor cursor, R2RInstance *ret);

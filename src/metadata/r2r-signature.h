/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R signature: the method and types of an instance in a ReadyToRun image
 *
 * The layout is that of dotnet/runtime's readytorun-format.md. Signatures are untrusted.
 */

#include "metadata/metadata.h"

typedef struct R2RInstance {
        uint32_t rid;       /* in the table of methods, or of member references */
        bool is_member_ref; /* the method belongs to another assembly */
        bool is_async;   /* the variant of an async method, which returns the result, not a task */
        bool is_stub;    /* a stub that calls the method, not its code */
        uint32_t module; /* number of the method's assembly; 0: the image's own */
        size_t n;        /* bytes of the signature */
} R2RInstance;

/* Reads the signature at the cursor. False: no signature. */
bool r2r_signature_read(ByteCursor cursor, R2RInstance *ret);

/* Finds the assemblies of tokens. */
typedef struct R2RModules {
        /* The metadata of assembly MODULE (0: the image itself); NULL: not known. */
        const Metadata *(*find)(void *data, uint32_t module);
        void *data;
} R2RModules;

/* A text in progress. */
typedef struct R2RText {
        char *buffer; /* borrowed: NUL-terminated after the first write */
        size_t size;  /* of the buffer */
        size_t n;     /* written */
        bool has_failed;
} R2RText;

/*
 * Appends to OWNER the type of the method, if the signature has it, and to ARGS the method's type
 * arguments, comma-separated; both in reflection's spelling. False: the signature is damaged, or a
 * type in it is not known or has no such name.
 */
bool r2r_signature_name(ByteCursor cursor, const R2RModules *modules, R2RText *owner,
                        R2RText *args);

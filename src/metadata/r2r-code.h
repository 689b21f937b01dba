/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R code: the methods of a ReadyToRun image, and the maps from native code to IL
 *
 * Events of the runtime lack these maps: the image is their only source. The layouts are those of
 * dotnet/runtime's readytorun-format.md and nibblestream.h. The major versions of .NET 8 to 11 are
 * read, see VERSIONS in r2r-code.c; others are refused. The minor version is not read. The file is
 * untrusted.
 *
 * Plain C, because libclrsym reads images, too.
 */

#include "metadata/pe-file.h"
#include "metadata/r2r-map.h"
#include "metadata/r2r-signature.h"

/* The newest known major version of the format, that of .NET 11. */
#define R2R_NEWEST 26u
/* The reason to refuse an image of another version, usually with the version of .NET; static. */
const char *r2r_refused_version(unsigned major);

/* Other reasons to refuse an image. */
#define R2R_OTHER_MACHINE "it is neither for x86-64 nor for arm64"
#define R2R_IN_COMPOSITE  "its code is in a composite image"

/* The number of component 0's assembly in signatures of a composite image. */
#define R2R_FIRST_MODULE 2u

/* Bytes of the id of a compiled assembly. */
#define R2R_MVID_SIZE 16u

/*
 * FUNCTION: of the method's first piece. BEGIN and END: RVAs of the method with all its handlers.
 */
typedef struct R2RMethod {
        uint32_t function;
        uint32_t begin, end;
} R2RMethod;

typedef struct R2RCode R2RCode;

/*
 * Reads the tables of the image with the headers PE. Returns 0; -ENOMEM; -EBADMSG: no readable
 * precompiled code, *RET_REASON is the reason (static); or pread()'s error. Memory: the tables'
 * bytes, at most 128 MiB, and at most 32 bytes for each function.
 */
int r2r_code_read(R2RCode **ret, const PeFile *pe, const char **ret_reason);
void r2r_code_free(R2RCode *code);

/*
 * Writes the file name, beside the assembly, of the composite image with the assembly's code,
 * NUL-terminated, into BUFFER of N bytes. -ENOENT: the assembly has its own code; -EBADMSG, -ENOMEM
 * or pread()'s error.
 */
int r2r_code_owner(const PeFile *pe, char *buffer, size_t n);
/*
 * Reads the tables of a composite image, like r2r_code_read(). The result finds no methods; the
 * results of r2r_code_component() do.
 */
int r2r_code_read_composite(R2RCode **ret, const PeFile *pe, const char **ret_reason);
/*
 * The code of the assembly MVID. The result shares the tables, and may outlive COMPOSITE, in the
 * same thread. -ENOENT: the image lacks that assembly; -ENOMEM.
 */
int r2r_code_component(R2RCode **ret, const R2RCode *composite, const uint8_t mvid[R2R_MVID_SIZE]);

uint32_t r2r_code_n_functions(const R2RCode *code);
/* True if the version of the image has variants of async methods. */
bool r2r_code_has_variants(const R2RCode *code);
/* Approximate memory in bytes, without the methods of a composite image's assemblies. */
size_t r2r_code_size(const R2RCode *code);

/* True if the function is a method's first; *RET is the whole method. */
bool r2r_code_method(const R2RCode *code, uint32_t function, R2RMethod *ret);
/* The method with code at RVA. */
bool r2r_code_find(const R2RCode *code, uint32_t rva, R2RMethod *ret);

/* The kind of a method's code. */
typedef enum R2RKind {
        R2R_KIND_METHOD,  /* the method itself; for an async method, the body that returns a task */
        R2R_KIND_VARIANT, /* the second body of an async method: it returns the result */
        R2R_KIND_RESUME,  /* a stub that continues the variant after a wait */
} R2RKind;

/* The method that begins with a function. */
typedef struct R2ROrigin {
        uint32_t component; /* of a composite image; else 0 */
        uint32_t rid;       /* in the component's table of methods */
        R2RKind kind;
        ByteCursor signature; /* of a generic method's instance, for r2r_signature_name(); borrowed
                                 from the code. Empty: not generic, and not a variant */
} R2ROrigin;

/*
 * False: FUNCTION is not a method's first function, or of no method or several, so its code has no
 * name.
 */
bool r2r_code_origin(const R2RCode *code, uint32_t function, R2ROrigin *ret);
/* The number of assemblies in a composite image; 0: not a composite image. */
uint32_t r2r_code_n_components(const R2RCode *code);
/* The MVID of a component; NULL: no such component. Borrowed. */
const uint8_t *r2r_code_component_mvid(const R2RCode *code, uint32_t component);
/* The name of a component in the image; NULL: none. Borrowed. */
const char *r2r_code_component_name(const R2RCode *code, uint32_t component);

/* Finds the code of a non-generic method, by its number in the table of methods. */
bool r2r_code_find_method(const R2RCode *code, uint32_t rid, R2RMethod *ret);
/*
 * Finds the code of method RID, generic or not, loaded at address START with SIZE bytes. Images are
 * mapped in whole pages, so START and its RVA have the same lower bits. False: no such code, or
 * several possible instances with different maps.
 */
bool r2r_code_find_body(const R2RCode *code, uint32_t rid, uint64_t start, uint32_t size,
                        R2RMethod *ret);
/* Finds the next possible instance of generic method RID. *AT is initially 0. False: no more. */
bool r2r_code_next_instance(const R2RCode *code, uint32_t rid, uint64_t start, uint32_t size,
                            uint32_t *at, R2RMethod *ret);

/*
 * Decodes the map of the method that begins with FUNCTION; the caller frees its entries. Returns 0;
 * -ENOENT: the image has no map for it; -EBADMSG; or -ENOMEM.
 */
int r2r_code_map(const R2RCode *code, uint32_t function, R2RMap *ret);

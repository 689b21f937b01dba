/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R tables: the tables of a ReadyToRun image in memory, read and checked by r2r-code.c
 *
 * Private to r2r-code.c and r2r-lookup.c.
 */

#include "metadata/metadata.h"
#include "metadata/native-format.h"
#include "metadata/r2r-code.h"
#include "metadata/r2r-functions.h"

/* A table of the image in memory. */
typedef struct ImageTable {
        PeRange range;
        uint8_t *bytes; /* owned or NULL */
} ImageTable;

/*
 * An instance of a generic method. FUNCTION: its first; COMPONENT: the method's assembly; OFFSET:
 * in the table of instances.
 */
typedef struct InstanceRow {
        uint32_t component, rid, function, offset;
} InstanceRow;

/* An assembly with code in a composite image. */
typedef struct Component {
        uint8_t mvid[R2R_MVID_SIZE];
        ImageTable methods;
} Component;

/* Kinds of functions. */
typedef enum HeadKind {
        HEAD_NONE,     /* a handler of the previous method */
        HEAD_UNKNOWN,  /* the first function of no known method, or of several */
        HEAD_METHOD,   /* of the MethodDef row VALUE */
        HEAD_INSTANCE, /* of the instance at VALUE in its table */
        HEAD_VARIANT,  /* the same, and the variant of an async method */
        HEAD_RESUME,   /* of the stub that continues the variant at VALUE */
} HeadKind;

typedef struct FunctionHead {
        HeadKind kind : 8;
        uint32_t component : 24; /* of the method */
        uint32_t value;
} FunctionHead;

/* The data shared by the assemblies of a composite image. */
typedef struct CodeImage {
        unsigned n_users;
        R2RFunctions functions;
        ImageTable function_table; /* only the place is read */
        ImageTable debug_info, instances;
        FunctionHead *heads;   /* owned: of each function */
        Component *components; /* owned; NULL: the image is one assembly */
        uint32_t n_components;
        ImageTable manifest; /* of a composite image: metadata with names of components */
        Metadata names;      /* metadata of `manifest` */
        InstanceRow *rows;   /* owned: sorted */
        uint32_t n_rows;
        size_t n_rows_allocated;
} CodeImage;

/* A version of the format. */
typedef struct R2RVersion {
        unsigned major;
        unsigned source_bits; /* bits of a source in the bounds; 0: bounds are in nibbles */
        bool has_variants;    /* async variants in the table of instances */
} R2RVersion;

struct R2RCode {
        const R2RVersion *version; /* static */
        CodeImage *image;          /* shared */
        NativeTable methods;       /* borrowed from own_methods, or from a component */
        ImageTable own_methods;
        ImageTable components, mvids; /* of a composite image, only while it is read */
        ImageTable owner;             /* only the place is read */
        const InstanceRow *rows;      /* borrowed from the image: rows of this assembly */
        uint32_t n_rows;
};

static inline NativeTable r2r_table(const ImageTable *table)
{
        return (NativeTable){.at = table->bytes, .n = table->bytes ? table->range.size : 0};
}

static inline uint32_t r2r_function_begin(const R2RCode *code, uint32_t i)
{
        return code->image->functions.rows[i].begin;
}

static inline uint32_t r2r_function_end(const R2RCode *code, uint32_t i)
{
        return code->image->functions.rows[i].end;
}

static inline bool r2r_is_head(const R2RCode *code, uint32_t i)
{
        return code->image->heads[i].kind != HEAD_NONE;
}

/* Reads the function of the entry point at OFFSET of its table. */
static inline bool r2r_entry_function(const NativeTable *table, size_t offset, uint32_t *ret)
{
        uint32_t number;

        if (!native_number(table, &offset, &number))
                return false;
        *ret = number & 1 ? number >> 2 : number >> 1;
        return true;
}

/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-code.h"

#include "metadata/r2r-tables.h"
#include "util/array.h"
#include "util/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Size of the CLR header, and the offset of the ReadyToRun header's address in it. */
#define CLR_SIZE         72u
#define CLR_NATIVE       64u
#define R2R_HEADER       16u /* 8 bytes, and a core header */
#define CORE_HEADER      8u
#define R2R_SECTION      12u
#define R2R_MAX_SECTIONS 1024u
#define R2R_SIGNATURE    0x00525452u

#define MAX_TABLE_BYTES (32u << 20)

#define NO_CODE       "it has no precompiled code"
#define CONTRADICTION "its tables contradict each other"

/* The sections of the ReadyToRun header that this file reads, by their numbers. */
enum {
        SECTION_FUNCTIONS = 102,
        SECTION_METHODS = 103,
        SECTION_DEBUG_INFO = 105,
        SECTION_INSTANCES = 109,
        SECTION_MANIFEST = 112,
        SECTION_COMPONENTS = 115,
        SECTION_OWNER = 116,
        SECTION_MVIDS = 118,
};

/* A row of the components: two addresses with sizes; the second is the address of a header. */
#define COMPONENT_SIZE   16u
#define COMPONENT_HEADER 8u
#define MAX_COMPONENTS   4096u

/*
 * The versions of .NET's releases, and their changes to the data read here. No release has another
 * version: all others are refused.
 */
static const R2RVersion VERSIONS[] = {
        {9, .source_bits = 0},  /* .NET 8: bounds in nibbles */
        {10, .source_bits = 0}, /* .NET 9: no change */
        {16, .source_bits = 2}, /* .NET 10: bounds in bits; composite images have an index */
        /*
         * .NET 11: the third bit of a source is an async call; some instances are async variants
         * (flag 0x100 of their signatures); resumption stubs, which are in no table.
         */
        {26, .source_bits = 3, .has_variants = true},
};

_Static_assert(R2R_NEWEST == 26, "VERSIONS has no row of it");

#define OTHER(major)                                                                               \
        [major] = "clrsym does not know version " #major " of the format of precompiled code"

/* Versions of .NET 5 to 7, versions between the known ones, and some future ones. */
static const char *const OTHER_VERSIONS[] = {
        OTHER(1),  OTHER(2),  OTHER(3),  OTHER(4),  OTHER(5),  OTHER(6),  OTHER(7),  OTHER(8),
        OTHER(11), OTHER(12), OTHER(13), OTHER(14), OTHER(15), OTHER(17), OTHER(18), OTHER(19),
        OTHER(20), OTHER(21), OTHER(22), OTHER(23), OTHER(24), OTHER(25), OTHER(27), OTHER(28),
        OTHER(29), OTHER(30), OTHER(31), OTHER(32), OTHER(33), OTHER(34), OTHER(35), OTHER(36),
};

const char *r2r_refused_version(unsigned major)
{
        const unsigned n = sizeof(OTHER_VERSIONS) / sizeof(OTHER_VERSIONS[0]);

        return major < n && OTHER_VERSIONS[major]
                       ? OTHER_VERSIONS[major]
                       : "clrsym does not know that version of the format of precompiled code";
}

static const R2RVersion *r2r_version(unsigned major)
{
        size_t i;

        for (i = 0; i < sizeof(VERSIONS) / sizeof(VERSIONS[0]); i++)
                if (VERSIONS[i].major == major)
                        return &VERSIONS[i];
        return NULL;
}

static int r2r_code_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return -EBADMSG;
}

static void code_set_head(R2RCode *code, uint32_t i, FunctionHead head)
{
        FunctionHead *at;

        if (i >= code->image->functions.n)
                return;
        at = &code->image->heads[i];
        *at = at->kind == HEAD_NONE ? head : (FunctionHead){.kind = HEAD_UNKNOWN};
}

static int table_read(ImageTable *table, const PeFile *pe, const char **ret_reason)
{
        if (!table->range.size)
                return 0;
        /* Check before allocating memory that the file has the bytes. */
        if (table->range.size > MAX_TABLE_BYTES ||
            !pe_file_section(pe, table->range.rva, table->range.size))
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        table->bytes = malloc(table->range.size);
        if (!table->bytes)
                return -ENOMEM;
        return pe_file_read_rva(pe, table->range.rva, table->bytes, table->range.size);
}

static int code_take_section(R2RCode *code, const uint8_t *row, const char **ret_reason)
{
        ImageTable *table;

        switch (bytes_u32(row)) {
        case SECTION_FUNCTIONS:
                table = &code->image->function_table;
                break;
        case SECTION_METHODS:
                table = &code->own_methods;
                break;
        case SECTION_DEBUG_INFO:
                table = &code->image->debug_info;
                break;
        case SECTION_INSTANCES:
                table = &code->image->instances;
                break;
        case SECTION_MANIFEST:
                table = &code->image->manifest;
                break;
        case SECTION_COMPONENTS:
                table = &code->components;
                break;
        case SECTION_MVIDS:
                table = &code->mvids;
                break;
        case SECTION_OWNER:
                table = &code->owner;
                break;
        default:
                return 0;
        }
        if (table->range.size)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        table->range = (PeRange){bytes_u32(row + 4), bytes_u32(row + 8)};
        return 0;
}

/* Reads the sections of the header at RVA, which starts with flags. */
static int code_read_sections(R2RCode *code, const PeFile *pe, uint32_t rva,
                              const char **ret_reason)
{
        uint8_t header[CORE_HEADER], rows[R2R_MAX_SECTIONS * R2R_SECTION];
        uint32_t n, i;
        int r = pe_file_read_rva(pe, rva, header, sizeof(header));

        if (r < 0)
                return r;
        n = bytes_u32(header + 4);
        if (n > R2R_MAX_SECTIONS || rva > UINT32_MAX - CORE_HEADER)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        r = n ? pe_file_read_rva(pe, rva + CORE_HEADER, rows, n * R2R_SECTION) : 0;
        for (i = 0; r == 0 && i < n; i++)
                r = code_take_section(code, rows + i * R2R_SECTION, ret_reason);
        return r;
}

static int code_read_header(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        uint8_t clr[CLR_SIZE], header[R2R_HEADER];
        uint32_t native;
        unsigned major;
        int r;

        if (!pe->directories[PE_CLR].rva)
                return r2r_code_refuse(ret_reason, NO_CODE);
        r = pe_file_read_rva(pe, pe->directories[PE_CLR].rva, clr, sizeof(clr));
        if (r < 0)
                return r;
        native = bytes_u32(clr + CLR_NATIVE);
        if (bytes_u32(clr) < CLR_SIZE || !native)
                return r2r_code_refuse(ret_reason, NO_CODE);
        r = pe_file_read_rva(pe, native, header, sizeof(header));
        if (r < 0)
                return r;
        if (bytes_u32(header) != R2R_SIGNATURE)
                return r2r_code_refuse(ret_reason, NO_CODE);
        major = header[4] | (unsigned)header[5] << 8;
        code->version = r2r_version(major);
        if (!code->version)
                return r2r_code_refuse(ret_reason, r2r_refused_version(major));
        if (native > UINT32_MAX - CORE_HEADER)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        return code_read_sections(code, pe, native + CORE_HEADER, ret_reason);
}

/* Reads the next instance of a generic method. False at the end. */
static bool walk_instance(NativeWalk *walk, R2RInstance *ret, uint32_t *ret_offset,
                          uint32_t *ret_function)
{
        const NativeTable *table = walk->table;
        size_t offset;

        while (native_walk_next(walk, &offset)) {
                const ByteCursor cursor = {.at = table->at + offset, .n = table->n - offset};

                *ret_offset = (uint32_t)offset;
                if (r2r_signature_read(cursor, ret) &&
                    r2r_entry_function(table, offset + ret->n, ret_function))
                        return true;
        }
        return false;
}

static int image_add_row(CodeImage *image, InstanceRow row)
{
        /* Distinct instances have distinct code. */
        if (image->n_rows == image->functions.n)
                return -EBADMSG;
        if (!array_grow(&image->rows, &image->n_rows_allocated, image->n_rows + (size_t)1,
                        sizeof(*image->rows)))
                return -ENOMEM;
        image->rows[image->n_rows++] = row;
        return 0;
}

static int row_compare(const void *a, const void *b)
{
        const InstanceRow *one = a, *other = b;

        if (one->component != other->component)
                return one->component < other->component ? -1 : 1;
        if (one->rid != other->rid)
                return one->rid < other->rid ? -1 : 1;
        return one->function < other->function ? -1 : one->function > other->function;
}

/*
 * Finds the assembly of the instance's method. In a composite image, assemblies have numbers from
 * R2R_FIRST_MODULE on, in the order of the components. False: the assembly is not known.
 */
static bool instance_component(const CodeImage *image, const R2RInstance *instance, uint32_t *ret)
{
        if (instance->is_member_ref || instance->is_stub)
                return false;
        *ret = image->components ? instance->module - R2R_FIRST_MODULE : 0;
        return !image->components || *ret < image->n_components;
}

static FunctionHead instance_head(const InstanceRow *row, bool is_known, bool is_async)
{
        return is_known ? (FunctionHead){.kind = is_async ? HEAD_VARIANT : HEAD_INSTANCE,
                                         .component = row->component,
                                         .value = row->offset}
                        : (FunctionHead){.kind = HEAD_UNKNOWN};
}

static int code_take_instances(R2RCode *code)
{
        const NativeTable instances = r2r_table(&code->image->instances);
        CodeImage *image = code->image;
        R2RInstance instance;
        InstanceRow row = {0};
        NativeWalk walk;
        int r = 0;

        if (!native_walk_begin(&walk, &instances))
                return 0;
        while (r == 0 && walk_instance(&walk, &instance, &row.offset, &row.function)) {
                bool is_known = instance_component(image, &instance, &row.component);

                row.rid = instance.rid;
                code_set_head(code, row.function, instance_head(&row, is_known, instance.is_async));
                if (is_known && row.function < image->functions.n)
                        r = image_add_row(image, row);
        }
        if (image->n_rows)
                qsort(image->rows, image->n_rows, sizeof(*image->rows), row_compare);
        return r;
}

/* Selects the instances of one assembly. */
static void code_use_rows(R2RCode *code, uint32_t component)
{
        const CodeImage *image = code->image;
        uint32_t begin = 0, end;

        while (begin < image->n_rows && image->rows[begin].component < component)
                begin++;
        for (end = begin; end < image->n_rows && image->rows[end].component == component;)
                end++;
        code->rows = end > begin ? image->rows + begin : NULL;
        code->n_rows = end - begin;
}

/* Marks the first functions of methods: those with an entry point, and those of instances. */
static void code_set_method_heads(R2RCode *code, const NativeTable *methods, uint32_t component)
{
        uint32_t n = native_array_n(methods), i, function;
        size_t offset;

        /* Limited by the bytes of the table. */
        for (i = 0; i < n && i / 16 < methods->n; i++)
                if (native_array_find(methods, i, &offset) &&
                    r2r_entry_function(methods, offset, &function))
                        code_set_head(code, function,
                                      (FunctionHead){.kind = HEAD_METHOD,
                                                     .component = component,
                                                     .value = i + 1});
}

/*
 * Marks further first functions: those with debug information, which handlers lack. If a function
 * in no table follows the variant of an async method, it is the stub that continues the variant,
 * because the compiler places them together: checked for all 1,785 stubs in the images of .NET
 * 11.0.0, by the fixups of the variants (kind 0x38).
 */
static void code_set_mapped_heads(R2RCode *code)
{
        const NativeTable debug_info = r2r_table(&code->image->debug_info);
        const FunctionHead *before = NULL;
        size_t offset;
        uint32_t i;

        for (i = 0; i < code->image->functions.n; i++) {
                FunctionHead head = {.kind = HEAD_UNKNOWN};

                if (before && before->kind == HEAD_VARIANT) {
                        head = *before;
                        head.kind = HEAD_RESUME;
                }
                if (!r2r_is_head(code, i) && native_array_find(&debug_info, i, &offset))
                        code_set_head(code, i, head);
                if (r2r_is_head(code, i))
                        before = &code->image->heads[i];
        }
}

/* Reads the components and their tables of methods; RVAs and MVIDs have the same order. */
static int code_take_components(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        CodeImage *image = code->image;
        uint32_t n = code->components.range.size / COMPONENT_SIZE, i;
        size_t n_bytes = 0;
        int r = 0;

        if (n > MAX_COMPONENTS || code->components.range.size % COMPONENT_SIZE ||
            code->mvids.range.size / R2R_MVID_SIZE < n)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        image->components = calloc(n + 1, sizeof(*image->components));
        if (!image->components)
                return -ENOMEM;
        image->n_components = n;
        for (i = 0; r == 0 && i < n; i++) {
                const uint8_t *row = code->components.bytes + (size_t)i * COMPONENT_SIZE;
                Component *component = &image->components[i];
                NativeTable methods;

                memcpy(component->mvid, code->mvids.bytes + (size_t)i * R2R_MVID_SIZE,
                       R2R_MVID_SIZE);
                code->own_methods = (ImageTable){0};
                r = code_read_sections(code, pe, bytes_u32(row + COMPONENT_HEADER), ret_reason);
                if (r == 0)
                        r = table_read(&code->own_methods, pe, ret_reason);
                component->methods = code->own_methods;
                code->own_methods = (ImageTable){0};
                methods = r2r_table(&component->methods);
                if (r == 0)
                        code_set_method_heads(code, &methods, i);
                /* Overlapping tables could exceed the file's size in memory: limit them. */
                n_bytes += methods.n;
                if (r == 0 && n_bytes > MAX_TABLE_BYTES)
                        r = -EBADMSG;
        }
        return r;
}

static int code_read_functions(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        CodeImage *image = code->image;
        int r;

        if (!image->function_table.range.size)
                return r2r_code_refuse(ret_reason, NO_CODE);
        r = r2r_functions_read(&image->functions, pe, image->function_table.range);
        if (r == 0)
                r = table_read(&image->debug_info, pe, ret_reason);
        if (r < 0)
                return r;
        image->heads = calloc(image->functions.n, sizeof(*image->heads));
        return image->heads ? 0 : -ENOMEM;
}

static int code_read_tables(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        int r = code_read_functions(code, pe, ret_reason);

        if (r == 0)
                r = table_read(&code->own_methods, pe, ret_reason);
        if (r == 0)
                r = table_read(&code->image->instances, pe, ret_reason);
        if (r < 0)
                return r;
        code->methods = r2r_table(&code->own_methods);
        code_set_method_heads(code, &code->methods, 0);
        r = code_take_instances(code);
        code_set_mapped_heads(code);
        code_use_rows(code, 0);
        return r;
}

/* Reads the names of the components. Without them only the metadata is not found. */
static int code_read_manifest(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        ImageTable *manifest = &code->image->manifest;
        const char *reason;
        int r = table_read(manifest, pe, ret_reason);

        if (r == 0 && !metadata_read(&code->image->names, manifest->bytes,
                                     manifest->bytes ? manifest->range.size : 0, &reason))
                code->image->names = (Metadata){0};
        return r;
}

static int code_read_composite(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        int r;

        if (!code->components.range.size)
                return r2r_code_refuse(ret_reason, "it is not a composite image");
        r = code_read_functions(code, pe, ret_reason);
        if (r == 0)
                r = table_read(&code->components, pe, ret_reason);
        if (r == 0)
                r = table_read(&code->mvids, pe, ret_reason);
        if (r == 0)
                r = code_take_components(code, pe, ret_reason);
        if (r == 0)
                r = table_read(&code->image->instances, pe, ret_reason);
        if (r == 0)
                r = code_take_instances(code);
        if (r == 0)
                code_set_mapped_heads(code);
        if (r == 0)
                r = code_read_manifest(code, pe, ret_reason);
        return r;
}

static R2RCode *code_new(void)
{
        R2RCode *code = calloc(1, sizeof(*code));

        if (!code)
                return NULL;
        code->image = calloc(1, sizeof(*code->image));
        if (!code->image) {
                free(code);
                return NULL;
        }
        code->image->n_users = 1;
        return code;
}

/* Reads the header, then calls TAKE. */
static int code_read(R2RCode **ret, const PeFile *pe, const char **ret_reason,
                     int (*take)(R2RCode *code, const PeFile *pe, const char **ret_reason))
{
        R2RCode *code;
        int r;

        *ret_reason = NULL;
        if (!r2r_functions_are_of_machine(pe))
                return r2r_code_refuse(ret_reason, R2R_OTHER_MACHINE);
        code = code_new();
        r = code ? code_read_header(code, pe, ret_reason) : -ENOMEM;
        if (r == 0 && code->owner.range.size)
                r = r2r_code_refuse(ret_reason, R2R_IN_COMPOSITE);
        if (r == 0)
                r = take(code, pe, ret_reason);
        if (r == 0) {
                *ret = code;
                return 0;
        }
        if (!*ret_reason)
                *ret_reason = r == -ENOMEM    ? "no memory left"
                              : r == -EBADMSG ? CONTRADICTION
                                              : "it cannot be read";
        r2r_code_free(code);
        return r;
}

int r2r_code_read(R2RCode **ret, const PeFile *pe, const char **ret_reason)
{
        return code_read(ret, pe, ret_reason, code_read_tables);
}

int r2r_code_read_composite(R2RCode **ret, const PeFile *pe, const char **ret_reason)
{
        return code_read(ret, pe, ret_reason, code_read_composite);
}

int r2r_code_component(R2RCode **ret, const R2RCode *composite, const uint8_t mvid[R2R_MVID_SIZE])
{
        CodeImage *image = composite->image;
        R2RCode *code;
        uint32_t i;

        for (i = 0; i < image->n_components; i++)
                if (!memcmp(image->components[i].mvid, mvid, R2R_MVID_SIZE))
                        break;
        if (i == image->n_components)
                return -ENOENT;
        code = calloc(1, sizeof(*code));
        if (!code)
                return -ENOMEM;
        *code = (R2RCode){.version = composite->version,
                          .image = image,
                          .methods = r2r_table(&image->components[i].methods)};
        image->n_users++;
        code_use_rows(code, i);
        *ret = code;
        return 0;
}

int r2r_code_owner(const PeFile *pe, char *buffer, size_t n)
{
        const char *reason;
        R2RCode *code = code_new();
        uint32_t n_name;
        int r = code ? code_read_header(code, pe, &reason) : -ENOMEM;

        n_name = r == 0 ? code->owner.range.size : 0;
        if (r == 0 && (!n_name || n_name >= n))
                r = -ENOENT;
        if (r == 0)
                r = pe_file_read_rva(pe, code->owner.range.rva, buffer, n_name);
        if (r == 0)
                buffer[n_name] = '\0';
        r2r_code_free(code);
        return r;
}

static void image_release(CodeImage *image)
{
        uint32_t i;

        if (--image->n_users)
                return;
        for (i = 0; i < image->n_components; i++)
                free(image->components[i].methods.bytes);
        free(image->components);
        free(image->rows);
        r2r_functions_deinit(&image->functions);
        free(image->debug_info.bytes);
        free(image->instances.bytes);
        free(image->manifest.bytes);
        free(image->heads);
        free(image);
}

void r2r_code_free(R2RCode *code)
{
        if (!code)
                return;
        image_release(code->image);
        free(code->own_methods.bytes);
        free(code->components.bytes);
        free(code->mvids.bytes);
        free(code);
}

uint32_t r2r_code_n_functions(const R2RCode *code)
{
        return code->image->functions.n;
}

size_t r2r_code_size(const R2RCode *code)
{
        const CodeImage *image = code->image;

        return image->functions.n * sizeof(*image->functions.rows) + image->debug_info.range.size +
               image->instances.range.size + image->manifest.range.size +
               code->own_methods.range.size + image->functions.n * sizeof(*image->heads) +
               image->n_rows_allocated * sizeof(*image->rows);
}

uint32_t r2r_code_n_components(const R2RCode *code)
{
        return code->image->n_components;
}

const uint8_t *r2r_code_component_mvid(const R2RCode *code, uint32_t component)
{
        return component < code->image->n_components ? code->image->components[component].mvid
                                                     : NULL;
}

const char *r2r_code_component_name(const R2RCode *code, uint32_t component)
{
        return component < code->image->n_components
                       ? metadata_cell_string(&code->image->names, METADATA_ASSEMBLY_REF,
                                              component + 1, ASSEMBLY_REF_NAME)
                       : NULL;
}

bool r2r_code_has_variants(const R2RCode *code)
{
        return code->version->has_variants;
}

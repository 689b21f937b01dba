/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-code.h"

#include "metadata/native-format.h"
#include "metadata/r2r-signature.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The machine's number is changed for each system, so that no other one loads the file. */
#define MACHINE_AMD64       0x8664
#define MACHINE_LINUX_AMD64 (MACHINE_AMD64 ^ 0x7b79)

/* The CLR header, which has the address of the ReadyToRun header. */
#define CLR_SIZE         72u
#define CLR_NATIVE       64u
#define R2R_HEADER       16u /* 8 bytes, and a core header */
#define CORE_HEADER      8u
#define R2R_SECTION      12u
#define R2R_MAX_SECTIONS 1024u
#define R2R_SIGNATURE    0x00525452u

#define FUNCTION_SIZE   12u
#define MAX_TABLE_BYTES (32u << 20)
#define PAGE            4096u

#define NO_CODE       "it has no precompiled code"
#define CONTRADICTION "its tables contradict each other"

/* From this version on bounds are bits, before it they are nibbles. */
#define VERSION_WITH_BITS 16u

/* Sections of the ReadyToRun header that are read, by their numbers in the file. */
enum {
        SECTION_FUNCTIONS = 102,
        SECTION_METHODS = 103,
        SECTION_DEBUG_INFO = 105,
        SECTION_INSTANCES = 109,
        SECTION_COMPONENTS = 115,
        SECTION_OWNER = 116,
        SECTION_MVIDS = 118,
};

/* A row of the components: two addresses with their sizes, the second that of a header. */
#define COMPONENT_SIZE   16u
#define COMPONENT_HEADER 8u
#define MAX_COMPONENTS   4096u
#define FIRST_MODULE     2u

/* A table of the image in memory. */
typedef struct ImageTable {
        PeRange range;
        uint8_t *bytes; /* owned or NULL */
} ImageTable;

/* The first function of an instance of a generic method; COMPONENT: of that assembly. */
typedef struct InstanceRow {
        uint32_t component, rid, function;
} InstanceRow;

/* An assembly with code in a composite image. */
typedef struct Component {
        uint8_t mvid[R2R_MVID_SIZE];
        ImageTable methods;
} Component;

/* What the assemblies of a composite image share. */
typedef struct CodeImage {
        unsigned n_users;
        ImageTable functions, debug_info;
        uint32_t n_functions;
        uint8_t *heads;        /* owned: a bit a function: it is a method's first */
        Component *components; /* owned; NULL: the image is one assembly */
        uint32_t n_components;
        InstanceRow *rows; /* owned: sorted */
        uint32_t n_rows, n_rows_allocated;
} CodeImage;

struct R2RCode {
        unsigned version;
        CodeImage *image;    /* shared */
        NativeTable methods; /* borrowed from own_methods, or from a component */
        ImageTable own_methods, instances;
        ImageTable components, mvids; /* of a composite image, while it is read */
        ImageTable owner;             /* only its place counts */
        const InstanceRow *rows;      /* borrowed from the image: of this assembly */
        uint32_t n_rows;
};

static int r2r_code_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return -EBADMSG;
}

static uint32_t u32_at(const uint8_t *at)
{
        return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static NativeTable table_of(const ImageTable *table)
{
        return (NativeTable){.at = table->bytes, .n = table->bytes ? table->range.size : 0};
}

static uint32_t function_begin(const R2RCode *code, uint32_t i)
{
        return u32_at(code->image->functions.bytes + (size_t)i * FUNCTION_SIZE);
}

static uint32_t function_end(const R2RCode *code, uint32_t i)
{
        return u32_at(code->image->functions.bytes + (size_t)i * FUNCTION_SIZE + 4);
}

static bool code_is_head(const R2RCode *code, uint32_t i)
{
        return code->image->heads[i / 8] >> i % 8 & 1;
}

static void code_set_head(R2RCode *code, uint32_t i)
{
        if (i < code->image->n_functions)
                code->image->heads[i / 8] |= (uint8_t)(1u << i % 8);
}

static int table_read(ImageTable *table, const PeFile *pe, const char **ret_reason)
{
        if (!table->range.size)
                return 0;
        /* Checked before memory is allocated: the file has as many bytes. */
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

        switch (u32_at(row)) {
        case SECTION_FUNCTIONS:
                table = &code->image->functions;
                break;
        case SECTION_METHODS:
                table = &code->own_methods;
                break;
        case SECTION_DEBUG_INFO:
                table = &code->image->debug_info;
                break;
        case SECTION_INSTANCES:
                table = &code->instances;
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
        table->range = (PeRange){u32_at(row + 4), u32_at(row + 8)};
        return 0;
}

/* The sections of the header at RVA, which has flags first. */
static int code_read_sections(R2RCode *code, const PeFile *pe, uint32_t rva,
                              const char **ret_reason)
{
        uint8_t header[CORE_HEADER], rows[R2R_MAX_SECTIONS * R2R_SECTION];
        uint32_t n, i;
        int r = pe_file_read_rva(pe, rva, header, sizeof(header));

        if (r < 0)
                return r;
        n = u32_at(header + 4);
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
        int r;

        if (!pe->directories[PE_CLR].rva)
                return r2r_code_refuse(ret_reason, NO_CODE);
        r = pe_file_read_rva(pe, pe->directories[PE_CLR].rva, clr, sizeof(clr));
        if (r < 0)
                return r;
        native = u32_at(clr + CLR_NATIVE);
        if (u32_at(clr) < CLR_SIZE || !native)
                return r2r_code_refuse(ret_reason, NO_CODE);
        r = pe_file_read_rva(pe, native, header, sizeof(header));
        if (r < 0)
                return r;
        if (u32_at(header) != R2R_SIGNATURE)
                return r2r_code_refuse(ret_reason, NO_CODE);
        code->version = header[4] | (unsigned)header[5] << 8;
        if (code->version != 9 && code->version != 10 && code->version != 16)
                return r2r_code_refuse(ret_reason, R2R_OTHER_VERSION);
        if (native > UINT32_MAX - CORE_HEADER)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        return code_read_sections(code, pe, native + CORE_HEADER, ret_reason);
}

/* Functions are sorted, do not overlap, and lie in sections of code. */
static bool code_functions_are_sound(const R2RCode *code, const PeFile *pe)
{
        uint32_t end = 0, i;

        for (i = 0; i < code->image->n_functions; i++) {
                uint32_t begin = function_begin(code, i);
                const PeSection *section;

                if (begin < end || function_end(code, i) <= begin)
                        return false;
                end = function_end(code, i);
                section = pe_file_section(pe, begin, end - begin);
                if (!section || !section->is_code)
                        return false;
        }
        return true;
}

/* The function that an entry point has at OFFSET of its table. */
static bool entry_function(const NativeTable *table, size_t offset, uint32_t *ret)
{
        uint32_t number;

        if (!native_number(table, &offset, &number))
                return false;
        *ret = number & 1 ? number >> 2 : number >> 1;
        return true;
}

/* The next instance of a generic method. False at the end. */
static bool walk_instance(NativeWalk *walk, R2RInstance *ret, uint32_t *ret_function)
{
        const NativeTable *table = walk->table;
        size_t offset;

        while (native_walk_next(walk, &offset)) {
                const ByteCursor cursor = {.at = table->at + offset, .n = table->n - offset};

                if (r2r_signature_read(cursor, ret) &&
                    entry_function(table, offset + ret->n, ret_function))
                        return true;
        }
        return false;
}

static int image_add_row(CodeImage *image, InstanceRow row)
{
        InstanceRow *rows;
        uint32_t n;

        /* No two instances have the same code. */
        if (image->n_rows == image->n_functions)
                return -EBADMSG;
        if (image->n_rows == image->n_rows_allocated) {
                n = image->n_rows ? image->n_rows * 2 : 64;
                rows = realloc(image->rows, n * sizeof(*rows));
                if (!rows)
                        return -ENOMEM;
                image->rows = rows;
                image->n_rows_allocated = n;
        }
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
 * The assembly that has the instance's method. In a composite image all have numbers, from
 * FIRST_MODULE on in the order of the components. False: it is not known.
 */
static bool instance_component(const CodeImage *image, const R2RInstance *instance, uint32_t *ret)
{
        if (instance->is_member_ref)
                return false;
        *ret = image->components ? instance->module - FIRST_MODULE : 0;
        return !image->components || *ret < image->n_components;
}

static int code_take_instances(R2RCode *code)
{
        const NativeTable instances = table_of(&code->instances);
        CodeImage *image = code->image;
        uint32_t function, component;
        R2RInstance instance;
        NativeWalk walk;
        int r = 0;

        if (!native_walk_begin(&walk, &instances))
                return 0;
        while (r == 0 && walk_instance(&walk, &instance, &function)) {
                code_set_head(code, function);
                if (instance_component(image, &instance, &component) &&
                    function < image->n_functions)
                        r = image_add_row(image, (InstanceRow){component, instance.rid, function});
        }
        if (image->n_rows)
                qsort(image->rows, image->n_rows, sizeof(*image->rows), row_compare);
        return r;
}

/* The instances of one assembly. */
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

/* Each first function of a method has an entry point, or is an instance's. */
static void code_set_method_heads(R2RCode *code, const NativeTable *methods)
{
        uint32_t n = native_array_n(methods), i, function;
        size_t offset;

        /* No more than there can be in as many bytes. */
        for (i = 0; i < n && i / 16 < methods->n; i++)
                if (native_array_find(methods, i, &offset) &&
                    entry_function(methods, offset, &function))
                        code_set_head(code, function);
}

/* It also has debug information, which no handler has. */
static void code_set_mapped_heads(R2RCode *code)
{
        const NativeTable debug_info = table_of(&code->image->debug_info);
        size_t offset;
        uint32_t i;

        for (i = 0; i < code->image->n_functions; i++)
                if (native_array_find(&debug_info, i, &offset))
                        code_set_head(code, i);
}

/* The components with their tables of methods: RVAs and MVIDs are in the same order. */
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
                r = code_read_sections(code, pe, u32_at(row + COMPONENT_HEADER), ret_reason);
                if (r == 0)
                        r = table_read(&code->own_methods, pe, ret_reason);
                component->methods = code->own_methods;
                code->own_methods = (ImageTable){0};
                methods = table_of(&component->methods);
                if (r == 0)
                        code_set_method_heads(code, &methods);
                /* Tables that overlap would take more memory than the file. */
                n_bytes += methods.n;
                if (r == 0 && n_bytes > MAX_TABLE_BYTES)
                        r = -EBADMSG;
        }
        code_set_mapped_heads(code);
        return r;
}

static int code_read_functions(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        CodeImage *image = code->image;
        int r = table_read(&image->functions, pe, ret_reason);

        if (r == 0)
                r = table_read(&image->debug_info, pe, ret_reason);
        if (r < 0)
                return r;
        if (!image->functions.range.size)
                return r2r_code_refuse(ret_reason, NO_CODE);
        image->n_functions = image->functions.range.size / FUNCTION_SIZE;
        if (image->functions.range.size % FUNCTION_SIZE || !code_functions_are_sound(code, pe))
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        image->heads = calloc(image->n_functions / 8 + 1, 1);
        return image->heads ? 0 : -ENOMEM;
}

static int code_read_tables(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        int r = code_read_functions(code, pe, ret_reason);

        if (r == 0)
                r = table_read(&code->own_methods, pe, ret_reason);
        if (r == 0)
                r = table_read(&code->instances, pe, ret_reason);
        if (r < 0)
                return r;
        code->methods = table_of(&code->own_methods);
        code_set_method_heads(code, &code->methods);
        code_set_mapped_heads(code);
        r = code_take_instances(code);
        code_use_rows(code, 0);
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
                r = table_read(&code->instances, pe, ret_reason);
        return r < 0 ? r : code_take_instances(code);
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

/* The header, and what TAKE reads then. */
static int code_read(R2RCode **ret, const PeFile *pe, const char **ret_reason,
                     int (*take)(R2RCode *code, const PeFile *pe, const char **ret_reason))
{
        R2RCode *code;
        int r;

        *ret_reason = NULL;
        if (pe->machine != MACHINE_LINUX_AMD64 && pe->machine != MACHINE_AMD64)
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
                          .methods = table_of(&image->components[i].methods)};
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
        free(image->functions.bytes);
        free(image->debug_info.bytes);
        free(image->heads);
        free(image);
}

void r2r_code_free(R2RCode *code)
{
        if (!code)
                return;
        image_release(code->image);
        free(code->own_methods.bytes);
        free(code->instances.bytes);
        free(code->components.bytes);
        free(code->mvids.bytes);
        free(code);
}

uint32_t r2r_code_n_functions(const R2RCode *code)
{
        return code->image->n_functions;
}

unsigned r2r_code_version(const R2RCode *code)
{
        return code->version;
}

bool r2r_code_method(const R2RCode *code, uint32_t function, R2RMethod *ret)
{
        uint32_t last = function;

        if (function >= code->image->n_functions || !code_is_head(code, function))
                return false;
        while (last + 1 < code->image->n_functions && !code_is_head(code, last + 1))
                last++;
        *ret = (R2RMethod){
                .function = function,
                .begin = function_begin(code, function),
                .end = function_end(code, last),
        };
        return true;
}

bool r2r_code_find(const R2RCode *code, uint32_t rva, R2RMethod *ret)
{
        uint32_t low = 0, high = code->image->n_functions;

        /* The first function that begins after RVA. */
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (function_begin(code, middle) <= rva)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (!low || rva >= function_end(code, low - 1))
                return false;
        do
                low--;
        while (low && !code_is_head(code, low));
        return r2r_code_method(code, low, ret);
}

bool r2r_code_find_method(const R2RCode *code, uint32_t rid, R2RMethod *ret)
{
        const NativeTable methods = code->methods;
        uint32_t function;
        size_t offset;

        return rid && native_array_find(&methods, rid - 1, &offset) &&
               entry_function(&methods, offset, &function) && r2r_code_method(code, function, ret);
}

static bool method_fits(const R2RMethod *method, uint64_t start, uint32_t size)
{
        return (start - method->begin) % PAGE == 0 && method->end - method->begin == size;
}

/* Where the debug information of a function is; functions with equal ones have the same. */
static int code_debug_info(const R2RCode *code, uint32_t function, size_t *ret_offset)
{
        const NativeTable debug_info = table_of(&code->image->debug_info);
        size_t begin, offset;
        uint32_t back;

        if (function >= code->image->n_functions ||
            !native_array_find(&debug_info, function, &begin))
                return -ENOENT;
        offset = begin;
        if (!native_number(&debug_info, &offset, &back) || back > begin)
                return -EBADMSG;
        *ret_offset = back ? begin - back : offset;
        return 0;
}

static bool code_maps_are_same(const R2RCode *code, uint32_t one, uint32_t other)
{
        size_t a, b;

        return code_debug_info(code, one, &a) == 0 && code_debug_info(code, other, &b) == 0 &&
               a == b;
}

/* The first row that is not of a lower RID. */
static uint32_t code_first_row(const R2RCode *code, uint32_t rid)
{
        uint32_t low = 0, high = code->n_rows;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (code->rows[middle].rid < rid)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

bool r2r_code_find_body(const R2RCode *code, uint32_t rid, uint64_t start, uint32_t size,
                        R2RMethod *ret)
{
        bool is_found = false;
        R2RMethod method;
        uint32_t i;

        if (r2r_code_find_method(code, rid, &method) && method_fits(&method, start, size)) {
                *ret = method;
                return true;
        }
        for (i = code_first_row(code, rid); i < code->n_rows && code->rows[i].rid == rid; i++) {
                if (!r2r_code_method(code, code->rows[i].function, &method) ||
                    !method_fits(&method, start, size))
                        continue;
                if (is_found && !code_maps_are_same(code, ret->function, method.function))
                        return false;
                *ret = method;
                is_found = true;
        }
        return is_found;
}

int r2r_code_map(const R2RCode *code, uint32_t function, R2RMap *ret)
{
        const NativeTable debug_info = table_of(&code->image->debug_info);
        size_t offset;
        int r = code_debug_info(code, function, &offset);

        return r < 0 ? r
                     : r2r_map_decode(ret, debug_info.at + offset, debug_info.n - offset,
                                      code->version >= VERSION_WITH_BITS);
}

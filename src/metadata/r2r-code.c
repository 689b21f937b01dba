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
#define R2R_HEADER       16u
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
        SECTION_OWNER = 116,
};

/* A table of the image in memory. */
typedef struct ImageTable {
        PeRange range;
        uint8_t *bytes; /* owned or NULL */
} ImageTable;

/* The first function of an instance of a generic method of this assembly. */
typedef struct InstanceRow {
        uint32_t rid, function;
} InstanceRow;

struct R2RCode {
        unsigned version;
        ImageTable functions, methods, debug_info, instances;
        uint32_t n_functions;
        uint8_t *heads;    /* owned: a bit a function: it is a method's first */
        InstanceRow *rows; /* owned: of `instances`, sorted */
        uint32_t n_rows, n_rows_allocated;
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
        return u32_at(code->functions.bytes + (size_t)i * FUNCTION_SIZE);
}

static uint32_t function_end(const R2RCode *code, uint32_t i)
{
        return u32_at(code->functions.bytes + (size_t)i * FUNCTION_SIZE + 4);
}

static bool code_is_head(const R2RCode *code, uint32_t i)
{
        return code->heads[i / 8] >> i % 8 & 1;
}

static void code_set_head(R2RCode *code, uint32_t i)
{
        if (i < code->n_functions)
                code->heads[i / 8] |= (uint8_t)(1u << i % 8);
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
                table = &code->functions;
                break;
        case SECTION_METHODS:
                table = &code->methods;
                break;
        case SECTION_DEBUG_INFO:
                table = &code->debug_info;
                break;
        case SECTION_INSTANCES:
                table = &code->instances;
                break;
        case SECTION_OWNER:
                return r2r_code_refuse(ret_reason, "its code is in a composite image");
        default:
                return 0;
        }
        if (table->range.size)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        table->range = (PeRange){u32_at(row + 4), u32_at(row + 8)};
        return 0;
}

static int code_read_header(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        uint8_t clr[CLR_SIZE], header[R2R_HEADER], rows[R2R_MAX_SECTIONS * R2R_SECTION];
        uint32_t native, n, i;
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
        n = u32_at(header + 12);
        if (n > R2R_MAX_SECTIONS || native > UINT32_MAX - R2R_HEADER)
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        r = n ? pe_file_read_rva(pe, native + R2R_HEADER, rows, n * R2R_SECTION) : 0;
        for (i = 0; r == 0 && i < n; i++)
                r = code_take_section(code, rows + i * R2R_SECTION, ret_reason);
        return r;
}

/* Functions are sorted, do not overlap, and lie in sections of code. */
static bool code_functions_are_sound(const R2RCode *code, const PeFile *pe)
{
        uint32_t end = 0, i;

        for (i = 0; i < code->n_functions; i++) {
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

static int code_add_row(R2RCode *code, InstanceRow row)
{
        InstanceRow *rows;
        uint32_t n;

        /* No two instances have the same code. */
        if (code->n_rows == code->n_functions)
                return -EBADMSG;
        if (code->n_rows == code->n_rows_allocated) {
                n = code->n_rows ? code->n_rows * 2 : 64;
                rows = realloc(code->rows, n * sizeof(*rows));
                if (!rows)
                        return -ENOMEM;
                code->rows = rows;
                code->n_rows_allocated = n;
        }
        code->rows[code->n_rows++] = row;
        return 0;
}

static int row_compare(const void *a, const void *b)
{
        const InstanceRow *one = a, *other = b;

        if (one->rid != other->rid)
                return one->rid < other->rid ? -1 : 1;
        return one->function < other->function ? -1 : one->function > other->function;
}

static int code_take_instances(R2RCode *code)
{
        const NativeTable instances = table_of(&code->instances);
        uint32_t function;
        R2RInstance instance;
        NativeWalk walk;
        int r = 0;

        if (!native_walk_begin(&walk, &instances))
                return 0;
        while (r == 0 && walk_instance(&walk, &instance, &function)) {
                code_set_head(code, function);
                if (!instance.is_member_ref && function < code->n_functions)
                        r = code_add_row(code, (InstanceRow){instance.rid, function});
        }
        if (code->n_rows)
                qsort(code->rows, code->n_rows, sizeof(*code->rows), row_compare);
        return r;
}

/*
 * Each first function of a method has an entry point, or is an instance's; and it has debug
 * information, which no handler has.
 */
static void code_find_heads(R2RCode *code)
{
        const NativeTable methods = table_of(&code->methods),
                          debug_info = table_of(&code->debug_info);
        uint32_t n = native_array_n(&methods), i, function;
        size_t offset;

        /* No more than there can be in as many bytes. */
        for (i = 0; i < n && i / 16 < methods.n; i++)
                if (native_array_find(&methods, i, &offset) &&
                    entry_function(&methods, offset, &function))
                        code_set_head(code, function);
        for (i = 0; i < code->n_functions; i++)
                if (native_array_find(&debug_info, i, &offset))
                        code_set_head(code, i);
}

static int code_read_tables(R2RCode *code, const PeFile *pe, const char **ret_reason)
{
        ImageTable *const tables[] = {&code->functions, &code->methods, &code->debug_info,
                                      &code->instances};
        size_t i;
        int r = 0;

        for (i = 0; r == 0 && i < sizeof(tables) / sizeof(*tables); i++)
                r = table_read(tables[i], pe, ret_reason);
        if (r < 0)
                return r;
        if (!code->functions.range.size)
                return r2r_code_refuse(ret_reason, NO_CODE);
        code->n_functions = code->functions.range.size / FUNCTION_SIZE;
        if (code->functions.range.size % FUNCTION_SIZE || !code_functions_are_sound(code, pe))
                return r2r_code_refuse(ret_reason, CONTRADICTION);
        code->heads = calloc(code->n_functions / 8 + 1, 1);
        if (!code->heads)
                return -ENOMEM;
        code_find_heads(code);
        return code_take_instances(code);
}

int r2r_code_read(R2RCode **ret, const PeFile *pe, const char **ret_reason)
{
        R2RCode *code;
        int r;

        *ret_reason = NULL;
        if (pe->machine != MACHINE_LINUX_AMD64 && pe->machine != MACHINE_AMD64)
                return r2r_code_refuse(ret_reason, R2R_OTHER_MACHINE);
        code = calloc(1, sizeof(*code));
        r = code ? code_read_header(code, pe, ret_reason) : -ENOMEM;
        if (r == 0)
                r = code_read_tables(code, pe, ret_reason);
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

void r2r_code_free(R2RCode *code)
{
        if (!code)
                return;
        free(code->functions.bytes);
        free(code->methods.bytes);
        free(code->debug_info.bytes);
        free(code->instances.bytes);
        free(code->heads);
        free(code->rows);
        free(code);
}

uint32_t r2r_code_n_functions(const R2RCode *code)
{
        return code->n_functions;
}

unsigned r2r_code_version(const R2RCode *code)
{
        return code->version;
}

bool r2r_code_method(const R2RCode *code, uint32_t function, R2RMethod *ret)
{
        uint32_t last = function;

        if (function >= code->n_functions || !code_is_head(code, function))
                return false;
        while (last + 1 < code->n_functions && !code_is_head(code, last + 1))
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
        uint32_t low = 0, high = code->n_functions;

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
        const NativeTable methods = table_of(&code->methods);
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
        const NativeTable debug_info = table_of(&code->debug_info);
        size_t begin, offset;
        uint32_t back;

        if (function >= code->n_functions || !native_array_find(&debug_info, function, &begin))
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
        const NativeTable debug_info = table_of(&code->debug_info);
        size_t offset;
        int r = code_debug_info(code, function, &offset);

        return r < 0 ? r
                     : r2r_map_decode(ret, debug_info.at + offset, debug_info.n - offset,
                                      code->version >= VERSION_WITH_BITS);
}

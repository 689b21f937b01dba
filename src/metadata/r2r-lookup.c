/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-tables.h"

#include <errno.h>
#include <stdlib.h>

/* Images are mapped in whole pages. */
#define PAGE 4096u

bool r2r_code_method(const R2RCode *code, uint32_t function, R2RMethod *ret)
{
        uint32_t last = function;

        if (function >= code->image->functions.n || !r2r_is_head(code, function))
                return false;
        while (last + 1 < code->image->functions.n && !r2r_is_head(code, last + 1))
                last++;
        *ret = (R2RMethod){
                .function = function,
                .begin = r2r_function_begin(code, function),
                .end = r2r_function_end(code, last),
        };
        return true;
}

bool r2r_code_find(const R2RCode *code, uint32_t rva, R2RMethod *ret)
{
        uint32_t low = r2r_functions_last(&code->image->functions, rva);

        if (!low || rva >= r2r_function_end(code, low - 1))
                return false;
        do
                low--;
        while (low && !r2r_is_head(code, low));
        return r2r_code_method(code, low, ret);
}

bool r2r_code_origin(const R2RCode *code, uint32_t function, R2ROrigin *ret)
{
        const NativeTable instances = r2r_table(&code->image->instances);
        const FunctionHead *head;
        R2RInstance instance;

        if (function >= code->image->functions.n)
                return false;
        head = &code->image->heads[function];
        *ret = (R2ROrigin){.component = head->component, .rid = head->value};
        switch (head->kind) {
        case HEAD_NONE:
        case HEAD_UNKNOWN:
                return false;
        case HEAD_METHOD:
                return true;
        case HEAD_INSTANCE:
                break;
        case HEAD_VARIANT:
                ret->kind = R2R_KIND_VARIANT;
                break;
        case HEAD_RESUME:
                ret->kind = R2R_KIND_RESUME;
                break;
        }
        ret->signature =
                (ByteCursor){.at = instances.at + head->value, .n = instances.n - head->value};
        if (!r2r_signature_read(ret->signature, &instance))
                return false;
        ret->rid = instance.rid;
        return true;
}

bool r2r_code_find_method(const R2RCode *code, uint32_t rid, R2RMethod *ret)
{
        const NativeTable methods = code->methods;
        uint32_t function;
        size_t offset;

        return rid && native_array_find(&methods, rid - 1, &offset) &&
               r2r_entry_function(&methods, offset, &function) &&
               r2r_code_method(code, function, ret);
}

static bool method_fits(const R2RMethod *method, uint64_t start, uint32_t size)
{
        return (start - method->begin) % PAGE == 0 && method->end - method->begin == size;
}

/* The offset of a function's debug information; functions with equal information share it. */
static int code_debug_info(const R2RCode *code, uint32_t function, size_t *ret_offset)
{
        const NativeTable debug_info = r2r_table(&code->image->debug_info);
        size_t begin, offset;
        uint32_t back;

        if (function >= code->image->functions.n ||
            !native_array_find(&debug_info, function, &begin))
                return -ENOENT;
        offset = begin;
        if (!native_number(&debug_info, &offset, &back) || back > begin)
                return -EBADMSG;
        *ret_offset = back ? begin - back : offset;
        return 0;
}

static bool maps_are_same(const R2RMap *one, const R2RMap *other)
{
        uint32_t i;

        if (one->n != other->n)
                return false;
        for (i = 0; i < one->n; i++)
                if (one->entries[i].native != other->entries[i].native ||
                    one->entries[i].il != other->entries[i].il ||
                    one->entries[i].source != other->entries[i].source)
                        return false;
        return true;
}

/* True if the maps are equal: debug information may differ in the variables only. */
static bool code_maps_are_same(const R2RCode *code, uint32_t one, uint32_t other)
{
        R2RMap maps[2] = {0};
        bool are_same;
        size_t a, b;

        if (code_debug_info(code, one, &a) < 0 || code_debug_info(code, other, &b) < 0)
                return false;
        if (a == b)
                return true;
        are_same = r2r_code_map(code, one, &maps[0]) == 0 &&
                   r2r_code_map(code, other, &maps[1]) == 0 && maps_are_same(&maps[0], &maps[1]);
        free(maps[0].entries);
        free(maps[1].entries);
        return are_same;
}

/* The first row whose RID is not lower. */
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

bool r2r_code_next_instance(const R2RCode *code, uint32_t rid, uint64_t start, uint32_t size,
                            uint32_t *at, R2RMethod *ret)
{
        uint32_t i = *at ? *at : code_first_row(code, rid);

        for (; i < code->n_rows && code->rows[i].rid == rid; i++)
                if (r2r_code_method(code, code->rows[i].function, ret) &&
                    method_fits(ret, start, size)) {
                        *at = i + 1;
                        return true;
                }
        return false;
}

bool r2r_code_find_body(const R2RCode *code, uint32_t rid, uint64_t start, uint32_t size,
                        R2RMethod *ret)
{
        bool is_found = false;
        R2RMethod method;
        uint32_t at = 0;

        if (r2r_code_find_method(code, rid, &method) && method_fits(&method, start, size)) {
                *ret = method;
                return true;
        }
        while (r2r_code_next_instance(code, rid, start, size, &at, &method)) {
                if (is_found && !code_maps_are_same(code, ret->function, method.function))
                        return false;
                *ret = method;
                is_found = true;
        }
        return is_found;
}

int r2r_code_map(const R2RCode *code, uint32_t function, R2RMap *ret)
{
        const NativeTable debug_info = r2r_table(&code->image->debug_info);
        size_t offset;
        int r = code_debug_info(code, function, &offset);

        return r < 0 ? r
                     : r2r_map_decode(ret, debug_info.at + offset, debug_info.n - offset,
                                      code->version->source_bits);
}

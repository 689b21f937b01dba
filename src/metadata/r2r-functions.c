/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-functions.h"

#include "util/bytes.h"

#include <errno.h>
#include <stdlib.h>

/* The number of the machine includes the system, so that no other system loads the file. */
#define LINUX         0x7b79
#define MACHINE_AMD64 0x8664
#define MACHINE_ARM64 0xaa64

#define MAX_TABLE_BYTES  (32u << 20)
#define MAX_UNWIND_BYTES (32u << 20)

/* Rows: begin, end and unwind data; or begin and unwind data. */
#define AMD64_ROW 12u
#define ARM64_ROW 8u
/* Unwind data on arm64: in the row if its lowest bits are not 0, else at an RVA. */
#define ARM64_IN_ROW_MASK   0x3u
#define ARM64_IN_ROW_SHIFT  2
#define ARM64_IN_ROW_LENGTH 0x7ffu
#define ARM64_LENGTH        0x3ffffu
#define ARM64_INSTRUCTION   4u

/* A table in progress. */
typedef struct FunctionTable {
        const PeFile *pe;
        uint8_t *rows; /* owned */
        uint32_t n;
        uint8_t *unwind; /* owned: on arm64, the unwind data of the rows */
        PeRange range;   /* of the unwind data */
} FunctionTable;

static bool is_arm64(const PeFile *pe)
{
        return pe->machine == MACHINE_ARM64 || pe->machine == (MACHINE_ARM64 ^ LINUX);
}

bool r2r_functions_are_of_machine(const PeFile *pe)
{
        return is_arm64(pe) || pe->machine == MACHINE_AMD64 ||
               pe->machine == (MACHINE_AMD64 ^ LINUX);
}

/* Reads all unwind data at once, because it is adjacent. */
static int table_read_unwind(FunctionTable *table)
{
        uint32_t first = UINT32_MAX, last = 0, i;

        for (i = 0; i < table->n; i++) {
                uint32_t data = bytes_u32(table->rows + (size_t)i * ARM64_ROW + 4);

                if (data & ARM64_IN_ROW_MASK)
                        continue;
                first = data < first ? data : first;
                last = data > last ? data : last;
        }
        if (first > last)
                return 0;
        if (last - first > MAX_UNWIND_BYTES)
                return -EBADMSG;
        table->range = (PeRange){first, last - first + 4};
        return pe_file_read_range(table->pe, table->range, &table->unwind);
}

static R2RFunction table_row(const FunctionTable *table, uint32_t i)
{
        const uint8_t *row;
        uint32_t data, n;

        if (!is_arm64(table->pe)) {
                row = table->rows + (size_t)i * AMD64_ROW;
                return (R2RFunction){bytes_u32(row), bytes_u32(row + 4)};
        }
        row = table->rows + (size_t)i * ARM64_ROW;
        data = bytes_u32(row + 4);
        n = data & ARM64_IN_ROW_MASK
                    ? data >> ARM64_IN_ROW_SHIFT & ARM64_IN_ROW_LENGTH
                    : bytes_u32(table->unwind + (data - table->range.rva)) & ARM64_LENGTH;
        return (R2RFunction){bytes_u32(row), bytes_u32(row) + n * ARM64_INSTRUCTION};
}

static int table_take(const FunctionTable *table, R2RFunctions *functions)
{
        uint32_t end = 0, i;

        for (i = 0; i < table->n; i++) {
                R2RFunction function = table_row(table, i);
                const PeSection *section;

                if (function.begin < end || function.end <= function.begin)
                        return -EBADMSG;
                section = pe_file_section(table->pe, function.begin, function.end - function.begin);
                if (!section || !section->is_code)
                        return -EBADMSG;
                functions->rows[i] = function;
                end = function.end;
        }
        return 0;
}

int r2r_functions_read(R2RFunctions *ret, const PeFile *pe, PeRange range)
{
        const uint32_t n_row = is_arm64(pe) ? ARM64_ROW : AMD64_ROW;
        FunctionTable table = {.pe = pe, .n = range.size / n_row};
        int r = -EBADMSG;

        *ret = (R2RFunctions){.n = table.n};
        if (table.n && range.size % n_row == 0 && range.size <= MAX_TABLE_BYTES)
                r = pe_file_read_range(pe, range, &table.rows);
        if (r == 0 && is_arm64(pe))
                r = table_read_unwind(&table);
        if (r == 0) {
                ret->rows = malloc(table.n * sizeof(*ret->rows));
                r = ret->rows ? table_take(&table, ret) : -ENOMEM;
        }
        free(table.rows);
        free(table.unwind);
        if (r < 0)
                r2r_functions_deinit(ret);
        return r;
}

void r2r_functions_deinit(R2RFunctions *functions)
{
        free(functions->rows);
        *functions = (R2RFunctions){0};
}

uint32_t r2r_functions_last(const R2RFunctions *functions, uint32_t rva)
{
        uint32_t low = 0, high = functions->n;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (functions->rows[middle].begin <= rva)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-funclets.h"

#include "util/bytes.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Size of a row: the RVA of a method's begin, and the RVA of its clauses. The last row only ends
 * the clauses of the previous row.
 */
#define ROW 8u

/*
 * A clause: its kind, begin and end of the block, begin and end of the handler, and the class or
 * filter. Offsets are from the method's begin.
 */
#define CLAUSE         24u
#define CLAUSE_HANDLER 12u
#define CLAUSE_FILTER  20u
#define KIND_FILTER    0x1u

#define MAX_TABLE_BYTES   (16u << 20)
#define MAX_CLAUSES_BYTES (32u << 20)

/* The data read from the image. */
typedef struct FuncletTable {
        uint8_t *rows; /* owned */
        uint32_t n;
        uint8_t *clauses; /* owned: of all methods */
        PeRange range;    /* of the clauses */
        uint32_t n_clauses;
} FuncletTable;

/* The RVA of the clauses of row I. */
static uint32_t table_clauses(const FuncletTable *table, uint32_t i)
{
        return bytes_u32(table->rows + (size_t)i * ROW + 4);
}

/* Reads the clauses of all methods at once, because they are adjacent. */
static int table_read(FuncletTable *table, const PeFile *pe, PeRange range)
{
        uint32_t end;
        int r;

        if (range.size % ROW != 0 || range.size > MAX_TABLE_BYTES)
                return -EBADMSG;
        table->n = range.size / ROW;
        if (table->n < 2)
                return 0;
        r = pe_file_read_range(pe, range, &table->rows);
        if (r < 0)
                return r;
        table->range.rva = table_clauses(table, 0);
        end = table_clauses(table, table->n - 1);
        if (end < table->range.rva || end - table->range.rva > MAX_CLAUSES_BYTES)
                return -EBADMSG;
        table->range.size = end - table->range.rva;
        table->n_clauses = table->range.size / CLAUSE;
        return table->n_clauses ? pe_file_read_range(pe, table->range, &table->clauses) : 0;
}

/* False: the clauses of row I are misplaced. */
static bool table_take_method(const FuncletTable *table, uint32_t i, R2RFunclets *funclets)
{
        const uint32_t method = bytes_u32(table->rows + (size_t)i * ROW);
        const uint32_t begin = table_clauses(table, i), end = table_clauses(table, i + 1);
        uint32_t at = begin - table->range.rva;

        if (begin < table->range.rva || end < begin || at % CLAUSE || (end - begin) % CLAUSE ||
            end - table->range.rva > table->range.size)
                return false;
        for (; at < end - table->range.rva; at += CLAUSE) {
                const uint8_t *clause = table->clauses + at;

                funclets->begins[funclets->n++] = method + bytes_u32(clause + CLAUSE_HANDLER);
                if (bytes_u32(clause) & KIND_FILTER)
                        funclets->begins[funclets->n++] =
                                method + bytes_u32(clause + CLAUSE_FILTER);
        }
        return true;
}

static int begin_compare(const void *one, const void *other)
{
        const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

        return (a > b) - (a < b);
}

static int table_take(const FuncletTable *table, R2RFunclets *funclets)
{
        uint32_t i;

        if (table->n_clauses) {
                funclets->begins = malloc((size_t)table->n_clauses * 2 * sizeof(*funclets->begins));
                if (!funclets->begins)
                        return -ENOMEM;
        }
        for (i = 0; i + 1 < table->n; i++)
                if (!table_take_method(table, i, funclets))
                        return -EBADMSG;
        if (funclets->n)
                qsort(funclets->begins, funclets->n, sizeof(*funclets->begins), begin_compare);
        return 0;
}

int r2r_funclets_read(R2RFunclets *ret, const PeFile *pe, PeRange range)
{
        FuncletTable table = {0};
        int r;

        *ret = (R2RFunclets){0};
        r = table_read(&table, pe, range);
        if (r == 0)
                r = table_take(&table, ret);
        free(table.rows);
        free(table.clauses);
        if (r < 0)
                r2r_funclets_deinit(ret);
        return r;
}

void r2r_funclets_deinit(R2RFunclets *funclets)
{
        free(funclets->begins);
        *funclets = (R2RFunclets){0};
}

bool r2r_funclets_have(const R2RFunclets *funclets, uint32_t rva)
{
        return funclets->n &&
               bsearch(&rva, funclets->begins, funclets->n, sizeof(rva), begin_compare);
}

/* SPDX-License-Identifier: MIT */
#include "event/type-list.h"

/* Bytes before the name. */
#define HEAD_SIZE 25u

static uint64_t type_list_number(const uint8_t *at, unsigned n)
{
        uint64_t value = 0;

        while (n-- > 0)
                value = value << 8 | at[n];
        return value;
}

bool type_list_next(const uint8_t **at, size_t *n, TypeRow *ret)
{
        const uint8_t *row = *at;
        size_t left = *n, used = HEAD_SIZE;

        if (left < HEAD_SIZE)
                return false;
        while (left - used >= 2 && (row[used] || row[used + 1]))
                used += 2;
        if (left - used < 2 + 4)
                return false;
        *ret = (TypeRow){
                .type_id = type_list_number(row, 8),
                .module_id = type_list_number(row + 8, 8),
                .token = (uint32_t)type_list_number(row + 16, 4),
                .flags = (uint32_t)type_list_number(row + 20, 4),
                .element_type = row[24],
                .name = row + HEAD_SIZE,
                .n_name = (uint32_t)((used - HEAD_SIZE) / 2),
                .n_arguments = (uint32_t)type_list_number(row + used + 2, 4),
                .arguments = row + used + 2 + 4,
        };
        used += 2 + 4;
        if ((left - used) / 8 < ret->n_arguments)
                return false;
        used += (size_t)ret->n_arguments * 8;
        *at = row + used;
        *n = left - used;
        return true;
}

uint64_t type_row_argument(const TypeRow *row, uint32_t i)
{
        return type_list_number(row->arguments + (size_t)i * 8, 8);
}

ptrdiff_t type_list_size(const uint8_t *at, size_t n, uint32_t count)
{
        const uint8_t *begin = at;
        TypeRow row;

        for (; count > 0; count--)
                if (!type_list_next(&at, &n, &row))
                        return -1;
        return at - begin;
}

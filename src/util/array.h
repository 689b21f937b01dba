/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Arrays that grow, for code that uses libc only
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Elements of room in a new array. */
#define ARRAY_FIRST 64

/*
 * Makes room for N elements of SIZE bytes in an array with *ROOM, which doubles until it is enough.
 * ARRAY is the address of the pointer to the elements, which the caller frees. False: no memory;
 * the array is unchanged.
 */
static inline bool array_grow(void *array, size_t *room, size_t n, size_t size)
{
        size_t wanted = *room ? *room : ARRAY_FIRST;
        void *elements;

        if (n <= *room)
                return true;
        while (wanted < n && wanted <= SIZE_MAX / 2)
                wanted *= 2;
        if (wanted < n || wanted > SIZE_MAX / size)
                return false;
        memcpy(&elements, array, sizeof(elements));
        elements = realloc(elements, wanted * size);
        if (!elements)
                return false;
        memcpy(array, &elements, sizeof(elements));
        *room = wanted;
        return true;
}

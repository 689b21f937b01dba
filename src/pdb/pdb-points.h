/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PDB points: the sequence points of a method, in the order of their IL offsets
 */

#include "pdb/pdb.h"

typedef struct PdbPoint {
        uint32_t il;
        bool is_hidden;    /* compiler-generated code: the next members are 0 */
        uint32_t document; /* row of the table Document */
        uint32_t line, column;
        uint32_t end_line, end_column;
} PdbPoint;

typedef struct PdbPoints {
        ByteCursor cursor;
        PdbPoint point;   /* the last point */
        PdbPoint visible; /* the last point that is not hidden */
        uint32_t document;
        bool has_point, has_visible;
        bool has_failed; /* the points are damaged */
} PdbPoints;

/* False if METHOD has no points. */
bool pdb_points_init(PdbPoints *ret, const Pdb *pdb, uint32_t method);
/* Reads the next point into points->point. False after the last one, or at a damaged one. */
bool pdb_points_next(PdbPoints *points);

/*
 * The point with the line of an IL offset: the last visible point at IL or before, as in the
 * runtime's stack traces. False: no such point, or any point of the method is damaged.
 */
bool pdb_find_point(const Pdb *pdb, uint32_t method, uint32_t il, PdbPoint *ret);
/* The method's first visible point. */
bool pdb_first_point(const Pdb *pdb, uint32_t method, PdbPoint *ret);

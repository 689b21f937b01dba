/* SPDX-License-Identifier: MIT */
#include "pdb/pdb-points.h"

bool pdb_points_init(PdbPoints *ret, const Pdb *pdb, uint32_t method)
{
        uint32_t document, blob;
        MetadataSpan span;

        if (!metadata_cell(&pdb->metadata, METADATA_METHOD_DEBUG_INFORMATION, method,
                           METHOD_DEBUG_DOCUMENT, &document) ||
            !metadata_cell(&pdb->metadata, METADATA_METHOD_DEBUG_INFORMATION, method,
                           METHOD_DEBUG_POINTS, &blob) ||
            !blob || !metadata_blob(&pdb->metadata, blob, &span))
                return false;
        *ret = (PdbPoints){.cursor = {.at = span.at, .n = span.n}, .document = document};
        byte_cursor_unsigned(&ret->cursor); /* the signature of the locals */
        if (!document)
                ret->document = byte_cursor_unsigned(&ret->cursor);
        ret->has_failed = ret->cursor.has_failed;
        return !ret->has_failed;
}

static bool points_fail(PdbPoints *points)
{
        points->has_failed = true;
        return false;
}

/* Adds a delta; false if the sum is below 0, or larger than any line or column. */
static bool add_delta(uint32_t *number, int64_t delta)
{
        int64_t sum = (int64_t)*number + delta;

        if (sum < 0 || sum > INT32_MAX)
                return false;
        *number = (uint32_t)sum;
        return true;
}

/* Reads the lines and columns of a point; its IL offset is set. */
static bool take_place(PdbPoints *points, PdbPoint *point)
{
        ByteCursor *cursor = &points->cursor;
        uint32_t n_lines = byte_cursor_unsigned(cursor);
        int64_t n_columns =
                n_lines ? byte_cursor_signed(cursor) : (int64_t)byte_cursor_unsigned(cursor);

        if (!n_lines && !n_columns) {
                point->is_hidden = true;
                return true;
        }
        point->document = points->document;
        if (points->has_visible) {
                point->line = points->visible.line;
                point->column = points->visible.column;
                if (!add_delta(&point->line, byte_cursor_signed(cursor)) ||
                    !add_delta(&point->column, byte_cursor_signed(cursor)))
                        return false;
        } else {
                point->line = byte_cursor_unsigned(cursor);
                point->column = byte_cursor_unsigned(cursor);
        }
        point->end_line = point->line;
        point->end_column = point->column;
        return add_delta(&point->end_line, n_lines) && add_delta(&point->end_column, n_columns);
}

bool pdb_points_next(PdbPoints *points)
{
        ByteCursor *cursor = &points->cursor;
        PdbPoint point = {.il = points->has_point ? points->point.il : 0};
        uint32_t delta;

        if (points->has_failed)
                return false;
        for (;;) {
                if (!cursor->n)
                        return false;
                delta = byte_cursor_unsigned(cursor);
                if (delta || !points->has_point)
                        break;
                points->document = byte_cursor_unsigned(cursor);
                if (cursor->has_failed)
                        return points_fail(points);
        }
        if (!add_delta(&point.il, delta) || !take_place(points, &point) || cursor->has_failed)
                return points_fail(points);
        points->point = point;
        points->has_point = true;
        if (!point.is_hidden) {
                points->visible = point;
                points->has_visible = true;
        }
        return true;
}

bool pdb_find_point(const Pdb *pdb, uint32_t method, uint32_t il, PdbPoint *ret)
{
        PdbPoints points;
        bool is_found = false;

        if (!pdb_points_init(&points, pdb, method))
                return false;
        while (pdb_points_next(&points)) {
                if (points.point.is_hidden || points.point.il > il)
                        continue;
                *ret = points.point;
                is_found = true;
        }
        return is_found && !points.has_failed;
}

bool pdb_first_point(const Pdb *pdb, uint32_t method, PdbPoint *ret)
{
        PdbPoints points;

        if (!pdb_points_init(&points, pdb, method))
                return false;
        while (pdb_points_next(&points))
                if (points.has_visible) {
                        *ret = points.point;
                        return true;
                }
        return false;
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image parts: a process, its lapses and its code map, as items
 */

#include "core/image-io.h"
#include "core/process.h"

/* Writing: all items of what is in a process, behind its own. */
void image_put_process(ImageIo *io, Process *process);
/* Reading: the rest of an item of that tag, of PROCESS. */
void image_get_process(ImageIo *io, ImageTag tag, Process *process);

/* The same of what is in its code map. */
void image_put_code_map(ImageIo *io, CodeMap *map);
void image_get_code_map(ImageIo *io, ImageTag tag, CodeMap *map, uint32_t n_modules);

/* The same of its lapses. */
void image_put_lapses(ImageIo *io, Lapses *lapses);
void image_get_lapses(ImageIo *io, Lapses *lapses);
void image_get_lapse(ImageIo *io, Lapses *lapses, bool is_told);
void image_get_stranger(ImageIo *io, Lapses *lapses);

/* A field, which has a name; and before its item. */
void image_tell_stub_target(ImageIo *io, const StubTarget *target);
void image_stub_target(ImageIo *io, StubTarget *target);

/* A field: a map or NULL. When reading, a new one. */
void image_il_map(ImageIo *io, IlMap **map);

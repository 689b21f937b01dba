/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image: all that a tracker knows, as bytes
 *
 * Bytes of one machine for the same machine: numbers are as they lie in memory. Two trackers that
 * came to know the same in the same way have equal images.
 */

#include "core/tracker.h"

/* Takes N bytes, some whole items of an image. False: no more is wanted. */
typedef bool (*ImageTake)(void *data, const uint8_t *bytes, size_t n);

/*
 * Hands the image to TAKE, piece by piece, in order. False as soon as TAKE is. In a forked child it
 * may be called too: it takes no locks but malloc's.
 */
bool image_write(const Tracker *tracker, ImageTake take, void *data);

typedef struct ImageReader ImageReader;

/* TRACKER, borrowed, has to be as new: it knows nothing. */
ImageReader *image_reader_new(Tracker *tracker);

/*
 * Takes a piece, as they were handed out. False if it is none of an image, now or earlier: then the
 * tracker is only good for tracker_reset() or to be freed.
 */
bool image_reader_take(ImageReader *reader, const uint8_t *bytes, size_t n);

/* Frees the reader. True if the image was whole, and the tracker knows all that was in it. */
bool image_reader_finish(ImageReader *reader);

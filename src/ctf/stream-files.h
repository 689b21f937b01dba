/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The files of a stream, in the order of their packets
 *
 * A session that was rotated has a stream in several files, one after the other. Snapshots of one
 * session overlap: the same packet can be in several of them, and is read once.
 */

#include "ctf/data-stream.h"

/* Sorts the files of STREAM, which can become pieces of files. False with ERROR set. */
bool ctf_stream_files_sort(CtfDataStream *stream, GError **error);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The files of a stream, in the order of their packets
 *
 * A stream of a rotated session has several consecutive files. Snapshots of one session overlap:
 * several of them can contain the same packet, which is read once.
 */

#include "ctf/data-stream.h"

/* Sorts the files of STREAM, which can become pieces of files. False with ERROR set. */
bool ctf_stream_files_sort(CtfDataStream *stream, GError **error);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CTF reader: all traces in a directory, as one sequence of items in order of time
 *
 * The order is babeltrace2's: by time since the epoch, then by trace, stream class and stream. A
 * trace that lies in several directories (rotation) is one trace. Memory is one window a stream.
 */

#include "ctf/data-stream.h"

typedef struct CtfReader CtfReader;

/*
 * Opens every trace in PATH, here or below, and reads each packet's head. NULL with ERROR set:
 * after CTF_ERROR_UNSUPPORTED babeltrace2 may be able to read the traces, after other errors it is
 * not.
 */
CtfReader *ctf_reader_new(const char *path, EventUse use, GError **error);
/*
 * The same for N_PATHS paths. HAS_OTHERS: the items include events that USE does not want, and
 * events other than .NET's.
 */
CtfReader *ctf_reader_new_of(const char *const *paths, size_t n_paths, EventUse use,
                             bool has_others, GError **error);
void ctf_reader_free(CtfReader *reader);

typedef enum CtfReadResult {
        CTF_READ_ITEM,
        CTF_READ_END,
        CTF_READ_ERROR,
} CtfReadResult;

/*
 * Moves to the next item: *RET_STREAM is its stream, which holds the item until the next call.
 * Without HAS_OTHERS, unwanted events are counted and skipped.
 */
CtfReadResult ctf_reader_next(CtfReader *reader, CtfDataStream **ret_stream, GError **error);

/* Goes back to the beginning: the next item is the first. False with ERROR set. */
bool ctf_reader_rewind(CtfReader *reader, GError **error);

/* Decodes STREAM's present event. The record's views are valid until the next call. */
CtfDecode ctf_reader_decode(CtfReader *reader, CtfDataStream *stream, Record *ret_record);

/* Streams in the order of their identities; borrowed. */
const GPtrArray *ctf_reader_streams(const CtfReader *reader);
/* The name of the LTTng session of a stream's trace; "": not known. Borrowed. */
const char *ctf_reader_trace_name(const CtfReader *reader, const CtfDataStream *stream);

void ctf_reader_report(const CtfReader *reader, FeederReport *ret_report);
/* A table of event_counts_new(), with all .NET events seen; borrowed. */
GHashTable *ctf_reader_counts(const CtfReader *reader);
/* Bytes of the stream files: read so far, and all. */
uint64_t ctf_reader_n_read(const CtfReader *reader);
uint64_t ctf_reader_n_bytes(const CtfReader *reader);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CTF reader: all traces in a directory, as one sequence of items in the order of their times
 *
 * The order is babeltrace2's: by time since the epoch, then by trace, stream class and stream. A
 * trace that lies in several directories (rotation) is one trace. Memory is one window a stream.
 */

#include "ctf/data-stream.h"

typedef struct CtfReader CtfReader;

/*
 * Opens every trace in PATH, here or below, and looks at each packet's head. NULL with ERROR set: a
 * CTF_ERROR_UNSUPPORTED can be read by babeltrace2, maybe; nothing else can.
 */
CtfReader *ctf_reader_new(const char *path, EventUse use, GError **error);
/*
 * The same of N_PATHS paths. HAS_OTHERS: the items have the events, too, that USE does not want or
 * that are not .NET events.
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
 * The next item: *RET_STREAM is the stream that it is of, with the item in it, valid until the next
 * call. Events that USE does not want are counted and passed over, if not HAS_OTHERS.
 */
CtfReadResult ctf_reader_next(CtfReader *reader, CtfDataStream **ret_stream, GError **error);

/* Goes back to the beginning: the next item is the first. False with ERROR set. */
bool ctf_reader_rewind(CtfReader *reader, GError **error);

/* Decodes the event that STREAM is at. The record's views are valid until the next call. */
CtfDecode ctf_reader_decode(CtfReader *reader, CtfDataStream *stream, Record *ret_record);

/* Streams in the order of their identities; borrowed. */
const GPtrArray *ctf_reader_streams(const CtfReader *reader);
/* The name of the LTTng session of a stream's trace; "" if it is not known. Borrowed. */
const char *ctf_reader_trace_name(const CtfReader *reader, const CtfDataStream *stream);

void ctf_reader_report(const CtfReader *reader, FeederReport *ret_report);
/* A table of event_counts_new(), of all .NET events seen; borrowed. */
GHashTable *ctf_reader_counts(const CtfReader *reader);
/* Bytes of the stream files: read so far, and all. */
uint64_t ctf_reader_n_read(const CtfReader *reader);
uint64_t ctf_reader_n_bytes(const CtfReader *reader);

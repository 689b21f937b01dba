/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfData: a perf.data file, record by record
 *
 * perf record writes a header, the attributes of its events with their ids, the records, and
 * sections with features. A recording through a pipe has records in place of attributes and
 * features; such a file is read, too. The source of the layout is
 * tools/perf/Documentation/perf.data-file-format.txt of Linux, and linux/perf_event.h for
 * attributes and records. Numbers are in the byte order of the recording machine; a file of the
 * other order is refused.
 *
 * No length in the file is trusted. Memory is bounded by the sum of:
 * - a window of the file
 * - PERF_MAX_ATTRS attributes with PERF_MAX_IDS ids
 * - PERF_MAX_INFLATED bytes of compressed records
 * - the features
 */

#include "perfdata/perf-features.h"
#include "perfdata/perf-inflater.h"

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define PERF_MAX_ATTRS 4096u
#define PERF_MAX_IDS   (1u << 20)

/* perf's own records, which <linux/perf_event.h> does not define. */
enum {
        PERF_RECORD_USER_FIRST = 64,
        PERF_RECORD_HEADER_ATTR = 64,
        PERF_RECORD_HEADER_TRACING_DATA = 66,
        PERF_RECORD_HEADER_BUILD_ID = 67,
        PERF_RECORD_FINISHED_ROUND = 68,
        PERF_RECORD_AUXTRACE = 71,
        PERF_RECORD_EVENT_UPDATE = 78,
        PERF_RECORD_HEADER_FEATURE = 80,
        PERF_RECORD_COMPRESSED = 81,
        PERF_RECORD_COMPRESSED2 = 83,
};

/* A part of the file, in bytes. */
typedef struct PerfSection {
        uint64_t offset, size;
} PerfSection;

/* "PERFILE2" */
#define PERF_DATA_MAGIC UINT64_C(0x32454c4946524550)

typedef struct PerfFileHeader {
        uint64_t magic;
        uint64_t size;      /* of this header */
        uint64_t attr_size; /* of an attribute and the section of its ids */
        PerfSection attrs, data, event_types;
        uint64_t features[4]; /* bits: the sections after the data */
} PerfFileHeader;

typedef struct PerfAttr {
        struct perf_event_attr attr;
        uint64_t at; /* offset in the file */
        uint32_t n;  /* size in the file, in bytes */
        uint64_t id; /* its first id; 0: none */
        char *name;  /* owned: name of the event, as perf writes it */
} PerfAttr;

/* PERF_RECORD_FORK, in linux/perf_event.h. */
typedef struct ForkRecord {
        struct perf_event_header header;
        uint32_t pid, parent, tid,
                parent_tid; /* a new thread if PID is PARENT, else a new process */
        uint64_t time;      /* ns of perf's clock; 0: the process is older than the recording */
} ForkRecord;

/* The kernel's limit of a thread's name, including the NUL. */
#define THREAD_NAME_SIZE 16

/* PERF_RECORD_COMM: a thread has a new name. */
typedef struct CommRecord {
        int32_t pid, tid;
        char name[THREAD_NAME_SIZE];
} CommRecord;

/* False: another record, or the record has no name. */
bool comm_record_read(CommRecord *ret, const struct perf_event_header *record);
/* The same for PERF_RECORD_FORK. */
bool fork_record_read(ForkRecord *ret, const struct perf_event_header *record);

/* The offset of the pid in a sample, in bytes; TYPE: the event's sample_type. */
static inline size_t perf_sample_pid_at(uint64_t type)
{
        return sizeof(struct perf_event_header) +
               ((type & PERF_SAMPLE_IDENTIFIER ? 1 : 0) + (type & PERF_SAMPLE_IP ? 1 : 0)) *
                       sizeof(uint64_t);
}

typedef struct PerfData {
        int fd; /* owned */
        uint64_t size;
        PerfFileHeader header;
        bool is_of_pipe;
        bool is_cut; /* the file is truncated */
        PerfFeatures features;
        GArray *attrs;      /* owned, of PerfAttr */
        GHashTable *by_id;  /* owned: id -> index of the attribute + 1; empty with one attribute */
        uint64_t next;      /* offset of the next record */
        uint8_t *window;    /* owned */
        uint64_t window_at; /* offset of the window in the file */
        size_t n_window;
        uint64_t *aligned;      /* owned: copy of an unaligned record */
        PerfInflater *inflater; /* owned; NULL: no compressed record yet */
} PerfData;

/* PATH is a regular file. Deinitialize DATA in both cases. */
bool perf_data_open(PerfData *ret_data, const char *path, GError **error);
void perf_data_deinit(PerfData *data);

/* Reads N bytes of the file from OFFSET on. */
bool perf_data_read(const PerfData *data, uint64_t offset, void *bytes, size_t n, GError **error);

/*
 * The next record, aligned to 8 bytes and valid until the next call. *RET_RECORD NULL: end of file.
 * If perf was killed, the truncated last record is ignored. The records inside a compressed record
 * are returned in its place.
 */
bool perf_data_next(PerfData *data, const struct perf_event_header **ret_record, GError **error);
/* Continues with the first record. */
void perf_data_rewind(PerfData *data);
/* True if there are compressed records, whose contents have no offset in the file. */
bool perf_data_is_compressed(const PerfData *data);

/* The attributes of a sample; NULL: unknown id, or a truncated sample. */
const PerfAttr *perf_data_event(const PerfData *data, const struct perf_event_header *record);
const struct perf_event_attr *perf_data_attr(const PerfData *data,
                                             const struct perf_event_header *record);

/* The thread and the time of a record other than a sample. */
typedef struct PerfRecordId {
        int32_t pid, tid; /* -1: not recorded */
        uint64_t time;    /* ns of perf's clock */
} PerfRecordId;

/* False: the record has no time, like perf's own records, or is truncated. */
bool perf_data_id(const PerfData *data, const struct perf_event_header *record,
                  PerfRecordId *ret_id);
/* Only the time; 0: none. */
uint64_t perf_data_time(const PerfData *data, const struct perf_event_header *record);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfData: a perf.data file, record by record
 *
 * perf record writes a header, the attributes of its events with their ids, the records, and
 * sections with features. Written to a pipe, a recording has records in place of attributes and
 * features; such a file is read, too. The source of the layout is
 * tools/perf/Documentation/perf.data-file-format.txt of Linux, and linux/perf_event.h for
 * attributes and records. All numbers are in the byte order of the machine that recorded; a file of
 * the other order is refused.
 *
 * No length in the file is trusted: memory is bounded by that of a window, of PERF_MAX_ATTRS
 * attributes and their PERF_MAX_IDS ids, of PERF_MAX_INFLATED bytes of compressed records, and of
 * the features.
 */

#include "perfdata/perf-features.h"
#include "perfdata/perf-inflater.h"

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define PERF_MAX_ATTRS 4096u
#define PERF_MAX_IDS   (1u << 20)

/* perf's own records; none of them is in <linux/perf_event.h>. */
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
        uint64_t features[4]; /* a bit for each section after the data */
} PerfFileHeader;

typedef struct PerfAttr {
        struct perf_event_attr attr;
        uint64_t at; /* place in the file */
        uint32_t n;  /* its bytes in the file */
        uint64_t id; /* the first of its ids; 0: none */
        char *name;  /* owned: of the event, in perf's form */
} PerfAttr;

/* PERF_RECORD_FORK, in linux/perf_event.h. */
typedef struct ForkRecord {
        struct perf_event_header header;
        uint32_t pid, parent, tid, parent_tid; /* if PID is PARENT, of a thread */
        uint64_t time; /* ns of perf's clock; 0: the process existed when perf started */
} ForkRecord;

/* The kernel's limit of a thread's name, including the NUL. */
#define THREAD_NAME_SIZE 16

/* PERF_RECORD_COMM: a thread has a new name. */
typedef struct CommRecord {
        int32_t pid, tid;
        char name[THREAD_NAME_SIZE];
} CommRecord;

/* False: another record, or too short for a name. */
bool comm_record_read(CommRecord *ret, const struct perf_event_header *record);
/* The same of PERF_RECORD_FORK. */
bool fork_record_read(ForkRecord *ret, const struct perf_event_header *record);

/* The place of the pid in a sample of an event with TYPE, its sample_type, in bytes. */
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
        bool is_cut; /* records are missing at its end */
        PerfFeatures features;
        GArray *attrs; /* owned, of PerfAttr */
        GHashTable
                *by_id;  /* owned: index of the attribute + 1 by id, or empty with one attribute */
        uint64_t next;   /* place of the next record */
        uint8_t *window; /* owned */
        uint64_t window_at; /* place of the window in the file */
        size_t n_window;
        uint64_t *aligned;      /* owned: a record that is not aligned in the window */
        PerfInflater *inflater; /* owned; NULL: no compressed record so far */
} PerfData;

/* PATH is a regular file. To be deinitialized in both cases. */
bool perf_data_open(PerfData *ret_data, const char *path, GError **error);
void perf_data_deinit(PerfData *data);

/* Reads N bytes of the file from OFFSET on. */
bool perf_data_read(const PerfData *data, uint64_t offset, void *bytes, size_t n, GError **error);

/*
 * The next record, aligned to 8 bytes and valid until the next call. At the end, *RET_RECORD is
 * NULL. An incomplete last record, of a recording that was killed, is left out. The records in a
 * compressed record take its place.
 */
bool perf_data_next(PerfData *data, const struct perf_event_header **ret_record, GError **error);
/* Continues with the first record. */
void perf_data_rewind(PerfData *data);
/* True if there are compressed records. Such records have no place in the file. */
bool perf_data_is_compressed(const PerfData *data);

/* The attributes of a sample; NULL: its id is not known, or it is too short. */
const PerfAttr *perf_data_event(const PerfData *data, const struct perf_event_header *record);
const struct perf_event_attr *perf_data_attr(const PerfData *data,
                                             const struct perf_event_header *record);

/* The running thread at a record that is not a sample, and the time. */
typedef struct PerfRecordId {
        int32_t pid, tid; /* -1: not recorded */
        uint64_t time;    /* ns of perf's clock */
} PerfRecordId;

/* False: the record has no time, like perf's own records, or is too short. */
bool perf_data_id(const PerfData *data, const struct perf_event_header *record,
                  PerfRecordId *ret_id);
/* The time only; 0: none. */
uint64_t perf_data_time(const PerfData *data, const struct perf_event_header *record);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfData: a perf.data file, record by record
 *
 * As perf record writes it: a header, the attributes of its events with their ids, the records, and
 * sections with features. What perf record writes to a pipe has records in the place of attributes
 * and features; it is read as well, from a file. The source of the layout is
 * tools/perf/Documentation/perf.data-file-format.txt of Linux, and linux/perf_event.h for
 * attributes and records. All numbers are in the byte order of the machine that recorded; a file of
 * the other order is refused.
 *
 * No length in the file is believed: memory is bounded by that of a window, of PERF_MAX_ATTRS
 * attributes and of their PERF_MAX_IDS ids, of PERF_MAX_INFLATED bytes of records that perf has
 * compressed, and of the features.
 */

#include "perfdata/perf-features.h"
#include "perfdata/perf-inflater.h"

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define PERF_MAX_ATTRS 4096u
#define PERF_MAX_IDS   (1u << 20)

/* What perf writes besides the kernel's records; none of these is in <linux/perf_event.h>. */
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
        uint64_t at; /* where it is in the file */
        uint32_t n;  /* bytes of it that are there */
        uint64_t id; /* the first of its ids; 0: it has none */
        char *name;  /* owned: of the event, as perf calls it */
} PerfAttr;

/* PERF_RECORD_FORK, in linux/perf_event.h. */
typedef struct ForkRecord {
        struct perf_event_header header;
        uint32_t pid, parent, tid, parent_tid; /* PID is PARENT: of a thread */
        uint64_t time; /* ns of perf's clock; 0: perf found the process there at its start */
} ForkRecord;

/* The kernel's limit of a thread's name, with the NUL. */
#define THREAD_NAME_SIZE 16

/* PERF_RECORD_COMM: a thread has a new name. */
typedef struct CommRecord {
        int32_t pid, tid;
        char name[THREAD_NAME_SIZE];
} CommRecord;

/* False: the record is of another type, or too short for a name. */
bool comm_record_read(CommRecord *ret, const struct perf_event_header *record);
/* The same of PERF_RECORD_FORK. */
bool fork_record_read(ForkRecord *ret, const struct perf_event_header *record);

/* Where a sample of an event with TYPE, its sample_type, has its pid, in bytes of the record. */
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
        GArray *attrs;      /* owned, of PerfAttr */
        GHashTable *by_id;  /* owned: index of the attribute + 1 by id, or empty if one is enough */
        uint64_t next;      /* where the next record is */
        uint8_t *window;    /* owned */
        uint64_t window_at; /* what it has of the file */
        size_t n_window;
        uint64_t *aligned;      /* owned: a record that has no aligned place in the window */
        PerfInflater *inflater; /* owned; NULL: no record was compressed so far */
} PerfData;

/* PATH is a regular file. To be deinitialized in both cases. */
bool perf_data_open(PerfData *ret_data, const char *path, GError **error);
void perf_data_deinit(PerfData *data);

/* N bytes of the file from OFFSET on. */
bool perf_data_read(const PerfData *data, uint64_t offset, void *bytes, size_t n, GError **error);

/*
 * The next record, aligned to 8 bytes and valid until the call after it. At the end, *RET_RECORD is
 * NULL. What a recording that was killed has of its last record is left out. A compressed record is
 * replaced by those that it has.
 */
bool perf_data_next(PerfData *data, const struct perf_event_header **ret_record, GError **error);
/* From the first record on again. */
void perf_data_rewind(PerfData *data);
/* Are there compressed records? Then records have no place in the file. */
bool perf_data_is_compressed(const PerfData *data);

/* The attributes of a sample; NULL: its id is not known, or it is shorter than that. */
const PerfAttr *perf_data_event(const PerfData *data, const struct perf_event_header *record);
const struct perf_event_attr *perf_data_attr(const PerfData *data,
                                             const struct perf_event_header *record);

/* Who was on the CPU at a record that is not a sample, and when. */
typedef struct PerfRecordId {
        int32_t pid, tid; /* -1: not recorded */
        uint64_t time;    /* ns of perf's clock */
} PerfRecordId;

/* False: the record has no time, as perf's own records, or is too short for it. */
bool perf_data_id(const PerfData *data, const struct perf_event_header *record,
                  PerfRecordId *ret_id);
/* The time alone; 0: the record has none. */
uint64_t perf_data_time(const PerfData *data, const struct perf_event_header *record);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * AddressSpaces: the executable mappings of each process, by time
 *
 * They come from perf's records of mappings, forks and executions, which are not in order of time:
 * all must be taken before the first question. A child has its parent's mappings of the time of the
 * fork. The kernel reports no end of a mapping: a later one hides it.
 *
 * Memory is bounded: mappings after SPACE_MAX_MAPPINGS are left out.
 */

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define SPACE_MAX_MAPPINGS (1u << 21)
#define SPACE_MAX_FILES    (1u << 18)

/* A file, as the kernel identifies it. */
typedef struct MappedFile {
        uint32_t major, minor;
        uint64_t inode;     /* 0: no file, or not known */
        uint8_t n_build_id; /* 0: perf recorded the device and inode; else they are 0 */
        uint8_t build_id[20];
        int32_t pid; /* a process that has mapped it */
        uint32_t number;
        char *path; /* owned: in the mount namespace of that process */
} MappedFile;

typedef struct SpaceMapping {
        uint64_t begin, end; /* addresses, END is excluded */
        uint64_t offset;     /* offset of BEGIN in the file */
        uint64_t time;       /* ns of perf's clock; 0: before the recording began */
        uint32_t file;       /* number of the file */
} SpaceMapping;

/* The file of a mapping, from PERF_RECORD_MMAP or PERF_RECORD_MMAP2. */
typedef struct MappingRecord {
        int32_t pid; /* KERNEL_PID: of the kernel */
        uint64_t address, size, offset;
        uint32_t major, minor;
        uint64_t inode, generation; /* 0: not recorded */
        uint8_t n_build_id;         /* 0: not recorded */
        uint8_t build_id[20];
        bool is_executable;
        const char *path; /* borrowed from the record */
} MappingRecord;

#define KERNEL_PID (-1)

/* False: another record, or a damaged one. */
bool mapping_record_read(MappingRecord *ret, const struct perf_event_header *record);

typedef struct AddressSpaces {
        GHashTable *spaces;   /* owned: by pid */
        GHashTable *files;    /* owned: of MappedFile, also its key */
        GPtrArray *by_number; /* borrowed MappedFiles */
        unsigned n_mappings;  /* with forks, executions and names */
        int32_t last_pid;     /* of the last question */
        struct Space *last;   /* borrowed: of that process; NULL: no question yet */
} AddressSpaces;

AddressSpaces *address_spaces_new(void);
void address_spaces_free(AddressSpaces *spaces);

/* Takes a record that is not a sample; ignores others than those above. */
void address_spaces_take(AddressSpaces *spaces, const struct perf_event_header *record,
                         uint64_t time);

/* Adds an executable mapping, made at TIME. */
void address_spaces_add(AddressSpaces *spaces, const MappingRecord *mapping, uint64_t time);

/* The mapping at ADDRESS of process PID at TIME; NULL: none is known. Valid until the next take. */
const SpaceMapping *address_spaces_find(AddressSpaces *spaces, int32_t pid, uint64_t time,
                                        uint64_t address);

/* The mapping in the program that process PID was before an execution a moment ago. */
const SpaceMapping *address_spaces_find_executor(AddressSpaces *spaces, int32_t pid, uint64_t time,
                                                 uint64_t address);

/* The last name of process PID; NULL: not known. */
const char *address_spaces_name(const AddressSpaces *spaces, int32_t pid);

const MappedFile *address_spaces_file(const AddressSpaces *spaces, uint32_t number);

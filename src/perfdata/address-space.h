/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * AddressSpaces: the executable mappings of each process, by time
 *
 * perf's records of mappings, forks and executions are not in order of time: take all of them
 * before the first lookup. A child has the mappings that its parent had at the fork. The kernel
 * does not report the end of a mapping: a later mapping hides it.
 *
 * Memory is bounded: mappings after SPACE_MAX_MAPPINGS are dropped.
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
        uint64_t inode;      /* 0: no file, or not known */
        uint64_t generation; /* of the inode, for files that use it one after the other; 0: not
                              * recorded */
        uint8_t n_build_id;  /* 0: device and inode identify the file; else they are 0 */
        uint8_t build_id[20];
        int32_t pid;  /* a process that has mapped it */
        bool is_twin; /* other files were mapped at the same path */
        uint32_t number;
        char *path; /* owned: in the mount namespace of that process */
} MappedFile;

typedef struct SpaceMapping {
        uint64_t begin, end; /* addresses; END is exclusive */
        uint64_t offset;     /* offset of BEGIN in the file; of anonymous memory: BEGIN */
        uint64_t time;       /* ns of perf's clock; 0: before the recording began */
        uint32_t file;       /* number of the file */
} SpaceMapping;

/* A mapping of PERF_RECORD_MMAP or PERF_RECORD_MMAP2. */
typedef struct MappingRecord {
        int32_t pid; /* KERNEL_PID: the kernel */
        uint64_t address, size, offset;
        uint32_t major, minor;
        uint64_t inode, generation; /* 0: not recorded */
        uint8_t n_build_id;         /* 0: not recorded */
        uint8_t build_id[20];
        bool is_executable;
        const char *path; /* borrowed from the record */
} MappingRecord;

#define KERNEL_PID (-1)

/* perf's path of anonymous memory. */
#define ANONYMOUS_PATH "//anon"

/* False: another record, or a damaged record. */
bool mapping_record_read(MappingRecord *ret, const struct perf_event_header *record);

typedef struct AddressSpaces {
        GHashTable *spaces;   /* owned: by pid */
        GHashTable *files;    /* owned: MappedFile -> itself */
        GHashTable *by_path;  /* owned: path -> the first MappedFile, both borrowed */
        GPtrArray *by_number; /* borrowed MappedFiles, by number */
        unsigned n_mappings;  /* including forks, executions and names */
        int32_t last_pid;     /* of the last lookup */
        struct Space *last;   /* borrowed: of that process; NULL: no lookup yet */
} AddressSpaces;

AddressSpaces *address_spaces_new(void);
void address_spaces_free(AddressSpaces *spaces);

/* Takes a record other than a sample; ignores records of other types. */
void address_spaces_take(AddressSpaces *spaces, const struct perf_event_header *record,
                         uint64_t time);

/* Adds an executable mapping that began at TIME. */
void address_spaces_add(AddressSpaces *spaces, const MappingRecord *mapping, uint64_t time);

/*
 * The mapping at ADDRESS of process PID at TIME; NULL: not known. Valid until the next take or add.
 */
const SpaceMapping *address_spaces_find(AddressSpaces *spaces, int32_t pid, uint64_t time,
                                        uint64_t address);

/*
 * The mapping in the previous program, if process PID executed another program shortly before TIME.
 */
const SpaceMapping *address_spaces_find_executor(AddressSpaces *spaces, int32_t pid, uint64_t time,
                                                 uint64_t address);

/* The last name of process PID; NULL: not known. */
const char *address_spaces_name(const AddressSpaces *spaces, int32_t pid);

const MappedFile *address_spaces_file(const AddressSpaces *spaces, uint32_t number);

/* SPDX-License-Identifier: MIT */
#include "perfdata/address-space.h"

#include "perfdata/perf-data.h"
#include "util/hash.h"

#include <string.h>
#include <sys/mman.h>

/* Limit of overlapping mappings that a lookup visits: a guess. */
#define MAX_COVERED 4096u

/*
 * ns after the record of an execution. Until then the call in the old program may not have
 * returned, so its callers are in the old program.
 */
#define EXECUTION_NS UINT64_C(1000000000)

/* Maximum of steps from child to parent. */
#define MAX_PARENTS 32u

/* The begin of an address space: by a fork, with the parent's mappings; or by an execution. */
typedef struct SpaceBegin {
        uint64_t time;
        int32_t parent; /* 0: an execution, so without mappings */
} SpaceBegin;

typedef struct Space {
        GArray *mappings; /* owned, of SpaceMapping; by BEGIN, once sorted */
        GArray *ends;     /* owned, of uint64_t: for each mapping, the highest end up to it */
        GArray *begins;   /* owned, of SpaceBegin; by time, once sorted */
        bool is_sorted;
        char name[THREAD_NAME_SIZE]; /* of the process; "": not known */
        uint64_t named;              /* time of that name */
} Space;

static void space_free(void *data)
{
        Space *space = data;

        g_array_unref(space->mappings);
        g_array_unref(space->ends);
        g_array_unref(space->begins);
        g_free(space);
}

static void mapped_file_free(void *data)
{
        MappedFile *file = data;

        g_free(file->path);
        g_free(file);
}

static guint mapped_file_hash(gconstpointer data)
{
        const MappedFile *file = data;

        return (guint)(hash_bytes(file->path, strlen(file->path)) ^ file->inode);
}

static gboolean mapped_file_equal(gconstpointer one, gconstpointer other)
{
        const MappedFile *a = one, *b = other;

        return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
               a->generation == b->generation && a->n_build_id == b->n_build_id &&
               memcmp(a->build_id, b->build_id, sizeof(a->build_id)) == 0 &&
               strcmp(a->path, b->path) == 0;
}

AddressSpaces *address_spaces_new(void)
{
        AddressSpaces *spaces = g_new0(AddressSpaces, 1);

        spaces->spaces = g_hash_table_new_full(NULL, NULL, NULL, space_free);
        spaces->files =
                g_hash_table_new_full(mapped_file_hash, mapped_file_equal, NULL, mapped_file_free);
        spaces->by_path = g_hash_table_new(g_str_hash, g_str_equal);
        spaces->by_number = g_ptr_array_new();
        return spaces;
}

void address_spaces_free(AddressSpaces *spaces)
{
        if (!spaces)
                return;
        g_hash_table_unref(spaces->spaces);
        g_hash_table_unref(spaces->by_path);
        g_hash_table_unref(spaces->files);
        g_ptr_array_unref(spaces->by_number);
        g_free(spaces);
}

static Space *spaces_get(AddressSpaces *spaces, int32_t pid)
{
        Space *space = g_hash_table_lookup(spaces->spaces, GINT_TO_POINTER(pid));

        if (!space) {
                space = g_new0(Space, 1);
                space->mappings = g_array_new(FALSE, FALSE, sizeof(SpaceMapping));
                space->ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));
                space->begins = g_array_new(FALSE, FALSE, sizeof(SpaceBegin));
                g_hash_table_insert(spaces->spaces, GINT_TO_POINTER(pid), space);
                spaces->last = NULL;
        }
        space->is_sorted = false;
        return space;
}

static void spaces_add_begin(AddressSpaces *spaces, int32_t pid, int32_t parent, uint64_t time)
{
        const SpaceBegin begin = {time, parent};

        if (spaces->n_mappings == SPACE_MAX_MAPPINGS)
                return;
        spaces->n_mappings++;
        g_array_append_val(spaces_get(spaces, pid)->begins, begin);
}

/* True if two files of one path can be one file: perf's own records have no generation. */
static bool mapped_file_may_be(const MappedFile *a, const MappedFile *b)
{
        return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
               (!a->generation || !b->generation) && !a->n_build_id && !b->n_build_id;
}

/* NULL: too many files. */
static const MappedFile *spaces_add_file(AddressSpaces *spaces, const MappedFile *key)
{
        MappedFile *file = g_hash_table_lookup(spaces->files, key);
        MappedFile *twin;

        if (file || spaces->by_number->len == SPACE_MAX_FILES)
                return file;
        file = g_memdup2(key, sizeof(*key));
        file->path = g_strdup(key->path);
        file->number = spaces->by_number->len;
        g_hash_table_add(spaces->files, file);
        twin = g_hash_table_lookup(spaces->by_path, file->path);
        if (twin && !mapped_file_may_be(file, twin))
                twin->is_twin = file->is_twin = true;
        else if (twin)
                file->is_twin = twin->is_twin;
        else
                g_hash_table_insert(spaces->by_path, file->path, file);
        g_ptr_array_add(spaces->by_number, file);
        return file;
}

/* PERF_RECORD_MMAP up to its path. */
typedef struct MmapRecord {
        struct perf_event_header header;
        uint32_t pid, tid;
        uint64_t address, size, offset;
} MmapRecord;

/* The rest of PERF_RECORD_MMAP2. */
typedef struct Mmap2Rest {
        union {
                struct {
                        uint32_t major, minor;
                        uint64_t inode, generation;
                };
                struct {
                        uint8_t n_build_id, reserved[3], build_id[20];
                };
        };
        uint32_t protection, flags;
} Mmap2Rest;

bool mapping_record_read(MappingRecord *ret, const struct perf_event_header *record)
{
        const bool is_second = record->type == PERF_RECORD_MMAP2;
        const size_t n = sizeof(MmapRecord) + (is_second ? sizeof(Mmap2Rest) : 0);
        Mmap2Rest rest;
        MmapRecord first;

        if ((!is_second && record->type != PERF_RECORD_MMAP) || record->size <= n ||
            !memchr((const char *)record + n, 0, record->size - n))
                return false;
        memcpy(&first, record, sizeof(first));
        *ret = (MappingRecord){
                .pid = (int32_t)first.pid,
                .address = first.address,
                .size = first.size,
                .offset = first.offset,
                .is_executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA),
                .path = (const char *)record + n,
        };
        if (first.size > UINT64_MAX - first.address)
                return false;
        /* The kernel has the address as the offset; perf has 0 for memory from before its start. */
        if (!strcmp(ret->path, ANONYMOUS_PATH))
                ret->offset = ret->address;
        if (!is_second)
                return true;
        memcpy(&rest, (const uint8_t *)record + sizeof(first), sizeof(rest));
        ret->is_executable = rest.protection & PROT_EXEC;
        if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
                ret->n_build_id = MIN(rest.n_build_id, sizeof(ret->build_id));
                memcpy(ret->build_id, rest.build_id, ret->n_build_id);
        } else {
                ret->major = rest.major;
                ret->minor = rest.minor;
                ret->inode = rest.inode;
                ret->generation = rest.generation;
        }
        return true;
}

void address_spaces_add(AddressSpaces *spaces, const MappingRecord *mapping, uint64_t time)
{
        const MappedFile *file;
        MappedFile key = {.pid = mapping->pid,
                          .path = (char *)mapping->path,
                          .major = mapping->major,
                          .minor = mapping->minor,
                          .inode = mapping->inode,
                          .generation = mapping->generation,
                          .n_build_id = mapping->n_build_id};

        if (spaces->n_mappings == SPACE_MAX_MAPPINGS)
                return;
        memcpy(key.build_id, mapping->build_id, mapping->n_build_id);
        file = spaces_add_file(spaces, &key);
        if (file) {
                const SpaceMapping row = {.begin = mapping->address,
                                          .end = mapping->address + mapping->size,
                                          .offset = mapping->offset,
                                          .time = time,
                                          .file = file->number};

                spaces->n_mappings++;
                g_array_append_val(spaces_get(spaces, key.pid)->mappings, row);
        }
}

static void spaces_take_mapping(AddressSpaces *spaces, const struct perf_event_header *record,
                                uint64_t time)
{
        MappingRecord mapping;

        if (mapping_record_read(&mapping, record) && mapping.is_executable)
                address_spaces_add(spaces, &mapping, time);
}

static void spaces_take_fork(AddressSpaces *spaces, const struct perf_event_header *record,
                             uint64_t time)
{
        ForkRecord fork;

        /* Otherwise the record is about a new thread. */
        if (fork_record_read(&fork, record) && fork.pid != fork.parent)
                spaces_add_begin(spaces, (int32_t)fork.pid, (int32_t)fork.parent, time);
}

/* Takes the name of a process, which is that of its first thread. */
static void spaces_take_name(AddressSpaces *spaces, const struct perf_event_header *record,
                             uint64_t time)
{
        CommRecord comm;
        Space *space;

        if (!comm_record_read(&comm, record) || comm.pid != comm.tid ||
            spaces->n_mappings == SPACE_MAX_MAPPINGS)
                return;
        if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
                spaces_add_begin(spaces, comm.pid, 0, time);
        space = spaces_get(spaces, comm.pid);
        if (time < space->named)
                return;
        spaces->n_mappings++;
        space->named = time;
        memcpy(space->name, comm.name, sizeof(space->name));
}

void address_spaces_take(AddressSpaces *spaces, const struct perf_event_header *record,
                         uint64_t time)
{
        switch (record->type) {
        case PERF_RECORD_MMAP:
        case PERF_RECORD_MMAP2:
                spaces_take_mapping(spaces, record, time);
                break;
        case PERF_RECORD_FORK:
                spaces_take_fork(spaces, record, time);
                break;
        case PERF_RECORD_COMM:
                spaces_take_name(spaces, record, time);
                break;
        default:
                break;
        }
}

static int mapping_compare(gconstpointer one, gconstpointer other)
{
        const SpaceMapping *a = one, *b = other;

        return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
                                    : (a->time > b->time) - (a->time < b->time);
}

static int begin_compare(gconstpointer one, gconstpointer other)
{
        const SpaceBegin *a = one, *b = other;

        return (a->time > b->time) - (a->time < b->time);
}

static void space_sort(Space *space)
{
        uint64_t end = 0;
        guint i;

        if (space->is_sorted)
                return;
        g_array_sort(space->mappings, mapping_compare);
        g_array_sort(space->begins, begin_compare);
        g_array_set_size(space->ends, 0);
        for (i = 0; i < space->mappings->len; i++) {
                end = MAX(end, g_array_index(space->mappings, SpaceMapping, i).end);
                g_array_append_val(space->ends, end);
        }
        space->is_sorted = true;
}

/* The latest mapping of ADDRESS with a time from FIRST to LAST. */
static const SpaceMapping *space_find(const Space *space, uint64_t address, uint64_t first,
                                      uint64_t last)
{
        const SpaceMapping *found = NULL;
        guint low = 0, high = space->mappings->len, n_seen = 0;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (g_array_index(space->mappings, SpaceMapping, middle).begin <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low > 0 && n_seen++ < MAX_COVERED &&
               g_array_index(space->ends, uint64_t, low - 1) > address;
             low--) {
                const SpaceMapping *row = &g_array_index(space->mappings, SpaceMapping, low - 1);

                if (row->end > address && row->time >= first && row->time <= last &&
                    (!found || row->time > found->time))
                        found = row;
        }
        return found;
}

/* Keeps the last answer, because consecutive lookups are often of one process. */
static Space *spaces_find(AddressSpaces *spaces, int32_t pid)
{
        if (!spaces->last || spaces->last_pid != pid) {
                spaces->last_pid = pid;
                spaces->last = g_hash_table_lookup(spaces->spaces, GINT_TO_POINTER(pid));
        }
        return spaces->last;
}

/* The last begin up to TIME; zeros: not recorded. */
static SpaceBegin space_begin(Space *space, uint64_t time)
{
        guint i;

        space_sort(space);
        for (i = space->begins->len; i > 0; i--)
                if (g_array_index(space->begins, SpaceBegin, i - 1).time <= time)
                        return g_array_index(space->begins, SpaceBegin, i - 1);
        return (SpaceBegin){0};
}

const SpaceMapping *address_spaces_find(AddressSpaces *spaces, int32_t pid, uint64_t time,
                                        uint64_t address)
{
        unsigned n_parents;

        for (n_parents = 0; n_parents < MAX_PARENTS; n_parents++) {
                Space *space = spaces_find(spaces, pid);
                const SpaceMapping *found;
                SpaceBegin begin;

                if (!space)
                        return NULL;
                begin = space_begin(space, time);
                found = space_find(space, address, begin.time, time);
                if (found || !begin.parent)
                        return found;
                pid = begin.parent;
                time = begin.time;
        }
        return NULL;
}

const SpaceMapping *address_spaces_find_executor(AddressSpaces *spaces, int32_t pid, uint64_t time,
                                                 uint64_t address)
{
        Space *space = spaces_find(spaces, pid);
        const SpaceBegin begin = space ? space_begin(space, time) : (SpaceBegin){0};

        return begin.time && !begin.parent && time - begin.time < EXECUTION_NS
                       ? address_spaces_find(spaces, pid, begin.time - 1, address)
                       : NULL;
}

const char *address_spaces_name(const AddressSpaces *spaces, int32_t pid)
{
        const Space *space = g_hash_table_lookup(spaces->spaces, GINT_TO_POINTER(pid));

        return space && *space->name ? space->name : NULL;
}

const MappedFile *address_spaces_file(const AddressSpaces *spaces, uint32_t number)
{
        return g_ptr_array_index(spaces->by_number, number);
}

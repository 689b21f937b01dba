/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Named fields: the members of an event's structures that have addresses, and those that get the
 * names
 */

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

/* Owned by the component, for all of its copies. */
typedef struct NamedFieldsSettings {
        char *name;        /* owned: of the member that is added for `ip` */
        GPtrArray *fields; /* owned: of owned names: members with addresses */
} NamedFieldsSettings;

typedef struct NamedMember {
        uint64_t from; /* number of the member that has the address, or the addresses */
        uint64_t to;   /* number of the member that was added for it */
        bool is_sequence;
        bool has_markers; /* a sequence as perf records it, with markers among the addresses */
} NamedMember;

/* Members that tell the process, from best to worst. */
typedef enum PidMember {
        PID_MEMBER_VPID,
        PID_MEMBER_PID,
        PID_MEMBER_PERF_PID,
        _PID_MEMBER_MAX,
} PidMember;

#define NO_MEMBER UINT64_MAX

/* Of one structure. */
typedef struct NamedFields {
        GArray *members; /* owned: of NamedMember; NULL: the structure is not there */
        uint64_t pids[_PID_MEMBER_MAX]; /* numbers of members; NO_MEMBER: none */
        uint64_t pid_ns;                /* the same */
} NamedFields;

/*
 * Finds the fields of ORIGINAL, a structure or NULL, and appends the members for names to COPY, its
 * copy in TRACE_CLASS. A member whose name is there already is not appended. False: not enough
 * memory. To be deinitialized in both cases.
 */
bool named_fields_init(NamedFields *fields, const NamedFieldsSettings *settings, uint64_t mip,
                       bt_trace_class *trace_class, const bt_field_class *original,
                       bt_field_class *copy);
void named_fields_deinit(NamedFields *fields);

/* The members of a structure with a name, in their order. */
typedef enum NameMember {
        NAME_BIN,
        NAME_FUNC,
        NAME_SRC,
        _NAME_MEMBER_MAX,
} NameMember;

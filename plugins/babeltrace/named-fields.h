/* SPDX-License-Identifier: MIT */
#pragma once

/* Named fields: members with addresses, and the members that are added for their names */

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

/* Owned by the component, shared by all of its copies. */
typedef struct NamedFieldsSettings {
        char *name;        /* owned: name of the member added for `ip` */
        GPtrArray *fields; /* owned array of owned names: members with addresses */
} NamedFieldsSettings;

typedef struct NamedMember {
        uint64_t from; /* index of the member with the address or addresses */
        uint64_t to;   /* index of the added member */
        bool is_sequence;
        bool has_markers; /* a sequence in perf's format, with markers among the addresses */
} NamedMember;

/* Members that identify the process, from best to worst. */
typedef enum PidMember {
        PID_MEMBER_VPID,
        PID_MEMBER_PID,
        PID_MEMBER_PERF_PID,
        _PID_MEMBER_MAX,
} PidMember;

#define NO_MEMBER UINT64_MAX

/* The fields of one structure. */
typedef struct NamedFields {
        GArray *members;                /* owned, of NamedMember; NULL: no such structure */
        uint64_t pids[_PID_MEMBER_MAX]; /* indexes of members; NO_MEMBER: none */
        uint64_t pid_ns;                /* index of a member; NO_MEMBER: none */
        /* Borrowed of the settings: a member of this name has no addresses; NULL: none. */
        const char *misfit;
} NamedFields;

/*
 * Finds the fields of ORIGINAL, a structure or NULL, and appends the members for names to COPY, its
 * copy in TRACE_CLASS, unless COPY has a member of that name. False: no memory. Deinitialize FIELDS
 * in both cases.
 */
bool named_fields_init(NamedFields *fields, const NamedFieldsSettings *settings, uint64_t mip,
                       bt_trace_class *trace_class, const bt_field_class *original,
                       bt_field_class *copy);
void named_fields_deinit(NamedFields *fields);

/* The members of a name's structure, in order. */
typedef enum NameMember {
        NAME_BIN,
        NAME_FUNC,
        NAME_SRC,
        _NAME_MEMBER_MAX,
} NameMember;

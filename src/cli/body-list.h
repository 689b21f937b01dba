/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Body list: rows of ListMethods, History or Versions, to be sorted and shown
 */

#include "cli/link.h"

/* Strings are the list's. */
typedef struct BodyRow {
        int32_t pid;
        uint32_t generation;
        uint64_t pid_ns;
        uint64_t start;
        uint64_t method_id;
        uint64_t loaded;   /* CLRSYM_NO_TIME: not known */
        uint64_t unloaded; /* CLRSYM_ALIVE: it lives */
        uint64_t il_version;
        uint32_t size; /* 0: not known */
        uint32_t rejit_id;
        uint32_t jit_us; /* 0: not known */
        bool has_il_version;
        const char *tier;              /* "?" if the row has none */
        const char *symbol;            /* "Namespace.Type.Method(args)", as the runtime writes it */
        const char *shown;             /* the same in the style that is asked for */
        size_t n_name;                 /* of SYMBOL, without the arguments */
        const char *module;            /* its file's name, or NULL */
        const char *json;              /* the row as it came, if it is to be kept, else NULL */
        uint32_t number;               /* in the list as it came */
        uint32_t n_versions, n_reuses; /* set by body_list_count() */
} BodyRow;

typedef struct BodyList {
        GArray *rows; /* owned: BodyRow */
        GStringChunk *texts;
        bool keeps_json;
        bool is_of_several; /* processes */
} BodyList;

BodyList *body_list_new(bool keeps_json);
void body_list_free(BodyList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BodyList, body_list_free)

static inline BodyRow *body_list_row(const BodyList *list, guint i)
{
        return &g_array_index(list->rows, BodyRow, i);
}

/* Which rows are wanted; ROW is valid during the call. */
typedef bool (*BodyTest)(const BodyRow *row, void *data);

/*
 * Calls METHOD with PARAMETERS, which it takes over, and adds the rows in the array MEMBER of the
 * replies that IS_WANTED (NULL: all).
 */
bool body_list_read(BodyList *list, Link *link, const char *method, json_t *parameters,
                    const char *member, BodyTest is_wanted, void *data, GError **error);

/*
 * Sets the counts of LIST's rows from ALL bodies that their processes ever had: the native bodies
 * of their method, and the bodies that began at their address.
 */
void body_list_count(BodyList *list, const BodyList *all);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Body rows: native code bodies of ListMethods, History or Versions, for sorting and printing
 */

#include "cli/answer-source.h"
#include "cli/line-source.h"

/* The list owns the strings. */
typedef struct BodyRow {
        int32_t pid;
        uint32_t generation;
        uint64_t pid_ns;
        uint64_t start;
        uint64_t method_id;
        uint64_t loaded;   /* CLRSYM_NO_TIME: not known */
        uint64_t unloaded; /* CLRSYM_ALIVE: still loaded */
        uint64_t il_version;
        uint32_t size; /* 0: not known */
        uint32_t rejit_id;
        uint32_t jit_us;  /* 0: not known */
        uint32_t il_size; /* 0: not known */
        uint32_t flags;   /* flags of its method; 0: not known */
        bool has_il_version;
        const char *tier;              /* static */
        const char *symbol;            /* "Namespace.Type.Method(args)", as the runtime writes it */
        const char *shown;             /* SYMBOL in the requested style */
        size_t n_name;                 /* length of SYMBOL without the arguments */
        const char *module;            /* file name of the module, or NULL */
        const char *source;            /* "FILE:LINE" of its method's first line, or NULL */
        const char *json;              /* the row's JSON text; NULL: not kept */
        uint32_t number;               /* position in the reply */
        uint32_t n_versions, n_reuses; /* set by body_rows_count() */
} BodyRow;

typedef struct BodyRows {
        GArray *rows; /* owned: BodyRow */
        GStringChunk *texts;
        bool keeps_json;
        bool is_of_several; /* the rows belong to several processes */
        LineSource *lines;  /* owned: finds the first lines; NULL: rows have no lines */
} BodyRows;

BodyRows *body_rows_new(bool keeps_json);
void body_rows_free(BodyRows *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BodyRows, body_rows_free)

static inline BodyRow *body_rows_get(const BodyRows *list, guint i)
{
        return &g_array_index(list->rows, BodyRow, i);
}

/* The length of a name without the "(...)" at its end. */
size_t symbol_name_length(const char *symbol);
/* True if PATTERN matches SYMBOL, or the name alone, which is its first N_NAME bytes. */
bool symbol_matches(const char *symbol, size_t n_name, GPatternSpec *pattern);

/* True if the row is wanted. ROW is valid during the call. */
typedef bool (*BodyTest)(const BodyRow *row, void *data);

/*
 * Calls METHOD with PARAMETERS, which it takes over, and adds those rows of the array MEMBER of the
 * replies for which IS_WANTED (NULL: all) returns true.
 */
bool body_rows_read(BodyRows *list, AnswerSource *source, const char *method, json_t *parameters,
                    const char *member, BodyTest is_wanted, void *data, GError **error);

/*
 * Sets the counts of LIST's rows: the native bodies of their method, and the bodies at their
 * address, among ALL bodies that their processes ever had.
 */
void body_rows_count(BodyRows *list, const BodyRows *all);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Details: the type arguments of generic methods, and the methods inlined into a method
 *
 * A thread that has compiled a method emits BulkType with all types of the method's details, then
 * MethodDetails with the method and its type arguments, then the method's load. The table keeps the
 * last event of each kind for each thread, so that ids which the runtime reuses later cannot be
 * mistaken. A rundown has no such events.
 *
 * If the runtime emits JittedMethodRichDebugInfo, it follows the load, in one piece or more; then
 * come the details of the inlined methods.
 *
 * Types are named by the tokens of their modules: the tracker reads no files. A type is written as
 *     TOKEN@GUID@PATH[ARGUMENT,...]
 * with the token in 8 hexadecimal digits, the GUID of the module's PDB ("-" if it has none), and
 * the module's path, in which a backslash stands before a comma, a bracket or a backslash. The
 * arguments are missing where there are none. An array is its element's type and "[]" or "[,]".
 * A method is written the same, with the arguments of its type in the first brackets, which can be
 * empty, and its own in the second.
 */

#include "codemap/strtab.h"
#include "event/record.h"

/* Bytes of a JittedMethodRichDebugInfo; a longer one is not kept. */
#define DETAILS_MAX_TREE (1u << 20)
/* Bytes of a BulkType that are kept; a longer one names no type. */
#define DETAILS_MAX_TYPES 4096u
/* Characters of a path that get a backslash. */
#define DETAILS_ESCAPED ",[]\\"
/* Threads of a process whose events are kept. */
#define DETAILS_MAX_THREADS 1024u

/* The last events of a thread. */
typedef struct ThreadDetails {
        uint64_t time;      /* of its last event of the kind */
        uint64_t method_id; /* of the MethodDetails; 0: none since */
        Str type_args;      /* owned reference: that method's; 0: none, or not known */
        uint32_t n_types;   /* bytes */
        uint8_t *types;     /* owned or NULL: the rows of the BulkType, see event/type-list.h */
        /* The version whose inline tree came last, or is incomplete. */
        uint64_t tree_method_id; /* 0: none */
        uint64_t tree_rejit_id;
        uint8_t *tree;     /* owned or NULL: the pieces of an incomplete tree */
        uint32_t n_tree;   /* bytes */
        uint32_t n_pieces; /* in TREE */
} ThreadDetails;

/* The threads of one process. */
typedef struct DetailTable {
        Strtab *names;       /* borrowed */
        Account *account;    /* borrowed */
        GHashTable *threads; /* owned: tid -> owned ThreadDetails */
} DetailTable;

/* Appends the module with that id in the form TOKEN@GUID@PATH. False: the module is not known. */
typedef bool DetailModule(GString *out, uint64_t module_id, const void *data);

void detail_table_init(DetailTable *table, Strtab *names, Account *account);
void detail_table_deinit(DetailTable *table);
/* Takes a BulkType. */
void detail_table_take_types(DetailTable *table, const Record *record);
/* Takes a MethodDetails. */
void detail_table_take_method(DetailTable *table, const Record *record, DetailModule *module,
                              const void *data);
/*
 * Takes a JittedMethodRichDebugInfo. If the block is complete, returns it for inline_tree_new();
 * the caller frees it with g_free(). Else NULL.
 */
uint8_t *detail_table_take_tree(DetailTable *table, const Record *record, size_t *ret_n);
/*
 * Call it before detail_table_take_method() with RECORD, a MethodDetails. If the method may be an
 * inlined one, returns its name (the caller owns the reference), and sets the version of the method
 * that it was inlined into. Else 0.
 */
Str detail_table_inlined(DetailTable *table, const Record *record, DetailModule *module,
                         const void *data, uint64_t *ret_method_id, uint64_t *ret_rejit_id);
/* From a checkpoint: takes over the reference and the bytes of DETAILS. */
void detail_table_restore(DetailTable *table, int32_t tid, const ThreadDetails *details);
/*
 * The type arguments of the method whose compilation RECORD, a load, ends; or 0. The caller owns
 * the reference. *RET_TIME: ns, when the thread emitted them.
 */
Str detail_table_type_args(const DetailTable *table, const Record *record, uint64_t *ret_time);

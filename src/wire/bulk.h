/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bulk: the binary form of the query socket, for batches
 *
 * A connection changes to it by the call org.clrsym.Symbolizer.Bulk (with "upgrade": true). Then
 * both sides send frames: a header, and a payload of `size` bytes. Everything is little-endian. The
 * client sends QUERIES; the answer is, in this order, NAMES, FORGET, PROCESSES and STUBS as needed,
 * and one ANSWERS with the same tag. clrsym-protocol(7) describes the form for authors of clients.
 *
 * Plain C, without GLib: the client library is built from it too.
 */

#include <assert.h>
#include <endian.h>
#include <stdint.h>

/*
 * 4: there are INLINED.
 * 3: rows of ANSWERS have as many bytes as the reply to the call says ("answer_size"). New members
 *    come at their end, and a client skips what it does not know: that needs no other version.
 * 2: they have BULK_ANSWER_MIN bytes.
 * 1: the same, and there are no STUBS.
 */
#define BULK_VERSION     4
#define BULK_MAX_QUERIES 4096
/* Rows of INLINED for one answer. */
#define BULK_MAX_INLINED 20
/* A client must be able to keep this much; the daemon sends more only after a FORGET. */
#define BULK_MAX_NAMES      262144
#define BULK_MAX_NAME_BYTES (64u << 20)

typedef enum BulkType {
        BULK_QUERIES = 1, /* client: BulkQuery[], at most BULK_MAX_QUERIES */
        BULK_NAMES = 16,  /* BulkName, its bytes (no NUL), the next one ...: replaces older texts */
        BULK_FORGET = 17, /* no payload: all names sent so far are void */
        BULK_PROCESSES = 18, /* BulkProcess[]: `process` in the next ANSWERS is an index of it */
        BULK_ANSWERS = 19,   /* BulkAnswer[], one for each query, in order */
        BULK_ERROR = 20,     /* a text: the reason of the disconnection */
        BULK_STUBS =
                21, /* BulkStub[]: `stub_for` in the next ANSWERS is an index of it, if not 0 */
        BULK_INLINED = 22, /* BulkInlined[]: the same for `inlined` */
} BulkType;

typedef struct BulkHeader {
        uint32_t size; /* of the payload */
        uint16_t type; /* BulkType */
        uint16_t reserved;
        uint32_t tag;     /* the client's choice, given back with ANSWERS; else 0 */
        uint32_t wait_ms; /* QUERIES: ms to wait for events of the times asked about; else 0 */
} BulkHeader;

#define BULK_QUERY_PID_NS 1u
#define BULK_QUERY_TIME   2u

typedef struct BulkQuery {
        uint64_t address;
        uint64_t time;   /* ns of CLOCK_MONOTONIC, with BULK_QUERY_TIME */
        uint64_t pid_ns; /* with BULK_QUERY_PID_NS */
        int32_t pid;
        uint32_t flags;
} BulkQuery;

typedef struct BulkName {
        uint32_t id; /* never 0 */
        uint32_t n;  /* bytes */
} BulkName;

typedef struct BulkProcess {
        uint64_t pid_ns;
        uint64_t epoch;
        uint64_t horizon;
        int32_t pid;
        uint32_t generation;
} BulkProcess;

/* The method that IL stubs are made for. Ids of NAMES; 0: none, except for `name`. */
typedef struct BulkStub {
        uint32_t name_space;
        uint32_t name;
        uint32_t signature;
        uint32_t reserved;
} BulkStub;

/* A method inlined at the address. */
typedef struct BulkInlined {
        uint32_t method;   /* id of NAMES; 0: not known */
        int32_t il_offset; /* negative: not known */
} BulkInlined;

/* The body's fields below are filled: with status OK those of the body, else of the nearest. */
#define BULK_ANSWER_BODY       1u
#define BULK_ANSWER_IL_VERSION 2u
#define BULK_ANSWER_NEAREST    4u

#define BULK_NO_PROCESS UINT32_MAX

/* Bytes of a row in the first two versions; and the most that a client must accept. */
#define BULK_ANSWER_MIN 112
#define BULK_ANSWER_MAX 1024

typedef struct BulkAnswer {
        uint8_t status;     /* clrsym_status */
        uint8_t confidence; /* clrsym_confidence */
        uint8_t source;     /* clrsym_source */
        uint8_t tier;       /* clrsym_tier */
        uint8_t il_kind;    /* clrsym_il_kind */
        uint8_t flags;
        uint16_t n_candidates; /* with AMBIGUOUS */
        uint32_t process;      /* index in PROCESSES, or BULK_NO_PROCESS */
        uint32_t size;         /* 0: not known */
        int32_t il_offset;     /* with il_kind EXACT */
        uint32_t method_flags;
        uint32_t token;
        uint32_t rejit_id;
        uint32_t jit_us;     /* 0: not known */
        uint32_t name_space; /* ids of NAMES; 0: none */
        uint32_t name;
        uint32_t signature;
        uint32_t module_path;
        uint32_t stub_for; /* in STUBS, from 1; 0: not known. Version 1: 0 */
        uint64_t start;
        uint64_t method_id;
        uint64_t module_id;  /* 0: not known */
        uint64_t loaded;     /* 0: not known */
        uint64_t unloaded;   /* UINT64_MAX: alive */
        uint64_t il_version; /* with BULK_ANSWER_IL_VERSION */
        int64_t distance;    /* ns, with BULK_ANSWER_NEAREST */
        /* A row of the first two versions ends here. */
        uint32_t il_size;         /* bytes of the method's IL; 0: not known */
        int32_t line_il;          /* the IL offset of the source line; -1: not known */
        uint8_t module_pdb[16];   /* the GUID of its PDB; all 0: not known */
        uint32_t type_args;       /* id of NAMES; 0: none, or not known */
        uint32_t n_inlined;       /* rows of INLINED, from the innermost method on. Version 3: 0 */
        uint32_t inlined;         /* the first of them, from 1; 0: none */
        uint32_t module_pdb_path; /* id of NAMES, in the compiler's spelling; 0: not known */
} BulkAnswer;

/* Bytes of a row from the daemon. */
static inline uint32_t bulk_answer_size(unsigned version)
{
        return version < 3 ? BULK_ANSWER_MIN : sizeof(BulkAnswer);
}

static_assert(sizeof(BulkHeader) == 16, "as clrsym-protocol(7) has it");
static_assert(sizeof(BulkQuery) == 32, "as clrsym-protocol(7) has it");
static_assert(sizeof(BulkProcess) == 32, "as clrsym-protocol(7) has it");
static_assert(sizeof(BulkStub) == 16, "as clrsym-protocol(7) has it");
static_assert(sizeof(BulkAnswer) == 152, "as clrsym-protocol(7) has it");
static_assert(sizeof(BulkInlined) == 8, "as clrsym-protocol(7) has it");
static_assert(sizeof(BulkAnswer) <= BULK_ANSWER_MAX, "clients take no longer rows");
/* Rows are sent in their layout in memory. */
static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "the rows need swapping on this machine");

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile data, for the writers of formats
 *
 * Stacks are paths in a tree from the root, whose children are the threads' names, so that a common
 * part of stacks is stored once. A node's parent has a smaller number than the node. Some nodes are
 * of physical stacks only, and no sample is below them.
 */

#include "profile/pairindex.h"
#include "profile/profile.h"

/* Frames that are a thread's name. */
#define FRAME_COMM   _FRAME_KIND_MAX
#define PROFILE_ROOT UINT32_C(0)

/* The strings are printable; the profile owns them. */
typedef struct Frame {
        const char *name;
        const char *module; /* or NULL */
        const char *tier;   /* or NULL; equal tiers are the same pointer */
        FrameKind kind;
        bool is_marked;
        const char *file;     /* or NULL; equal ones are the same pointer */
        uint32_t line;        /* 0 without a file */
        const char *checksum; /* of the file, or NULL; equal ones are the same pointer */
} Frame;

typedef struct StackNode {
        uint32_t parent; /* the root's is itself */
        uint32_t frame;  /* not for the root */
} StackNode;

typedef struct Thread {
        int32_t pid, tid;
        uint32_t comm; /* frame: its name in the newest sample */
        uint64_t newest;
} Thread;

typedef struct Sample {
        uint64_t time;
        uint64_t period;
        uint64_t count; /* the number of samples that it counts for, 1 or more */
        uint32_t node;
        uint32_t physical; /* the node of the thread's own stack; NODE if that is the same */
        uint32_t thread;
        bool is_before;
} Sample;

struct Profile {
        GStringChunk *strings;
        GArray *frames;          /* of Frame */
        GHashTable *frame_index; /* Frame in its own memory (owned) -> number */
        GArray *nodes;           /* of StackNode */
        PairIndex node_index;    /* parent and frame -> node */
        GArray *path;            /* of uint32_t: the nodes of the newest sample, from the root */
        GArray *threads;         /* of Thread */
        PairIndex thread_index;  /* pid and tid -> number of the thread + 1 */
        GArray *samples;         /* of Sample */
        GHashTable *commands;    /* pid -> command line, printable (of STRINGS) */
        uint64_t count;          /* sum of all samples' */
        bool has_before;         /* a sample is_before: the profile is a comparison */
};

/* Which frames are merged. */
typedef enum FrameMerge {
        MERGE_TIERS,           /* same name, module, kind, source and line */
        MERGE_TIERS_AND_LINES, /* also of other lines of the same source */
        MERGE_TIERS_AND_MARKS, /* also uncertain ones, whatever their source */
        MERGE_ALL_BUT_LINES,   /* also uncertain ones, of the same line */
        MERGE_ALL_BUT_SOURCES, /* also uncertain ones, of the same source */
} FrameMerge;

/* For each frame the number of the first frame with which it is merged. The caller frees it. */
uint32_t *profile_merge_frames(const Profile *profile, FrameMerge merge);

/* Appends the name, with " ~" if it is marked. */
void frame_append_marked_name(GString *text, const Frame *frame);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Keeper: a daemon with a journal, without its sockets; and what is known after it was killed
 *
 * One that is killed at some moment leaves the directory as it is then: so it is copied, and
 * another one is started on the copy. What that one has to know is what a tracker knows that was
 * fed the same and never was in a journal.
 */

#include "journal/journal.h"

#include "support/feeding.h"

/* Warnings and messages. */
extern GString *said;

/* Before and after each test: with a directory for all that it makes. Logs are taken if
 * take_logs() was called, once. */
void keeper_set_up(void);
void keeper_tear_down(void);
void take_logs(void);
/* No damage was reported since the log was emptied. */
void check_whole(void);

/* A daemon with a journal. */
typedef struct Keeper {
        Tracker *tracker;
        Journal *journal;
        QueryStats stats;
        Fed fed;
} Keeper;

/* HOST may be NULL: nobody is asked. */
void keeper_start(Keeper *keeper, const char *state, size_t budget, const TrackerHost *host);
/* In order: its feeders go first. */
void keeper_stop(Keeper *keeper);
/* Until no image is being made. */
void keeper_wait(Keeper *keeper);

/* What a keeper on a copy of STATE knows: its checkpoint; and
 * RET_BODIES, if not NULL. The caller owns both. */
GByteArray *image_after_kill(const char *state, size_t budget, char **ret_bodies);
/* What a tracker without a journal knows of the first N steps, when all feeders are gone. */
Tracker *reference(const GPtrArray *steps, guint n);
GByteArray *reference_image(const GPtrArray *steps, guint n);
bool is_same(const GByteArray *a, const GByteArray *b);

/* NAME in the test's directory. The caller owns the path. */
char *path_of(const char *name);
void write_file(const char *path, const char *bytes, gssize n);
void remove_all(const char *path);
/* As the files are now. */
void copy_state(const char *from, const char *to);
/* Parts of a journal whose names end in SUFFIX. */
unsigned n_files(const char *path, const char *suffix);
/* The one part of a journal. The caller owns the path. */
char *only_file(const char *state);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Keeper: a daemon with a journal, without sockets; and its state after a kill
 *
 * A kill leaves the directory as it is at that moment. So the test copies the directory, and starts
 * another daemon on the copy. Its state must be that of a tracker that got the same input without a
 * journal.
 */

#include "journal/journal.h"

#include "support/feeding.h"

/* Logged warnings and messages. */
extern GString *said;

/*
 * Call them before and after each test: they make and remove a directory for all files. Logs are
 * captured if take_logs() was called, once.
 */
void keeper_set_up(void);
void keeper_tear_down(void);
void take_logs(void);
/* Fails if damage was reported since the log was emptied. */
void check_whole(void);

/* A daemon with a journal. */
typedef struct Keeper {
        Tracker *tracker;
        Journal *journal;
        QueryStats stats;
        Fed fed;
} Keeper;

/* HOST: or NULL, without requests to a host. */
void keeper_start(Keeper *keeper, const char *state, size_t budget, const TrackerHost *host);
/* Stops orderly: disconnects feeders first. */
void keeper_stop(Keeper *keeper);
/* Waits until no image is being written. */
void keeper_wait(Keeper *keeper);

/*
 * The checkpoint of a keeper on a copy of STATE, and RET_BODIES, if not NULL. The caller owns both.
 */
GByteArray *image_after_kill(const char *state, size_t budget, char **ret_bodies);
/* A tracker without a journal after the first N steps, without feeders. */
Tracker *reference(const GPtrArray *steps, guint n);
GByteArray *reference_image(const GPtrArray *steps, guint n);
bool is_same(const GByteArray *a, const GByteArray *b);

/* NAME in the test's directory. The caller owns the path. */
char *path_of(const char *name);
void write_file(const char *path, const char *bytes, gssize n);
void remove_all(const char *path);
/* Copies the present files. */
void copy_state(const char *from, const char *to);
/* The number of a journal's parts whose names end in SUFFIX. */
unsigned n_files(const char *path, const char *suffix);
/* The only part of a journal. The caller owns the path. */
char *only_file(const char *state);

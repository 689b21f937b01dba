/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Epochs: a daemon's first epoch, which is higher than all epochs of earlier daemons
 *
 * Epochs follow the time since the machine's boot, which is never set back, with 2^20 epochs for a
 * second; the boot itself decides about the highest bits. With a state directory they are also
 * higher than all epochs used with that directory: the file `epoch` has a limit that is raised
 * before it is reached.
 */

#include <stdint.h>

typedef struct EpochStore EpochStore;

/* DIRECTORY may be NULL: nothing is stored. Never NULL. */
EpochStore *epoch_store_new(const char *directory);
void epoch_store_free(EpochStore *store);

/* The first epoch, below 2^53. */
uint64_t epoch_store_first(const EpochStore *store);
/* EPOCH is in use. Call it before 2^23 more epochs are used. */
void epoch_store_note(EpochStore *store, uint64_t epoch);

/* The first epoch of a daemon started NS after the boot with the id BOOT_ID. */
uint64_t epoch_of_boot(const char *boot_id, uint64_t ns);

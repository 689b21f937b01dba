/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Epochs: the first one of a daemon, which is higher than all of the daemons before
 *
 * Epochs follow the time since the machine's boot, which is never set back, with 2^20 epochs for a
 * second; the boot itself decides about the highest bits. With a state directory they are also
 * higher than any that was used with that directory: the file `epoch` in it has a limit that is
 * raised before it is reached.
 */

#include <stdint.h>

typedef struct EpochStore EpochStore;

/* DIRECTORY may be NULL: nothing is stored. Never NULL. */
EpochStore *epoch_store_new(const char *directory);
void epoch_store_free(EpochStore *store);

/* The first epoch, below 2^53. */
uint64_t epoch_store_first(const EpochStore *store);
/* EPOCH is in use. To be called often enough: before 2^23 more are. */
void epoch_store_note(EpochStore *store, uint64_t epoch);

/* The first epoch of a daemon that is started NS after the boot with the id BOOT_ID. */
uint64_t epoch_of_boot(const char *boot_id, uint64_t ns);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Boot id: the machine's present boot, and the check that a trace's clock is of this boot */

#include <glib.h>
#include <stdint.h>

/*
 * This boot's id (36 characters; owned by the caller). NULL with ERROR set. A program that feeds
 * live events needs the id, which distinguishes them from events of an earlier boot.
 */
char *boot_id_read(GError **error);

/*
 * Appends this boot's id (36 characters) to OUT, if a trace is from this machine and its clock
 * started with this boot. LTTng uses the boot id as the clock's UUID, which works even if the clock
 * was set since. Without a CLOCK_UUID (16 bytes, or NULL) the clock's OFFSET decides: realtime less
 * its value, in ns.
 */
void boot_id_append(GString *out, const char *hostname, const uint8_t *clock_uuid, int64_t offset);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Boot id: the machine's present boot, and whether the clock of a trace is that of this boot
 */

#include <glib.h>
#include <stdint.h>

/*
 * This boot's id (36 characters; owned by the caller). NULL with ERROR set. A program that feeds
 * live events needs the id: it distinguishes them from those of an earlier boot.
 */
char *boot_id_read(GError **error);

/*
 * Appends this boot's id (36 characters) to OUT, if a trace is of this machine and its clock
 * started with this boot; else nothing. LTTng gives the clock the boot id as its UUID, so that it
 * is known even if somebody has set the clock since; without a CLOCK_UUID (16 bytes, or NULL) the
 * clock's OFFSET decides: realtime less its value, in ns.
 */
void boot_id_append(GString *out, const char *hostname, const uint8_t *clock_uuid, int64_t offset);

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Relay metadata: the metadata file of a live session, which grows while it is read
 *
 * The relay daemon of LTTng 2.13 and before writes it in packets (CTF 1.8, section 7.1). That of
 * 2.14 and later writes plain text, TSDL (CTF 1.8) or JSON fragments (CTF 2).
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* As many of the first N bytes as are whole packets or whole declarations. */
size_t relay_metadata_whole(const uint8_t *bytes, size_t n);

/* The UUID of the trace, or what stands for it (ctf_trace_class_identity()). False: none yet. */
bool relay_metadata_identity(int fd, uint8_t ret_uuid[16]);

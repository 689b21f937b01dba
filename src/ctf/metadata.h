/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metadata of a CTF trace: detects the language of a metadata file, and parses it
 *
 * CTF 1.8 is TSDL text, in packets (LTTng before 2.14) or plain; CTF 2 is a JSON text sequence.
 */

#include "ctf/class.h"

/* Most bytes; LTTng's own has under 1 MiB. */
#define CTF_METADATA_MAX (64u << 20)

/* Parses and resolves BYTES. NULL with ERROR set. */
CtfTraceClass *ctf_metadata_parse(const uint8_t *bytes, size_t n, GError **error);
/* The same for the file "metadata" in the directory DIRECTORY_FD. */
CtfTraceClass *ctf_metadata_read(int directory_fd, GError **error);

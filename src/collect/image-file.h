/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image file: finds the file that a recorder had mapped, by the identity in the recording
 *
 * The recorder writes neither device nor inode. An assembly is the mapped one if its PDB has the
 * recorded GUID; a later change is noticed by comparing times, as with perf.
 */

#include "perfdata/perf-writer.h"

typedef enum ImageKind {
        IMAGE_ELF,
        IMAGE_PE,
} ImageKind;

typedef struct ImageIdentity {
        ImageKind kind;
        uint8_t n_build_id; /* of ELF; 0: none */
        uint8_t build_id[20];
        bool has_guid;    /* of PE */
        uint8_t guid[16]; /* of its PDB, in the image's order of bytes */
} ImageIdentity;

/* TEXT: the JSON of an event ProcessMappingMetadata. False: it has no identity of the file. */
bool image_identity_read(ImageIdentity *ret, const char *text);

typedef struct ImageFiles ImageFiles;

ImageFiles *image_files_new(void);
void image_files_free(ImageFiles *files);

/* Sets device and inode of MAPPING, an assembly's; PERF_WRITER_NO_INODE: the file is not on this
 * machine. */
void image_files_identify(ImageFiles *files, const ImageIdentity *identity,
                          PerfWriterMapping *mapping);

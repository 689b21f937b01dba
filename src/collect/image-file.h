/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image file: which file a recorder had mapped, by what it notes of the file
 *
 * The recorder notes neither device nor inode. An assembly is the one that was mapped if its PDB
 * has the GUID that the recorder noted; that it was not changed since is compared later, as for
 * perf.
 */

#include "perfdata/perf-writer.h"

typedef enum ImageKind {
        IMAGE_ELF,
        IMAGE_PE,
} ImageKind;

typedef struct ImageIdentity {
        ImageKind kind;
        uint8_t n_build_id; /* of ELF; 0: it has none */
        uint8_t build_id[20];
        bool has_guid;    /* of PE */
        uint8_t guid[16]; /* of its PDB, in the image's order of bytes */
} ImageIdentity;

/* TEXT: the JSON of an event ProcessMappingMetadata. False: it says nothing about the file. */
bool image_identity_read(ImageIdentity *ret, const char *text);

typedef struct ImageFiles ImageFiles;

ImageFiles *image_files_new(void);
void image_files_free(ImageFiles *files);

/* Sets device and inode of MAPPING, an assembly's: the file is here, or PERF_WRITER_NO_INODE. */
void image_files_identify(ImageFiles *files, const ImageIdentity *identity,
                          PerfWriterMapping *mapping);

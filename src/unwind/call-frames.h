/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CallFrames: the call frame information (.eh_frame) of the ELF files that were mapped, by libdw
 *
 * A file is used if it is the one that was mapped, by device and inode, or by its build id. It is
 * read, not mapped, so that it may be cut meanwhile. At most CALL_FRAMES_MAX_FILES are open.
 */

#include "unwind/address-space.h"
#include "unwind/dwarf-api.h"

#define CALL_FRAMES_MAX_FILES 256u

typedef struct CallFrames CallFrames;

/* Only once dwarf_api() has loaded the library. SPACES is borrowed. */
CallFrames *call_frames_new(const AddressSpaces *spaces);
void call_frames_free(CallFrames *frames);

/*
 * What the file of MAPPING has for ADDRESS, to be freed with free(). NULL: nothing; then frames are
 * taken to begin with a frame pointer, as .NET code has.
 */
Dwarf_Frame *call_frames_find(CallFrames *frames, const SpaceMapping *mapping, uint64_t address);

/* Call it where nothing was found. True: because the file is not there, or is another one now. */
bool call_frames_is_missing(CallFrames *frames, const SpaceMapping *mapping);
/* The path of the file of which that was true most often; NULL: of none. */
const char *call_frames_most_missing(const CallFrames *frames);

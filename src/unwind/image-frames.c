/* SPDX-License-Identifier: MIT */
#include "unwind/image-frames.h"

#include "lines/bundle.h"
#include "perf/mapping-kind.h"
#include "perf/r2r-image.h"
#include "symbols/mapped-file.h"
#include "symbols/process-accounts.h"
#include "util/fd.h"

#include <string.h>

/* Bytes of a function; longer ones are assumed to keep a frame pointer. */
#define MAX_FUNCTION (1u << 20)

/* The assembly in one mapping. */
typedef struct MappedImage {
        R2RImage image;       /* owned; without functions, if there is no readable code */
        R2RFunclets funclets; /* owned */
        GHashTable *codes;    /* owned: begin of a function -> its bytes, owned */
} MappedImage;

struct ImageFrames {
        const Machine *machine;      /* borrowed */
        const AddressSpaces *spaces; /* borrowed */
        GHashTable *images;          /* owned: owned place in a file -> owned MappedImage */
        GHashTable *accounts;        /* owned, of process_accounts_new() */
        Bundles bundles;
        uint64_t n_bytes;
};

static void mapped_image_free(void *data)
{
        MappedImage *mapped = data;

        r2r_image_deinit(&mapped->image);
        r2r_funclets_deinit(&mapped->funclets);
        g_hash_table_unref(mapped->codes);
        g_free(mapped);
}

ImageFrames *image_frames_new(const Machine *machine, const AddressSpaces *spaces)
{
        ImageFrames *frames = g_new0(ImageFrames, 1);

        frames->machine = machine;
        frames->spaces = spaces;
        frames->images =
                g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, mapped_image_free);
        frames->accounts = process_accounts_new();
        return frames;
}

void image_frames_free(ImageFrames *frames)
{
        if (!frames)
                return;
        g_hash_table_unref(frames->images);
        g_hash_table_unref(frames->accounts);
        bundles_deinit(&frames->bundles);
        g_free(frames);
}

/* Opens the file for process PID; -1: it cannot be used. */
static int image_frames_open(ImageFrames *frames, int32_t pid, const SpaceMapping *mapping)
{
        const ProcessAccount *account = process_accounts_get(frames->accounts, pid);

        return account->work < IMAGE_FRAMES_MAX_WORK && frames->n_bytes < IMAGE_FRAMES_MAX_BYTES
                       ? mapped_file_open(address_spaces_file(frames->spaces, mapping->file))
                       : -1;
}

/* Charges process PID for N bytes. */
static void image_frames_account(ImageFrames *frames, int32_t pid, uint64_t n)
{
        process_accounts_get(frames->accounts, pid)->work += IMAGE_FRAMES_FILE_WORK + n;
}

/* Reads the functions of the image, and their funclets. */
static void mapped_image_read(MappedImage *mapped, const ImageBytes *bytes)
{
        const char *reason;

        if (r2r_image_read(&mapped->image, bytes, &reason) == 0 &&
            r2r_image_read_funclets(&mapped->image, bytes, &mapped->funclets) < 0)
                r2r_image_deinit(&mapped->image);
}

/* Reads the image that has the byte at OFFSET of the file. */
static void image_frames_read(ImageFrames *frames, int32_t pid, const SpaceMapping *mapping,
                              uint64_t offset, MappedImage *mapped)
{
        const MappedFile *file = address_spaces_file(frames->spaces, mapping->file);
        FD_AUTO int fd = image_frames_open(frames, pid, mapping);
        uint64_t work = 0;
        ImageBytes bytes = {.fd = fd, .work = &work};
        BundleFile bundled;

        if (fd < 0)
                return;
        if (mapping_kind_of_dso(file->path) == MAPPING_IMAGE) {
                mapped_image_read(mapped, &bytes);
        } else if (bundles_find_at(&frames->bundles, fd, offset, &work, &bundled)) {
                bytes.begin = bundled.begin;
                mapped_image_read(mapped, &bytes);
        }
        frames->n_bytes += mapped->image.functions.n * sizeof(R2RFunction) +
                           mapped->funclets.n * sizeof(uint32_t);
        image_frames_account(frames, pid, work);
}

static MappedImage *image_frames_image(ImageFrames *frames, int32_t pid,
                                       const SpaceMapping *mapping, uint64_t offset)
{
        const uint64_t place = (uint64_t)mapping->file << 44 ^ mapping->offset;
        MappedImage *mapped = g_hash_table_lookup(frames->images, &place);

        if (!mapped) {
                mapped = g_new0(MappedImage, 1);
                mapped->codes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
                g_hash_table_insert(frames->images, g_memdup2(&place, sizeof(place)), mapped);
                image_frames_read(frames, pid, mapping, offset, mapped);
        }
        return mapped;
}

/* The code of the function that begins at OFFSET of the file; NULL: unreadable. */
static const uint8_t *image_frames_code(ImageFrames *frames, int32_t pid,
                                        const SpaceMapping *mapping, MappedImage *mapped,
                                        const R2RFunction *function, uint64_t offset)
{
        const size_t n = function->end - function->begin;
        uint8_t *code = g_hash_table_lookup(mapped->codes, GUINT_TO_POINTER(function->begin));
        FD_AUTO int fd = -1;

        if (code || n > MAX_FUNCTION)
                return code;
        fd = image_frames_open(frames, pid, mapping);
        if (fd < 0)
                return NULL;
        image_frames_account(frames, pid, n);
        code = g_malloc(n);
        if (pread(fd, code, n, (off_t)offset) != (ssize_t)n) {
                g_free(code);
                return NULL;
        }
        frames->n_bytes += n;
        g_hash_table_insert(mapped->codes, GUINT_TO_POINTER(function->begin), code);
        return code;
}

FrameCodeKind image_frames_find(ImageFrames *frames, int32_t pid, const SpaceMapping *mapping,
                                uint64_t address, bool is_leaf, CallFrame *ret)
{
        const uint64_t offset = address - mapping->begin + mapping->offset;
        MappedImage *mapped = image_frames_image(frames, pid, mapping, offset);
        const R2RFunction *function;
        MethodCode code = {0};
        uint32_t distance;

        function = r2r_image_find(&mapped->image, offset, &distance);
        if (!function || r2r_funclets_have(&mapped->funclets, function->begin))
                return FRAME_CODE_POINTER;
        code.n = function->end - function->begin;
        code.bytes = image_frames_code(frames, pid, mapping, mapped, function, offset - distance);
        return code.bytes ? frame_code_read(frames->machine, &code, distance, is_leaf, ret)
                          : FRAME_CODE_POINTER;
}

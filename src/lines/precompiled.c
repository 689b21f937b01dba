/* SPDX-License-Identifier: MIT */
#include "lines/precompiled.h"

#include "lines/bundle.h"
#include "metadata/r2r-code.h"
#include "pdb/debug-directory.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <stdlib.h>
#include <string.h>

/* Images in memory; then the one that was read first is forgotten. Each takes a few MiB at most. */
#define MAX_IMAGES 32u

/* Files are mapped in pages: an image begins in its page where it begins in the file's. */
#define PAGE 4096u

typedef struct PrecompiledImage {
        pid_t pid;
        char *path; /* owned */
        uint8_t guid[PDB_GUID_SIZE];
        R2RCode *code;  /* owned; NULL: there is none that can be read */
        uint64_t begin; /* of the image in its file */
} PrecompiledImage;

struct Precompiled {
        PrecompiledImage images[MAX_IMAGES];
        unsigned n_images;
        unsigned next; /* of the images: to be replaced, once there are as many */
};

Precompiled *precompiled_new(void)
{
        return calloc(1, sizeof(Precompiled));
}

static void image_clear(PrecompiledImage *image)
{
        r2r_code_free(image->code);
        free(image->path);
        *image = (PrecompiledImage){0};
}

void precompiled_free(Precompiled *precompiled)
{
        unsigned i;

        if (!precompiled)
                return;
        for (i = 0; i < precompiled->n_images; i++)
                image_clear(&precompiled->images[i]);
        free(precompiled);
}

/* The image that is looked for. */
typedef struct CodeSearch {
        const uint8_t *guid;
        R2RCode *code;  /* once it is found */
        uint64_t begin; /* the same */
} CodeSearch;

/* Reads the file, if it is the one that was loaded. */
static bool image_read(int fd, uint64_t begin, void *data)
{
        CodeSearch *search = data;
        DebugDirectory directory;
        const char *reason;
        PeFile pe;

        /* The assembly before it was precompiled has the same GUID: that is not the one. */
        search->begin = begin;
        return pe_file_read(&pe, fd, begin, &reason) == 0 &&
               debug_directory_read(&directory, &pe, &reason) == 0 && directory.has_id &&
               memcmp(directory.id.guid, search->guid, PDB_GUID_SIZE) == 0 &&
               r2r_code_read(&search->code, &pe, &reason) == 0;
}

/* Sets the image's code. */
static void image_search(PrecompiledImage *image, const PrecompiledQuestion *question,
                         const SymbolDirs *dirs)
{
        FD_AUTO int process_root = rootfs_open_root(question->pid);
        /* A process that is gone may have had another root. The GUID shows what is its. */
        FD_AUTO int own_root = process_root < 0 ? rootfs_open_root(0) : -1;
        FD_AUTO int fd = -1;
        CodeSearch search = {.guid = question->pdb_guid};
        const int root = process_root >= 0 ? process_root : own_root;

        fd = rootfs_open_file(root, question->module_path);
        if (!(fd >= 0 && image_read(fd, 0, &search)) &&
            !(fd < 0 &&
              bundle_find_image(question->pid, root, question->module_path, image_read, &search)))
                symbol_dirs_find_image(dirs, question->module_path, image_read, &search);
        image->code = search.code;
        image->begin = search.begin;
}

static const PrecompiledImage *precompiled_image(Precompiled *precompiled, const SymbolDirs *dirs,
                                                 const PrecompiledQuestion *question)
{
        PrecompiledImage *image;
        unsigned i;

        for (i = 0; i < precompiled->n_images; i++) {
                image = &precompiled->images[i];
                if (image->pid == question->pid && !strcmp(image->path, question->module_path) &&
                    !memcmp(image->guid, question->pdb_guid, PDB_GUID_SIZE))
                        return image;
        }
        image = &precompiled->images[precompiled->next];
        image_clear(image);
        precompiled->next = (precompiled->next + 1) % MAX_IMAGES;
        if (precompiled->n_images < MAX_IMAGES)
                precompiled->n_images++;
        image->path = strdup(question->module_path);
        if (!image->path) {
                /* It matches no question. */
                image->path = calloc(1, 1);
                return NULL;
        }
        image->pid = question->pid;
        memcpy(image->guid, question->pdb_guid, PDB_GUID_SIZE);
        image_search(image, question, dirs);
        return image;
}

/* The map of the code that is asked about; the caller frees its entries. */
static bool precompiled_map(Precompiled *precompiled, const SymbolDirs *dirs,
                            const PrecompiledQuestion *question, R2RMap *ret)
{
        static const uint8_t NONE[PDB_GUID_SIZE];
        const PrecompiledImage *image;
        R2RMethod method;

        if (!question->module_path || !*question->module_path || !question->size ||
            question->offset >= question->size || question->token >> 24 != 6 ||
            !memcmp(question->pdb_guid, NONE, PDB_GUID_SIZE))
                return false;
        image = precompiled_image(precompiled, dirs, question);
        return image && image->code &&
               r2r_code_find_body(image->code, question->token & 0xffffff,
                                  question->start - image->begin % PAGE, question->size, &method) &&
               r2r_code_map(image->code, method.function, ret) == 0;
}

/*
 * The IL offset whose line counts, as in the runtime's own stack traces: prologs and unmapped code
 * are the method's begin, epilogs its end.
 */
static int32_t map_line_il(const R2RMap *map, int32_t il)
{
        int32_t line_il = il > 0 ? il : 0;
        uint32_t i;

        for (i = 0; il == R2R_IL_EPILOG && i < map->n; i++)
                if (map->entries[i].il > line_il)
                        line_il = map->entries[i].il;
        return line_il;
}

bool precompiled_find(Precompiled *precompiled, const SymbolDirs *dirs,
                      const PrecompiledQuestion *question, PrecompiledAnswer *ret)
{
        int32_t il = 0;
        R2RMap map;

        if (!precompiled_map(precompiled, dirs, question, &map))
                return false;
        *ret = (PrecompiledAnswer){.has_il = r2r_map_lookup(&map, (uint32_t)question->offset, &il)};
        if (ret->has_il) {
                ret->il = il;
                ret->line_il = map_line_il(&map, il);
        }
        free(map.entries);
        return true;
}

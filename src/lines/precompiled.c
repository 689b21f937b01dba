/* SPDX-License-Identifier: MIT */
#include "lines/precompiled.h"

#include "lines/image-search.h"
#include "metadata/metadata.h"
#include "metadata/r2r-code.h"
#include "pdb/debug-directory.h"

#include <stdlib.h>
#include <string.h>

/* Images in memory; then the one that was read first is forgotten. Each takes a few MiB at most. */
#define MAX_IMAGES 32u
/* Bytes of the name of a composite image, and of the metadata of an assembly. */
#define MAX_NAME     256u
#define MAX_METADATA (256u << 20)

/* Files are mapped in pages: an image begins in its page where it begins in the file's. */
#define PAGE 4096u

typedef struct PrecompiledImage {
        pid_t pid;
        char *path; /* owned */
        uint8_t guid[PDB_GUID_SIZE];
        R2RCode *code;  /* owned; NULL: there is none that can be read */
        uint64_t begin; /* of the image in its file */
} PrecompiledImage;

/* The composite image that was read last. */
typedef struct PrecompiledComposite {
        pid_t pid;
        char *path;    /* owned: where it would be, beside the assembly; NULL: there is none */
        R2RCode *code; /* owned; NULL: it cannot be read */
        uint64_t begin;
} PrecompiledComposite;

struct Precompiled {
        PrecompiledComposite composite;
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

static void composite_clear(PrecompiledComposite *composite)
{
        r2r_code_free(composite->code);
        free(composite->path);
        *composite = (PrecompiledComposite){0};
}

void precompiled_free(Precompiled *precompiled)
{
        unsigned i;

        if (!precompiled)
                return;
        for (i = 0; i < precompiled->n_images; i++)
                image_clear(&precompiled->images[i]);
        composite_clear(&precompiled->composite);
        free(precompiled);
}

/* An image that is looked for. */
typedef struct CodeSearch {
        const uint8_t *guid;
        R2RCode *code;        /* once it is found, unless its code is in a composite image */
        char owner[MAX_NAME]; /* the file of that one; "": it has its own code */
        uint8_t mvid[R2R_MVID_SIZE];
        uint64_t begin; /* of the image in its file */
} CodeSearch;

static bool read_mvid(const PeFile *pe, uint8_t ret[R2R_MVID_SIZE])
{
        const uint8_t *mvid = NULL;
        const char *reason;
        Metadata metadata;
        uint8_t *bytes;
        uint32_t cell;
        size_t n;

        if (pe_file_read_metadata(pe, MAX_METADATA, &bytes, &n, &reason) < 0)
                return false;
        if (metadata_read(&metadata, bytes, n, &reason) &&
            metadata_cell(&metadata, METADATA_MODULE, 1, MODULE_MVID, &cell))
                mvid = metadata_guid(&metadata, cell);
        if (mvid)
                memcpy(ret, mvid, R2R_MVID_SIZE);
        free(bytes);
        return mvid != NULL;
}

/* Reads the image, if it is the one that was loaded. */
static bool image_read(const ImageBytes *image, void *data)
{
        CodeSearch *search = data;
        const char *reason;
        PeFile pe;

        search->begin = image->begin;
        /* The assembly before it was precompiled has the same GUID: that is not the one. */
        if (image_bytes_read(image, &pe, &reason) < 0 || !debug_directory_is_of(&pe, search->guid))
                return false;
        if (r2r_code_owner(&pe, search->owner, sizeof(search->owner)) == 0 &&
            read_mvid(&pe, search->mvid))
                return true;
        *search->owner = '\0';
        return r2r_code_read(&search->code, &pe, &reason) == 0;
}

static bool composite_read(const ImageBytes *image, void *data)
{
        PrecompiledComposite *composite = data;
        const char *reason;
        PeFile pe;

        composite->begin = image->begin;
        return image_bytes_read(image, &pe, &reason) == 0 &&
               r2r_code_read_composite(&composite->code, &pe, &reason) == 0;
}

/* The composite image OWNER, beside the module. NULL: no memory. */
static const PrecompiledComposite *precompiled_composite(Precompiled *precompiled,
                                                         ImageSources *sources,
                                                         const PrecompiledQuestion *question,
                                                         const char *owner)
{
        const size_t n = (size_t)(symbol_dirs_name(question->module_path) - question->module_path);
        PrecompiledComposite *composite = &precompiled->composite;
        char *path = malloc(n + strlen(owner) + 1);

        if (!path)
                return NULL;
        memcpy(path, question->module_path, n);
        strcpy(path + n, owner);
        if (composite->path && composite->pid == question->pid && !strcmp(composite->path, path)) {
                free(path);
                return composite;
        }
        composite_clear(composite);
        composite->path = path;
        composite->pid = question->pid;
        image_search(sources, question->pid, path, composite_read, composite);
        return composite;
}

/* Sets the image's code. */
static void image_load(Precompiled *precompiled, PrecompiledImage *image, ImageSources *sources,
                       const PrecompiledQuestion *question)
{
        CodeSearch search = {.guid = question->pdb_guid};
        const PrecompiledComposite *composite;

        image_search(sources, question->pid, question->module_path, image_read, &search);
        image->code = search.code;
        image->begin = search.begin;
        if (!*search.owner || strchr(search.owner, '/'))
                return;
        composite = precompiled_composite(precompiled, sources, question, search.owner);
        if (composite && composite->code &&
            r2r_code_component(&image->code, composite->code, search.mvid) == 0)
                image->begin = composite->begin;
}

static const PrecompiledImage *precompiled_image(Precompiled *precompiled, ImageSources *sources,
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
        if (!image_sources_may_look(sources, question->pid))
                return NULL;
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
        image_load(precompiled, image, sources, question);
        return image;
}

/* The map of the code that is asked about; the caller frees its entries. */
static bool precompiled_map(Precompiled *precompiled, ImageSources *sources,
                            const PrecompiledQuestion *question, R2RMap *ret)
{
        static const uint8_t NONE[PDB_GUID_SIZE];
        const PrecompiledImage *image;
        R2RMethod method;

        if (!question->module_path || !*question->module_path || !question->size ||
            question->offset >= question->size || question->token >> 24 != 6 ||
            !memcmp(question->pdb_guid, NONE, PDB_GUID_SIZE))
                return false;
        image = precompiled_image(precompiled, sources, question);
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

bool precompiled_find(Precompiled *precompiled, ImageSources *sources,
                      const PrecompiledQuestion *question, PrecompiledAnswer *ret)
{
        int32_t il = 0;
        R2RMap map;

        if (!precompiled_map(precompiled, sources, question, &map))
                return false;
        *ret = (PrecompiledAnswer){.has_il = r2r_map_lookup(&map, (uint32_t)question->offset, &il)};
        if (ret->has_il) {
                ret->il = il;
                ret->line_il = map_line_il(&map, il);
        }
        free(map.entries);
        return true;
}

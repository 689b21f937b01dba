/* SPDX-License-Identifier: MIT */
#include "lines/precompiled.h"

#include "lines/image-search.h"
#include "metadata/metadata.h"
#include "metadata/r2r-code.h"
#include "pdb/debug-directory.h"

#include <stdlib.h>
#include <string.h>

/* Maximum of images in memory, of a few MiB each; then the oldest is dropped. */
#define MAX_IMAGES 32u
/* Limits in bytes: name of a composite image, and metadata of an assembly. */
#define MAX_NAME     256u
#define MAX_METADATA (256u << 20)

/* The loader maps whole pages, so an image has the same offset in its page as in the file. */
#define PAGE 4096u

/* The methods with METHOD_IMPL_ASYNC. */
typedef struct AsyncMethods {
        uint8_t *bits; /* owned: bit of method number less one; NULL: not known */
        uint32_t n;    /* methods */
} AsyncMethods;

typedef struct PrecompiledImage {
        pid_t pid;
        char *path; /* owned */
        uint8_t guid[PDB_GUID_SIZE];
        R2RCode *code;  /* owned; NULL: no readable code */
        uint64_t begin; /* of the image in its file */
        AsyncMethods async;
} PrecompiledImage;

/* The last composite image. */
typedef struct PrecompiledComposite {
        pid_t pid;
        char *path;    /* owned: its path, beside the assembly; NULL: none */
        R2RCode *code; /* owned; NULL: not readable */
        uint64_t begin;
} PrecompiledComposite;

struct Precompiled {
        PrecompiledComposite composite;
        PrecompiledImage images[MAX_IMAGES];
        unsigned n_images;
        unsigned next; /* next image to replace when all are used */
};

Precompiled *precompiled_new(void)
{
        return calloc(1, sizeof(Precompiled));
}

static void image_clear(PrecompiledImage *image)
{
        r2r_code_free(image->code);
        free(image->async.bits);
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

/* The search for an image. */
typedef struct CodeSearch {
        const uint8_t *guid;
        R2RCode *code;        /* owned; NULL: not found, or in a composite image */
        char owner[MAX_NAME]; /* the composite image's file; "": the assembly has its own code */
        uint8_t mvid[R2R_MVID_SIZE];
        bool has_mvid;
        uint64_t begin; /* of the image in its file */
        AsyncMethods async;
} CodeSearch;

static void async_methods_read(AsyncMethods *ret, const Metadata *metadata)
{
        const uint32_t n = metadata_n_rows(metadata, METADATA_METHOD_DEF);
        uint32_t rid, flags;

        ret->bits = calloc(n / 8 + 1, 1);
        ret->n = ret->bits ? n : 0;
        for (rid = 1; rid <= ret->n; rid++)
                if (metadata_cell(metadata, METADATA_METHOD_DEF, rid, METHOD_DEF_IMPL_FLAGS,
                                  &flags) &&
                    (flags & METHOD_IMPL_ASYNC))
                        ret->bits[(rid - 1) / 8] |= (uint8_t)(1u << (rid - 1) % 8);
}

static bool async_methods_have(const AsyncMethods *methods, uint32_t rid)
{
        return rid && rid <= methods->n && (methods->bits[(rid - 1) / 8] >> (rid - 1) % 8 & 1);
}

/* Reads the needed parts of the assembly's metadata. */
static void search_read_metadata(CodeSearch *search, const PeFile *pe)
{
        const uint8_t *mvid = NULL;
        const char *reason;
        Metadata metadata;
        uint8_t *bytes;
        uint32_t cell;
        size_t n;

        if (pe_file_read_metadata(pe, MAX_METADATA, &bytes, &n, &reason) < 0)
                return;
        if (metadata_read(&metadata, bytes, n, &reason)) {
                if (metadata_cell(&metadata, METADATA_MODULE, 1, MODULE_MVID, &cell))
                        mvid = metadata_guid(&metadata, cell);
                async_methods_read(&search->async, &metadata);
        }
        search->has_mvid = mvid != NULL;
        if (mvid)
                memcpy(search->mvid, mvid, R2R_MVID_SIZE);
        free(bytes);
}

/* Reads the image if it is the loaded one. */
static bool image_read(const ImageBytes *image, void *data)
{
        CodeSearch *search = data;
        const char *reason;
        PeFile pe;

        search->begin = image->begin;
        /* An assembly before precompilation has the same GUID, but no code. */
        if (image_bytes_read(image, &pe, &reason) < 0 || !debug_directory_is_of(&pe, search->guid))
                return false;
        if (r2r_code_owner(&pe, search->owner, sizeof(search->owner)) == 0)
                search_read_metadata(search, &pe);
        if (search->has_mvid)
                return true;
        *search->owner = '\0';
        if (r2r_code_read(&search->code, &pe, &reason) < 0)
                return false;
        if (r2r_code_has_variants(search->code))
                search_read_metadata(search, &pe);
        return true;
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

/* The composite image OWNER beside the module. NULL: no memory. */
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
        image->async = search.async;
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
                /* This path matches no question. */
                image->path = calloc(1, 1);
                return NULL;
        }
        image->pid = question->pid;
        memcpy(image->guid, question->pdb_guid, PDB_GUID_SIZE);
        image_load(precompiled, image, sources, question);
        return image;
}

/*
 * True if the body has the method's IL. The compiler generates the other body of an async method,
 * which calls this one; its map has no IL offsets of the assembly.
 */
static bool image_has_il_of(const PrecompiledImage *image, uint32_t rid, const R2RMethod *method)
{
        R2ROrigin origin;

        if (!r2r_code_has_variants(image->code))
                return true;
        return image->async.bits && r2r_code_origin(image->code, method->function, &origin) &&
               origin.kind == (async_methods_have(&image->async, rid) ? R2R_KIND_VARIANT
                                                                      : R2R_KIND_METHOD);
}

/* Finds the map of the question's code; the caller frees its entries. */
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
               image_has_il_of(image, question->token & 0xffffff, &method) &&
               r2r_code_map(image->code, method.function, ret) == 0;
}

/*
 * The IL offset of the line, as in the runtime's stack traces: prologs and unmapped code count as
 * the method's begin, epilogs as its end.
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

/* SPDX-License-Identifier: MIT */
#include "lines/type-args.h"

#include "lines/image-search.h"
#include "pdb/debug-directory.h"

#include <stdlib.h>
#include <string.h>

/* Maximum of images in memory; then the oldest is dropped. */
#define MAX_IMAGES 8u
/* Limit of a composite image's name, in bytes. */
#define MAX_NAME 256u

/* A module, and the image with its code. */
typedef struct TypeArgsImage {
        pid_t pid;
        char *path; /* owned: of the module */
        uint8_t guid[PDB_GUID_SIZE];
        ImageNames *names; /* owned; NULL: no readable image */
} TypeArgsImage;

struct TypeArgs {
        TypeArgsImage images[MAX_IMAGES];
        unsigned n_images;
        unsigned next; /* next image to replace when all are used */
};

TypeArgs *type_args_new(void)
{
        return calloc(1, sizeof(TypeArgs));
}

static void type_args_image_clear(TypeArgsImage *image)
{
        image_names_free(image->names);
        free(image->path);
        *image = (TypeArgsImage){0};
}

void type_args_free(TypeArgs *args)
{
        unsigned i;

        for (i = 0; args && i < args->n_images; i++)
                type_args_image_clear(&args->images[i]);
        free(args);
}

/* The search for an image. */
typedef struct TypeArgsSearch {
        ImagePlace place;
        const uint8_t *guid; /* of the module; NULL: for a composite image */
        ImageNames *names;
        char owner[MAX_NAME]; /* the composite image with the module's code; "": none */
} TypeArgsSearch;

static bool search_take(const ImageBytes *image, void *data)
{
        TypeArgsSearch *search = data;
        const char *reason;
        PeFile pe;

        if (search->guid) {
                if (image_bytes_read(image, &pe, &reason) < 0 ||
                    !debug_directory_is_of(&pe, search->guid))
                        return false;
                if (r2r_code_owner(&pe, search->owner, sizeof(search->owner)) == 0)
                        return true;
                *search->owner = '\0';
        }
        return image_names_read(&search->names, image, &search->place) == 0;
}

/* Reads the names of the file OWNER beside the module. NULL: none. */
static ImageNames *composite_read(const TypeArgsSearch *module)
{
        const char *path = module->place.path;
        const size_t n = (size_t)(symbol_dirs_name(path) - path);
        char *composite = malloc(n + strlen(module->owner) + 1);
        TypeArgsSearch search = {.place = module->place};

        if (!composite)
                return NULL;
        memcpy(composite, path, n);
        strcpy(composite + n, module->owner);
        search.place.path = composite;
        image_search(search.place.sources, search.place.pid, composite, search_take, &search);
        free(composite);
        return search.names;
}

static ImageNames *module_read(ImageSources *sources, pid_t pid, const ImageBody *body)
{
        TypeArgsSearch search = {
                .place = {.pid = pid, .path = body->module_path, .sources = sources},
                .guid = body->guid};

        image_search(sources, pid, body->module_path, search_take, &search);
        if (!*search.owner)
                return search.names;
        return strchr(search.owner, '/') ? NULL : composite_read(&search);
}

static ImageNames *type_args_image(TypeArgs *args, ImageSources *sources, pid_t pid,
                                   const ImageBody *body)
{
        TypeArgsImage *image;
        unsigned i;

        for (i = 0; i < args->n_images; i++) {
                image = &args->images[i];
                if (image->pid == pid && !strcmp(image->path, body->module_path) &&
                    !memcmp(image->guid, body->guid, PDB_GUID_SIZE))
                        return image->names;
        }
        if (!image_sources_may_look(sources, pid))
                return NULL;
        image = &args->images[args->next];
        type_args_image_clear(image);
        image->path = strdup(body->module_path);
        if (!image->path) {
                /* This path matches no module. */
                image->path = calloc(1, 1);
                return NULL;
        }
        args->next = (args->next + 1) % MAX_IMAGES;
        if (args->n_images < MAX_IMAGES)
                args->n_images++;
        image->pid = pid;
        memcpy(image->guid, body->guid, PDB_GUID_SIZE);
        image->names = module_read(sources, pid, body);
        return image->names;
}

const char *type_args_find(TypeArgs *args, ImageSources *sources, pid_t pid, const ImageBody *body)
{
        static const uint8_t NONE[PDB_GUID_SIZE];
        ImageNames *names;

        if (!body->module_path || !*body->module_path || !body->name_space || !body->size ||
            body->token >> 24 != METADATA_METHOD_DEF || !memcmp(body->guid, NONE, PDB_GUID_SIZE))
                return NULL;
        names = type_args_image(args, sources, pid, body);
        return names ? image_names_find_type_args(names, body) : NULL;
}

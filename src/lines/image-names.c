/* SPDX-License-Identifier: MIT */
#include "lines/image-names.h"

#include "lines/bundle.h"
#include "lines/image-search.h"
#include "pdb/debug-directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits in bytes: a path, and the type arguments of a method. */
#define MAX_PATH      4096u
#define MAX_TYPE_ARGS 4096u

/* The loader maps whole pages, so an image has the same offset in its page as in the file. */
#define PAGE 4096u

/* An assembly with methods in the image. */
typedef struct ImageAssembly {
        char *path;                  /* owned; NULL: file not found */
        uint8_t guid[PDB_GUID_SIZE]; /* of its PDB; all 0: none */
} ImageAssembly;

struct ImageNames {
        R2RCode *code;   /* owned */
        R2RNames *names; /* owned */
        uint64_t begin;  /* of the image in its file */
        int host;        /* owned: the single-file program with a composite image; -1: none */
        pid_t pid;
        char *path;                /* owned: of the image's file */
        ImageSources *sources;     /* borrowed */
        ImageAssembly *assemblies; /* owned: one, or those of a composite image */
        uint32_t n_assemblies;
        char type_args[MAX_TYPE_ARGS];
};

void image_names_free(ImageNames *names)
{
        uint32_t i;

        if (!names)
                return;
        for (i = 0; names->assemblies && i < names->n_assemblies; i++)
                free(names->assemblies[i].path);
        free(names->assemblies);
        free(names->path);
        if (names->host >= 0)
                close(names->host);
        r2r_names_free(names->names);
        r2r_code_free(names->code);
        free(names);
}

size_t image_names_size(const ImageNames *names)
{
        return sizeof(*names) + names->n_assemblies * sizeof(*names->assemblies) +
               r2r_names_size(names->names) + r2r_code_size(names->code);
}

/* Takes the file if it has the assembly's metadata. False: it has not, or no memory. */
static bool names_take(ImageNames *names, uint32_t i, const PeFile *pe, const char *path)
{
        ImageAssembly *assembly = &names->assemblies[i];
        DebugDirectory directory;
        const char *reason;

        if (!r2r_names_take(names->names, i, pe))
                return false;
        assembly->path = strdup(path);
        if (debug_directory_read(&directory, pe, &reason) == 0 && directory.has_id)
                memcpy(assembly->guid, directory.id.guid, PDB_GUID_SIZE);
        return assembly->path != NULL;
}

static int names_read(ImageNames *names, const PeFile *pe, const ImagePlace *place)
{
        const char *reason;
        int r = r2r_code_read_composite(&names->code, pe, &reason);

        if (r == -EBADMSG)
                r = r2r_code_read(&names->code, pe, &reason);
        if (r < 0)
                return r;
        names->n_assemblies = r2r_code_n_components(names->code);
        names->n_assemblies += !names->n_assemblies;
        names->names = r2r_names_new(names->code);
        names->assemblies = calloc(names->n_assemblies, sizeof(*names->assemblies));
        names->path = strdup(place->path);
        if (!names->names || !names->assemblies || !names->path)
                return -ENOMEM;
        if (pe->begin && r2r_code_n_components(names->code))
                names->host = fcntl(pe->fd, F_DUPFD_CLOEXEC, 0);
        return r2r_code_n_components(names->code) || names_take(names, 0, pe, place->path)
                       ? 0
                       : -EBADMSG;
}

int image_names_read(ImageNames **ret, const ImageBytes *image, const ImagePlace *place)
{
        ImageNames *names = calloc(1, sizeof(*names));
        const char *reason;
        PeFile pe;
        int r;

        if (!names)
                return -ENOMEM;
        names->begin = image->begin;
        names->host = -1;
        names->pid = place->pid;
        names->sources = place->sources;
        r = image_bytes_read(image, &pe, &reason);
        if (r == 0)
                r = names_read(names, &pe, place);
        if (r == 0)
                *ret = names;
        else
                image_names_free(names);
        return r;
}

/* The search for a component's file. */
typedef struct ComponentSearch {
        ImageNames *names;
        uint32_t i;
        const char *path;
} ComponentSearch;

static bool component_take(const ImageBytes *image, void *data)
{
        const ComponentSearch *search = data;
        const char *reason;
        PeFile pe;

        return image_bytes_read(image, &pe, &reason) == 0 &&
               names_take(search->names, search->i, &pe, search->path);
}

/* Searches the program with the composite image. */
static bool names_look_in_host(ImageNames *names, ComponentSearch *search)
{
        uint64_t work = 0;
        const bool is_found = names->host >= 0 &&
                              bundles_find_image_in(&names->sources->bundles, names->host,
                                                    search->path, &work, component_take, search);

        image_sources_add_work(names->sources, names->pid, work);
        return is_found;
}

/* Searches in the program, then beside the image. False: the process has used up its work. */
static bool names_look_for(ImageNames *names, uint32_t i)
{
        const char *name = r2r_code_component_name(names->code, i);
        const int n = (int)(symbol_dirs_name(names->path) - names->path);
        char path[MAX_PATH];
        ComponentSearch search = {names, i, path};
        int length = name ? snprintf(path, sizeof(path), "%.*s%s.dll", n, names->path, name) : -1;

        if (!image_sources_may_look(names->sources, names->pid))
                return false;
        if (length > 0 && (size_t)length < sizeof(path) && *name && !strchr(name, '/') &&
            !names_look_in_host(names, &search))
                image_search(names->sources, names->pid, path, component_take, &search);
        r2r_names_skip(names->names, i);
        return true;
}

static bool names_describe(const ImageNames *names, ImageMethod *ret)
{
        const ImageAssembly *assembly = &names->assemblies[ret->name.assembly];

        ret->path = assembly->path;
        ret->guid = assembly->guid;
        return ret->path != NULL;
}

bool image_names_find(ImageNames *names, uint32_t rva, ImageMethod *ret)
{
        uint32_t missing;

        while (!r2r_names_find(names->names, rva, &ret->name)) {
                if (!r2r_names_missing(names->names, &missing) || !names_look_for(names, missing))
                        return false;
        }
        return names_describe(names, ret);
}

/* True for "/a/b/Lib.dll" and "Lib". */
static bool is_name_of(const char *path, const char *name)
{
        const char *last = symbol_dirs_name(path);
        const size_t n = strlen(name);

        return !strncmp(last, name, n) && !strcmp(last + n, ".dll");
}

/* Finds the component that is the module. */
static bool names_find_component(ImageNames *names, const ImageBody *body, uint32_t *ret)
{
        uint32_t i;

        for (i = 0; i < r2r_code_n_components(names->code); i++) {
                const char *name = r2r_code_component_name(names->code, i);

                if (!name || !is_name_of(body->module_path, name))
                        continue;
                if (!names->assemblies[i].path && !names_look_for(names, i))
                        return false;
                if (!memcmp(names->assemblies[i].guid, body->guid, PDB_GUID_SIZE)) {
                        *ret = i;
                        return true;
                }
        }
        return false;
}

/* Adds an instance with the body's extent. False: the type arguments are ambiguous then. */
static bool names_add_candidate(ImageNames *names, const R2RMethod *candidate,
                                const ImageBody *body)
{
        ImageMethod method;

        if (!image_names_find(names, candidate->begin, &method))
                return false;
        if (strcmp(method.name.name_space, body->name_space) != 0)
                return true;
        if (!method.name.type_args ||
            (*names->type_args && strcmp(names->type_args, method.name.type_args) != 0))
                return false;
        snprintf(names->type_args, sizeof(names->type_args), "%s", method.name.type_args);
        return true;
}

const char *image_names_find_type_args(ImageNames *names, const ImageBody *body)
{
        R2RCode *component = NULL;
        bool is_certain = true;
        R2RMethod candidate;
        uint32_t at = 0, i;

        *names->type_args = '\0';
        if (r2r_code_n_components(names->code) &&
            (!names_find_component(names, body, &i) ||
             r2r_code_component(&component, names->code, r2r_code_component_mvid(names->code, i)) <
                     0))
                return NULL;
        while (is_certain &&
               r2r_code_next_instance(component ? component : names->code, body->token & 0xffffff,
                                      body->start - names->begin % PAGE, body->size, &at,
                                      &candidate))
                is_certain = names_add_candidate(names, &candidate, body);
        r2r_code_free(component);
        return is_certain && *names->type_args ? names->type_args : NULL;
}

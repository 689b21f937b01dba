/* SPDX-License-Identifier: MIT */
#include "lines/type-names.h"

#include "lines/image-search.h"
#include "metadata/metadata-names.h"
#include "metadata/method-signature.h"
#include "metadata/pe-file.h"
#include "pdb/debug-directory.h"
#include "util/guid-text.h"

#include <stdlib.h>
#include <string.h>

/* Maximum of metadata in memory; then the oldest is dropped. */
#define MAX_IMAGES 16u
/* Limit of metadata in bytes: a framework's largest assembly has 10 MiB. */
#define MAX_METADATA (64u << 20)
/* Limits in bytes: a path, one name, all names of a text, the names of type parameters. */
#define MAX_PATH      4096u
#define MAX_NAME      1024u
#define MAX_NAMES     16384u
#define MAX_PARAMS    1024u
#define MAX_SIGNATURE 4096u
/* Nesting of types. */
#define MAX_DEPTH 32u

typedef struct TypeImage {
        pid_t pid;
        char *path; /* owned */
        uint8_t guid[PDB_GUID_SIZE];
        uint8_t *bytes; /* owned; NULL: not found */
        Metadata metadata;
} TypeImage;

struct TypeNames {
        TypeImage images[MAX_IMAGES];
        unsigned n_images;
        unsigned next; /* next image to replace when all are used */
        char names[MAX_NAMES];
        char path[MAX_PATH]; /* of the method found last */
        char signature[MAX_SIGNATURE];
        char type_params[MAX_PARAMS], method_params[MAX_PARAMS];
};

/* A text to read, and the names written from it. */
typedef struct TypeParser {
        TypeNames *names;
        ImageSources *sources;
        pid_t pid;
        const char *at;
        size_t n; /* bytes written */
} TypeParser;

TypeNames *type_names_new(void)
{
        return calloc(1, sizeof(TypeNames));
}

static void type_image_clear(TypeImage *image)
{
        free(image->bytes);
        free(image->path);
        *image = (TypeImage){0};
}

void type_names_free(TypeNames *names)
{
        unsigned i;

        for (i = 0; names && i < names->n_images; i++)
                type_image_clear(&names->images[i]);
        free(names);
}

/* Reads the metadata if the image is the loaded one. */
static bool type_image_read(const ImageBytes *bytes, void *data)
{
        TypeImage *image = data;
        const char *reason;
        PeFile pe;
        size_t n;

        if (image_bytes_read(bytes, &pe, &reason) < 0 || !debug_directory_is_of(&pe, image->guid) ||
            pe_file_read_metadata(&pe, MAX_METADATA, &image->bytes, &n, &reason) < 0)
                return false;
        if (metadata_read(&image->metadata, image->bytes, n, &reason))
                return true;
        free(image->bytes);
        image->bytes = NULL;
        return false;
}

/* NULL: not there. */
static const Metadata *type_names_metadata(TypeNames *names, ImageSources *sources, pid_t pid,
                                           const char *path, const uint8_t guid[PDB_GUID_SIZE])
{
        TypeImage *image;
        unsigned i;

        for (i = 0; i < names->n_images; i++) {
                image = &names->images[i];
                if (image->pid == pid && !strcmp(image->path, path) &&
                    !memcmp(image->guid, guid, PDB_GUID_SIZE))
                        return image->bytes ? &image->metadata : NULL;
        }
        if (!image_sources_may_look(sources, pid))
                return NULL;
        image = &names->images[names->next];
        type_image_clear(image);
        image->path = strdup(path);
        if (!image->path) {
                /* This path matches no module. */
                image->path = calloc(1, 1);
                return NULL;
        }
        names->next = (names->next + 1) % MAX_IMAGES;
        if (names->n_images < MAX_IMAGES)
                names->n_images++;
        image->pid = pid;
        memcpy(image->guid, guid, PDB_GUID_SIZE);
        image_search(sources, pid, path, type_image_read, image);
        return image->bytes ? &image->metadata : NULL;
}

static bool type_parser_put(TypeParser *parser, char c)
{
        if (parser->n + 1 >= MAX_NAMES)
                return false;
        parser->names->names[parser->n++] = c;
        return true;
}

static bool type_parser_put_name(TypeParser *parser, const char *name)
{
        for (; *name; name++)
                if (!type_parser_put(parser, *name))
                        return false;
        return true;
}

static bool type_parser_skip(TypeParser *parser, char c)
{
        if (*parser->at != c)
                return false;
        parser->at++;
        return true;
}

/* Reads eight digits. */
static bool type_parser_token(TypeParser *parser, uint32_t *ret)
{
        unsigned i;

        for (*ret = 0, i = 0; i < 8; i++, parser->at++) {
                const char *digits = "0123456789abcdef";
                const char *digit = *parser->at ? strchr(digits, *parser->at) : NULL;

                if (!digit)
                        return false;
                *ret = *ret << 4 | (uint32_t)(digit - digits);
        }
        return true;
}

static bool type_parser_guid(TypeParser *parser, uint8_t ret[PDB_GUID_SIZE])
{
        const char *end = strchr(parser->at, '@');

        if (!end || !guid_from_text(parser->at, (size_t)(end - parser->at), ret))
                return false;
        parser->at = end;
        return true;
}

static bool type_parser_path(TypeParser *parser, char ret[MAX_PATH])
{
        size_t n = 0;

        for (; *parser->at && !strchr(",[]", *parser->at); parser->at++) {
                if (*parser->at == '\\' && !*++parser->at)
                        return false;
                if (n + 1 >= MAX_PATH)
                        return false;
                ret[n++] = *parser->at;
        }
        ret[n] = '\0';
        return n > 0;
}

/* Reads TOKEN@GUID@PATH, and finds the metadata of that module. */
static bool type_parser_reference(TypeParser *parser, uint32_t *ret_token,
                                  uint8_t ret_guid[PDB_GUID_SIZE], char ret_path[MAX_PATH],
                                  const Metadata **ret)
{
        if (!type_parser_token(parser, ret_token) || !type_parser_skip(parser, '@') ||
            !type_parser_guid(parser, ret_guid) || !type_parser_skip(parser, '@') ||
            !type_parser_path(parser, ret_path))
                return false;
        *ret = type_names_metadata(parser->names, parser->sources, parser->pid, ret_path, ret_guid);
        return *ret != NULL;
}

static bool type_parser_name(TypeParser *parser)
{
        uint8_t guid[PDB_GUID_SIZE];
        char path[MAX_PATH], name[MAX_NAME];
        const Metadata *metadata;
        uint32_t token;

        return type_parser_reference(parser, &token, guid, path, &metadata) &&
               token >> 24 == METADATA_TYPE_DEF &&
               metadata_type_name(metadata, METADATA_TYPE_DEF, token & 0xffffff, name,
                                  sizeof(name)) &&
               type_parser_put_name(parser, name);
}

/* Writes "[]" and "[,]". */
static bool type_parser_arrays(TypeParser *parser)
{
        while (parser->at[0] == '[' && (parser->at[1] == ']' || parser->at[1] == ','))
                do {
                        if (!*parser->at || !strchr("[,]", *parser->at) ||
                            !type_parser_put(parser, *parser->at))
                                return false;
                } while (*parser->at++ != ']');
        return true;
}

/* Writes types, separated by commas. */
static bool type_parser_list(TypeParser *parser, unsigned depth)
{
        if (depth > MAX_DEPTH)
                return false;
        do {
                if (!type_parser_name(parser))
                        return false;
                if (parser->at[0] == '[' && parser->at[1] != ']' && parser->at[1] != ',') {
                        parser->at++;
                        if (!type_parser_put(parser, '[') || !type_parser_list(parser, depth + 1) ||
                            !type_parser_skip(parser, ']') || !type_parser_put(parser, ']'))
                                return false;
                }
                if (!type_parser_arrays(parser))
                        return false;
        } while (type_parser_skip(parser, ',') && type_parser_put(parser, ','));
        return true;
}

const char *type_names_find(TypeNames *names, ImageSources *sources, pid_t pid, const char *text)
{
        TypeParser parser = {.names = names, .sources = sources, .pid = pid, .at = text};

        if (!type_parser_list(&parser, 0) || *parser.at)
                return NULL;
        names->names[parser.n] = '\0';
        return names->names;
}

/* Writes "[...]" with its brackets, unless it is empty. */
static bool type_parser_brackets(TypeParser *parser, size_t *ret_n)
{
        *ret_n = 0;
        if (!type_parser_skip(parser, '['))
                return true;
        if (type_parser_skip(parser, ']'))
                return true;
        *ret_n = parser->n;
        if (!type_parser_put(parser, '[') || !type_parser_list(parser, 0) ||
            !type_parser_skip(parser, ']') || !type_parser_put(parser, ']'))
                return false;
        *ret_n = parser->n - *ret_n;
        return true;
}

bool type_names_find_inlined(TypeNames *names, ImageSources *sources, pid_t pid, const char *text,
                             TypeNamesInlined *ret)
{
        TypeParser parser = {.names = names, .sources = sources, .pid = pid, .at = text};
        char type[MAX_NAME];
        const Metadata *metadata;
        size_t n, begin;

        *ret = (TypeNamesInlined){.name_space = names->names, .module_path = names->path};
        if (!type_parser_reference(&parser, &ret->token, ret->pdb_guid, names->path, &metadata) ||
            ret->token >> 24 != METADATA_METHOD_DEF ||
            !metadata_type_name(metadata, METADATA_TYPE_DEF,
                                metadata_method_type(metadata, ret->token & 0xffffff), type,
                                sizeof(type)))
                return false;
        ret->name = metadata_method_name(metadata, ret->token & 0xffffff);
        if (!ret->name || !type_parser_put_name(&parser, type) ||
            !type_parser_brackets(&parser, &n) || !type_parser_put(&parser, '\0'))
                return false;
        if (metadata_method_signature(metadata, ret->token & 0xffffff, names->signature,
                                      sizeof(names->signature)))
                ret->signature = names->signature;
        begin = parser.n;
        if (!type_parser_brackets(&parser, &n) || *parser.at)
                return false;
        /* Remove the brackets. */
        if (n) {
                names->names[parser.n - 1] = '\0';
                ret->type_args = names->names + begin + 1;
        }
        return true;
}

/* NULL: no type parameters, or not known. */
static const char *params_write(const Metadata *metadata, MetadataTable table, uint32_t rid,
                                char buffer[MAX_PARAMS])
{
        uint32_t n = metadata_n_generic_params(metadata, table, rid), i;
        size_t used = 0;

        for (i = 0; i < n; i++) {
                const char *name = metadata_generic_param(metadata, table, rid, i);
                size_t length = name ? strlen(name) : 0;

                if (!length || strchr(name, ',') || MAX_PARAMS - used < length + 2)
                        return NULL;
                if (i)
                        buffer[used++] = ',';
                memcpy(buffer + used, name, length);
                used += length;
        }
        buffer[used] = '\0';
        return n ? buffer : NULL;
}

/* NULL: not found. */
static const Metadata *type_names_metadata_of(TypeNames *names, ImageSources *sources, pid_t pid,
                                              const TypeNamesMethod *method)
{
        static const uint8_t NONE[PDB_GUID_SIZE];

        return method->module_path && *method->module_path &&
                               method->token >> 24 == METADATA_METHOD_DEF &&
                               memcmp(method->pdb_guid, NONE, PDB_GUID_SIZE) != 0
                       ? type_names_metadata(names, sources, pid, method->module_path,
                                             method->pdb_guid)
                       : NULL;
}

bool type_names_is_thunk(TypeNames *names, ImageSources *sources, pid_t pid,
                         const TypeNamesMethod *method, const char *signature)
{
        const uint32_t rid = method->token & 0xffffff;
        const Metadata *metadata =
                signature ? type_names_metadata_of(names, sources, pid, method) : NULL;
        uint32_t flags;

        if (!metadata ||
            !metadata_cell(metadata, METADATA_METHOD_DEF, rid, METHOD_DEF_IMPL_FLAGS, &flags) ||
            !metadata_method_signature(metadata, rid, names->signature, sizeof(names->signature)))
                return false;
        if (!(flags & METHOD_IMPL_ASYNC))
                method_signature_unwrap_task(names->signature);
        return *names->signature && !strcmp(names->signature, signature);
}

void type_names_find_params(TypeNames *names, ImageSources *sources, pid_t pid,
                            const TypeNamesMethod *method, const char **ret_of_type,
                            const char **ret_of_method)
{
        const uint32_t rid = method->token & 0xffffff;
        const Metadata *metadata = type_names_metadata_of(names, sources, pid, method);

        *ret_of_type = NULL;
        *ret_of_method = NULL;
        if (!metadata)
                return;
        *ret_of_type = params_write(metadata, METADATA_TYPE_DEF,
                                    metadata_method_type(metadata, rid), names->type_params);
        *ret_of_method = params_write(metadata, METADATA_METHOD_DEF, rid, names->method_params);
}

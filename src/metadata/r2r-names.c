/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-names.h"

#include "metadata/metadata-names.h"
#include "metadata/method-signature.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of metadata: the largest assembly of a framework has 10 MiB. */
#define MAX_METADATA (64u << 20)
/* Bytes of a text. Real ones have some hundreds. */
#define MAX_NAME      4096u
#define MAX_SIGNATURE 4096u

#define TOKEN_METHOD 0x06000000u

struct R2RNames {
        R2RCode *code;  /* owned */
        uint8_t *bytes; /* owned: the metadata */
        size_t n_bytes;
        Metadata metadata;
        char name_space[MAX_NAME], type_args[MAX_NAME], signature[MAX_SIGNATURE];
};

/* In an image of one assembly, no signature was seen that has a type by another one's tokens. */
static const Metadata *names_module(void *data, uint32_t module)
{
        const R2RNames *names = data;

        return module ? NULL : &names->metadata;
}

static int names_read(R2RNames *names, const PeFile *pe, const char **ret_reason)
{
        int r = r2r_code_read(&names->code, pe, ret_reason);

        if (r == 0)
                r = pe_file_read_metadata(pe, MAX_METADATA, &names->bytes, &names->n_bytes,
                                          ret_reason);
        if (r == 0 && !metadata_read(&names->metadata, names->bytes, names->n_bytes, ret_reason))
                r = -EBADMSG;
        return r;
}

int r2r_names_read(R2RNames **ret, const PeFile *pe, const char **ret_reason)
{
        R2RNames *names = calloc(1, sizeof(*names));
        int r;

        *ret_reason = "no memory left";
        if (!names)
                return -ENOMEM;
        r = names_read(names, pe, ret_reason);
        if (r == 0)
                *ret = names;
        else
                r2r_names_free(names);
        return r;
}

void r2r_names_free(R2RNames *names)
{
        if (!names)
                return;
        r2r_code_free(names->code);
        free(names->bytes);
        free(names);
}

size_t r2r_names_size(const R2RNames *names)
{
        return sizeof(*names) + names->n_bytes + r2r_code_size(names->code);
}

/* "Type`1" of the type itself, and "Type`1[System.Int32]" of an instance of it. */
static bool is_instance_of(const char *instance, const char *type)
{
        size_t n = strlen(type);

        return !strncmp(instance, type, n) && (instance[n] == '[' || !instance[n]);
}

/* The type of an instance's method, and the type arguments of the method. */
static bool names_take_instance(R2RNames *names, const R2ROrigin *origin, const char *type)
{
        const R2RModules modules = {names_module, names};
        R2RText owner = {.buffer = names->name_space, .size = sizeof(names->name_space)};
        R2RText args = {.buffer = names->type_args, .size = sizeof(names->type_args)};

        if (!r2r_signature_name(origin->signature, &modules, &owner, &args))
                return false;
        if (!owner.n)
                strcpy(names->name_space, type);
        return is_instance_of(names->name_space, type);
}

/* What is not generic has an entry of its own, and what is generic has instances. */
static bool names_is_complete(const R2RNames *names, uint32_t method, uint32_t type)
{
        const Metadata *metadata = &names->metadata;
        bool has_args = metadata_n_generic_params(metadata, METADATA_METHOD_DEF, method) > 0;
        bool type_has_args = metadata_n_generic_params(metadata, METADATA_TYPE_DEF, type) > 0;
        size_t n = strlen(names->name_space);

        return has_args == (*names->type_args != '\0') &&
               type_has_args == (n && names->name_space[n - 1] == ']');
}

static bool names_take_type(R2RNames *names, const R2ROrigin *origin)
{
        uint32_t rid = metadata_method_type(&names->metadata, origin->rid);
        char type[MAX_NAME];

        *names->name_space = *names->type_args = '\0';
        if (!metadata_type_name(&names->metadata, METADATA_TYPE_DEF, rid, type, sizeof(type)))
                return false;
        if (!origin->signature.n)
                strcpy(names->name_space, type);
        else if (!names_take_instance(names, origin, type))
                return false;
        return names_is_complete(names, origin->rid, rid);
}

bool r2r_names_of_function(R2RNames *names, uint32_t function, R2RName *ret)
{
        R2ROrigin origin;
        R2RName name;

        if (!r2r_code_method(names->code, function, &name.method) ||
            !r2r_code_origin(names->code, function, &origin) || origin.component ||
            !names_take_type(names, &origin))
                return false;
        name.name = metadata_method_name(&names->metadata, origin.rid);
        if (!name.name || !*name.name)
                return false;
        metadata_method_signature(&names->metadata, origin.rid, names->signature,
                                  sizeof(names->signature));
        name.token = TOKEN_METHOD | origin.rid;
        name.name_space = names->name_space;
        name.signature = names->signature;
        name.type_args = *names->type_args ? names->type_args : NULL;
        *ret = name;
        return true;
}

bool r2r_names_find(R2RNames *names, uint32_t rva, R2RName *ret)
{
        R2RMethod method;

        return r2r_code_find(names->code, rva, &method) &&
               r2r_names_of_function(names, method.function, ret);
}

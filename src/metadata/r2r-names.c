/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-names.h"

#include "metadata/metadata-names.h"
#include "metadata/method-signature.h"

#include <stdlib.h>
#include <string.h>

/* Limits in bytes: an assembly's metadata (a framework's largest has 10 MiB), and all metadata. */
#define MAX_METADATA     (64u << 20)
#define MAX_ALL_METADATA (192u << 20)
/* Limits of texts in bytes. Real texts have some hundreds. */
#define MAX_NAME      4096u
#define MAX_SIGNATURE 4096u

#define TOKEN_METHOD 0x06000000u

typedef enum AssemblyState { ASSEMBLY_UNREAD, ASSEMBLY_READ, ASSEMBLY_SKIPPED } AssemblyState;

/* An assembly with methods in the image. */
typedef struct NamesAssembly {
        AssemblyState state;
        uint8_t *bytes;     /* owned: the metadata */
        Metadata *metadata; /* owned */
} NamesAssembly;

struct R2RNames {
        const R2RCode *code;       /* borrowed */
        NamesAssembly *assemblies; /* owned: one, or all of a composite image */
        uint32_t n_assemblies;
        bool is_composite;
        bool has_missing; /* the last search failed for lack of `missing` */
        uint32_t missing; /* an assembly's number */
        size_t n_bytes;
        char name_space[MAX_NAME], type_args[MAX_NAME], signature[MAX_SIGNATURE];
};

/* NULL: not there, and noted as missing unless it was skipped. */
static const Metadata *names_metadata(R2RNames *names, uint32_t assembly)
{
        if (assembly >= names->n_assemblies)
                return NULL;
        if (names->assemblies[assembly].state == ASSEMBLY_UNREAD) {
                names->has_missing = true;
                names->missing = assembly;
        }
        return names->assemblies[assembly].metadata;
}

/*
 * In the image of one assembly, signatures have only been seen with the assembly's own tokens. A
 * composite image has tokens of its own assemblies only.
 */
static const Metadata *names_module(void *data, uint32_t module)
{
        R2RNames *names = data;

        if (names->is_composite)
                return names_metadata(names, module - R2R_FIRST_MODULE);
        return module ? NULL : names_metadata(names, 0);
}

R2RNames *r2r_names_new(const R2RCode *code)
{
        R2RNames *names = calloc(1, sizeof(*names));
        const uint32_t n = r2r_code_n_components(code);

        if (!names)
                return NULL;
        names->code = code;
        names->is_composite = n > 0;
        names->n_assemblies = n ? n : 1;
        names->assemblies = calloc(names->n_assemblies, sizeof(*names->assemblies));
        if (names->assemblies)
                return names;
        free(names);
        return NULL;
}

static void names_assembly_clear(NamesAssembly *assembly)
{
        free(assembly->bytes);
        free(assembly->metadata);
        *assembly = (NamesAssembly){0};
}

void r2r_names_free(R2RNames *names)
{
        uint32_t i;

        if (!names)
                return;
        for (i = 0; i < names->n_assemblies; i++)
                names_assembly_clear(&names->assemblies[i]);
        free(names->assemblies);
        free(names);
}

size_t r2r_names_size(const R2RNames *names)
{
        return sizeof(*names) + names->n_assemblies * sizeof(*names->assemblies) + names->n_bytes;
}

static bool names_is_component(const R2RNames *names, uint32_t assembly, const Metadata *metadata)
{
        const uint8_t *expected = r2r_code_component_mvid(names->code, assembly);
        const uint8_t *mvid = NULL;
        uint32_t cell;

        if (metadata_cell(metadata, METADATA_MODULE, 1, MODULE_MVID, &cell))
                mvid = metadata_guid(metadata, cell);
        return expected && mvid && !memcmp(mvid, expected, R2R_MVID_SIZE);
}

bool r2r_names_take(R2RNames *names, uint32_t assembly, const PeFile *pe)
{
        NamesAssembly taken = {.state = ASSEMBLY_READ};
        const char *reason;
        size_t n;

        if (assembly >= names->n_assemblies || names->assemblies[assembly].state == ASSEMBLY_READ ||
            pe_file_read_metadata(pe, MAX_METADATA, &taken.bytes, &n, &reason) < 0)
                return false;
        taken.metadata = malloc(sizeof(*taken.metadata));
        if (!taken.metadata || n > MAX_ALL_METADATA - names->n_bytes ||
            !metadata_read(taken.metadata, taken.bytes, n, &reason) ||
            (names->is_composite && !names_is_component(names, assembly, taken.metadata))) {
                names_assembly_clear(&taken);
                return false;
        }
        names->assemblies[assembly] = taken;
        names->n_bytes += n;
        return true;
}

void r2r_names_skip(R2RNames *names, uint32_t assembly)
{
        if (assembly < names->n_assemblies && names->assemblies[assembly].state == ASSEMBLY_UNREAD)
                names->assemblies[assembly].state = ASSEMBLY_SKIPPED;
}

bool r2r_names_missing(const R2RNames *names, uint32_t *ret_assembly)
{
        *ret_assembly = names->missing;
        return names->has_missing;
}

/* True if INSTANCE is TYPE, "Type`1", or an instance of it, "Type`1[System.Int32]". */
static bool is_instance_of(const char *instance, const char *type)
{
        size_t n = strlen(type);

        return !strncmp(instance, type, n) && (instance[n] == '[' || !instance[n]);
}

/* Sets the type of an instance's method, and the type arguments of the method. */
static bool names_set_instance(R2RNames *names, const R2ROrigin *origin, const char *type)
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

/* True if exactly generic methods, and generic types, have type arguments. */
static bool names_is_complete(const R2RNames *names, const Metadata *metadata, uint32_t method,
                              uint32_t type)
{
        bool has_args = metadata_n_generic_params(metadata, METADATA_METHOD_DEF, method) > 0;
        bool type_has_args = metadata_n_generic_params(metadata, METADATA_TYPE_DEF, type) > 0;
        size_t n = strlen(names->name_space);

        return has_args == (*names->type_args != '\0') &&
               type_has_args == (n && names->name_space[n - 1] == ']');
}

static bool names_set_type(R2RNames *names, const Metadata *metadata, const R2ROrigin *origin)
{
        uint32_t rid = metadata_method_type(metadata, origin->rid);
        char type[MAX_NAME];

        *names->name_space = *names->type_args = '\0';
        if (!metadata_type_name(metadata, METADATA_TYPE_DEF, rid, type, sizeof(type)))
                return false;
        if (!origin->signature.n)
                strcpy(names->name_space, type);
        else if (!names_set_instance(names, origin, type))
                return false;
        return names_is_complete(names, metadata, origin->rid, rid);
}

/* Sets the runtime's name of a stub that it compiles itself. */
static void name_set_stub(R2RName *name)
{
        name->stub_name_space = name->name_space;
        name->stub_name = name->name;
        name->stub_signature = name->signature;
        name->name_space = "dynamicClass";
        name->name = "IL_STUB_AsyncResume";
        name->signature = "class System.Object  (class System.Object,unsigned int8&)";
        name->type_args = NULL;
        name->token = 0;
}

bool r2r_names_of_function(R2RNames *names, uint32_t function, R2RName *ret)
{
        const Metadata *metadata;
        R2ROrigin origin;
        R2RName name = {0};
        uint32_t flags = 0;

        names->has_missing = false;
        if (!r2r_code_method(names->code, function, &name.method) ||
            !r2r_code_origin(names->code, function, &origin))
                return false;
        metadata = names_metadata(names, origin.component);
        if (!metadata || !names_set_type(names, metadata, &origin))
                return false;
        name.name = metadata_method_name(metadata, origin.rid);
        if (!name.name || !*name.name)
                return false;
        metadata_method_signature(metadata, origin.rid, names->signature, sizeof(names->signature));
        if (origin.kind != R2R_KIND_METHOD)
                method_signature_unwrap_task(names->signature);
        metadata_cell(metadata, METADATA_METHOD_DEF, origin.rid, METHOD_DEF_IMPL_FLAGS, &flags);
        name.is_thunk =
                origin.kind == (flags & METHOD_IMPL_ASYNC ? R2R_KIND_METHOD : R2R_KIND_VARIANT);
        name.assembly = origin.component;
        name.token = TOKEN_METHOD | origin.rid;
        name.name_space = names->name_space;
        name.signature = names->signature;
        name.type_args = *names->type_args ? names->type_args : NULL;
        if (origin.kind == R2R_KIND_RESUME)
                name_set_stub(&name);
        *ret = name;
        return true;
}

bool r2r_names_find(R2RNames *names, uint32_t rva, R2RName *ret)
{
        R2RMethod method;

        names->has_missing = false;
        return r2r_code_find(names->code, rva, &method) &&
               r2r_names_of_function(names, method.function, ret);
}

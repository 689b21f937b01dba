/* SPDX-License-Identifier: MIT */
#include "tracker/modules.h"

#include <string.h>

/* The text of a field; 0 if there is none. */
static Str process_intern_text(Process *process, const Record *record, FieldName field)
{
        const Value *value = record_value(record, field);

        return value && value->n ? strtab_add_for(process->names, process->account,
                                                  (const char *)value->data, value->n)
                                 : 0;
}

/* The number of the assembly with that id; 0: id 0. */
static uint32_t process_assembly(Process *process, uint64_t id, uint64_t time)
{
        AssemblyTable *table = &process->assemblies;
        uint32_t number =
                process_is_in_last_rundown(process) ? assembly_table_newest(table, id) : 0;

        return number ? number : assembly_table_need(table, id, time);
}

static void module_take_pdb(Process *process, Module *module, const Record *record)
{
        static const uint8_t NONE[GUID_SIZE];
        const Value *guid = record_value(record, FIELD_ManagedPdbSignature);

        if (!guid || guid->n != GUID_SIZE || !memcmp(guid->data, NONE, GUID_SIZE) ||
            memcmp(module->pdb_guid, NONE, GUID_SIZE) != 0)
                return;
        memcpy(module->pdb_guid, guid->data, GUID_SIZE);
        module->pdb_age = (uint32_t)record_u64(record, FIELD_ManagedPdbAge);
        module->pdb_path = process_intern_text(process, record, FIELD_ManagedPdbBuildPath);
}

/* Takes the unknown members of the module from RECORD, except its path. */
static void module_take(Process *process, Module *module, const Record *record)
{
        AssemblyTable *assemblies = &process->assemblies;
        uint64_t assembly_id = record_u64(record, FIELD_AssemblyID);
        Assembly *assembly;

        if (!module->has_flags) {
                module->has_flags = true;
                module->flags = (uint32_t)record_u64(record, FIELD_ModuleFlags);
        }
        if (!module->native_path)
                module->native_path = process_intern_text(process, record, FIELD_ModuleNativePath);
        module_take_pdb(process, module, record);
        /* At the module's unload its assembly may be gone, and its id reused. */
        if (!module->assembly)
                module->assembly = record->event->kind == EVENT_KIND_MODULE_UNLOAD
                                           ? assembly_table_find(assemblies, assembly_id)
                                           : process_assembly(process, assembly_id, record->time);
        assembly = assembly_table_get(assemblies, module->assembly);
        if (assembly && !assembly->app_domain_id)
                assembly->app_domain_id = record_u64(record, FIELD_AppDomainID);
}

void process_take_module(Process *process, const Record *record)
{
        uint64_t id = record_u64(record, FIELD_ModuleID);
        bool is_load = record->event->kind == EVENT_KIND_MODULE_LOAD;
        Module *module = is_load ? process_living_module(process, id, record->time)
                                 : process_module(process, id, record->time);
        Str path;

        /* DomainModuleLoad, which has an AppDomainID, is not a row of a rundown. */
        process->rundown_has_modules |= record->event->kind == EVENT_KIND_MODULE_RUNDOWN &&
                                        !record_value(record, FIELD_AppDomainID);
        if (!module)
                return;
        path = process_intern_text(process, record, FIELD_ModuleILPath);
        if (is_load && module->has_load && record->time > module->loaded && module->path != path) {
                /* Another module has the id: the unload of the first was lost. */
                process_end_module(process, module, record->time);
                module = process_living_module(process, id, record->time);
        }
        if (is_load && !module->has_load) {
                module->has_load = true;
                module->loaded = record->time;
        }
        if (!module->path)
                process_set_module_path(process, module, path);
        else
                strtab_unref(process->names, path);
        module_take(process, module, record);
}

void process_take_module_unload(Process *process, const Record *record)
{
        Module *module = process_module(process, record_u64(record, FIELD_ModuleID), record->time);

        if (!module)
                return;
        if (!module->path)
                process_set_module_path(process, module,
                                        process_intern_text(process, record, FIELD_ModuleILPath));
        if (!module->has_flags)
                module_take(process, module, record);
        process_end_module(process, module, record->time);
}

/* Takes the unknown members of the assembly from RECORD. Takes over NAME. */
static void assembly_take(Process *process, Assembly *assembly, const Record *record, Str name)
{
        if (!assembly->has_flags) {
                assembly->has_flags = true;
                assembly->flags = (uint32_t)record_u64(record, FIELD_AssemblyFlags);
                assembly->binding_id = record_u64(record, FIELD_BindingID);
        }
        if (!assembly->app_domain_id)
                assembly->app_domain_id = record_u64(record, FIELD_AppDomainID);
        if (!assembly->name)
                assembly->name = name;
        else
                strtab_unref(process->names, name);
}

void process_take_assembly(Process *process, const Record *record)
{
        AssemblyTable *table = &process->assemblies;
        EventKind kind = record->event->kind;
        uint64_t id = record_u64(record, FIELD_AssemblyID);
        bool is_load = kind == EVENT_KIND_ASSEMBLY_LOAD;
        uint32_t number = is_load ? assembly_table_need(table, id, record->time)
                                  : process_assembly(process, id, record->time);
        Assembly *assembly = assembly_table_get(table, number);
        Str name;

        if (!assembly)
                return;
        name = process_intern_text(process, record, FIELD_FullyQualifiedAssemblyName);
        if (is_load && assembly->has_load && record->time > assembly->loaded &&
            assembly->name != name) {
                /* Another assembly has the id: the unload of the first was lost. */
                assembly_table_end(table, number, record->time);
                number = assembly_table_need(table, id, record->time);
                assembly = assembly_table_get(table, number);
        }
        if (is_load && !assembly->has_load) {
                assembly->has_load = true;
                assembly->loaded = record->time;
        }
        assembly_take(process, assembly, record, name);
        if (kind == EVENT_KIND_ASSEMBLY_UNLOAD)
                assembly_table_end(table, number, record->time);
}

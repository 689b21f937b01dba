/* SPDX-License-Identifier: MIT */
#include "lines/lines.h"

#include "lines/line-module.h"
#include "lines/source-map.h"
#include "pdb/pdb-points.h"

#include <stdlib.h>

/* Maximum of modules; then all are dropped. Their PDBs stay in the cache. */
#define MAX_MODULES  4096u
#define TOKEN_TABLE  0xff000000u
#define TOKEN_METHOD 0x06000000u

struct Lines {
        ImageSources sources;
        SourceMap map;
        PdbCache cache;
        LineModule **modules; /* owned */
        size_t n_modules;
        LineModule *last; /* borrowed: module of the last question */
        bool has_defaults;
};

Lines *lines_new(void)
{
        return calloc(1, sizeof(Lines));
}

static void lines_forget_modules(Lines *lines)
{
        size_t i;

        for (i = 0; i < lines->n_modules; i++)
                line_module_free(lines->modules[i]);
        lines->n_modules = 0;
        lines->last = NULL;
}

void lines_free(Lines *lines)
{
        if (!lines)
                return;
        lines_forget_modules(lines);
        free(lines->modules);
        pdb_cache_deinit(&lines->cache);
        source_map_deinit(&lines->map);
        image_sources_deinit(&lines->sources);
        free(lines);
}

bool lines_add_directory(Lines *lines, const char *path)
{
        return symbol_dirs_add(&lines->sources.dirs, path);
}

bool lines_add_map(Lines *lines, const char *from, const char *to)
{
        return source_map_add(&lines->map, from, to);
}

ImageSources *lines_sources(Lines *lines)
{
        if (!lines->has_defaults)
                lines->has_defaults = symbol_dirs_add_default(&lines->sources.dirs);
        return &lines->sources;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
        for (; *text; text++)
                hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
        return hash;
}

static bool module_is(const LineModule *module, const LineModule *asked)
{
        return module->hash == asked->hash && module->pid == asked->pid &&
               module->has_guid == asked->has_guid &&
               !memcmp(module->guid, asked->guid, PDB_GUID_SIZE) &&
               !strcmp(module->path, asked->path) && !strcmp(module->pdb_path, asked->pdb_path);
}

/* NULL: no memory. */
static LineModule *line_module_copy(const LineModule *asked)
{
        LineModule *module = malloc(sizeof(*module));

        if (!module)
                return NULL;
        *module = *asked;
        module->path = strdup(asked->path);
        module->pdb_path = strdup(asked->pdb_path);
        if (module->path && module->pdb_path)
                return module;
        line_module_free(module);
        return NULL;
}

/* Takes over MODULE. False: no memory. */
static bool lines_keep_module(Lines *lines, LineModule *module)
{
        LineModule **modules;

        if (lines->n_modules >= MAX_MODULES)
                lines_forget_modules(lines);
        modules = realloc(lines->modules, (lines->n_modules + 1) * sizeof(*modules));
        if (!modules) {
                line_module_free(module);
                return false;
        }
        lines->modules = modules;
        modules[lines->n_modules++] = module;
        lines->last = module;
        return true;
}

/*
 * Adds a module at its first question. If the search is refused, the module is not kept: another
 * process may find it.
 */
static LineStatus lines_add_module(Lines *lines, const LineModule *asked)
{
        LineModule *module = line_module_copy(asked);

        if (!module)
                return LINE_PDB_MISSING;
        if (!line_module_find(module, lines_sources(lines), &lines->cache)) {
                line_module_free(module);
                return LINE_TOO_MUCH;
        }
        return lines_keep_module(lines, module) ? LINE_FOUND : LINE_PDB_MISSING;
}

/* Returns LINE_FOUND, with the module in `last`, also if the module has no PDB. */
static LineStatus lines_find_module(Lines *lines, const LineQuestion *question)
{
        static const uint8_t NONE[PDB_GUID_SIZE];
        LineModule asked = {.pid = question->pid,
                            .path = (char *)question->module_path,
                            .pdb_path = (char *)(question->pdb_path ? question->pdb_path : "")};
        size_t i;

        if (question->pdb_guid)
                memcpy(asked.guid, question->pdb_guid, PDB_GUID_SIZE);
        asked.has_guid = memcmp(asked.guid, NONE, PDB_GUID_SIZE) != 0;
        asked.hash = hash_text((uint64_t)question->pid ^ asked.guid[0], question->module_path);
        if (lines->last && module_is(lines->last, &asked))
                return LINE_FOUND;
        for (i = 0; i < lines->n_modules; i++)
                if (module_is(lines->modules[i], &asked)) {
                        lines->last = lines->modules[i];
                        return LINE_FOUND;
                }
        return lines_add_module(lines, &asked);
}

static char *map_path(const char *path, void *data)
{
        return source_map_apply(data, path);
}

static LineStatus lines_find_method(Lines *lines, const LineQuestion *question, bool is_first,
                                    SourceLine *ret)
{
        static const LineStatus STATUSES[] = {
                [PDB_FOUND] = LINE_FOUND,         [PDB_NONE] = LINE_NO_PDB,
                [PDB_MISSING] = LINE_PDB_MISSING, [PDB_OTHER] = LINE_PDB_OTHER,
                [PDB_WINDOWS] = LINE_PDB_WINDOWS, [PDB_UNREADABLE] = LINE_PDB_DAMAGED,
        };
        uint32_t method = question->token & ~TOKEN_TABLE;
        MetadataSpan checksum = {0};
        LineStatus status;
        LineModule *module;
        PdbPoint point;
        bool is_found;

        if (!question->module_path || !*question->module_path ||
            (question->token & TOKEN_TABLE) != TOKEN_METHOD)
                return LINE_NO_MODULE;
        if (question->is_other_il)
                return LINE_OTHER_IL;
        if (!is_first && question->il < 0)
                return LINE_NO_IL;
        status = lines_find_module(lines, question);
        if (status != LINE_FOUND)
                return status;
        module = lines->last;
        if (module->state == PDB_FOUND && !module->file->is_loaded &&
            !line_module_find(module, &lines->sources, &lines->cache))
                return LINE_TOO_MUCH;
        if (module->state != PDB_FOUND)
                return STATUSES[module->state];
        pdb_cache_use(&lines->cache, module->file);
        is_found = is_first ? pdb_first_point(&module->file->pdb, method, &point)
                            : pdb_find_point(&module->file->pdb, method, (uint32_t)question->il,
                                             &point);
        if (!is_found)
                return LINE_NONE;
        if (!pdb_document_checksum(&module->file->pdb, point.document, &checksum))
                checksum = (MetadataSpan){0};
        *ret = (SourceLine){.file = pdb_cache_document(&lines->cache, module->file, point.document,
                                                       map_path, &lines->map),
                            .line = point.line,
                            .column = point.column,
                            .checksum = checksum.at,
                            .n_checksum = (uint32_t)checksum.n};
        return ret->file ? LINE_FOUND : LINE_PDB_DAMAGED;
}

LineStatus lines_find(Lines *lines, const LineQuestion *question, SourceLine *ret)
{
        return lines_find_method(lines, question, false, ret);
}

LineStatus lines_find_first(Lines *lines, const LineQuestion *question, SourceLine *ret)
{
        return lines_find_method(lines, question, true, ret);
}

/* SPDX-License-Identifier: MIT */
#include "symbols/code-places.h"

#include "symbols/map-symbols.h"

#include <string.h>

/* Cached places: a power of two. */
#define N_RECENT (1u << 14)

/* A place in a file; its symbol never changes. */
typedef struct RecentPlace {
        uint64_t address, begin, offset;
        uint32_t file;
        int32_t pid;        /* of anonymous memory, whose names belong to a process; else 0 */
        const char *dso;    /* NULL: the row is empty */
        const char *symbol; /* NULL: none */
        uint64_t start;     /* of the symbol */
        MappingKind kind;   /* of DSO */
        FrameSource source; /* of the symbol */
} RecentPlace;

struct CodePlaces {
        AddressSpaces *spaces; /* borrowed */
        KernelSymbols *kernel; /* borrowed */
        FileSymbols *files;
        MapSymbols *maps;
        RecorderSymbols *recorder; /* borrowed; NULL: there is none */
        RecentPlace *recent;       /* owned: by address */
        GByteArray *kinds; /* owned: CodePlaceKind by number of the file; 0: not known yet */
};

/* The source of names of a file's code. */
typedef enum CodePlaceKind {
        PLACE_UNSEEN,
        PLACE_FILE,
        PLACE_ANONYMOUS, /* by the process's perf map */
        PLACE_NAMELESS,
} CodePlaceKind;

CodePlaces *code_places_new(AddressSpaces *spaces, const PerfFeatures *features,
                            KernelSymbols *kernel, const DebugFinder *debug)
{
        CodePlaces *places = g_new0(CodePlaces, 1);

        places->spaces = spaces;
        places->kernel = kernel;
        places->files = file_symbols_new(spaces, features, debug);
        places->maps = map_symbols_new();
        places->recent = g_new0(RecentPlace, N_RECENT);
        places->kinds = g_byte_array_new();
        return places;
}

void code_places_set_recorder(CodePlaces *places, RecorderSymbols *symbols)
{
        places->recorder = symbols;
}

void code_places_free(CodePlaces *places)
{
        if (!places)
                return;
        file_symbols_free(places->files);
        map_symbols_free(places->maps);
        g_free(places->recent);
        g_byte_array_unref(places->kinds);
        g_free(places);
}

/* perf's rule (tools/perf/util/map.c): these paths are not files. */
static CodePlaceKind place_kind_of_path(const char *path)
{
        static const struct {
                const char *begin;
                CodePlaceKind kind;
        } ROWS[] = {
                {ANONYMOUS_PATH, PLACE_ANONYMOUS},   {"/dev/zero", PLACE_ANONYMOUS},
                {"/anon_hugepage", PLACE_ANONYMOUS}, {"[stack", PLACE_NAMELESS},
                {"/SYSV", PLACE_NAMELESS},           {"[heap]", PLACE_NAMELESS},
                {"/memfd:", PLACE_NAMELESS},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (g_str_has_prefix(path, ROWS[i].begin))
                        return ROWS[i].kind;
        return PLACE_FILE;
}

static CodePlaceKind places_kind(CodePlaces *places, uint32_t file)
{
        const guint n = places->kinds->len;

        if (file >= n) {
                g_byte_array_set_size(places->kinds, file + 1);
                memset(places->kinds->data + n, 0, file + 1 - n);
        }
        if (places->kinds->data[file] == PLACE_UNSEEN)
                places->kinds->data[file] = (uint8_t)place_kind_of_path(
                        address_spaces_file(places->spaces, file)->path);
        return (CodePlaceKind)places->kinds->data[file];
}

/* False: the recorder has no name. PID: RECORDER_KERNEL, or a process. */
static bool places_ask_recorder(CodePlaces *places, int32_t pid, RecentPlace *place)
{
        RecorderName name;
        RecorderFound found = places->recorder ? recorder_symbols_find(places->recorder, pid,
                                                                       place->address, &name)
                                               : RECORDER_NONE;

        if (found == RECORDER_NONE)
                return false;
        place->pid = pid;
        place->symbol = name.text;
        place->start = name.start;
        place->source = found == RECORDER_SEVERAL ? FRAME_SOURCE_SEVERAL
                        : pid == RECORDER_KERNEL  ? FRAME_SOURCE_SYMBOL
                                                  : FRAME_SOURCE_RECORDER;
        if (name.module)
                place->dso = name.module;
        return true;
}

static void places_read(CodePlaces *places, int32_t pid, const SpaceMapping *mapping,
                        uint64_t address, RecentPlace *ret)
{
        const CodePlaceKind kind = places_kind(places, mapping->file);

        *ret = (RecentPlace){
                .address = address,
                .begin = mapping->begin,
                .offset = mapping->offset,
                .file = mapping->file,
                .pid = kind == PLACE_ANONYMOUS ? pid : 0,
                .dso = address_spaces_file(places->spaces, mapping->file)->path,
        };
        ret->kind = mapping_kind_of_dso(ret->dso);
        if (places->recorder && ret->kind == MAPPING_JITTED) {
                ret->pid = pid;
                places_ask_recorder(places, pid, ret);
        } else if (kind == PLACE_ANONYMOUS) {
                ret->dso = map_symbols_path(places->maps, pid);
                ret->symbol = map_symbols_find(places->maps, pid, address, &ret->start);
        } else if (kind == PLACE_FILE) {
                ret->symbol = file_symbols_find(places->files, mapping, address, &ret->start);
                if (!ret->symbol)
                        places_ask_recorder(places, pid, ret);
        }
}

static RecentPlace *places_recent(CodePlaces *places, uint64_t address)
{
        return &places->recent[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 50];
}

static bool place_is_of(const RecentPlace *row, uint64_t address, const SpaceMapping *mapping,
                        int32_t pid)
{
        return row->dso && row->address == address && row->begin == mapping->begin &&
               row->offset == mapping->offset && row->file == mapping->file &&
               (!row->pid || row->pid == pid);
}

bool code_places_find(CodePlaces *places, int32_t pid, uint64_t time, uint64_t address,
                      bool is_user, CodePlace *ret)
{
        const SpaceMapping *mapping;
        RecentPlace *row;

        *ret = (CodePlace){.is_kernel = !is_user || address >> 63};
        row = places_recent(places, address);
        if (ret->is_kernel) {
                if (!row->dso || row->address != address) {
                        *row = (RecentPlace){.address = address};
                        row->dso = KERNEL_DSO;
                        if (!places_ask_recorder(places, RECORDER_KERNEL, row))
                                row->symbol = kernel_symbols_find(places->kernel, address,
                                                                  &row->dso, &row->start);
                        row->kind = mapping_kind_of_dso(row->dso);
                }
                if (!row->dso)
                        return false;
        } else {
                mapping = address_spaces_find(places->spaces, pid, time, address);
                if (!mapping)
                        mapping = address_spaces_find_executor(places->spaces, pid, time, address);
                if (!mapping)
                        return false;
                if (!place_is_of(row, address, mapping, pid))
                        places_read(places, pid, mapping, address, row);
                ret->base = mapping->begin - mapping->offset;
        }
        ret->dso = row->dso;
        ret->symbol = row->symbol;
        ret->start = row->start;
        ret->kind = row->kind;
        ret->source = row->source;
        return true;
}

int32_t code_places_costly_process(const CodePlaces *places)
{
        return file_symbols_costly_process(places->files);
}

const MappedFile *code_places_missing(const CodePlaces *places, FileReason *ret_reason)
{
        return file_symbols_missing(places->files, ret_reason);
}

void code_places_set_boot(CodePlaces *places, bool is_of_this_boot)
{
        file_symbols_set_boot(places->files, is_of_this_boot);
}

const char *code_places_find_dso(CodePlaces *places, int32_t pid, uint64_t time, uint64_t address)
{
        const SpaceMapping *mapping = address_spaces_find(places->spaces, pid, time, address);

        if (!mapping)
                return NULL;
        return places_kind(places, mapping->file) == PLACE_ANONYMOUS
                       ? map_symbols_path(places->maps, pid)
                       : address_spaces_file(places->spaces, mapping->file)->path;
}

/* SPDX-License-Identifier: MIT */
#include "cli/native-names.h"

#include "cli/symbol-text.h"
#include "moment/moment.h"
#include "perf/images.h"
#include "symbols/code-places.h"
#include "util/fd.h"
#include "util/file-name.h"
#include "util/libc-extras.h"
#include "util/printable-string.h"
#include "util/proc-ns.h"
#include "util/proc.h"

#include <string.h>

/* us between two reads of /proc, at least. */
#define REFRESH_PAUSE (100 * G_TIME_SPAN_MILLISECOND)

struct NativeNames {
        pid_t pid;
        int pidfd;          /* owned */
        gint64 next;        /* us of g_get_monotonic_time(): no read before */
        uint64_t time;      /* counts the changes of the mappings */
        char *maps;         /* owned: the text that NOW was parsed from */
        Moment *now;        /* owned: the current mappings, sorted */
        PerfFeatures none;  /* owned: without build ids, device and inode count */
        DebugFiles *debug;  /* owned */
        DebugFinder finder; /* uses DEBUG */
        KernelSymbols *kernel;
        AddressSpaces *spaces;
        CodePlaces *places;
        Images images;
        GString *symbol; /* owned: of the last name */
};

/* True for mappings of files and of the vDSO. Code in other memory is not native, or has no
 * symbols. */
static bool mapping_is_of_file(const MomentMapping *mapping)
{
        return (mapping->path[0] == '/' && mapping->inode &&
                mapping_kind_of_dso(mapping->path) != MAPPING_JITTED) ||
               g_str_equal(mapping->path, "[vdso]");
}

static bool native_names_has(const NativeNames *names, const MomentMapping *mapping)
{
        const SpaceMapping *found =
                address_spaces_find(names->spaces, names->pid, names->time, mapping->begin);
        const MappedFile *file = found ? address_spaces_file(names->spaces, found->file) : NULL;

        return file && found->begin == mapping->begin && found->end == mapping->end &&
               found->offset == mapping->offset && file->inode == mapping->inode &&
               file->major == mapping->major && file->minor == mapping->minor &&
               g_str_equal(file->path, mapping->path);
}

/* Adds the new mappings, which hide earlier ones at their addresses. */
static void native_names_take(NativeNames *names)
{
        g_autoptr(GArray) added = g_array_new(FALSE, FALSE, sizeof(MappingRecord));
        guint i;

        names->time++;
        for (i = 0; i < names->now->mappings->len; i++) {
                const MomentMapping *mapping =
                        &g_array_index(names->now->mappings, MomentMapping, i);
                const MappingRecord record = {
                        .pid = names->pid,
                        .address = mapping->begin,
                        .size = mapping->end - mapping->begin,
                        .offset = mapping->offset,
                        .major = mapping->major,
                        .minor = mapping->minor,
                        .inode = mapping->inode,
                        .is_executable = true,
                        .path = mapping->path,
                };

                if (mapping_is_of_file(mapping) && !native_names_has(names, mapping))
                        g_array_append_val(added, record);
        }
        for (i = 0; i < added->len; i++)
                address_spaces_add(names->spaces, &g_array_index(added, MappingRecord, i),
                                   names->time);
        /* Only memory without a file has changed most of the time. */
        if (added->len)
                images_forget_mappings(&names->images);
}

void native_names_refresh(NativeNames *names)
{
        const gint64 now = g_get_monotonic_time();
        size_t n;
        char *maps;

        if (now < names->next)
                return;
        names->next = now + REFRESH_PAUSE;
        maps = proc_read_file(names->pid, "maps", PROC_MAX_MAPS, &n);
        /* If the process has ended, it has no mappings, and another one may have its pid. */
        if (!maps || !n || proc_has_ended(names->pidfd) || g_strcmp0(maps, names->maps) == 0) {
                g_free(maps);
                return;
        }
        g_free(names->maps);
        names->maps = maps;
        moment_free(names->now);
        names->now = moment_new(names->pid);
        moment_take_maps(names->now, maps);
        native_names_take(names);
}

/* DIRECTORIES: with debug files; NULL: none. */
static NativeNames *native_names_of_process(pid_t pid, const GPtrArray *directories)
{
        NativeNames *names = g_new0(NativeNames, 1);

        names->pid = pid;
        names->pidfd = pidfd_open(pid, 0);
        perf_features_init(&names->none);
        names->debug = debug_files_new(directories);
        names->finder = debug_files_finder(names->debug);
        names->kernel = kernel_symbols_new(&names->none);
        names->spaces = address_spaces_new();
        names->places = code_places_new(names->spaces, &names->none, names->kernel, &names->finder);
        images_init(&names->images, /* fd= */ -1);
        names->symbol = g_string_new(NULL);
        if (names->pidfd >= 0)
                native_names_refresh(names);
        if (names->now)
                return names;
        native_names_free(names);
        return NULL;
}

NativeNames *native_names_new(const clrsym_query *query, const Options *options)
{
        pid_t pid = query->pid;

        /* Mappings of now do not apply to a trace or another time. */
        if (options->trace || query->has_time ||
            (query->has_pid_ns &&
             (!query->pid_ns || !proc_host_pid(query->pid_ns, query->pid, &pid))))
                return NULL;
        return native_names_of_process(pid, options->symbols);
}

void native_names_free(NativeNames *names)
{
        if (!names)
                return;
        code_places_free(names->places);
        address_spaces_free(names->spaces);
        kernel_symbols_free(names->kernel);
        debug_files_free(names->debug);
        perf_features_deinit(&names->none);
        images_deinit(&names->images);
        moment_free(names->now);
        g_free(names->maps);
        g_string_free(names->symbol, TRUE);
        fd_clear(&names->pidfd);
        g_free(names);
}

bool native_names_have_ended(const NativeNames *names)
{
        return proc_has_ended(names->pidfd);
}

/* NULL: ADDRESS is in no executable mapping now. */
static const MomentMapping *native_names_mapping(const NativeNames *names, uint64_t address)
{
        const GArray *mappings = names->now->mappings;
        guint low = 0, high = mappings->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;
                const MomentMapping *mapping = &g_array_index(mappings, MomentMapping, middle);

                if (address < mapping->begin)
                        high = middle;
                else if (address >= mapping->end)
                        low = middle + 1;
                else
                        return mapping;
        }
        return NULL;
}

/* The method of a precompiled assembly, as the tables of its file name it. */
static bool native_names_find_method(NativeNames *names, uint64_t address, const CodePlace *place,
                                     NativeName *ret)
{
        const ImageAddress where = {address, place->dso, place->base};
        const ImageCode code = images_find(&names->images, names->pid, UINT64_MAX, &where);
        clrsym_body body;
        ImageName found;

        if (!images_name(&names->images, &code, &found))
                return false;
        body = images_body(&found);
        symbol_text_append(names->symbol, names->pid, &body);
        ret->symbol = names->symbol->str;
        ret->source = FRAME_SOURCE_IMAGE;
        ret->offset = address - found.start;
        return true;
}

bool native_names_find(NativeNames *names, uint64_t address, NativeName *ret)
{
        const MomentMapping *mapping = native_names_mapping(names, address);
        CodePlace place;

        g_string_truncate(names->symbol, 0);
        if (!mapping || !mapping_is_of_file(mapping) ||
            !code_places_find(names->places, names->pid, names->time, address, /* is_user= */ true,
                              &place) ||
            place.is_kernel)
                return false;
        *ret = (NativeName){.source = FRAME_SOURCE_SYMBOL,
                            .offset = address - mapping->begin + mapping->offset,
                            .file = mapping->path};
        if (mapping_kind_may_be_managed(place.kind, place.symbol) &&
            native_names_find_method(names, address, &place, ret))
                return true;
        if (place.symbol) {
                printable_append(names->symbol, place.symbol);
                ret->symbol = names->symbol->str;
                ret->offset = address - place.start;
        }
        return true;
}

void native_name_append(const NativeName *name, GString *out)
{
        g_autofree char *file = text_printable(file_name_of(name->file));

        if (name->symbol)
                g_string_append(out, name->symbol);
        else
                g_string_append_printf(out, *file == '[' ? "%s" : "[%s]", file);
        g_string_append_printf(out, "+0x%" G_GINT64_MODIFIER "x", (guint64)name->offset);
}

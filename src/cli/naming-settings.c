/* SPDX-License-Identifier: MIT */
#include "cli/naming-settings.h"

#include "symbols/debug-files.h"

#include <inttypes.h>

static void add_setting(GPtrArray *settings, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_setting(GPtrArray *settings, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        g_ptr_array_add(settings, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

GPtrArray *naming_settings_new(const NamingSettings *naming)
{
        const Options *options = naming->options;
        GPtrArray *settings = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) packed = NULL;
        guint i;

        if (naming->clock)
                add_setting(settings, "mapped-only");
        if (naming->trace)
                add_setting(settings, "trace=%s", naming->trace);
        if (naming->has_no_events)
                add_setting(settings, "no-events");
        if (options->socket)
                add_setting(settings, "socket=%s", options->socket);
        if (options_has(options, OPTION_STYLE))
                add_setting(settings, "style=%s", clrsym_style_name(options->style));
        if (options_has(options, OPTION_TIERS))
                add_setting(settings, "tier");
        if (options_has(options, OPTION_EXPLAIN))
                add_setting(settings, "explain");
        if (options_has(options, OPTION_ANNOTATE))
                add_setting(settings, "annotate");
        if (naming->is_over)
                add_setting(settings, "wait=0");
        if (naming->event)
                add_setting(settings, "event=%s", naming->event);
        if (options_has(options, OPTION_LINES))
                add_setting(settings, "lines");
        for (i = 0; options->symbols && i < options->symbols->len; i++)
                add_setting(settings, "symbols=%s", (char *)options->symbols->pdata[i]);
        if (options_has(options, OPTION_LINES))
                packed = debug_files_packed(naming->recording->binaries);
        for (i = 0; packed && i < packed->len; i++)
                add_setting(settings, "program=%s", (char *)packed->pdata[i]);
        for (i = 0; options->source_maps && i < options->source_maps->len; i++)
                add_setting(settings, "source-map=%s", (char *)options->source_maps->pdata[i]);
        if (naming->clock && !naming->clock->is_exact)
                add_setting(settings, "clock=%" PRId64 ",%" PRIu64, naming->clock->offset,
                            naming->clock->slack);
        for (i = 0; i < naming->maps->len; i++) {
                const ProcessMap *map = &g_array_index(naming->maps, ProcessMap, i);

                if (map->process.has_pid_ns)
                        add_setting(settings, "map=%" PRId32 "=%" PRIu64 ":%" PRId32, map->perf_pid,
                                    map->process.pid_ns, map->process.pid);
                else
                        add_setting(settings, "map=%" PRId32 "=%" PRId32, map->perf_pid,
                                    map->process.pid);
        }
        return settings;
}

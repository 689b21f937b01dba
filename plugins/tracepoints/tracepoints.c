/* SPDX-License-Identifier: MIT */

/*
 * libclrsym-tracepoints.so: gives .NET 11.0.0 its LTTng events
 *
 * The libcoreclr.so of that release has its tracepoints, but lacks the table of pointers to them
 * that liblttng-ust-tracepoint registers, so no tracepoint can be enabled. This library, loaded by
 * LD_PRELOAD, makes the table in the process and registers it.
 *
 * It does so when the runtime registers its events: libcoreclrtraceptprovider.so, loaded by
 * libcoreclr.so, calls lttng_probe_register() of liblttng-ust for each provider. This library
 * intercepts the call, and passes it on unchanged. In a program without such a call, none of this
 * library's code runs, and dlopen() and all other functions are unchanged.
 */

#include "tracepoints/table.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* Differences between lttng-ust up to 2.12, and from 2.13 on. */
typedef struct TracingLibrary {
        const char *ust, *tracepoint;   /* names of the two libraries */
        const char *register_probe;     /* of `ust`: the intercepted function */
        const char *register_table;     /* of `tracepoint` */
        const char *section, *pointers; /* of libcoreclr.so */
        TableLayout layout;
} TracingLibrary;

static const TracingLibrary OLD = {.ust = "liblttng-ust.so.0",
                                   .tracepoint = "liblttng-ust-tracepoint.so.0",
                                   .register_probe = "lttng_probe_register",
                                   .register_table = "tracepoint_register_lib",
                                   .section = "__tracepoints",
                                   .pointers = "__tracepoints_ptrs",
                                   .layout = TABLE_NAME_FIRST};
static const TracingLibrary NEW = {.ust = "liblttng-ust.so.1",
                                   .tracepoint = "liblttng-ust-tracepoint.so.1",
                                   .register_probe = "lttng_ust_probe_register",
                                   .register_table = "lttng_ust_tracepoint_module_register",
                                   .section = "lttng_ust_tracepoints",
                                   .pointers = "lttng_ust_tracepoints_ptrs",
                                   .layout = TABLE_SIZE_FIRST};

/* A function of a loaded library; NULL: none. */
static void *loaded_function(const char *library, const char *name)
{
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

        return handle ? dlsym(handle, name) : NULL;
}

/* Runs once in a process, because a table must not be registered twice. */
static void connect_once(const TracingLibrary *library)
{
        static atomic_flag is_done = ATOMIC_FLAG_INIT;
        int (*register_table)(void *const *table, int n);
        void **table;
        size_t n = 0;

        if (atomic_flag_test_and_set(&is_done))
                return;
        register_table = (int (*)(void *const *, int))loaded_function(library->tracepoint,
                                                                      library->register_table);
        table = register_table
                        ? table_make(library->section, library->pointers, library->layout, &n)
                        : NULL;
        /* Never freed: liblttng-ust-tracepoint keeps the address. */
        if (table)
                register_table(table, (int)n);
}

static void *real_function(const TracingLibrary *library)
{
        void *real = dlsym(RTLD_NEXT, library->register_probe);

        return real ? real : loaded_function(library->ust, library->register_probe);
}

/* In lttng/ust-events.h of lttng-ust 2.12: returns 0, or a negative error. */
EXPORT int lttng_probe_register(void *description);

int lttng_probe_register(void *description)
{
        int (*real)(void *) = (int (*)(void *))real_function(&OLD);

        connect_once(&OLD);
        return real ? real(description) : -1;
}

/* In lttng/ust-events.h of lttng-ust 2.13: returns a handle, or NULL. */
EXPORT void *lttng_ust_probe_register(const void *description);

void *lttng_ust_probe_register(const void *description)
{
        void *(*real)(const void *) = (void *(*)(const void *))real_function(&NEW);

        connect_once(&NEW);
        return real ? real(description) : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "doctor/inspection.h"

#include "attach/error.h"
#include "attach/port.h"
#include "util/elf-file.h"
#include "doctor/environment.h"
#include "doctor/json-struct.h"
#include "doctor/library.h"
#include "doctor/runtime-detect.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/rootfs-read.h"
#include "util/rootfs.h"
#include "util/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#define TIMEOUT_S      10
#define PORT_TIMEOUT_S 2

/* Bytes. */
#define MAX_PROVIDER (16u << 20)

#define CORECLR  "libcoreclr.so"
#define PROVIDER "libcoreclrtraceptprovider.so"
/* The library of the provider; the version of its interface follows. */
#define LIBRARY "liblttng-ust.so."
#define NEWER   LIBRARY "1"

#define BOOL(name)                                                                                 \
        {                                                                                          \
#name, JSON_MEMBER_BOOL, offsetof(InspectionFacts, name), NULL                     \
        }
#define INT(name)                                                                                  \
        {                                                                                          \
#name, JSON_MEMBER_INT, offsetof(InspectionFacts, name), NULL                      \
        }
#define TEXT(name)                                                                                 \
        {                                                                                          \
#name, JSON_MEMBER_TEXT, offsetof(InspectionFacts, name), NULL                     \
        }

/* Every member of InspectionFacts: how the child hands it to the parent. */
static const JsonMember MEMBERS[] = {
        INT(state),
        TEXT(reason),
        INT(vpid),
        BOOL(is_nested),
        TEXT(runtime),
        BOOL(has_mono),
        BOOL(has_musl),
        BOOL(is_native_aot),
        BOOL(is_single_file),
        TEXT(program_error),
        BOOL(has_provider),
        BOOL(has_lost_tracepoints),
        BOOL(has_provider_file),
        TEXT(provider_error),
        TEXT(library),
        BOOL(has_library),
        BOOL(has_newer_library),
        BOOL(has_port),
        BOOL(is_port_off),
        BOOL(is_port_unresponsive),
        BOOL(is_port_strange),
        TEXT(port_directory),
        TEXT(runtime_version),
        BOOL(is_lttng_off),
        BOOL(is_on_from_start),
        BOOL(has_filter),
        BOOL(has_clock_plugin),
        BOOL(is_in_time_ns),
        TEXT(lttng_home),
        BOOL(has_own_sessiond),
        INT(roots_sessiond),
};
static const JsonStruct FACTS = {sizeof(InspectionFacts), MEMBERS, G_N_ELEMENTS(MEMBERS)};

/* The child's state. */
typedef struct Inspector {
        pid_t pid;
        Target target;
        DetectedRuntime runtime;
        Environment environment;
        int root; /* its root directory */
        InspectionFacts facts;
} Inspector;

static bool inspector_fail(Inspector *inspector, InspectionState state, const char *reason)
{
        inspector->facts.state = state;
        inspector->facts.reason = g_strdup(reason);
        return false;
}

/* False: the facts have the state and the reason. */
static bool inspector_open(Inspector *inspector)
{
        g_autofree char *link = g_strdup_printf("/proc/%d/root", (int)inspector->pid);
        g_autofree char *root = g_file_read_link(link, NULL);
        g_autofree char *maps = NULL, *environment = NULL;
        g_autoptr(GError) error = NULL;
        size_t n_maps, n = 0;

        maps = proc_read_file(inspector->pid, "maps", PROC_MAX_MAPS, &n_maps);
        if (!maps && errno == EFBIG)
                return inspector_fail(inspector, INSPECTION_UNCLEAR,
                                      "it has too many files mapped");
        environment =
                maps ? proc_read_file(inspector->pid, "environ", PROC_MAX_ENVIRONMENT, &n) : NULL;
        if (maps && !environment && errno == EFBIG)
                return inspector_fail(inspector, INSPECTION_UNCLEAR,
                                      "its environment is too large");
        if (!target_open(inspector->pid, &inspector->target, &error))
                return inspector_fail(inspector,
                                      g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NOT_ALLOWED)
                                              ? INSPECTION_REFUSED
                                              : INSPECTION_NONE,
                                      NULL);
        if (!environment)
                return inspector_fail(inspector, INSPECTION_UNCLEAR, "its files in /proc changed");
        runtime_detect(maps, root, &inspector->runtime);
        environment_init(&inspector->environment, environment, n);
        return true;
}

/* "liblttng-ust.so.0", from the provider's file; NULL: none. */
static char *provider_find_library(GBytes *provider)
{
        gsize n, i;
        const char *data = g_bytes_get_data(provider, &n);
        const char *at = data ? memmem(data, n, LIBRARY, strlen(LIBRARY)) : NULL;

        if (!at)
                return NULL;
        n -= (gsize)(at - data);
        for (i = strlen(LIBRARY); i < n && g_ascii_isdigit(at[i]); i++)
                ;
        return i > strlen(LIBRARY) ? g_strndup(at, i) : NULL;
}

/* The kind of the runtime itself, which its libraries must have, too. */
static bool inspector_read_kind(const Inspector *inspector, ElfFileKind *ret_kind)
{
        g_autofree char *path = g_build_filename(inspector->runtime.directory, CORECLR, NULL);
        g_autoptr(GBytes) header = rootfs_read(inspector->root, path, 64);

        return (header && elf_file_kind(g_bytes_get_data(header, NULL), g_bytes_get_size(header),
                                        ret_kind)) ||
               elf_file_own_kind(ret_kind);
}

static void inspector_read_provider(Inspector *inspector)
{
        g_autofree char *path = g_build_filename(inspector->runtime.directory, PROVIDER, NULL);
        g_autoptr(GBytes) provider = rootfs_read(inspector->root, path, MAX_PROVIDER);
        const char *paths = environment_get(&inspector->environment, "LD_LIBRARY_PATH");
        InspectionFacts *facts = &inspector->facts;
        ElfFileKind kind;

        if (!provider && errno != ENOENT)
                facts->provider_error = g_strdup(g_strerror(errno));
        facts->has_provider_file = provider != NULL;
        facts->library = provider ? provider_find_library(provider) : NULL;
        if (!facts->library || !inspector_read_kind(inspector, &kind))
                return;
        facts->has_library = library_is_found(inspector->root, facts->library, paths, &kind);
        facts->has_newer_library = library_is_found(inspector->root, NEWER, paths, &kind);
}

static void inspector_read_program(Inspector *inspector)
{
        FD_AUTO int fd = rootfs_open_program(inspector->pid);
        InspectionFacts *facts = &inspector->facts;
        TargetProgram program;

        if (fd < 0) {
                facts->program_error = g_strdup(g_strerror(errno));
                return;
        }
        program = target_program_of_file(fd);
        facts->is_single_file = program == TARGET_PROGRAM_SINGLE_FILE;
        facts->is_native_aot = program == TARGET_PROGRAM_COMPILED;
}

/* The kernel accepts connections to a stopped process, too. So the runtime itself must answer. */
static bool inspector_ask_runtime(Inspector *inspector, gint64 deadline, GError **error)
{
        FD_AUTO int fd = port_connect(&inspector->target, deadline, error);
        PortCall call = {.fd = fd,
                         .target = &inspector->target,
                         .deadline = deadline,
                         .meanwhile = {.fd = -1}};
        g_autoptr(GByteArray) request = ipc_process_info_new();
        g_autofree IpcReply *reply = g_new0(IpcReply, 1);
        InspectionFacts *facts = &inspector->facts;
        IpcProcessInfo info;
        uint32_t code;

        if (fd < 0 || !port_call(&call, request, reply, error))
                return false;
        switch (ipc_reply_result(reply, &code)) {
        case IPC_RESULT_OK:
                if (ipc_reply_get_process_info(reply, &info))
                        facts->runtime_version = info.version;
                else
                        facts->is_port_strange = true;
                break;
        case IPC_RESULT_ERROR: /* too old for that question */
                break;
        case IPC_RESULT_BROKEN:
                facts->is_port_strange = true;
                break;
        }
        return !facts->is_port_strange;
}

static void inspector_read_port(Inspector *inspector)
{
        gint64 deadline = g_get_monotonic_time() + PORT_TIMEOUT_S * G_TIME_SPAN_SECOND;
        g_autoptr(GError) error = NULL;
        InspectionFacts *facts = &inspector->facts;

        facts->has_port = inspector_ask_runtime(inspector, deadline, &error);
        facts->is_port_off = inspector->target.is_port_off;
        facts->is_port_unresponsive =
                g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE);
        facts->port_directory = g_strdup(inspector->target.directory);
}

static bool inspector_is_in_time_ns(const Inspector *inspector)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/time", (int)inspector->pid);
        struct stat own, its;

        /* Before Linux 5.6 there is only one. */
        return stat("/proc/self/ns/time", &own) == 0 && stat(path, &its) == 0 &&
               own.st_ino != its.st_ino;
}

static void inspector_read_environment(Inspector *inspector)
{
        const Environment *environment = &inspector->environment;
        const char *home = environment_get(environment, "LTTNG_HOME");
        InspectionFacts *facts = &inspector->facts;

        facts->is_lttng_off = environment_is_lttng_off(environment);
        facts->is_on_from_start = environment_is_event_log_on(environment);
        facts->has_filter = environment_get_setting(environment, "EventSourceFilter") != NULL;
        facts->has_clock_plugin = environment_get(environment, "LTTNG_UST_CLOCK_PLUGIN") != NULL;
        facts->lttng_home = g_strdup(home ? home : environment_get(environment, "HOME"));
}

static void inspector_read_root(Inspector *inspector)
{
        InspectionFacts *facts = &inspector->facts;
        const char *home = facts->lttng_home;
        FD_AUTO int root = rootfs_open_root(inspector->pid);
        g_autofree char *socket =
                g_build_filename("/", home ? home : "", ".lttng/client-lttng-sessiond", NULL);

        if (root < 0) {
                facts->provider_error = g_strdup(g_strerror(errno));
                return;
        }
        inspector->root = root;
        inspector_read_provider(inspector);
        facts->has_own_sessiond = home && rootfs_is_socket(root, socket);
        /* Last, because it gives up our permissions. */
        facts->roots_sessiond = sessiond_access_read(inspector->pid, root);
}

static void inspector_read(Inspector *inspector)
{
        InspectionFacts *facts = &inspector->facts;

        facts->vpid = target_key(&inspector->target)->pid;
        facts->is_nested = inspector->target.info.n_levels > 1;
        facts->has_mono = inspector->runtime.has_mono;
        facts->has_musl = inspector->runtime.has_musl;
        facts->has_provider = inspector->runtime.has_provider;
        facts->has_lost_tracepoints =
                facts->has_provider && target_tracepoints(&inspector->target) == TRACEPOINTS_LOST;
        facts->runtime = g_strdup(inspector->runtime.directory);
        inspector_read_environment(inspector);
        facts->is_in_time_ns = inspector_is_in_time_ns(inspector);
        if (!facts->runtime) {
                inspector_read_program(inspector);
                if (facts->is_single_file)
                        inspector_read_port(inspector);
                return;
        }
        inspector_read_port(inspector);
        inspector_read_root(inspector);
}

/* In the child. */
static void inspection_write(int fd, void *data)
{
        Inspector inspector = {.pid = *(const pid_t *)data, .target = {.pidfd = -1}, .root = -1};
        json_auto_t *value = NULL;

        if (inspector_open(&inspector))
                inspector_read(&inspector);
        value = json_struct_write(&FACTS, &inspector.facts);
        if (json_dumpfd(value, fd, JSON_COMPACT) < 0)
                _exit(1);
}

static void inspection_set_unclear(Inspection *inspection, const char *reason)
{
        inspection->state = INSPECTION_UNCLEAR;
        inspection->reason = g_strdup(reason);
}

bool inspection_is_over(const Inspection *inspection)
{
        struct pollfd fd = {.fd = inspection->pidfd, .events = POLLIN};

        return inspection->pidfd < 0 || poll(&fd, 1, 0) != 0;
}

/* Takes the facts that the child wrote; OUTPUT can be anything. */
static void inspection_take(Inspection *inspection, const char *output)
{
        json_auto_t *value = json_loads(output, 0, NULL);
        InspectionFacts facts;

        if (!json_struct_read(&FACTS, value, &facts) || facts.state < 0 ||
            facts.state >= _INSPECTION_STATE_MAX ||
            (facts.state == INSPECTION_NONE && !inspection_is_over(inspection)))
                inspection_set_unclear(inspection, "its files in /proc cannot be understood");
        else if (facts.state == INSPECTION_UNCLEAR)
                inspection_set_unclear(inspection, facts.reason ? facts.reason : "");
        else
                inspection->state = (InspectionState)facts.state;
        if (inspection->state == INSPECTION_DONE)
                inspection->facts = facts;
        else
                json_struct_clear(&FACTS, &facts);
}

void inspection_read(pid_t pid, Inspection *ret_inspection)
{
        Inspection inspection = {.pidfd = pidfd_open(pid, 0)};
        g_autofree char *output = NULL;

        inspection.has_uid = inspection.pidfd >= 0 && proc_uid(pid, &inspection.uid);
        if (!inspection.has_uid) {
                inspection.state = INSPECTION_NONE;
                *ret_inspection = inspection;
                return;
        }
        switch (subprocess_call(inspection_write, &pid, TIMEOUT_S, &output)) {
        case SUBPROCESS_OK:
                inspection_take(&inspection, output);
                break;
        case SUBPROCESS_TIMEOUT:
                inspection_set_unclear(&inspection, "reading about it takes too long");
                break;
        case SUBPROCESS_FAILED:
        case SUBPROCESS_NONE:
                inspection_set_unclear(&inspection, "reading about it failed");
                break;
        }
        *ret_inspection = inspection;
}

void inspection_clear(Inspection *inspection)
{
        fd_clear(&inspection->pidfd);
        g_clear_pointer(&inspection->reason, g_free);
        json_struct_clear(&FACTS, &inspection->facts);
}

/* SPDX-License-Identifier: MIT */
#include "doctor/inspection.h"

#include "attach/error.h"
#include "attach/port.h"
#include "doctor/bounded.h"
#include "doctor/elf-file.h"
#include "doctor/environment.h"
#include "doctor/library.h"
#include "doctor/mapped.h"
#include "doctor/reach.h"
#include "doctor/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * What the child writes, in one object: {"state", "reason"}, or
 *   "vpid", "is_nested": its pid in its own pid namespace, and whether that is another one
 *   "mono", "musl", "compiled", "single_file", "runtime": what it runs on; the latter a directory
 *   "provider", "provider_file", "provider_error": it is mapped; it is beside the runtime
 *   "wanted", "has_wanted", "has_newer": libraries
 *   "port", "port_off", "port_silent", "directory": it is open; else why not
 *   "lttng_off", "on_from_start", "filter", "clock_plugin": of its environment
 *   "time_ns": it is in another time namespace than we are
 *   "home", "has_own_daemon": where a session daemon of its user's is looked for; it is there
 *   "app_socket": see reach.h
 */

#define TIMEOUT_S      10
#define PORT_TIMEOUT_S 2

/* 65530 mappings, which the kernel allows, with names of a length that is usual. */
#define MAX_MAPS (32u << 20)
/* What the kernel lets a process begin with, and then some. */
#define MAX_ENVIRONMENT (8u << 20)
#define MAX_PROVIDER    (16u << 20)

#define CORECLR  "libcoreclr.so"
#define PROVIDER "libcoreclrtraceptprovider.so"
/* What the provider needs; the number of its interface comes behind. */
#define LIBRARY "liblttng-ust.so."
#define NEWER   LIBRARY "1"

/* Names that programs export which have the runtime in themselves. */
#define COMPILED_MARK    "DotNetRuntimeDebugHeader"
#define SINGLE_FILE_MARK "DotNetRuntimeInfo"

typedef struct Look {
        pid_t pid;
        Target target;
        Mapped mapped;
        Environment environment;
        int root;
        json_t *shown; /* borrowed */
} Look;

static void show(Look *look, const char *name, bool value)
{
        json_object_set_new(look->shown, name, json_boolean(value));
}

static void show_text(Look *look, const char *name, const char *text)
{
        g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;

        if (valid)
                json_object_set_new(look->shown, name, json_string(valid));
}

static bool fail(Look *look, InspectionState state, const char *reason)
{
        json_object_set_new(look->shown, "state", json_integer(state));
        show_text(look, "reason", reason);
        return false;
}

/* A file of its /proc, with a NUL behind it. Returns 0, EFBIG if MAX is less, or another errno. */
static int read_proc(Look *look, const char *name, size_t max, GByteArray *bytes)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)look->pid, name);
        int fd = open(path, O_RDONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;
        char buffer[65536];
        ssize_t n = 1;

        while (!error && n != 0) {
                n = read(fd, buffer, sizeof(buffer));
                if (n > 0)
                        g_byte_array_append(bytes, (const guint8 *)buffer, (guint)n);
                else if (n < 0 && errno != EINTR)
                        error = errno;
                if (bytes->len > max)
                        error = EFBIG;
        }
        if (fd >= 0)
                close(fd);
        g_byte_array_append(bytes, (const guint8 *)"", 1);
        return error;
}

/* Is it there, may we look, and at how much? */
static bool open_target(Look *look)
{
        g_autoptr(GByteArray) maps = g_byte_array_new(), environment = g_byte_array_new();
        g_autofree char *link = g_strdup_printf("/proc/%d/root", (int)look->pid);
        g_autofree char *root = g_file_read_link(link, NULL);
        g_autoptr(GError) error = NULL;
        int code = read_proc(look, "maps", MAX_MAPS, maps);

        if (code == EFBIG)
                return fail(look, INSPECTION_UNCLEAR, "it has too many files mapped");
        if (!code)
                code = read_proc(look, "environ", MAX_ENVIRONMENT, environment);
        if (code == EFBIG)
                return fail(look, INSPECTION_UNCLEAR, "its environment is too large");
        if (!target_open(look->pid, &look->target, &error))
                return fail(look,
                            g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NOT_ALLOWED)
                                    ? INSPECTION_REFUSED
                                    : INSPECTION_NONE,
                            NULL);
        if (code)
                return fail(look, INSPECTION_UNCLEAR, g_strerror(code));
        mapped_read((const char *)maps->data, root, &look->mapped);
        environment_init(&look->environment, (const char *)environment->data, environment->len);
        return true;
}

/* "liblttng-ust.so.0", as the provider says it; NULL: it says nothing of the kind. */
static char *find_wanted(GBytes *provider)
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

/* Libraries must be of the kind that the runtime itself is. */
static bool read_kind(Look *look, ElfKind *ret_kind)
{
        g_autofree char *path = g_build_filename(look->mapped.runtime, CORECLR, NULL);
        g_autoptr(GBytes) begin = rooted_read(look->root, path, 64);

        return (begin &&
                elf_kind(g_bytes_get_data(begin, NULL), g_bytes_get_size(begin), ret_kind)) ||
               elf_own_kind(ret_kind);
}

static void look_at_provider(Look *look)
{
        g_autofree char *path = g_build_filename(look->mapped.runtime, PROVIDER, NULL);
        g_autofree char *wanted = NULL;
        g_autoptr(GBytes) provider = rooted_read(look->root, path, MAX_PROVIDER);
        const char *paths = environment_get(&look->environment, "LD_LIBRARY_PATH");
        ElfKind kind;

        if (!provider && errno != ENOENT)
                show_text(look, "provider_error", g_strerror(errno));
        show(look, "provider_file", provider != NULL);
        wanted = provider ? find_wanted(provider) : NULL;
        show_text(look, "wanted", wanted);
        if (!wanted || !read_kind(look, &kind))
                return;
        show(look, "has_wanted", library_is_found(look->root, wanted, paths, &kind));
        show(look, "has_newer", library_is_found(look->root, NEWER, paths, &kind));
}

static void look_at_program(Look *look)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/exe", (int)look->pid);
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        bool is_single_file = fd >= 0 && elf_exports(fd, SINGLE_FILE_MARK);

        /* One that was published as a single file has the other name, too. */
        show(look, "single_file", is_single_file);
        show(look, "compiled", fd >= 0 && !is_single_file && elf_exports(fd, COMPILED_MARK));
        if (fd < 0)
                show_text(look, "program_error", g_strerror(errno));
        else
                close(fd);
}

static void look_at_port(Look *look)
{
        g_autoptr(GError) error = NULL;
        int fd = port_connect(&look->target,
                              g_get_monotonic_time() + PORT_TIMEOUT_S * G_TIME_SPAN_SECOND, &error);

        show(look, "port", fd >= 0);
        show(look, "port_off", look->target.is_port_off);
        show(look, "port_silent", g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_SILENT));
        show_text(look, "directory", look->target.directory);
        if (fd >= 0)
                close(fd);
}

static void look_at_times(Look *look)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/time", (int)look->pid);
        struct stat own, its;

        /* Before Linux 5.6 there is but one. */
        show(look, "time_ns",
             stat("/proc/self/ns/time", &own) == 0 && stat(path, &its) == 0 &&
                     own.st_ino != its.st_ino);
        show(look, "clock_plugin",
             environment_get(&look->environment, "LTTNG_UST_CLOCK_PLUGIN") != NULL);
}

static void look_at(Look *look)
{
        const Environment *environment = &look->environment;
        const char *home = environment_get(environment, "LTTNG_HOME");
        g_autofree char *socket = NULL;

        json_object_set_new(look->shown, "vpid", json_integer(target_key(&look->target)->pid));
        show(look, "is_nested", look->target.info.n_levels > 1);
        show(look, "mono", look->mapped.has_mono);
        show(look, "musl", look->mapped.has_musl);
        show(look, "provider", look->mapped.has_provider);
        show_text(look, "runtime", look->mapped.runtime);
        show(look, "lttng_off", environment_is_lttng_off(environment));
        show(look, "on_from_start", environment_is_event_log_on(environment));
        show(look, "filter", environment_get_setting(environment, "EventSourceFilter") != NULL);
        home = home ? home : environment_get(environment, "HOME");
        show_text(look, "home", home);
        look_at_times(look);
        if (!look->mapped.runtime) {
                look_at_program(look);
                return;
        }
        look_at_port(look);
        look->root = rooted_open_root(look->pid);
        if (look->root < 0) {
                show_text(look, "provider_error", g_strerror(errno));
                return;
        }
        look_at_provider(look);
        socket = g_build_filename("/", home ? home : "", ".lttng/client-lttng-sessiond", NULL);
        show(look, "has_own_daemon", home && rooted_is_socket(look->root, socket));
        /* The last of all: it gives up what rights we have. */
        show_text(look, "app_socket", reach_name(reach_session_daemon(look->pid, look->root)));
        close(look->root);
}

/* In the child. */
static void inspect(int fd, void *data)
{
        Look look = {.pid = *(const pid_t *)data, .target = {.pidfd = -1}, .root = -1};
        g_autofree char *text = NULL;

        look.shown = json_object();
        if (open_target(&look))
                look_at(&look);
        text = json_dumps(look.shown, JSON_COMPACT);
        json_decref(look.shown);
        if (write(fd, text, strlen(text)) < 0)
                _exit(1);
}

static void set_unclear(Inspection *inspection, const char *reason)
{
        inspection->state = INSPECTION_UNCLEAR;
        inspection->reason = g_strdup(reason);
}

bool inspection_is_over(const Inspection *inspection)
{
        struct pollfd fd = {.fd = inspection->pidfd, .events = POLLIN};

        return inspection->pidfd < 0 || poll(&fd, 1, 0) != 0;
}

void inspection_read(pid_t pid, Inspection *ret_inspection)
{
        Inspection inspection = {.pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
        g_autofree char *said = NULL;
        const char *reason;
        json_t *shown = NULL;

        inspection.has_uid = inspection.pidfd >= 0 && proc_uid(pid, &inspection.uid);
        if (!inspection.has_uid) {
                inspection.state = INSPECTION_NONE;
                *ret_inspection = inspection;
                return;
        }
        switch (bounded_call(inspect, &pid, TIMEOUT_S, &said)) {
        case BOUNDED_OK:
                shown = json_loads(said, 0, NULL);
                reason = json_string_value(json_object_get(shown, "reason"));
                if (!shown)
                        set_unclear(&inspection, "what its /proc says makes no sense");
                else if (reason)
                        set_unclear(&inspection, reason);
                else
                        inspection.state = (InspectionState)json_integer_value(
                                json_object_get(shown, "state"));
                break;
        case BOUNDED_TIMEOUT:
                set_unclear(&inspection, "to look into it takes too long");
                break;
        case BOUNDED_FAILED:
        case BOUNDED_NONE:
                set_unclear(&inspection, "to look into it fails");
                break;
        }
        if (inspection.state == INSPECTION_NONE && !inspection_is_over(&inspection))
                set_unclear(&inspection, "what its /proc says makes no sense");
        if (inspection.state == INSPECTION_DONE)
                inspection.shown = json_incref(shown);
        json_decref(shown);
        *ret_inspection = inspection;
}

void inspection_clear(Inspection *inspection)
{
        if (inspection->pidfd >= 0)
                close(inspection->pidfd);
        inspection->pidfd = -1;
        g_clear_pointer(&inspection->reason, g_free);
        g_clear_pointer(&inspection->shown, json_decref);
}

bool inspection_is(const Inspection *inspection, const char *name)
{
        return json_is_true(json_object_get(inspection->shown, name));
}

const char *inspection_text(const Inspection *inspection, const char *name)
{
        return json_string_value(json_object_get(inspection->shown, name));
}

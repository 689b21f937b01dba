/* SPDX-License-Identifier: MIT */
#include "attach/culture.h"

#include "attach/error.h"

#include "lines/bundle.h"
#include "util/fd.h"
#include "util/proc.h"
#include "util/rootfs-read.h"
#include "util/rootfs.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Libraries of ICU: two that the runtime loads, and what both need. After the name is the version.
 */
#define COMMON "libicuuc.so."
static const char *const LIBRARIES[] = {COMMON, "libicui18n.so.", "libicudata.so."};

#define CONFIG_ENDING   ".runtimeconfig.json"
#define ASSEMBLY_ENDING ".dll"

/* UTF-8's byte order mark, which may begin a file. */
#define UTF8_MARK "\xef\xbb\xbf"

/* Bytes. */
#define MAX_CONFIG (256u << 10)
#define MAX_CACHE  (16u << 20)
/* Limit for the names read from a directory, which any user may fill. */
#define MAX_NAMES 65536

/* Default directories of the loaders of glibc and musl. */
static const char *const LIBRARY_DIRECTORIES[] = {
        "/lib",
        "/usr/lib",
        "/usr/local/lib",
        "/lib64",
        "/usr/lib64",
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
};

/* Settings with these values make ICU unnecessary. */
static const struct {
        const char *name;
        bool value;
        bool is_invariance; /* the environment overrides the setting */
} SAFE_SETTINGS[] = {
        {"System.Globalization.Invariant", true, true},
        {"System.Diagnostics.Tracing.EventSource.IsSupported", false, false},
};

/* The class and machine of an ELF file, as in its header: they decide whether a process can load
 * it. */
typedef struct ElfKind {
        unsigned char class;
        uint16_t machine;
} ElfKind;

static bool elf_kind_read(int fd, ElfKind *ret)
{
        Elf64_Ehdr header; /* these members have the same place in both classes */

        if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
            memcmp(header.e_ident, ELFMAG, SELFMAG))
                return false;
        *ret = (ElfKind){header.e_ident[EI_CLASS], header.e_machine};
        return true;
}

/* The root directory of a target, and the kind of library to find there. */
typedef struct CultureSearch {
        int root;     /* owned by the caller */
        ElfKind kind; /* kind of the target's program */
        bool is_never_invariant;
} CultureSearch;

static bool culture_is_library(const CultureSearch *search, const char *path)
{
        FD_AUTO int fd = rootfs_open_file(search->root, path);
        ElfKind kind;

        return fd >= 0 && elf_kind_read(fd, &kind) && kind.class == search->kind.class &&
               kind.machine == search->kind.machine;
}

/* True if all libraries exist, the first one as DIRECTORY/NAME. */
static bool culture_is_set(const CultureSearch *search, const char *directory, const char *name)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(LIBRARIES); i++) {
                g_autofree char *path =
                        g_strdup_printf("%s/%s%s", directory, LIBRARIES[i], name + strlen(COMMON));

                if (!culture_is_library(search, path))
                        return false;
        }
        return true;
}

static bool name_is_common(const char *name)
{
        return g_str_has_prefix(name, COMMON) && g_ascii_isdigit(name[strlen(COMMON)]);
}

static bool culture_is_in(const CultureSearch *search, const char *path)
{
        int fd = *path == '/' ? rootfs_open(search->root, path, O_RDONLY | O_DIRECTORY) : -1;
        DIR *names = fd >= 0 ? fdopendir(fd) : NULL;
        const struct dirent *entry;
        bool is_found = false;
        unsigned n = 0;

        if (!names) {
                fd_clear(&fd);
                return false;
        }
        while (!is_found && n++ < MAX_NAMES && (entry = readdir(names)))
                is_found = name_is_common(entry->d_name) &&
                           culture_is_set(search, path, entry->d_name);
        closedir(names);
        return is_found;
}

/* Searches glibc's list of libraries, which has paths as NUL-terminated texts. */
static bool culture_is_in_cache(const CultureSearch *search)
{
        static const char NEEDLE[] = "/" COMMON;
        g_autoptr(GBytes) cache = rootfs_read(search->root, "/etc/ld.so.cache", MAX_CACHE);
        size_t n = 0;
        const char *text = cache ? g_bytes_get_data(cache, &n) : NULL;
        const char *at = text, *begin;

        while (n && (at = memmem(at, (size_t)(text + n - at), NEEDLE, strlen(NEEDLE)))) {
                g_autofree char *directory = NULL, *name = NULL;

                for (begin = at; begin > text && begin[-1]; begin--)
                        ;
                directory = g_strndup(begin, (size_t)(at - begin));
                name = g_strndup(at + 1, MIN((size_t)(text + n - at) - 1, NAME_MAX));
                if (name_is_common(name) && culture_is_set(search, directory, name))
                        return true;
                at += strlen(NEEDLE);
        }
        return false;
}

static bool culture_is_in_any(const CultureSearch *search, const char *directories)
{
        g_auto(GStrv) paths = g_strsplit(directories, ":", -1);
        size_t i;

        for (i = 0; paths[i]; i++)
                if (culture_is_in(search, paths[i]))
                        return true;
        return false;
}

static bool culture_is_installed(const CultureSearch *search, const Target *target)
{
        size_t i;

        if (culture_is_in_cache(search) ||
            (target->library_path && culture_is_in_any(search, target->library_path)))
                return true;
        for (i = 0; i < G_N_ELEMENTS(LIBRARY_DIRECTORIES); i++)
                if (culture_is_in(search, LIBRARY_DIRECTORIES[i]))
                        return true;
        return false;
}

/* A setting is a bool, or a text. */
static bool setting_is(const json_t *value, bool wanted)
{
        if (json_is_string(value))
                return !g_ascii_strcasecmp(json_string_value(value), wanted ? "true" : "false");
        return wanted ? json_is_true(value) : json_is_false(value);
}

bool culture_config_is_safe(const char *text, size_t n, bool is_never_invariant)
{
        const size_t n_mark = n >= strlen(UTF8_MARK) && !memcmp(text, UTF8_MARK, strlen(UTF8_MARK))
                                      ? strlen(UTF8_MARK)
                                      : 0;
        json_auto_t *config = json_loadb(text + n_mark, n - n_mark, JSON_DISABLE_EOF_CHECK, NULL);
        const json_t *settings =
                json_object_get(json_object_get(config, "runtimeOptions"), "configProperties");
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SAFE_SETTINGS); i++)
                if (!(SAFE_SETTINGS[i].is_invariance && is_never_invariant) &&
                    setting_is(json_object_get(settings, SAFE_SETTINGS[i].name),
                               SAFE_SETTINGS[i].value))
                        return true;
        return false;
}

/* An ImageFn; DATA is the CultureSearch. */
static bool culture_is_safe_at(const ImageBytes *config, void *data)
{
        const CultureSearch *search = data;
        g_autofree char *text = g_malloc(MAX_CONFIG);
        const ssize_t n = pread(config->fd, text, MAX_CONFIG, (off_t)config->begin);

        return n > 0 && culture_config_is_safe(text, (size_t)n, search->is_never_invariant);
}

/* STEM: path of a program without an ending, "/app/program". */
static bool culture_has_safe_config(const CultureSearch *search, const char *stem)
{
        g_autofree char *path = g_strconcat(stem, CONFIG_ENDING, NULL);
        FD_AUTO int fd = rootfs_open_file(search->root, path);

        return fd >= 0 && culture_is_safe_at(&(ImageBytes){.fd = fd}, (void *)search);
}

static char *process_link(pid_t pid, const char *name)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);

        return g_file_read_link(path, NULL);
}

/* True if the program's directory has libraries of its own, or its settings are safe. */
static bool culture_has_program(const CultureSearch *search, const char *stem)
{
        g_autofree char *directory = g_path_get_dirname(stem);

        return culture_has_safe_config(search, stem) || culture_is_in(search, directory);
}

/* The settings of a single-file program are in its file. */
static bool culture_is_safe_in(const CultureSearch *search, int program, const char *config)
{
        Bundles bundles = {0};
        uint64_t work = 0;
        const bool is_safe = bundles_find_image_in(&bundles, program, config, &work,
                                                   culture_is_safe_at, (void *)search);

        bundles_deinit(&bundles);
        return is_safe;
}

/* For a program that is the executable, alone or beside its assembly. */
static bool culture_has_host(const CultureSearch *search, const Target *target)
{
        g_autofree char *program = process_link(target->info.host_pid, "exe");
        g_autofree char *exe = g_strdup_printf("/proc/%d/exe", (int)target->info.host_pid);
        g_autofree char *config = program ? g_strconcat(program, CONFIG_ENDING, NULL) : NULL;
        FD_AUTO int host = open(exe, O_RDONLY | O_CLOEXEC);

        return program && (culture_has_program(search, program) ||
                           (host >= 0 && culture_is_safe_in(search, host, config)));
}

/* For a program on the command line of `dotnet`: its assembly, or its settings. */
static bool culture_has_command(const CultureSearch *search, const Target *target)
{
        size_t n = 0;
        g_autofree char *words =
                proc_read_file(target->info.host_pid, "cmdline", PROC_MAX_COMMAND, &n);
        g_autofree char *cwd = process_link(target->info.host_pid, "cwd");
        const char *word;

        for (word = words; word && cwd && word < words + n; word += strlen(word) + 1) {
                g_autofree char *stem = NULL;
                const char *ending = CONFIG_ENDING;

                if (!g_str_has_suffix(word, ending))
                        ending = ASSEMBLY_ENDING;
                if (!g_str_has_suffix(word, ending))
                        continue;
                stem = g_canonicalize_filename(word, cwd);
                stem[strlen(stem) - strlen(ending)] = '\0';
                if (culture_has_program(search, stem))
                        return true;
        }
        return false;
}

static bool culture_is_found(const Target *target)
{
        FD_AUTO int root = rootfs_open_root(target->info.host_pid);
        g_autofree char *exe = g_strdup_printf("/proc/%d/exe", (int)target->info.host_pid);
        FD_AUTO int program = open(exe, O_RDONLY | O_CLOEXEC);
        CultureSearch search = {.root = root, .is_never_invariant = target->is_never_invariant};

        if (root < 0 || program < 0 || !elf_kind_read(program, &search.kind))
                return false;
        return culture_is_installed(&search, target) || culture_has_host(&search, target) ||
               culture_has_command(&search, target);
}

bool culture_check(const Target *target, GError **error)
{
        if (target->has_icu || target->is_invariant || culture_is_found(target))
                return true;
        /* If the process has ended, that is the reason. */
        if (target_has_ended(target)) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                            (int)target->info.host_pid);
                return false;
        }
        g_set_error(
                error, ATTACH_ERROR, ATTACH_ERROR_NO_CULTURE,
                "a session would abort process %d, because its root directory has no ICU and it "
                "is not in invariant mode: install libicu there, or start it with "
                "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1",
                (int)target->info.host_pid);
        return false;
}

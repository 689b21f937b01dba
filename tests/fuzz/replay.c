/* SPDX-License-Identifier: MIT */

/*
 * Runs a fuzz target without libFuzzer: replay [--mutations N] [--seed SEED] FILE|DIRECTORY...
 *
 * Each input, and N random mutations of it, must not crash and must stay within the limits of
 * fuzz.h. The output is TAP, with a line for each input. After a crash, the input is in the file
 * "fuzz-crash" of the working directory.
 */

#include "fuzz.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const uint8_t *current;
static size_t n_current;
static char message[256];

/* Uses only calls that a signal handler may make. */
static void on_fatal_signal(int number)
{
        int fd = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0666);

        if (fd >= 0 && current)
                (void)!write(fd, current, n_current);
        (void)!write(STDERR_FILENO, message, strlen(message));
        signal(number, SIG_DFL);
        raise(number);
}

static int64_t cpu_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns a line "NAME: N kB" of /proc/self/status, in MiB. */
static long status_mib(const char *name)
{
        g_autofree char *text = NULL;
        const char *line = NULL;

        if (g_file_get_contents("/proc/self/status", &text, NULL, NULL))
                line = strstr(text, name);
        return line ? strtol(line + strlen(name), NULL, 10) / 1024 : 0;
}

/* Resets VmHWM, so that it gives the peak of the next input. */
static void reset_peak(void)
{
        int fd = open("/proc/self/clear_refs", O_WRONLY);

        if (fd < 0)
                return;
        (void)!write(fd, "5", 1);
        close(fd);
}

static bool run_input(const char *name, const uint8_t *bytes, size_t n)
{
        const struct itimerval limit = {.it_value.tv_sec = 20 * FUZZ_SLOWER * FUZZ_MAX_MS / 1000},
                               none = {0};
        int64_t begin, ms;
        long mib;

        current = bytes;
        n_current = n;
        g_snprintf(message, sizeof(message), "%s: see the file fuzz-crash\n", name);
        reset_peak();
        mib = status_mib("VmRSS:");
        /* The timer measures CPU time, like the limit, because other programs may keep the machine
         * busy. */
        setitimer(ITIMER_PROF, &limit, NULL);
        begin = cpu_ms();
        LLVMFuzzerTestOneInput(bytes, n);
        ms = cpu_ms() - begin;
        setitimer(ITIMER_PROF, &none, NULL);
        mib = status_mib("VmHWM:") - mib;
        if (ms <= FUZZ_SLOWER * FUZZ_MAX_MS && mib <= FUZZ_SLOWER * FUZZ_MAX_MIB)
                return true;
        printf("# %s: %lld ms of CPU time, %ld MiB\n", name, (long long)ms, mib);
        g_file_set_contents("fuzz-crash", (const char *)bytes, (gssize)n, NULL);
        return false;
}

/* Returns a copy in which some bytes are changed, doubled, moved or removed. */
static GByteArray *mutate(GRand *random, const uint8_t *bytes, size_t n)
{
        static const uint32_t EDGES[] = {0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff};
        GByteArray *out = g_byte_array_new();
        unsigned n_changes = 1u << g_rand_int_range(random, 0, 5);

        g_byte_array_append(out, bytes, (guint)n);
        while (n_changes-- > 0 && out->len > 0) {
                guint at = (guint)g_rand_int_range(random, 0, (gint32)out->len);
                guint n_wanted = (guint)g_rand_int_range(random, 1, 64);
                guint n_part = MIN(out->len - at, n_wanted);
                uint32_t edge = EDGES[g_rand_int_range(random, 0, G_N_ELEMENTS(EDGES))];
                g_autofree uint8_t *part = g_memdup2(out->data + at, n_part);

                switch (g_rand_int_range(random, 0, 5)) {
                case 0:
                        out->data[at] ^= (uint8_t)(1u << g_rand_int_range(random, 0, 8));
                        break;
                case 1:
                        out->data[at] = (uint8_t)g_rand_int(random);
                        break;
                case 2:
                        memcpy(out->data + at, &edge, MIN(n_part, sizeof(edge)));
                        break;
                case 3:
                        g_byte_array_remove_range(out, at, n_part);
                        break;
                case 4:
                        if (out->len + n_part <= FUZZ_MAX_INPUT)
                                g_byte_array_append(out, part, n_part);
                        break;
                }
        }
        return out;
}

static bool run_file(const char *path, unsigned n_mutations, guint32 seed)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(seed);
        g_autofree char *bytes = NULL;
        gsize n;
        unsigned i;

        if (!g_file_get_contents(path, &bytes, &n, NULL)) {
                printf("# cannot read %s\n", path);
                return false;
        }
        if (!run_input(path, (const uint8_t *)bytes, n))
                return false;
        for (i = 0; i < n_mutations; i++) {
                g_autoptr(GByteArray) mutation = mutate(random, (const uint8_t *)bytes, n);
                g_autofree char *name = g_strdup_printf("%s, mutation %u", path, i);
                /* A copy of the exact size, so that the address sanitizer sees a read beyond the
                 * end. */
                g_autofree uint8_t *copy = g_memdup2(mutation->data, mutation->len);

                if (!run_input(name, copy, mutation->len))
                        return false;
        }
        return true;
}

static void add_path(GPtrArray *files, const char *path)
{
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        if (!directory)
                g_ptr_array_add(files, g_strdup(path));
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                add_path(files, below);
        }
}

static gint compare_paths(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int main(int argc, char **argv)
{
        static const int FATAL[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGTRAP};
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
        gint n_mutations = 0, seed = 1;
        const GOptionEntry entries[] = {
                {"mutations", 0, 0, G_OPTION_ARG_INT, &n_mutations, "of each input", "N"},
                {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the mutations", "SEED"},
                {0}};
        g_autoptr(GOptionContext) context = g_option_context_new("FILE|DIRECTORY...");
        unsigned i, n_failed = 0;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, NULL) || argc < 2)
                return 2;
        for (i = 1; i < (unsigned)argc; i++)
                add_path(files, argv[i]);
        g_ptr_array_sort(files, compare_paths);
        for (i = 0; i < G_N_ELEMENTS(FATAL); i++)
                signal(FATAL[i], on_fatal_signal);
        g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
        printf("1..%u\n", files->len);
        for (i = 0; i < files->len; i++) {
                bool is_ok = run_file(files->pdata[i], (unsigned)n_mutations, (guint32)seed);
                g_autofree char *name = g_path_get_basename(files->pdata[i]);

                n_failed += !is_ok;
                printf("%sok %u - %s\n", is_ok ? "" : "not ", i + 1, name);
                fflush(stdout);
        }
        return n_failed ? 1 : 0;
}

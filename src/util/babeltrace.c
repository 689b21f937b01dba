/* SPDX-License-Identifier: MIT */
#include "util/babeltrace.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Bytes that a babeltrace2 may allocate (RLIMIT_DATA: without the files that it maps). It allocates
 * an object for each element of an array before it reads them, and the length of the array is
 * whatever a traced program wrote. Real traces were seen to take 10 MiB.
 */
#define MAX_MEMORY (UINT64_C(1) << 30)

/*
 * Where the plugin is: where it is installed, or beside this program in the build tree, so that it
 * can be tried without installing. NULL: in neither directory.
 */
static char *plugin_path_option(void)
{
        g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *directory = program ? g_path_get_dirname(program) : NULL;
        g_autofree char *built =
                directory ? g_build_filename(directory, "..", "..", "plugins", NULL) : NULL;
        const char *const directories[] = {CLRSYM_PLUGIN_DIR, built, NULL};
        size_t i;

        for (i = 0; directories[i]; i++) {
                g_autofree char *file =
                        g_build_filename(directories[i], "babeltrace-plugin-clrsym.so", NULL);

                if (g_file_test(file, G_FILE_TEST_EXISTS))
                        return g_strconcat("--plugin-path=", directories[i], NULL);
        }
        return NULL;
}

bool babeltrace_is_asked_for(void)
{
        return !g_strcmp0(g_getenv("CLRSYM_READER"), "babeltrace2");
}

GPtrArray *babeltrace_command(const char *directory)
{
        GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
        char *plugin_path = plugin_path_option();

        g_ptr_array_add(argv, g_strdup("babeltrace2"));
        /* An option of babeltrace2, not of its command. */
        if (plugin_path)
                g_ptr_array_add(argv, plugin_path);
        g_ptr_array_add(argv, g_strdup("convert"));
        g_ptr_array_add(argv,
                        g_strconcat(g_str_has_prefix(directory, "-") ? "./" : "", directory, NULL));
        return argv;
}

static void babeltrace_limit_memory(void)
{
        /* The address sanitizer, which goes along into the child, reserves terabytes. */
#ifndef __SANITIZE_ADDRESS__
        const struct rlimit limit = {MAX_MEMORY, MAX_MEMORY};

        /* If the limit was lower already, it stays. */
        setrlimit(RLIMIT_DATA, &limit);
#endif
}

void babeltrace_set_up_child(gpointer data)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != GPOINTER_TO_INT(data))
                _exit(1);
        babeltrace_limit_memory();
}

/*
 * babeltrace2 prints the causes of an error from the outside in, each under a heading of its own
 * and broken into lines. The last cause is the actual failure; it is returned in one line.
 */
static char *last_cause(const char *text)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GString) cause = g_string_new(NULL);
        bool is_inside = false;
        size_t i;

        for (i = 0; lines[i]; i++) {
                if (g_str_has_prefix(lines[i], "ERROR: ") ||
                    g_str_has_prefix(lines[i], "CAUSED BY ")) {
                        g_string_truncate(cause, 0);
                        is_inside = true;
                } else if (is_inside && lines[i][0] == ' ') {
                        if (cause->len)
                                g_string_append_c(cause, ' ');
                        g_string_append(cause, g_strstrip(lines[i]));
                } else {
                        is_inside = false;
                }
        }
        return g_string_free(g_steal_pointer(&cause), FALSE);
}

char *babeltrace_reason(const char *text, int status)
{
        g_autofree char *cause = last_cause(text);

        if (strstr(cause, "Cannot find component class"))
                return g_strdup("babeltrace2 does not find clrsym's plugin: install it "
                                "to " CLRSYM_PLUGIN_DIR ", or set BABELTRACE_PLUGIN_PATH");
        if (g_str_has_prefix(cause, "No source component"))
                return g_strdup(BABELTRACE_NO_TRACE);
        if (WIFSIGNALED(status))
                return g_strdup_printf("babeltrace2 died of signal %d (%s)", WTERMSIG(status),
                                       strsignal(WTERMSIG(status)));
        if (WEXITSTATUS(status) == 0)
                return NULL;
        return *cause ? g_steal_pointer(&cause) : g_strdup("babeltrace2 failed without a message");
}

/* SPDX-License-Identifier: MIT */
#include "cli/perf-output.h"

#include "cli/perf-program.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *path, GError **error)
{
        g_set_error(error, PERF_ERROR, 0, "cannot write %s: %s", path, g_strerror(errno));
        return false;
}

bool perf_output_open(PerfOutput *output, const char *path, GError **error)
{
        GStatBuf known;

        *output = (PerfOutput){.fd = STDOUT_FILENO, .path = g_strdup(path)};
        if (!path)
                return true;
        if (g_stat(path, &known) == 0 && !S_ISREG(known.st_mode)) {
                output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                return output->fd >= 0 || fail(path, error);
        }
        output->temporary = g_strconcat(path, ".XXXXXX", NULL);
        output->fd = g_mkstemp_full(output->temporary, O_WRONLY | O_CLOEXEC, 0666);
        if (output->fd >= 0)
                return true;
        g_clear_pointer(&output->temporary, g_free);
        return fail(path, error);
}

bool perf_output_commit(PerfOutput *output, GError **error)
{
        bool ok = output->fd == STDOUT_FILENO || close(output->fd) == 0;

        output->fd = -1;
        if (ok && output->temporary)
                ok = g_rename(output->temporary, output->path) == 0;
        if (!ok)
                return fail(output->path, error);
        g_clear_pointer(&output->temporary, g_free);
        return true;
}

void perf_output_close(PerfOutput *output)
{
        if (output->fd >= 0 && output->fd != STDOUT_FILENO)
                close(output->fd);
        output->fd = -1;
        if (output->temporary)
                g_unlink(output->temporary);
        g_clear_pointer(&output->temporary, g_free);
        g_clear_pointer(&output->path, g_free);
}

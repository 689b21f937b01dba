/* SPDX-License-Identifier: MIT */
#include "record/code-copy.h"

#include "moment/moment.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/proc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE (UINT64_C(1) << 20)

void code_copy_deinit(CodeCopy *copy)
{
        fd_clear(&copy->fd);
        g_clear_pointer(&copy->code, g_array_unref);
}

/* Copies CODE from MEMORY to FD at PLACE. False: not all of it can be read, or written. */
static bool code_copy_part(int memory, int fd, const MomentCode *code, uint64_t place)
{
        g_autofree char *bytes = g_malloc(PIECE);
        uint64_t n = 0;

        while (n < code->n) {
                const ssize_t n_read =
                        pread(memory, bytes, MIN(PIECE, code->n - n), (off_t)(code->place + n));

                if (n_read <= 0 || pwrite(fd, bytes, (size_t)n_read, (off_t)(place + n)) != n_read)
                        return false;
                n += (uint64_t)n_read;
        }
        return true;
}

static uint64_t code_copy_time(void)
{
        return (uint64_t)(clock_ns(CLOCK_MONOTONIC) - proc_own_clock_ahead());
}

/* False: the process is ending, or has unmapped a part. */
static bool code_copy_parts(int memory, const GArray *parts, CodeCopy *copy)
{
        guint i;

        for (i = 0; i < parts->len; i++) {
                MomentCode code = g_array_index(parts, MomentCode, i);

                if (code.n > CODE_COPY_MAX - copy->n)
                        continue;
                if (!code_copy_part(memory, copy->fd, &code, copy->n))
                        return false;
                code.place = copy->n;
                copy->n += code.n;
                g_array_append_val(copy->code, code);
        }
        return copy->n > 0;
}

bool code_copy_make(pid_t pid, CodeCopy *ret)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/mem", (int)pid);
        FD_AUTO int memory = open(path, O_RDONLY | O_CLOEXEC);
        g_autoptr(Moment) moment = moment_new(pid);

        if (memory < 0 || !moment_read_maps(moment))
                return false;
        *ret = (CodeCopy){.fd = memfd_create("clrsym-code", MFD_CLOEXEC),
                          .code = g_array_new(FALSE, FALSE, sizeof(MomentCode)),
                          .begin = code_copy_time()};
        if (ret->fd >= 0 && code_copy_parts(memory, moment->code, ret)) {
                ret->end = code_copy_time();
                return true;
        }
        code_copy_deinit(ret);
        return false;
}

/* SPDX-License-Identifier: MIT */
#include "util/proc-stat.h"

#include "util/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields after the command, from 0: proc(5) counts them from 3. */
enum { FIELD_STATE = 0, FIELD_PARENT = 1, FIELD_STARTTIME = 19 };

bool proc_stat_parse(const char *text, ProcStat *ret_stat)
{
        /* The command is in parentheses and can contain any character. */
        const char *at = strrchr(text, ')');
        ProcStat stat = {0};
        char *end;
        int i;

        if (!at || at[1] != ' ' || !at[2])
                return false;
        stat.state = at[2];
        for (i = FIELD_STATE, at += 2; i < FIELD_STARTTIME; i++) {
                at = strchr(at, ' ');
                if (!at)
                        return false;
                at++;
                if (i + 1 == FIELD_PARENT)
                        stat.parent = (pid_t)strtol(at, NULL, 10);
        }
        if (*at < '0' || *at > '9')
                return false;
        stat.start_ticks = strtoull(at, &end, 10);
        *ret_stat = stat;
        return true;
}

bool proc_stat_read(pid_t pid, ProcStat *ret_stat)
{
        /* 52 numbers and 64 bytes of the command fit. */
        char path[32], text[2048];
        FD_AUTO int fd = -1;
        ssize_t n;

        if (pid <= 0)
                return false;
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
        if (n <= 0)
                return false;
        text[n] = '\0';
        return proc_stat_parse(text, ret_stat);
}

/* The text after the colon of the line NAME; NULL: no such line. */
static const char *status_line(const char *text, const char *name)
{
        const size_t n = strlen(name);
        const char *line;

        for (line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
                if (!strncmp(line, name, n) && line[n] == ':')
                        return line + n + 1;
        return NULL;
}

unsigned proc_status_numbers(const char *text, const char *name, uint32_t *numbers, unsigned max)
{
        const char *at = status_line(text, name);
        unsigned n = 0;
        char *end;

        for (; at && n < max; at = end) {
                at += strspn(at, " \t");
                if (*at < '0' || *at > '9')
                        break;
                numbers[n++] = (uint32_t)strtoull(at, &end, 10);
        }
        return n;
}

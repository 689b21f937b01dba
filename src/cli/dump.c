/* SPDX-License-Identifier: MIT */

/*
 * clrsym dump, clrsym save
 */

#include "cli/dump.h"

#include "cli/answer-source.h"
#include "cli/dump-babeltrace.h"
#include "cli/dump-ctf.h"
#include "cli/dump-nettrace.h"
#include "cli/verbs.h"
#include "nettrace/file.h"
#include "util/babeltrace.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static bool dump_by_babeltrace(const DumpFilter *filter, const char *directory, const char *reason,
                               GError **error)
{
        if (filter->format) { /* its lines are JSON already */
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "%s: only babeltrace2 can read this trace (%s): use `clrsym dump` for "
                            "its events",
                            directory, reason);
                return false;
        }
        if (options_has(filter->options, OPTION_VERBOSE)) {
                g_autofree char *note = g_strconcat(BABELTRACE_NOTE, reason, NULL);

                answer_source_print_note(directory, note);
        }
        return dump_babeltrace(filter, directory, error);
}

static bool dump_directory(const DumpFilter *filter, const char *directory, GError **error)
{
        g_autoptr(GError) reason = NULL;

        if (babeltrace_is_asked_for())
                return dump_by_babeltrace(filter, directory, BABELTRACE_ASKED_FOR, error);
        switch (dump_ctf(filter, directory, &reason)) {
        case DUMP_DONE:
                return true;
        case DUMP_UNKNOWN:
                return dump_by_babeltrace(filter, directory, reason->message, error);
        case DUMP_FAILED:
                break;
        }
        if (reason) /* else the output has failed */
                g_propagate_error(error, g_steal_pointer(&reason));
        return false;
}

bool dump_path(const DumpFilter *filter, const char *path, GError **error)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const char *wrong = NULL;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                wrong = g_strerror(errno);
        else if (S_ISREG(st.st_mode) && nettrace_file_is(fd))
                return dump_nettrace(filter, fd_steal(&fd), path, error);
        else if (!S_ISDIR(st.st_mode))
                wrong = "not a directory: a trace is one, with a file \"metadata\" in it, here or "
                        "below; or a .nettrace file";
        if (!wrong)
                return dump_directory(filter, path, error);
        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s: %s", path, wrong);
        return false;
}

bool verb_dump(const Options *options, GError **error)
{
        DumpFilter filter;
        bool ok;

        dump_filter_init(&filter, options);
        ok = dump_path(&filter, *options->arguments, error);
        dump_filter_deinit(&filter);
        return ok;
}

/* The snapshot is complete once the trace is read. */
bool verb_save(const Options *options, GError **error)
{
        AnswerSourceFlags flags =
                ANSWER_SOURCE_SAVE |
                (options_has(options, OPTION_JIT_EVENTS) ? ANSWER_SOURCE_JIT_EVENTS : 0);
        g_autoptr(AnswerSource) source = answer_source_open(options, flags, error);

        return source != NULL;
}

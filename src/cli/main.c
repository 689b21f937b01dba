/* SPDX-License-Identifier: MIT */

/*
 * clrsym: names for addresses in .NET processes
 */

#include "cli/answer-source.h"
#include "cli/output.h"
#include "cli/symbol-text.h"
#include "cli/verbs.h"
#include "util/log-writer.h"
#include "util/message.h"

#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* PATH is "clrsym session". */
static void usage_append_verbs(GString *out, const char *path, const Verb *parent)
{
        unsigned i;
        int width = 0;

        g_string_append_printf(out, "Usage: %s VERB [OPTION...] [ARGUMENT...]\n\n", path);
        for (i = 0; i < parent->n_verbs; i++)
                width = MAX(width, (int)strlen(parent->verbs[i].name));
        for (i = 0; i < parent->n_verbs; i++)
                if (!parent->verbs[i].is_hidden)
                        g_string_append_printf(out, "  %-*s  %s\n", width, parent->verbs[i].name,
                                               parent->verbs[i].help);
        g_string_append_c(out, '\n');
        options_append_help(out, &parent->use);
        g_string_append_printf(out, "\n%s VERB --help shows the options.\n", path);
}

static void usage_append_verb(GString *out, const char *path, const Verb *verb)
{
        g_string_append_printf(out, "Usage: %s", path);
        options_append_required(out, verb->required);
        if (verb->use.allowed != verb->required)
                g_string_append(out, " [OPTION...]");
        if (verb->arguments)
                g_string_append_printf(out, " %s", verb->arguments);
        g_string_append_printf(out, "\n\n%c%s.\n\n", g_ascii_toupper(verb->help[0]),
                               verb->help + 1);
        options_append_help(out, &verb->use);
}

static void usage_print(FILE *file, const char *path, const Verb *verb)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (verb->run)
                usage_append_verb(text, path, verb);
        else
                usage_append_verbs(text, path, verb);
        fputs(text->str, file);
}

/* Returns what is wrong with the usage (owned); NULL: nothing. */
static char *usage_check(const Verb *verb, const Options *options)
{
        guint n = g_strv_length(options->arguments);
        OptionSet missing = verb->required & ~options->given;

        if (missing) {
                g_autoptr(GString) reason = g_string_new("it needs");

                options_append_required(reason, missing & -missing);
                return g_string_free(g_steal_pointer(&reason), FALSE);
        }
        if (n > verb->max_arguments)
                return verb->max_arguments > 1
                               ? g_strdup_printf("it takes at most %u arguments",
                                                 verb->max_arguments)
                               : g_strdup(verb->max_arguments ? "it takes one argument"
                                                              : "it takes no arguments");
        if (n < verb->min_arguments)
                return g_strdup_printf("it needs %s", verb->arguments);
        return g_strdup(verb->check ? verb->check(options) : NULL);
}

static ExitCode usage_fail(const char *path, const char *reason)
{
        message_print("clrsym", "%s: see %s --help", reason, path);
        return EXIT_USAGE;
}

/* Reports why the answers could not be written. A reader that closes the pipe is not an error. */
static ExitCode output_end(void)
{
        int error = output_flush() ? 0 : output_error();

        if (!error && fflush(stdout) != 0)
                error = errno;
        if (error && error != EPIPE)
                message_print("clrsym", "cannot write the answers: %s", g_strerror(error));
        return error ? EXIT_FAILED : EXIT_OK;
}

/* Rejects FIFOs and devices: opening a FIFO waits for a writer, and opening a device can have any
 * effect. */
static bool verb_check_input(const char *path, GError **error)
{
        struct stat st;

        if (!path || stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
                return true;
        g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                    "%s is %s, not a file or a directory: write its contents to a file first", path,
                    S_ISFIFO(st.st_mode)   ? "a FIFO"
                    : S_ISSOCK(st.st_mode) ? "a socket"
                                           : "a device");
        return false;
}

static bool verb_check_inputs(const Verb *verb, const Options *options, GError **error)
{
        size_t i;

        for (i = 0; verb->reads_arguments && options->arguments[i]; i++)
                if (!verb_check_input(options->arguments[i], error))
                        return false;
        return verb_check_input(options->trace, error) && verb_check_input(options->input, error) &&
               verb_check_input(options->before, error);
}

static ExitCode verb_run(const Verb *verb, const Options *options)
{
        g_autoptr(GError) error = NULL;
        bool ok = verb_check_inputs(verb, options, &error) && verb->run(options, &error);
        ExitCode code = output_end();

        if (error)
                message_print("clrsym", "%s", error->message);
        if (!ok)
                return EXIT_FAILED;
        return code == EXIT_OK && verb->status ? (ExitCode)verb->status() : code;
}

/* Owned by the caller. */
static char *verb_explain_none(const Verb *parent, const char *name)
{
        const Verb *guess = verb_guess(parent, name);

        return guess ? g_strdup_printf("no verb %s (did you mean %s?)", name, guess->name)
                     : g_strdup_printf("no verb %s", name);
}

/* The verb in the WORDS of `clrsym help`; NULL with *RET_REASON set: there is no such verb. */
static const Verb *help_find(char *const *words, GString *path, char **ret_reason)
{
        const Verb *verb = &VERBS_ROOT;

        for (; *words && verb; words++) {
                const Verb *next = verb_find(verb, *words);

                if (!next)
                        *ret_reason = verb_explain_none(verb, *words);
                g_string_append_printf(path, " %s", *words);
                verb = next;
        }
        return verb;
}

const char *verb_help_check(const Options *options)
{
        g_autoptr(GString) path = g_string_new(VERBS_ROOT.name);
        static char *reason; /* lives for the one call */

        help_find(options->arguments, path, &reason);
        return reason;
}

bool verb_help(const Options *options, GError **error)
{
        g_autoptr(GString) path = g_string_new(VERBS_ROOT.name);
        char *reason = NULL;

        usage_print(stdout, path->str, help_find(options->arguments, path, &reason));
        return true;
}

/* ARGV[0] is the last word of PATH. */
static ExitCode verb_call(const Verb *verb, const char *path, int argc, char **argv)
{
        g_auto(Options) options = {0};
        g_autofree char *reason = NULL;
        bool is_help;

        if (!options_parse(argc, argv, &verb->use, &options, &is_help, &reason))
                return usage_fail(path, reason);
        if (is_help) {
                usage_print(stdout, path, verb);
                return output_end();
        }
        reason = usage_check(verb, &options);
        if (reason)
                return usage_fail(path, reason);
        if (!options_has(&options, OPTION_STYLE))
                options.style = CLRSYM_STYLE_CSHARP;
        symbol_text_set_options(&options);
        return verb_run(verb, &options);
}

int main(int argc, char **argv)
{
        g_autoptr(GString) path = g_string_new(VERBS_ROOT.name);
        const Verb *verb = &VERBS_ROOT, *next;

        log_writer_init();
        setlocale(LC_ALL, "");
        /* As everywhere in GLib, out of memory ends the program: rows must not be missing. */
        json_set_alloc_funcs(g_malloc, g_free);
        while (!verb->run) {
                argc--, argv++;
                if (argc < 1) {
                        usage_print(stderr, path->str, verb);
                        return EXIT_USAGE;
                }
                if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")) {
                        usage_print(stdout, path->str, verb);
                        return output_end();
                }
                next = verb_find(verb, argv[0]);
                if (!next) {
                        g_autofree char *reason = verb_explain_none(verb, argv[0]);

                        return usage_fail(path->str, reason);
                }
                verb = next;
                g_string_append_printf(path, " %s", verb->name);
        }
        return verb_call(verb, path->str, argc, argv);
}

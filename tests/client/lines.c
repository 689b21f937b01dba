/* SPDX-License-Identifier: MIT */

/*
 * Prints source lines from libclrsym for addresses "PID ADDR TIME_NS" on stdin:
 *
 *     lines TRACE DIRECTORY [FROM TO]
 *
 * prints "IL KIND FILE:LINE:COLUMN" or "IL KIND STATUS" for each address, and on the last line the
 * line of the method that has the first address with a line. IL is -1 if it is unknown.
 */

#include <clrsym/clrsym.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_QUERIES 100000

static clrsym_query queries[MAX_QUERIES];
static clrsym_answer answers[MAX_QUERIES];

static size_t read_queries(void)
{
        size_t n;

        for (n = 0; n < MAX_QUERIES; n++) {
                clrsym_query *query = &queries[n];

                query->has_time = true;
                if (scanf("%" SCNd32 " %" SCNx64 " %" SCNu64, &query->pid, &query->address,
                          &query->time) != 3)
                        break;
        }
        return n;
}

static void show(clrsym_line_status status, const clrsym_line *line)
{
        if (status == CLRSYM_LINE_FOUND)
                printf("%s:%" PRIu32 ":%" PRIu32 "\n", line->file, line->line, line->column);
        else
                printf("%s%s\n", clrsym_line_status_name(status), line->file ? " and a file" : "");
}

static int show_all(clrsym_lines *lines, size_t n)
{
        const clrsym_body *body = NULL;
        clrsym_line line;
        size_t i;

        for (i = 0; i < n; i++) {
                clrsym_line_status status = clrsym_lines_find(lines, 0, &answers[i], &line);

                printf("%" PRId32 " %s ", answers[i].line_il_offset,
                       clrsym_il_kind_name(answers[i].il_kind));
                show(status, &line);
                if (!body && status == CLRSYM_LINE_FOUND)
                        body = &answers[i].body;
        }
        if (!body)
                return 1;
        show(clrsym_lines_find_first(lines, 0, body, &line), &line);
        return 0;
}

int main(int argc, char **argv)
{
        clrsym_options options = {.trace = argv[1]};
        size_t n = read_queries();
        char *message = NULL;
        clrsym_lines *lines;
        clrsym *handle;
        int r;

        if (clrsym_lines_new(&lines) < 0 || clrsym_lines_add_directory(lines, argv[2]) < 0 ||
            clrsym_lines_map_source(lines, "", "/x") >= 0 ||
            (argc > 4 && clrsym_lines_map_source(lines, argv[3], argv[4]) < 0))
                return 1;
        if (clrsym_open(&handle, &options, &message) < 0 ||
            clrsym_resolve(handle, queries, n, 0, answers) < 0) {
                fprintf(stderr, "lines: %s\n", message ? message : clrsym_message(handle));
                return 1;
        }
        r = show_all(lines, n);
        clrsym_lines_free(lines);
        clrsym_close(handle);
        return r;
}

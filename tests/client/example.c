/* SPDX-License-Identifier: MIT */

/*
 * Names the addresses of a process that come as lines "ADDR" or "ADDR TIME" on stdin:
 *
 *     cc example.c -o example $(pkg-config --cflags --libs clrsym)
 *     ./example PID              asks the daemon
 *     ./example PID TRACE        asks a recorded trace
 */

#include <clrsym/clrsym.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define N_LINES 100

static int show_progress(uint64_t n_read, uint64_t n_total, void *data)
{
        (void)data;
        fprintf(stderr, "\r%3.0f %% read",
                n_total ? 100.0 * (double)n_read / (double)n_total : 0.0);
        return 0;
}

static void show_answer(const clrsym_query *query, const clrsym_answer *answer)
{
        char symbol[1024];

        if (answer->has_body)
                clrsym_symbol(&answer->body, CLRSYM_STYLE_CLR, symbol, sizeof(symbol));
        printf("0x%" PRIx64, query->address);
        switch (answer->status) {
        case CLRSYM_OK:
                printf(" %s+0x%" PRIx64 " [%s]%s\n", symbol, answer->offset,
                       clrsym_tier_name(answer->body.tier),
                       answer->confidence == CLRSYM_EXACT ? "" : " ~");
                break;
        case CLRSYM_UNLOADED:
        case CLRSYM_NOT_YET:
                printf(" ?? %s", clrsym_status_name(answer->status));
                if (answer->has_body)
                        printf(" by %.6f s: %s", (double)answer->distance / 1e9, symbol);
                putchar('\n');
                break;
        default:
                printf(" ?? %s\n", clrsym_status_name(answer->status));
        }
}

/* Asks for many addresses at once: one call is much cheaper than one for each. */
static int answer_lines(clrsym *handle, int32_t pid)
{
        clrsym_query queries[N_LINES];
        clrsym_answer answers[N_LINES];
        char line[256], time[128];
        size_t n, i;
        int r;

        do {
                for (n = 0; n < N_LINES && fgets(line, sizeof(line), stdin); n++) {
                        queries[n] = (clrsym_query){.pid = pid};
                        switch (sscanf(line, "%" SCNx64 " %127s", &queries[n].address, time)) {
                        case 2:
                                r = clrsym_time(handle, time, &queries[n].time);
                                if (r < 0)
                                        return r;
                                queries[n].has_time = true;
                        }
                }
                r = clrsym_resolve(handle, queries, n, 0, answers);
                if (r < 0)
                        return r;
                for (i = 0; i < n; i++)
                        show_answer(&queries[i], &answers[i]);
        } while (n == N_LINES);
        return 0;
}

int main(int argc, char **argv)
{
        clrsym_options options = {.trace = argc > 2 ? argv[2] : NULL, .progress = show_progress};
        char *message;
        clrsym *handle;
        int r;

        if (argc < 2 || clrsym_open(&handle, &options, &message) < 0) {
                fprintf(stderr, "example: %s\n", argc < 2 ? "which PID?" : message);
                return 1;
        }
        r = answer_lines(handle, (int32_t)atoi(argv[1]));
        if (r < 0)
                fprintf(stderr, "example: %s\n", clrsym_message(handle));
        clrsym_close(handle);
        return r < 0;
}

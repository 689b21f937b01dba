/* SPDX-License-Identifier: MIT */

/*
 * r2r-maps FILE...: the map of each precompiled method of an image, one on a line
 *
 * RVA, bytes, token ("-" for an instance of a generic method, "resume" for a stub that continues a
 * variant), and "NATIVE:IL ...", native in hex. The last line has the sums.
 */

#include "metadata/r2r-code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limit of methods' numbers in the table; the largest assemblies have about 50,000. */
#define MAX_RID (1u << 20)

static void print_map(const R2RMap *map)
{
        uint32_t i;

        for (i = 0; i < map->n; i++)
                printf("%s%x:%d", i ? " " : "", map->entries[i].native, map->entries[i].il);
        putchar('\n');
}

static int print_image(const char *path, const R2RCode *code)
{
        uint32_t n = r2r_code_n_functions(code), n_methods = 0, n_maps = 0, rid, i;
        uint32_t *tokens = calloc(n + 1, sizeof(*tokens));
        R2ROrigin origin;
        R2RMethod method;
        R2RMap map;

        for (rid = 1; tokens && rid < MAX_RID; rid++)
                if (r2r_code_find_method(code, rid, &method))
                        tokens[method.function] = 0x06000000 | rid;
        for (i = 0; tokens && i < n; i++) {
                int r;

                if (!r2r_code_method(code, i, &method))
                        continue;
                n_methods++;
                r = r2r_code_map(code, i, &map);
                if (r < 0) {
                        fprintf(stderr, "%s: %x: %s\n", path, method.begin, strerror(-r));
                        continue;
                }
                n_maps++;
                printf("%x\t%u\t", method.begin, method.end - method.begin);
                /* Async variants are not in the table of methods, but of instances. */
                if (!r2r_code_origin(code, i, &origin))
                        origin.kind = R2R_KIND_METHOD;
                if (origin.kind == R2R_KIND_VARIANT)
                        tokens[i] = 0x06000000 | origin.rid;
                if (origin.kind == R2R_KIND_RESUME)
                        printf("resume\t");
                else if (tokens[i])
                        printf("%08x\t", tokens[i]);
                else
                        printf("-\t");
                print_map(&map);
                free(map.entries);
        }
        free(tokens);
        printf("#\t%s\t%u\t%u\t%u\n", path, n, n_methods, n_maps);
        return n_methods == n_maps ? 0 : 1;
}

int main(int argc, char **argv)
{
        int result = 0, i;

        for (i = 1; i < argc; i++) {
                int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
                const char *reason = NULL;
                R2RCode *code = NULL;
                PeFile pe;

                if (fd < 0 || pe_file_read(&pe, fd, 0, &reason) < 0 ||
                    r2r_code_read(&code, &pe, &reason) < 0)
                        printf("#\t%s\t%s\n", argv[i], reason ? reason : strerror(errno));
                else
                        result |= print_image(argv[i], code);
                r2r_code_free(code);
                if (fd >= 0)
                        close(fd);
        }
        return result;
}

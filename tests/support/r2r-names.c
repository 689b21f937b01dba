/* SPDX-License-Identifier: MIT */

/*
 * r2r-names FILE...: the name of each method that is precompiled in an image, a line each
 *
 * RVA, bytes, token, the three texts of the runtime's events, and the type arguments, with tabs
 * between them; a method without a name has only the first two.
 */

#include "metadata/r2r-names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_function(R2RNames *names, const R2RMethod *method)
{
        R2RName name;

        printf("%x\t%u", method->begin, method->end - method->begin);
        if (r2r_names_of_function(names, method->function, &name))
                printf("\t%08x\t%s\t%s\t%s\t%s", name.token, name.name_space, name.name,
                       name.signature, name.type_args ? name.type_args : "");
        putchar('\n');
}

static int print_image(const PeFile *pe, const char **ret_reason)
{
        R2RNames *names = NULL;
        R2RCode *code = NULL;
        R2RMethod method;
        uint32_t i;
        int r = r2r_names_read(&names, pe, ret_reason);

        if (r == 0)
                r = r2r_code_read(&code, pe, ret_reason);
        for (i = 0; r == 0 && i < r2r_code_n_functions(code); i++)
                if (r2r_code_method(code, i, &method))
                        print_function(names, &method);
        r2r_code_free(code);
        r2r_names_free(names);
        return r;
}

int main(int argc, char **argv)
{
        int result = 0, i;

        for (i = 1; i < argc; i++) {
                int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
                const char *reason = NULL;
                PeFile pe;

                if (fd < 0 || pe_file_read(&pe, fd, 0, &reason) < 0 ||
                    print_image(&pe, &reason) < 0) {
                        fprintf(stderr, "%s: %s\n", argv[i], reason ? reason : strerror(errno));
                        result = 1;
                }
                if (fd >= 0)
                        close(fd);
        }
        return result;
}

/* SPDX-License-Identifier: MIT */

/*
 * r2r-names FILE...: the name of each precompiled method of an image, one on a line
 *
 * RVA, bytes, token, the three texts of the runtime's events, the type arguments, and the path of
 * the assembly, separated by tabs; for a method without a name, only the first two.
 */

#include "lines/image-names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_function(ImageNames *names, const R2RMethod *method)
{
        ImageMethod found;
        const R2RName *name = &found.name;

        printf("%x\t%u", method->begin, method->end - method->begin);
        if (image_names_find(names, method->begin, &found))
                printf("\t%08x\t%s\t%s\t%s\t%s\t%s", name->token, name->name_space, name->name,
                       name->signature, name->type_args ? name->type_args : "", found.path);
        if (name->stub_name)
                printf("\t%s.%s", name->stub_name_space, name->stub_name);
        putchar('\n');
}

static int print_image(int fd, const char *path, const char **ret_reason)
{
        static ImageSources sources;
        const ImagePlace place = {.path = path, .sources = &sources};
        ImageNames *names = NULL;
        R2RCode *code = NULL;
        R2RMethod method;
        PeFile pe;
        uint32_t i;
        int r = pe_file_read(&pe, fd, 0, ret_reason);

        if (r == 0)
                r = r2r_code_read_composite(&code, &pe, ret_reason);
        if (r == -EBADMSG)
                r = r2r_code_read(&code, &pe, ret_reason);
        if (r == 0)
                r = image_names_read(&names, &(ImageBytes){.fd = fd}, &place);
        for (i = 0; r == 0 && i < r2r_code_n_functions(code); i++)
                if (r2r_code_method(code, i, &method))
                        print_function(names, &method);
        image_names_free(names);
        r2r_code_free(code);
        return r;
}

int main(int argc, char **argv)
{
        int result = 0, i;

        for (i = 1; i < argc; i++) {
                int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
                const char *reason = NULL;

                if (fd < 0 || print_image(fd, argv[i], &reason) < 0) {
                        fprintf(stderr, "%s: %s\n", argv[i], reason ? reason : strerror(errno));
                        result = 1;
                }
                if (fd >= 0)
                        close(fd);
        }
        return result;
}

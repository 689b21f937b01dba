/* SPDX-License-Identifier: MIT */

/*
 * Prints "TOKEN SIGNATURE" for all methods of an assembly, as src/metadata writes them; only the
 * token if it writes none.
 */

#include "metadata/method-signature.h"
#include "metadata/pe-file.h"

#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
        int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
        char text[4096];
        const char *reason;
        Metadata metadata;
        uint8_t *bytes;
        uint32_t rid;
        PeFile pe;
        size_t n;

        if (fd < 0 || pe_file_read(&pe, fd, 0, &reason) < 0 ||
            pe_file_read_metadata(&pe, 64u << 20, &bytes, &n, &reason) < 0 ||
            !metadata_read(&metadata, bytes, n, &reason))
                return 1;
        for (rid = 1; rid <= metadata_n_rows(&metadata, METADATA_METHOD_DEF); rid++) {
                metadata_method_signature(&metadata, rid, text, sizeof(text));
                printf("%08x %s\n", 0x06000000 | rid, text);
        }
        return 0;
}

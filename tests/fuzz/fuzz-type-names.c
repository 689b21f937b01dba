/* SPDX-License-Identifier: MIT */

/*
 * Types and methods by the tokens of their modules. In the input, "$" is the path of an assembly
 * and "%" the GUID of its PDB.
 */

#include "fuzz.h"
#include "lines/type-names.h"
#include "pdb/debug-directory.h"
#include "util/guid-text.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#define ASSEMBLY FUZZ_CORPUS "/pdb/embedded"
/* Above the number of names in any text. */
#define MAX_NAMES 20000u

static TypeNames *the_names;
static char the_guid[GUID_TEXT_SIZE];

static void fuzz_begin(void)
{
        int fd = open(ASSEMBLY, O_RDONLY | O_CLOEXEC);
        DebugDirectory directory;
        const char *reason;
        PeFile image;

        FUZZ_REQUIRE(pe_file_read(&image, fd, 0, &reason) == 0);
        FUZZ_REQUIRE(debug_directory_read(&directory, &image, &reason) == 0);
        guid_to_text(directory.id.guid, the_guid);
        close(fd);
        the_names = type_names_new();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static ImageSources nowhere;
        g_autoptr(GString) text = g_string_new(NULL);
        TypeNamesInlined inlined;
        const char *names;
        size_t i;

        if (!the_names)
                fuzz_begin();
        for (i = 0; i < size && i < FUZZ_MAX_INPUT && data[i]; i++) {
                if (data[i] == '$')
                        g_string_append(text, ASSEMBLY);
                else if (data[i] == '%')
                        g_string_append(text, the_guid);
                else
                        g_string_append_c(text, (char)data[i]);
        }
        names = type_names_find(the_names, &nowhere, 0, text->str);
        FUZZ_REQUIRE(!names || strlen(names) < MAX_NAMES);
        if (!type_names_find_inlined(the_names, &nowhere, 0, text->str, &inlined))
                return 0;
        FUZZ_REQUIRE(*inlined.name_space && inlined.name && inlined.token >> 24 == 6);
        FUZZ_REQUIRE(strlen(inlined.name_space) < MAX_NAMES);
        FUZZ_REQUIRE(!inlined.type_args || strlen(inlined.type_args) < MAX_NAMES);
        return 0;
}

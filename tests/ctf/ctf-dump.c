/* SPDX-License-Identifier: MIT */
/*
 * Prints what the CTF reader finds, in the form of sink.clrsym.dump:
 *
 *   ctf-dump DIRECTORY          the events; an error if there is one
 *   ctf-dump --each DIRECTORY...
 *                               reads each of them, and prints a line for each: "ok" or the error
 */
#include "ctf/reader.h"
#include "event/json-record.h"

#include <stdio.h>
#include <string.h>

/* OUTPUT NULL: what would be printed is made all the same. */
static bool dump(const char *directory, FILE *output, GError **error)
{
        g_autoptr(GString) out = g_string_new(NULL);
        CtfReader *reader = ctf_reader_new(directory, EVENT_USE_ALL, error);
        CtfReadResult result = CTF_READ_ERROR;
        CtfDataStream *stream;
        Record record;

        while (reader && (result = ctf_reader_next(reader, &stream, error)) == CTF_READ_ITEM) {
                switch (stream->item) {
                case CTF_ITEM_EVENT:
                        if (ctf_reader_decode(reader, stream, &record) == CTF_DECODE_RECORD)
                                json_append_record(out, &record);
                        break;
                case CTF_ITEM_DISCARDED_EVENTS:
                case CTF_ITEM_DISCARDED_PACKETS:
                        json_append_gap(out, stream->identity->stream_id, &stream->gap);
                        break;
                default:
                        break;
                }
                if (out->len > 65536) {
                        if (output)
                                fwrite(out->str, 1, out->len, output);
                        g_string_truncate(out, 0);
                }
        }
        if (output)
                fwrite(out->str, 1, out->len, output);
        ctf_reader_free(reader);
        return result == CTF_READ_END;
}

int main(int argc, char **argv)
{
        g_autoptr(GError) error = NULL;
        int i;

        if (argc > 1 && strcmp(argv[1], "--each") == 0) {
                for (i = 2; i < argc; i++) {
                        g_autoptr(GError) each = NULL;

                        /* At once, so that it is known which one a crash is of. */
                        puts(dump(argv[i], NULL, &each) ? "ok" : each ? each->message : "");
                        fflush(stdout);
                }
                return 0;
        }
        if (argc > 1 && dump(argv[1], stdout, &error))
                return 0;
        fprintf(stderr, "ctf-dump: %s\n", error ? error->message : "give a directory");
        return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Prints what the CTF reader finds, in the form of sink.clrsym.dump: ctf-dump DIRECTORY
 */
#include "ctf/reader.h"
#include "event/json-record.h"

#include <stdio.h>

int main(int argc, char **argv)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        CtfReader *reader = argc > 1 ? ctf_reader_new(argv[1], EVENT_USE_ALL, &error) : NULL;
        CtfReadResult result = CTF_READ_ERROR;
        CtfDataStream *stream;
        Record record;

        while (reader && (result = ctf_reader_next(reader, &stream, &error)) == CTF_READ_ITEM) {
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
                        fwrite(out->str, 1, out->len, stdout);
                        g_string_truncate(out, 0);
                }
        }
        fwrite(out->str, 1, out->len, stdout);
        if (result == CTF_READ_ERROR)
                fprintf(stderr, "ctf-dump: %s\n", error ? error->message : "give a directory");
        ctf_reader_free(reader);
        return result == CTF_READ_END ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
#include "event/stream.h"

StreamIdentity *stream_identity_new(void)
{
        StreamIdentity *stream = g_new0(StreamIdentity, 1);

        stream->uid = UINT32_MAX;
        stream->hostname = g_string_new(NULL);
        stream->boot_id = g_string_new(NULL);
        stream->clock_name = g_string_new(NULL);
        return stream;
}

void stream_identity_free(StreamIdentity *stream)
{
        if (!stream)
                return;
        g_string_free(stream->hostname, TRUE);
        g_string_free(stream->boot_id, TRUE);
        g_string_free(stream->clock_name, TRUE);
        g_free(stream);
}

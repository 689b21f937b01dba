/* SPDX-License-Identifier: MIT */

/*
 * Replies of a diagnostic port, in pieces of any size
 */

#include "attach/ipc.h"
#include "fuzz.h"

/* The first byte is one less than the size of the largest piece. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static IpcReply reply;
        FuzzInput input = {data, size};
        const size_t piece = fuzz_take(&input, 1) + 1;
        IpcProcessInfo info = {0};
        uint64_t session;
        uint32_t code;
        size_t wanted;

        if (input.n >= IPC_ANNOUNCEMENT_SIZE)
                (void)ipc_is_announcement(input.at);
        ipc_reply_clear(&reply);
        while ((wanted = ipc_reply_wanted(&reply)) && input.n > 0) {
                const FuzzInput part = fuzz_take_part(&input, MIN(wanted, piece));

                FUZZ_REQUIRE(wanted <= IPC_MAX_MESSAGE);
                ipc_reply_put(&reply, part.at, part.n);
        }
        (void)ipc_reply_result(&reply, &code);
        if (wanted)
                return 0;
        (void)ipc_reply_get_session(&reply, &session);
        if (ipc_reply_get_process_info(&reply, &info))
                g_free(info.version);
        return 0;
}

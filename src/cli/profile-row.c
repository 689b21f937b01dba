/* SPDX-License-Identifier: MIT */
#include "cli/profile-row.h"

ProfileFrame profile_row_of(const NamedFrame *frame)
{
        static const FrameKind KINDS[_NAMED_KIND_MAX] = {
                [NAMED_MANAGED] = FRAME_MANAGED,
                [NAMED_NATIVE] = FRAME_NATIVE,
                [NAMED_KERNEL] = FRAME_KERNEL,
                [NAMED_UNKNOWN] = FRAME_UNKNOWN,
        };

        return (ProfileFrame){
                .name = frame->name && *frame->name ? frame->name : NULL,
                .module = frame->module && *frame->module ? frame->module : NULL,
                .kind = KINDS[frame->kind],
                .tier = frame->kind == NAMED_MANAGED && frame->tier != CLRSYM_TIER_UNKNOWN
                                ? clrsym_tier_name(frame->tier)
                                : NULL,
                .is_marked = frame->is_marked,
                .file = frame->file,
                .line = frame->file ? frame->line : 0,
                .checksum = frame->file ? frame->checksum : NULL,
        };
}

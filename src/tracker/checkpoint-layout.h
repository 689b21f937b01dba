/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The structures and enumerations in a checkpoint, pinned, and the version of its bytes
 *
 * A row fails to compile when the size of its structure or enumeration changes
 * (checkpoint-layout.c); a member in the padding of a structure does not change its size. Then
 * check whether checkpoint*.c has to write a new member; increment CHECKPOINT_VERSION if the bytes
 * change; and put the new size and the version of the change into the row. Sizes are those of
 * 64-bit machines.
 */

/* The journal's format contains it. */
#define CHECKPOINT_VERSION 13

/* PIN(version of the last change, value, expected value) */
#define CHECKPOINT_PINS(PIN)                                                                       \
        PIN(3, sizeof(Gap), 16)                                                                    \
        PIN(3, sizeof(Rundown), 16)                                                                \
        PIN(3, sizeof(UnannouncedBody), 24)                                                        \
        PIN(3, sizeof(ProcessGaps), 88)                                                            \
        PIN(6, sizeof(ProcessGap), 32)                                                             \
        PIN(6, sizeof(PendingGap), 40)                                                             \
        PIN(6, sizeof(OwnedKey), 24)                                                               \
        PIN(12, sizeof(TrackerStats), 312)                                                         \
        PIN(6, sizeof(Trace), 96)                                                                  \
        PIN(3, sizeof(TrackerStream), 72)                                                          \
        PIN(13, sizeof(Process), 408)                                                              \
        PIN(7, sizeof(Module), 80)                                                                 \
        PIN(7, sizeof(Assembly), 56)                                                               \
        PIN(3, sizeof(Jitting), 32)                                                                \
        PIN(3, sizeof(MethodKey), 16)                                                              \
        PIN(3, sizeof(Stub), 40)                                                                   \
        PIN(3, sizeof(StubTarget), 12)                                                             \
        PIN(12, sizeof(ThreadDetails), 64)                                                         \
        PIN(12, sizeof(BodyDetail), 24)                                                            \
        PIN(9, sizeof(JitBackground), 64)                                                          \
        PIN(3, sizeof(Body), 96)                                                                   \
        PIN(3, sizeof(BodyExtra), 24)                                                              \
        PIN(3, sizeof(CodeMap), 160)                                                               \
        PIN(12, _EVENT_KIND_MAX, 32)                                                               \
        PIN(3, _GAP_KIND_MAX, 2)                                                                   \
        PIN(3, _BUFFER_SCHEME_MAX, 3)                                                              \
        PIN(3, _BODY_SOURCE_MAX, 4)                                                                \
        PIN(3, BODY_END_FREE, 5)                                                                   \
        PIN(3, _JIT_ATTEMPT_MAX, 2)                                                                \
        PIN(4, _STREAM_STATE_MAX, 5)                                                               \
        PIN(12, _CHECKPOINT_TAG_MAX, 27)

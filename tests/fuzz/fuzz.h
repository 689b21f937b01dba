/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A fuzz target: one parser or protocol, one entry function, only private files and sockets
 *
 * With clang each target is a libFuzzer program, fuzz-NAME; tests/fuzz/run starts them. With any
 * other compiler replay.c calls the target with the inputs of its corpus, and with mutations of
 * them, as part of the unit suite.
 *
 * If a checksum or a length would make nearly all raw bytes invalid, a target reads its input as a
 * script instead.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Always returns 0. Aborts if a check fails. Needs less than FUZZ_MAX_MS and FUZZ_MAX_MIB. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Limits for one input. Inputs are at most 64 KiB, so more time or memory means that something
 * grows faster than the bytes of a peer. A sanitizer may use FUZZ_SLOWER times as much.
 */
#define FUZZ_MAX_INPUT (64u << 10)
#define FUZZ_MAX_MS    1000
#define FUZZ_MAX_MIB   256

#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_SLOWER 5
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_SLOWER 5
#endif
#endif
#ifndef FUZZ_SLOWER
#define FUZZ_SLOWER 1
#endif

#define FUZZ_REQUIRE(condition)                                                                    \
        ((condition) ? (void)0                                                                     \
                     : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

/* The unread rest of an input. Numbers are little-endian; after the end they are 0. */
typedef struct FuzzInput {
        const uint8_t *at;
        size_t n;
} FuzzInput;

static inline uint64_t fuzz_take(FuzzInput *input, unsigned n_bytes)
{
        uint64_t value = 0;
        unsigned i;

        for (i = 0; i < n_bytes && input->n > 0; i++, input->at++, input->n--)
                value |= (uint64_t)*input->at << (8 * i);
        return value;
}

/* Returns the next N bytes, or fewer at the end. */
static inline FuzzInput fuzz_take_part(FuzzInput *input, size_t n)
{
        FuzzInput part = {input->at, n < input->n ? n : input->n};

        input->at += part.n;
        input->n -= part.n;
        return part;
}

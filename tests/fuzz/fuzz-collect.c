/* SPDX-License-Identifier: MIT */

/*
 * A recording of dotnet-trace collect-linux: the file. The converted file is complete for the
 * reader of perf.data, and has each sample.
 */

#include "collect/collect.h"

#include "fuzz.h"
#include "perfdata/address-space.h"
#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"

#include <sys/mman.h>
#include <unistd.h>

/* Looks up the names at an address of the recording. */
static void look_up(RecorderSymbols *symbols, AddressSpaces *spaces, const PerfSample *sample)
{
        const SpaceMapping *mapping;
        RecorderName name;
        size_t i;

        for (i = 0; i < sample->n_chain; i++) {
                if (recorder_symbols_find(symbols, sample->pid, sample->chain[i], &name))
                        FUZZ_REQUIRE(name.text && name.start <= sample->chain[i]);
                mapping = address_spaces_find(spaces, sample->pid, sample->time, sample->chain[i]);
                FUZZ_REQUIRE(!mapping || (mapping->begin <= sample->chain[i] &&
                                          sample->chain[i] < mapping->end));
        }
}

static uint64_t read_records(PerfData *data, RecorderSymbols *symbols, AddressSpaces *spaces)
{
        const struct perf_event_header *record;
        uint64_t n = 0;
        PerfSample sample;

        for (;;) {
                FUZZ_REQUIRE(perf_data_next(data, &record, NULL));
                if (!record)
                        return n;
                if (record->type == PERF_RECORD_SAMPLE) {
                        const struct perf_event_attr *attr = perf_data_attr(data, record);

                        FUZZ_REQUIRE(attr && perf_sample_read(attr, record, &sample));
                        look_up(symbols, spaces, &sample);
                        n++;
                } else {
                        address_spaces_take(spaces, record, perf_data_time(data, record));
                }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const int input = memfd_create("fuzz", MFD_CLOEXEC);
        const int output = memfd_create("fuzz-output", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", output);
        RecorderSymbols *symbols = recorder_symbols_new();
        AddressSpaces *spaces = address_spaces_new();
        CollectReport report;
        PerfData records;

        FUZZ_REQUIRE(input >= 0 && output >= 0 && write(input, data, size) == (ssize_t)size);
        FUZZ_REQUIRE(lseek(input, 0, SEEK_SET) == 0);
        collect_is(input);
        FUZZ_REQUIRE(collect_convert(input, output, symbols, NULL, &report, NULL));
        if (report.n_samples) {
                FUZZ_REQUIRE(perf_data_open(&records, path, NULL));
                FUZZ_REQUIRE(read_records(&records, symbols, spaces) == report.n_samples);
                perf_data_deinit(&records);
        }
        collect_report_clear(&report);
        address_spaces_free(spaces);
        recorder_symbols_free(symbols);
        close(input);
        close(output);
        return 0;
}

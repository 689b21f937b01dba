/* SPDX-License-Identifier: MIT */
#include "feed/intake.h"

#include <errno.h>

static void intake_on_input(void *data);

static void intake_on_closed(void *data)
{
        Intake *intake = data;

        intake->calls->ended(intake->data, intake, false);
}

static const BytePumpCalls CHANNEL_CALLS = {
        .input = intake_on_input,
        .closed = intake_on_closed,
};

Intake *intake_new(IntakeMode mode, int fd, bool may_go, const IntakeCalls *calls, void *data)
{
        Intake *intake = g_new0(Intake, 1);

        intake->mode = mode;
        intake->may_go = may_go;
        intake->calls = calls;
        intake->data = data;
        intake->streams = g_array_new(FALSE, TRUE, sizeof(IntakeStream));
        intake->batch = g_byte_array_new();
        intake->channel = byte_pump_new(fd, &CHANNEL_CALLS, intake);
        return intake;
}

void intake_free(Intake *intake)
{
        if (!intake)
                return;
        byte_pump_free(intake->channel);
        g_array_unref(intake->streams);
        g_byte_array_unref(intake->batch);
        g_free(intake);
}

unsigned intake_n_streams(const Intake *intake)
{
        return intake->streams->len;
}

bool intake_is_attached(const Intake *intake)
{
        return intake->streams->len > 0 || intake->now > 0;
}

void intake_answer(Intake *intake, guint i, uint64_t watermark)
{
        intake_stream(intake, i)->state = INTAKE_STREAM_ANSWERED;
        ingest_put_ack(byte_pump_output(intake->channel), i, watermark);
        byte_pump_flush(intake->channel);
}

void intake_acknowledge(Intake *intake)
{
        ingest_put_empty(byte_pump_output(intake->channel), INGEST_COMMITTED);
        byte_pump_flush(intake->channel);
}

static void intake_put_credit(Intake *intake)
{
        ingest_put_empty(byte_pump_output(intake->channel),
                         intake->may_go ? INGEST_GO : INGEST_HOLD);
}

void intake_set_credit(Intake *intake, bool may_go)
{
        intake->may_go = may_go;
        if (!intake->is_greeted)
                return;
        intake_put_credit(intake);
        byte_pump_flush(intake->channel);
}

static bool intake_on_hello(Intake *intake, const IngestFrame *frame)
{
        GByteArray *out = byte_pump_output(intake->channel);
        uint32_t version;

        if (frame->type != INGEST_HELLO || ingest_get_hello(frame, &version) < 0)
                return false;
        if (version != INGEST_VERSION) {
                ingest_put_error(out, "clrsym feed is of another version than the plugin: install "
                                      "both from one release");
                byte_pump_flush(intake->channel);
                return false;
        }
        ingest_put_hello(out, INGEST_VERSION, "clrsym feed " CLRSYM_VERSION);
        intake_put_credit(intake);
        intake->is_greeted = true;
        return true;
}

/* The next number, or one whose stream is closed. */
static bool intake_is_free(const Intake *intake, uint32_t number)
{
        return number < intake->streams->len
                       ? intake_stream(intake, number)->state == INTAKE_STREAM_CLOSED
                       : number == intake->streams->len && number < INGEST_MAX_STREAMS;
}

static bool intake_on_stream_open(Intake *intake, const IngestFrame *frame)
{
        StreamIdentity *identity = stream_identity_new();
        IntakeStream own = {0};
        uint32_t number;
        bool ok = ingest_get_stream_open(frame, &number, identity) == 0 &&
                  intake_is_free(intake, number) &&
                  intake->calls->open(intake->data, intake, identity, &own);

        if (ok && number == intake->streams->len)
                g_array_append_val(intake->streams, own);
        else if (ok)
                *intake_stream(intake, number) = own;
        stream_identity_free(identity);
        return ok;
}

/* The daemon takes the record. It may be of an event that only a newer daemon knows. */
static bool record_is_valid(const IngestFrame *frame)
{
        Record record;
        uint32_t number;
        int r = ingest_get_record(frame, &number, &record);

        return r == 0 || r == -ENOENT;
}

/* False: nothing in a trace makes the sink send that. */
static bool intake_check_frame(const IngestFrame *frame)
{
        uint64_t time;
        uint32_t number;

        switch ((int)frame->type) {
        case INGEST_RECORD:
                return ingest_frame_time(frame, &time);
        case INGEST_PROGRESS:
                return ingest_get_stream_time(frame, &number, &time) == 0;
        case INGEST_STREAM_CLOSE:
                return ingest_get_stream_close(frame, &number) == 0;
        default:
                return true;
        }
}

/* Adds the frame to the batch, or what is known of it where the daemon would refuse it. */
static void intake_put_frame(Intake *intake, const IngestFrame *frame, const IntakeStream *own,
                             uint64_t time)
{
        StreamGap gap = {0};
        uint32_t number;

        if (frame->type == INGEST_RECORD && !record_is_valid(frame)) {
                gap = (StreamGap){.kind = GAP_EVENTS, .begin = time, .end = time, .count = 1};
                intake->n_refused++;
        } else if (frame->type == INGEST_GAP && ingest_get_gap(frame, &number, &gap) < 0) {
                gap = (StreamGap){
                        .kind = GAP_EVENTS,
                        .begin = MIN(gap.begin, gap.end),
                        .end = MAX(gap.begin, gap.end),
                        .count = GAP_COUNT_UNKNOWN,
                };
        } else {
                ingest_put_renumbered(intake->batch, frame, own->stream->number);
                return;
        }
        ingest_put_gap(intake->batch, own->stream->number, &gap);
}

/* A frame with a stream number. False: it breaks the protocol. */
static bool intake_on_stream_frame(Intake *intake, const IngestFrame *frame)
{
        uint64_t time = 0;
        bool has_time = ingest_frame_time(frame, &time);
        IntakeStream *own;
        uint32_t number;

        if (!ingest_frame_stream(frame, &number) || !intake_check_frame(frame))
                return false;
        if (number == INGEST_ALL_STREAMS && frame->type == INGEST_PROGRESS) {
                intake->now = MAX(intake->now, time);
                return true;
        }
        if (number >= intake->streams->len)
                return false;
        own = intake_stream(intake, number);
        if (own->state != INTAKE_STREAM_ANSWERED && own->state != INTAKE_STREAM_BEGUN)
                return false;
        if (frame->type == INGEST_STREAM_CLOSE) {
                own->state = INTAKE_STREAM_CLOSED;
                /* What a reader of packets reads is not the whole stream. */
                if (intake->mode == INTAKE_LIVE)
                        ingest_put_renumbered(intake->batch, frame, own->stream->number);
                return true;
        }
        if (has_time) {
                if (own->state == INTAKE_STREAM_ANSWERED)
                        intake->calls->begin(intake->data, intake, own->stream, time);
                own->state = INTAKE_STREAM_BEGUN;
                if (frame->type == INGEST_RECORD)
                        own->taken = time;
                own->progress = MAX(own->progress, time);
        }
        intake_put_frame(intake, frame, own, time);
        return intake->batch->len <= INGEST_MAX_BATCH;
}

static bool intake_on_report(Intake *intake, const IngestFrame *frame)
{
        if (ingest_get_report(frame, &intake->report) < 0)
                return false;
        intake->report.decode_errors += intake->n_refused;
        return true;
}

static bool intake_on_frame(Intake *intake, const IngestFrame *frame)
{
        if (!intake->is_greeted)
                return intake_on_hello(intake, frame);
        switch ((int)frame->type) {
        case INGEST_STREAM_OPEN:
                return intake_on_stream_open(intake, frame);
        case INGEST_RECORD:
        case INGEST_GAP:
        case INGEST_PROGRESS:
        case INGEST_STREAM_CLOSE:
                return intake_on_stream_frame(intake, frame);
        case INGEST_REPORT:
                return intake_on_report(intake, frame);
        case INGEST_COMMIT:
                intake->calls->commit(intake->data, intake);
                return true;
        default:
                return false;
        }
}

/* Takes all frames that are whole. The rest of the input is the beginning of one. */
static bool intake_take_frames(Intake *intake)
{
        GByteArray *input = byte_pump_input(intake->channel);
        size_t at = 0;
        bool ok = true;

        while (ok) {
                IngestFrame frame;
                ssize_t n = ingest_frame_next(input->data + at, input->len - at, &frame);

                if (n == 0)
                        break;
                ok = n > 0 && intake_on_frame(intake, &frame);
                at += ok ? (size_t)n : 0;
        }
        if (at)
                g_byte_array_remove_range(input, 0, (guint)at);
        return ok;
}

static void intake_on_input(void *data)
{
        Intake *intake = data;

        if (!intake_take_frames(intake)) {
                intake->calls->ended(intake->data, intake, true);
                return;
        }
        byte_pump_flush(intake->channel);
        intake->calls->idle(intake->data, intake);
}

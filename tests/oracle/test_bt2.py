# SPDX-License-Identifier: MIT
"""The dump, line by line and field by field, compared with a reader of the same bytes that
shares only babeltrace2's CTF parser with it: python3-bt2 and the layout table of
tests/traces/layout.py."""

import json
import os

import bt2
# bt2.native_bt would put a Python function around each of these functions.
from bt2 import _native_bt as native_bt

from tests.traces import recorded
from tests.traces.layout import LAYOUT, shown, unpack_blob

GET_INTEGER = {
    native_bt.FIELD_CLASS_TYPE_UNSIGNED_INTEGER: native_bt.field_integer_unsigned_get_value,
    native_bt.FIELD_CLASS_TYPE_SIGNED_INTEGER: native_bt.field_integer_signed_get_value,
}


def integer(field):
    return GET_INTEGER[native_bt.field_get_class_type(field)](field)


def member(structure, name):
    """Returns a field of a structure, or None."""
    return native_bt.field_structure_borrow_member_field_by_name_const(structure, name)


def blob_bytes(field):
    """Returns the bytes of a sequence of signed 8-bit numbers, without a Python object for each
    of them."""
    element = native_bt.field_array_borrow_element_field_by_index_const
    value = native_bt.field_integer_signed_get_value
    return bytes([value(element(field, i)) & 0xff for i in range(native_bt.field_array_get_length(field))])


def plain_value(kind, field):
    if kind in ('W', 'A'):
        # The value of an empty string is the previous event's text; its length is right.
        return native_bt.field_string_get_value(field) \
            if native_bt.field_string_get_length(field) else ''
    if kind == 'bool':
        return integer(field) != 0
    return shown(kind, integer(field))


def decode(event):
    """Returns the fields of a CTF event, packed or plain."""
    payload = native_bt.event_borrow_payload_field_const(event._ptr)  # pylint: disable=protected-access
    if blob := member(payload, '__data__'):
        return unpack_blob(event.name, blob_bytes(blob))
    return {name: plain_value(kind, member(payload, name)) for name, kind in LAYOUT[event.name]}


def context(event):
    """Returns (pid_ns, vpid, vtid) of an event."""
    pointer = event._ptr  # pylint: disable=protected-access
    fields = [field for field in (native_bt.event_borrow_common_context_field_const(pointer),
                                  native_bt.event_borrow_specific_context_field_const(pointer))
              if field is not None]

    def value(name, absent):
        for field in fields:
            if (found := member(field, name)) is not None:
                return integer(found)
        environment = event.stream.trace.environment
        return int(environment[name]) if name in environment else absent

    return value('pid_ns', 0), value('vpid', None), value('vtid', None)


def seconds(time):
    return f'{time // 10**9}.{time % 10**9:09}'


def expected(trace):
    """Returns the expected lines of the dump, one object for each event."""
    for message in bt2.TraceCollectionMessageIterator(str(trace)):
        if not isinstance(message, bt2._EventMessageConst):  # pylint: disable=protected-access
            continue
        event = message.event
        if event.name in LAYOUT:
            provider, name = event.name.split(':')
            pid_ns, pid, tid = context(event)
            yield {'event': name, 'provider': provider,
                   'time': seconds(message.default_clock_snapshot.value),
                   'pid_ns': pid_ns, 'pid': pid, 'tid': tid, 'fields': decode(event)}


def compare(tap, name, trace, lines):
    n_events, n_fields, wrong = 0, 0, []
    got, want = {}, {}
    for line in lines:
        record = json.loads(line)
        if not record['event'].startswith('('):
            got.setdefault(record['time'], []).append(record)
    for record in expected(trace):
        want.setdefault(record['time'], []).append(record)
        n_events += 1
        n_fields += len(record['fields'])
    for time in sorted(got.keys() | want.keys()):
        # Events of equal time in different streams have no defined order. Equality of dictionaries
        # ignores the order of keys; the text form does not.
        left, right = (sorted(map(json.dumps, records.get(time, []))) for records in (got, want))
        if left != right:
            wrong.append((left, right))
    tap.check(n_fields > 1000 and not wrong,
              f'{name}: {n_events} events, {n_fields} fields as python3-bt2 reads them',
              f'differences at {len(wrong)} times',
              *[text for left, right in wrong[:3]
                for text in (f'dump: {left}', f'bt2:  {right}')])


def run(tap, programs, directory, names):
    for name, trace in recorded.unpack(directory, names).items():
        if name == recorded.REFUSED:
            continue
        output = os.path.join(directory, f'{name}.jsonl')
        done = programs.dump(trace, output)
        tap.equal(done.returncode, 0, f'{name}: dump succeeds')
        with open(output, encoding='utf-8') as lines:
            compare(tap, name, trace, lines)


if __name__ == '__main__':
    recorded.main(run)

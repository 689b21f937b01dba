# SPDX-License-Identifier: MIT
"""Writes CTF traces with whatever the specification allows, by a seed: every kind of field in any place,
bit fields of both byte orders, streams of several clocks, times that wrap, lost events and packets.
The same seed gives the same events as CTF 1.8 and as CTF 2."""

import json
import random
import struct
import uuid

TSDL_SCOPES = {'packet-header': 'trace.packet.header', 'packet-context': 'stream.packet.context',
               'event-record-header': 'stream.event.header',
               'event-record-common-context': 'stream.event.context',
               'event-record-specific-context': 'event.context',
               'event-record-payload': 'event.fields'}
# Here TSDL's names have no underscore before them.
PLAIN_SCOPES = ('packet-header', 'packet-context', 'event-record-header')
ORDERS = {False: 'little-endian', True: 'big-endian'}


class Bits:
    def __init__(self):
        self.data, self.n = bytearray(), 0

    def align(self, align):
        self.n += -self.n % align
        self.data += bytes((self.n + 7) // 8 - len(self.data))

    def put(self, value, size, is_big):
        value &= (1 << size) - 1
        at, self.n = self.n, self.n + size
        self.align(1)
        for i in range(size):
            place = at + i
            if value >> (size - 1 - i if is_big else i) & 1:
                self.data[place // 8] |= 0x80 >> place % 8 if is_big else 1 << place % 8

    def put_bytes(self, data):
        self.align(8)
        self.data += data
        self.n += 8 * len(data)


class Walk:
    """What is being written or declared: the scope, and the structures around the field."""

    def __init__(self, rng, scope, values=None):
        self.rng, self.scope, self.values, self.frames = rng, scope, values, []

    def name(self, name):
        return name if self.scope in PLAIN_SCOPES else '_' + name


class Integer:
    def __init__(self, size, align=None, is_big=False, **options):
        self.size, self.is_big = size, is_big
        self.align = align or (1 if size % 8 else 8)
        self.is_signed, self.base = options.get('is_signed', False), options.get('base', 10)
        self.labels, self.clock = options.get('labels'), options.get('clock')
        self.role, self.most = options.get('role'), options.get('most')
        self.least, self.is_text = options.get('least', 0), options.get('is_text', False)

    def tsdl(self, walk):
        text = (f'integer {{ size = {self.size}; align = {self.align}; base = {self.base}; signed = '
                f'{int(self.is_signed)}; byte_order = {"be" if self.is_big else "le"};'
                f'{" encoding = UTF8;" if self.is_text else ""}'
                f'{f" map = clock.{self.clock}.value;" if self.clock else ""} }}')
        labels = ', '.join(f'"{name}" = {low} ... {high}' for name, low, high in self.labels or ())
        return f'enum : {text} {{ {labels} }}' if labels else text

    def json(self, walk):
        out = {'type': f'fixed-length-{"" if self.is_signed else "un"}signed-integer',
               'length': self.size, 'alignment': self.align, 'byte-order': ORDERS[self.is_big],
               'preferred-display-base': self.base}
        for name, low, high in self.labels or ():
            out.setdefault('mappings', {}).setdefault(name, []).append([low, high])
        return {**out, 'roles': [self.role]} if self.role else out

    def choose(self, rng):
        if self.most is not None:
            return rng.randint(self.least, self.most)
        if self.labels:
            _, low, high = rng.choice(self.labels)
            return rng.choice((low, high, rng.randint(low, high)))
        value = rng.choice((0, 1, (1 << self.size) - 1, rng.getrandbits(self.size)))
        return value - (1 << self.size) if self.is_signed and value >> (self.size - 1) else value

    def write(self, out, walk, value=None):
        value = self.choose(walk.rng) if value is None else value
        out.align(self.align)
        out.put(value, self.size, self.is_big)
        return value


class Float:
    def __init__(self, size, align, is_big):
        self.size, self.align, self.is_big = size, align, is_big

    def tsdl(self, walk):
        digits = (8, 24) if self.size == 32 else (11, 53)
        return (f'floating_point {{ exp_dig = {digits[0]}; mant_dig = {digits[1]}; align = '
                f'{self.align}; byte_order = {"be" if self.is_big else "le"}; }}')

    def json(self, walk):
        return {'type': 'fixed-length-floating-point-number', 'length': self.size,
                'alignment': self.align, 'byte-order': ORDERS[self.is_big]}

    def write(self, out, walk, value=None):
        number = walk.rng.choice((0.0, 1.5, -2.25, walk.rng.uniform(-1e10, 1e10), float('inf')))
        packed = struct.pack('>f' if self.size == 32 else '>d', number)
        out.align(self.align)
        out.put(int.from_bytes(packed, 'big'), self.size, self.is_big)


class String:
    align = 8

    def tsdl(self, walk):
        return 'string { encoding = UTF8; }'

    def json(self, walk):
        return {'type': 'null-terminated-string'}

    def write(self, out, walk, value=None):
        text = walk.rng.choice(('x', 'hello', 'ä€😀', 'q' * 200, 'a"b\\c'))
        out.put_bytes(text.encode() + b'\0')


class Structure:
    def __init__(self, members, least_align=1):
        self.members, self.least_align = members, least_align
        self.align = max([least_align, *(member.align for _, member in members)])

    def walk_members(self, walk):
        frame = [self, None]
        walk.frames.append(frame)
        for name, member in self.members:
            frame[1] = name
            yield name, member
        walk.frames.pop()

    def tsdl(self, walk):
        members = ''.join(declaration(member, walk.name(name), walk) + '; '
                          for name, member in self.walk_members(walk))
        return f'struct {{ {members}}}' + (f' align({self.least_align})'
                                           if self.least_align > 1 else '')

    def json(self, walk):
        return {'type': 'structure', 'minimum-alignment': self.least_align,
                'member-classes': [{'name': name, 'field-class': member.json(walk)}
                                   for name, member in self.walk_members(walk)]}

    def write(self, out, walk, value=None):
        out.align(self.align)
        values = {}
        walk.frames.append(values)
        for name, member in self.members:
            values[name] = member.write(out, walk, (value or {}).get(name))
        walk.frames.pop()
        return values


class Reference:
    """A length or a selector: the nearest field of that NAME, or one in another SCOPE."""

    def __init__(self, name, scope=None):
        self.target, self.target_scope = name, scope

    def path(self, walk):
        if not self.target_scope:
            return walk.name(self.target)
        name = self.target if self.target_scope in PLAIN_SCOPES else '_' + self.target
        return f'{TSDL_SCOPES[self.target_scope]}.{name}'

    def location(self, walk):
        if self.target_scope:
            return {'origin': self.target_scope, 'path': [self.target]}
        depth = max(i for i, (structure, _) in enumerate(walk.frames)
                    if any(name == self.target for name, _ in structure.members))
        return {'origin': walk.scope,
                'path': [*(frame[1] for frame in walk.frames[:depth]), self.target]}

    def value(self, walk):
        if self.target_scope:
            return walk.values[self.target_scope][self.target]
        return next(frame[self.target] for frame in reversed(walk.frames)
                    if self.target in frame)


class Elements(Reference):
    """An array of LENGTH elements, or of as many as an earlier field says."""

    def __init__(self, element, length, scope=None):
        super().__init__(length, scope)
        self.element, self.align = element, element.align

    def json(self, walk):
        is_static = isinstance(self.target, int)
        is_text = isinstance(self.element, Integer) and self.element.is_text
        out = {'type': f'{"static" if is_static else "dynamic"}-length-'
                       f'{"string" if is_text else "array"}'}
        if is_static:
            out['length'] = self.target
        else:
            out['length-field-location'] = self.location(walk)
        return out if is_text else {**out, 'element-field-class': self.element.json(walk)}

    def write(self, out, walk, value=None):
        n = self.target if isinstance(self.target, int) else self.value(walk)
        out.align(self.align)
        if isinstance(self.element, Integer) and self.element.is_text:
            out.put_bytes(bytes(walk.rng.choice(b'abc') for _ in range(n)))
        elif isinstance(value, bytes):
            out.put_bytes(value)
        else:
            for _ in range(n):
                self.element.write(out, walk)


class Uuid(Elements):
    def json(self, walk):
        return {'type': 'static-length-blob', 'length': 16, 'roles': ['metadata-stream-uuid']}


class Variant(Reference):
    align = 1

    def __init__(self, selector, options):
        super().__init__(selector)
        self.options = options  # of (name, low, high, class)

    def tsdl(self, walk):
        return (f'variant <{self.path(walk)}> {{ ' +
                ' '.join(f'{declaration(option, name, walk)};'
                         for name, _, _, option in self.options) + ' }')

    def json(self, walk):
        return {'type': 'variant', 'selector-field-location': self.location(walk),
                'options': [{'name': name, 'selector-field-ranges': [[low, high]],
                             'field-class': option.json(walk)}
                            for name, low, high, option in self.options]}

    def write(self, out, walk, value=None):
        selector = self.value(walk)
        option = next(option for _, low, high, option in self.options if low <= selector <= high)
        return option.write(out, walk, value)


def declaration(field, name, walk):
    """TSDL's TYPE NAME[LENGTH]..."""
    lengths = ''
    while isinstance(field, Elements):
        lengths += f'[{field.target if isinstance(field.target, int) else field.path(walk)}]'
        field = field.element
    return f'{field.tsdl(walk)} {name}{lengths}'


class Maker:
    """Chooses fields. Bit fields of one trace have one byte order; whole bytes have any."""

    def __init__(self, rng, is_big, is_nested):
        self.rng, self.is_big, self.is_nested, self.n_names = rng, is_big, is_nested, 0

    def name(self):
        self.n_names += 1
        return f'f{self.n_names}'

    def integer(self, size=None, **options):
        rng = self.rng
        size = size or rng.choice((8, 16, 32, 64, 8, 16, 32, 64, 1, 3, 5, 9, 12, 27, 33, 63))
        align = rng.choice((8, 8, 16, 32, 64) if size % 8 == 0 else (1, 1, 1, 8, 32))
        is_big = self.is_big if size % 8 else rng.random() < .5
        return Integer(size, align, is_big, base=rng.choice((2, 8, 10, 16)),
                       **{'is_signed': rng.random() < .4, **options})

    def enumeration(self):
        size, is_signed = self.rng.choice((3, 8, 16, 32)), self.rng.random() < .5
        top = (1 << (size - is_signed)) - 1
        labels = [('zero', 0, 0), ('some', 1, 2), ('rest of it', 3, top)]
        if is_signed:
            labels += [('less', -top - 1, -1), ('some', 3, 3)]
        return self.integer(size, is_signed=is_signed, labels=labels)

    def element(self, depth):
        choice = self.rng.random()
        if choice < .5:
            return self.integer()
        if choice < .6:
            return Float(64, 8, self.rng.random() < .5)
        if choice < .7:
            return String()
        if choice < .8:
            return Elements(self.integer(), 2)
        return self.enumeration() if choice < .9 else self.structure(depth, True)

    def structure(self, depth, is_flat):
        return Structure(self.members(depth, is_flat), self.rng.choice((1, 1, 8, 32, 64)))

    def counted(self, depth):
        """A sequence and its length; sometimes with texts, which are never empty: babeltrace2 2.0
        shows the text of the event before in those."""
        length, is_text = self.name(), self.rng.random() < .25
        number = self.integer(self.rng.choice((8, 16, 32, 64, 5, 9)), is_signed=False,
                              least=int(is_text), most=self.rng.choice((1, 2, 9)))
        element = Integer(8, is_text=True) if is_text else self.element(depth + 1)
        return [(length, number), (self.name(), Elements(element, length))]

    def selected(self, depth):
        size, is_signed = self.rng.choice((3, 8, 16)), self.rng.random() < .4
        top, low = (1 << (size - is_signed)) - 1, -(1 << (size - 1)) if is_signed else 0
        cut, selector = self.rng.randint(1, top - 1), self.name()
        options = [(name, first, last, self.rng.choice((self.integer, String, lambda:
                    self.structure(depth + 1, True), lambda: Float(64, 8, self.is_big)))())
                   for name, first, last in (('aa', low, cut - 1), ('bb', cut, top))]
        return [(selector, self.integer(size, is_signed=is_signed,
                                        labels=[option[:3] for option in options])),
                (self.name(), Variant(selector, options))]

    def members(self, depth=0, is_flat=False):
        """IS_FLAT: nothing that refers to another field. babeltrace2 2.0 aborts on that in elements,
        options and contexts."""
        out, rng, is_flat = [], self.rng, is_flat and not self.is_nested
        for _ in range(rng.randint(1, 6)):
            choice = rng.random()
            if choice < .3 or depth > 3 or (is_flat and choice > .66):
                out.append((self.name(), self.integer()))
            elif choice < .42:
                out.append((self.name(), self.enumeration() if choice < .36 else
                            Float(rng.choice((32, 64)), rng.choice((8, 32)), rng.random() < .5)))
            elif choice < .58:
                out.append((self.name(), String() if choice < .5 else
                            self.structure(depth + 1, is_flat)))
            elif choice < .66:
                out.append((self.name(), Elements(self.element(depth + 1),
                                                  rng.choice((0, 1, 3, 7))) if choice < .63 else
                            Elements(Integer(8, is_text=True), rng.choice((1, 16, 33)))))
            else:
                out += self.counted(depth) if choice < .88 else self.selected(depth)
        return out


class Stream:
    """A stream class: an event's header as LTTng writes it, or a plain one."""

    def __init__(self, maker, number, clock, has_instance):
        rng, big = maker.rng, maker.is_big
        self.id, self.clock, self.last = number, clock, 0
        self.kind = rng.choice(('compact', 'large', 'plain'))
        long = {'is_big': big}
        time = {'clock': clock['name'], **long}
        self.begin_size = rng.choice((64, 64, 64, 40))
        context = [
            ('timestamp_begin', Integer(self.begin_size, role='default-clock-timestamp', **time)),
            ('timestamp_end', Integer(64, role='packet-end-default-clock-timestamp', **time)),
            ('content_size', Integer(64, role='packet-content-length', **long)),
            ('packet_size', Integer(64, role='packet-total-length', **long)),
            ('packet_seq_num', Integer(64, role='packet-sequence-number', **long)),
            ('events_discarded', Integer(
                64, role='discarded-event-record-counter-snapshot', **long)),
            ('cpu_id', Integer(32, **long))]
        # Two packets are the same if their numbers and times are.
        self.packet_context = Structure([member for member in context if has_instance or
                                         member[0] not in ('packet_seq_num', 'events_discarded') or
                                         rng.random() < .7])
        self.header = self.make_header(rng, big, time)
        self.context = Structure([('n', Integer(8, most=4)), ('vpid', Integer(
            32, is_signed=True, **long)), *maker.members(3, True)]) if rng.random() < .8 else None
        self.events = []
        ids = rng.sample((0, 1, 2, 29, 30, 31, 32, 200, 70000, 65534, 65535), rng.randint(1, 4))
        for event in [i for i in ids if self.kind != 'plain' or i < 256] or [0]:
            payload = maker.members()
            if self.context and rng.random() < .4:
                payload.append((maker.name(), Elements(maker.integer(), 'n',
                                                       'event-record-common-context')))
            self.events.append((event, Structure(maker.members(3, True)) if rng.random() < .3
                                else None, Structure(payload, rng.choice((1, 1, 64)))))

    def make_header(self, rng, big, time):
        time = {'role': 'default-clock-timestamp', **time}
        number = {'role': 'event-record-class-id', 'is_big': big}
        if self.kind == 'plain':
            self.bits, self.cut = rng.choice((8, 13, 20, 32, 48, 64)), None
            return Structure([('timestamp', Integer(self.bits, **time)), ('id', Integer(8, **number))])
        size, self.bits, self.cut = (5, 27, 31) if self.kind == 'compact' else (16, 32, 65535)
        ranges = (('compact', 0, self.cut - 1), ('extended', self.cut, self.cut))
        short = Structure([('timestamp', Integer(self.bits, **time))])
        long = Structure([('id', Integer(32, **number)), ('timestamp', Integer(64, **time))])
        return Structure([('id', Integer(size, labels=ranges, **number)),
                          ('v', Variant('id', [(*ranges[0], short), (*ranges[1], long)]))], 8)

    def write_header(self, out, walk, event, time):
        values = {'timestamp': time, 'id': event}
        if self.kind != 'plain' and (event >= self.cut or time - self.last >= 1 << self.bits or
                                     walk.rng.random() < .2):
            values = {'id': self.cut, 'v': {'id': event, 'timestamp': time}}
        elif self.kind != 'plain':
            values = {'id': event, 'v': {'timestamp': time}}
        self.last = time
        return self.header.write(out, walk, values)


class Trace:
    """FILES: (name, [packet, ...]) of each stream, the packets in the order of their times. IS_NESTED: also
    what babeltrace2 2.0 aborts on."""

    def __init__(self, seed, is_nested=False):
        rng = self.rng = random.Random(seed)
        self.is_big = rng.random() < .4
        self.uuid = uuid.UUID(int=rng.getrandbits(128)) if rng.random() < .9 else None
        self.has_instance = rng.random() < .7
        self.is_absolute = rng.random() < .8
        self.clocks = [self.make_clock(i) for i in
                       range(rng.choice((1, 1, 2, 3)) if self.is_absolute else 1)]
        number = {'is_big': self.is_big}
        header = [('magic', Integer(32, role='packet-magic-number', **number)),
                  ('uuid', Uuid(Integer(8, **number), 16)),
                  ('stream_id', Integer(rng.choice((8, 32, 64)), role='data-stream-class-id',
                                        **number)),
                  ('stream_instance_id', Integer(64, role='data-stream-id', **number))]
        self.header = Structure([member for member in header if
                                 (member[0] != 'uuid' or self.uuid) and
                                 (member[0] != 'stream_instance_id' or self.has_instance)])
        maker = Maker(rng, self.is_big, is_nested)
        self.streams = [Stream(maker, i + rng.choice((0, 7 * (i + 1))), rng.choice(self.clocks),
                               self.has_instance) for i in range(rng.choice((1, 1, 2, 3)))]
        base = rng.randint(0, 1 << 40)
        self.files = [(f'channel{stream.id}_{i}', self.make_packets(stream, base, i))
                      for stream in self.streams
                      for i in range(rng.choice((1, 2)) if self.has_instance else 1)]

    def make_clock(self, number):
        frequency = self.rng.choice((10**9, 10**9, 10**6, 3 * 10**9, 1 << 30, 999999937))
        return {'name': f'clock{number}', 'frequency': frequency,
                'seconds': self.rng.choice((0, 1600000000, -3, 5)),
                'cycles': self.rng.choice((0, 0, frequency - 1, 3 * frequency + 5))}

    def make_packets(self, stream, base, instance):
        rng, out = self.rng, []
        time, number = base + rng.randint(0, 100), rng.choice((0, 5))
        discarded = rng.choice((0, 0, 4))
        for _ in range(rng.randint(0, 5)):
            begin, events = time, []
            for _ in range(rng.choice((0, 1, 3, 12))):
                step = rng.choice((0, 0, 1, 50, (1 << min(stream.bits, 40)) // 2))
                time += min(step, (1 << stream.bits) - 1 if stream.kind == 'plain' else step)
                events.append((time, rng.choice(stream.events)))
            end = time + rng.choice((0, 0, 5))
            out.append(self.make_packet(stream, {
                'timestamp_begin': begin, 'timestamp_end': end, 'packet_seq_num': number,
                'events_discarded': discarded, 'cpu_id': instance}, events))
            time = end + rng.choice((7, 50, 1 << 33))
            number, discarded = number + rng.choice((1, 1, 2, 9)), discarded + rng.choice((0, 0, 3))
        return out

    def make_packet(self, stream, values, events):
        """Written twice: its sizes are in its head, and known at its end."""
        state, padding = self.rng.getstate(), self.rng.choice((0, 37))
        for sizes in ((0, 0), None):
            self.rng.setstate(state)
            out, scopes, stream.last = Bits(), {}, values['timestamp_begin']
            if not sizes:
                sizes = (n_bits, -(-n_bits // 64) * 64 + 64 * padding)
            self.header.write(out, Walk(self.rng, 'packet-header'), {
                'magic': 0xc1fc1fc1, 'uuid': self.uuid and self.uuid.bytes, 'stream_id': stream.id,
                'stream_instance_id': values['cpu_id']})
            stream.packet_context.write(out, Walk(self.rng, 'packet-context'), {
                **values, 'content_size': sizes[0], 'packet_size': sizes[1]})
            for time, (event, specific, payload) in events:
                def write(scope, field, out=out, scopes=scopes):  # pylint: disable=dangerous-default-value
                    scopes[scope] = field and field.write(out, Walk(self.rng, scope, scopes))
                stream.write_header(out, Walk(self.rng, 'event-record-header'), event, time)
                write('event-record-common-context', stream.context)
                write('event-record-specific-context', specific)
                write('event-record-payload', payload)
            n_bits = out.n
        return bytes(out.data) + bytes(sizes[1] // 8 - len(out.data))

    def tsdl(self):
        def declare(key, scope, field):
            return f'{key} := {field.tsdl(Walk(None, scope))};\n' if field else ''
        out = (f'/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; '
               f'{f"uuid = {chr(34)}{self.uuid}{chr(34)};" if self.uuid else ""}'
               f'byte_order = {"be" if self.is_big else "le"};\n'
               f'{declare("packet.header", "packet-header", self.header)}}};\n'
               'env { hostname = "h"; domain = "ust"; n = 5; };\n')
        for clock in self.clocks:
            out += (f'clock {{ name = "{clock["name"]}"; freq = {clock["frequency"]}; offset_s = '
                    f'{clock["seconds"]}; offset = {clock["cycles"]}; absolute = '
                    f'{str(self.is_absolute).lower()}; }};\n')
        for stream in self.streams:
            out += (f'stream {{ id = {stream.id};\n'
                    f'{declare("packet.context", "packet-context", stream.packet_context)}'
                    f'{declare("event.header", "event-record-header", stream.header)}'
                    f'{declare("event.context", "event-record-common-context", stream.context)}'
                    '};\n')
            for event, specific, payload in stream.events:
                out += (f'event {{ name = "e:{stream.id}_{event}"; id = {event}; stream_id = '
                        f'{stream.id}; loglevel = 5;\n'
                        f'{declare("context", "event-record-specific-context", specific)}'
                        f'{declare("fields", "event-record-payload", payload)}}};\n')
        return out

    def json(self):
        def declare(key, scope, field):
            return {f'{key}-field-class': field.json(Walk(None, scope))} if field else {}
        identity = {'uid': str(self.uuid), 'name': '', 'namespace': 'n'} if self.uuid else {}
        out = [{'type': 'preamble', 'version': 2,
                **({'uuid': list(self.uuid.bytes)} if self.uuid else {})},
               {'type': 'trace-class', 'environment': {'hostname': 'h', 'domain': 'ust', 'n': 5},
                **identity, **declare('packet-header', 'packet-header', self.header)}]
        for clock in self.clocks:
            out.append({'type': 'clock-class', 'id': clock['name'], 'name': clock['name'],
                        'frequency': clock['frequency'],
                        'offset-from-origin': {name: clock[name] for name in ('seconds', 'cycles')},
                        **({'origin': 'unix-epoch'} if self.is_absolute else {})})
        for stream in self.streams:
            out.append({'type': 'data-stream-class', 'id': stream.id,
                        'default-clock-class-id': stream.clock['name'],
                        **declare('packet-context', 'packet-context', stream.packet_context),
                        **declare('event-record-header', 'event-record-header', stream.header),
                        **declare('event-record-common-context', 'event-record-common-context',
                                  stream.context)})
            for event, specific, payload in stream.events:
                out.append({'type': 'event-record-class', 'id': event, 'name':
                            f'e:{stream.id}_{event}', 'data-stream-class-id': stream.id,
                            'attributes': {'lttng.org,2009': {'log-level': 'notice'}},
                            **declare('specific-context', 'event-record-specific-context',
                                      specific),
                            **declare('payload', 'event-record-payload', payload)})
        return ''.join('\x1e' + json.dumps(fragment) for fragment in out)

    def save(self, directory, is_ctf2=False, files=None):
        directory.mkdir(parents=True)
        (directory / 'metadata').write_text(self.json() if is_ctf2 else self.tsdl(),
                                            encoding='utf-8')
        for name, packets in self.files if files is None else files:
            (directory / name).write_bytes(b''.join(packets))
        return directory

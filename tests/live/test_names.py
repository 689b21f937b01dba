# SPDX-License-Identifier: MIT
"""Methods of every kind that has a name of its own: what the runtime prints for each in a stack
trace, against our name in C# of the same method; and which IL stub is made for which method.

A program prints the stack in each of them, and each frame's module and token; the bodies with that
module and token are in the trace. Both names are brought to one form, for they differ by design:

  - the runtime has Outer`1 and Method[T], we have what it is instantiated with: neither counts
  - the runtime names arguments, and their types without namespace and generic arguments; a reference
    is a Type& for it, and a function pointer has no name
  - the runtime has names of type parameters, which no event has: T1 and M1 count as these
  - a nested type of a generic one is a ?<T1>.Type for us
  - lambda#, Local#, accessors, operators and finalizers are <M>b__, <M>g__, get_, op_ and Finalize
  - the runtime gives an async method or an iterator for its machine, with the arguments, which no
    event of the machine has: these are not compared. It adds +MoveNext to iterators, which we call
    so, and to async iterators, whose machine is an async method's. An async lambda's it leaves.
"""

import collections
import pathlib
import re

from tests.live import live, runtimes
from tests.support.method_names import Raw, names_of
from tests.traces import recorded

PROGRAM = 'clrsym-live.dll'
# One frame as the runtime prints it.
Frame = collections.namedtuple('Frame', 'module token type_parameters method_parameters line')
# A method in the common form; arguments None: not known.
Method = collections.namedtuple('Method', 'name arguments')

STEP = '+MoveNext'
KEYWORDS = {
    'bool': 'Boolean', 'char': 'Char', 'sbyte': 'SByte', 'byte': 'Byte', 'short': 'Int16',
    'ushort': 'UInt16', 'int': 'Int32', 'uint': 'UInt32', 'long': 'Int64', 'ulong': 'UInt64',
    'nint': 'IntPtr', 'nuint': 'UIntPtr', 'float': 'Single', 'double': 'Double', 'void': 'Void',
    'decimal': 'Decimal', 'object': 'Object', 'string': 'String',
}
# The program's generic types, by number of arguments.
OPERATORS = {
    ('+', 2): 'op_Addition', ('-', 1): 'op_UnaryNegation', ('++', 1): 'op_Increment',
    ('true', 1): 'op_True', ('+=', 1): 'op_AdditionAssignment',
}
CONVERSIONS = (('implicit operator ', 'op_Implicit'),
               ('explicit operator checked ', 'op_CheckedExplicit'),
               ('explicit operator ', 'op_Explicit'))
# Parts of our names that must occur, so that no kind is forgotten.
KINDS = ('.lambda#c.', '.Local#', '.async#', '.iterator#', 'operator +(', 'operator +=', '.operator -(',
         'implicit operator int', 'explicit operator checked short', '.get()', '.set(', '.init(',
         'this[].get(', 'this[].set(', '.add(', '.remove(', '..ctor(', '..cctor(', '~Abandoned',
         'IMeasure<int>.Measure(', 'IMeasure<string[]>.Measure(', 'IAdds<Live.Stacks.Shape>.Add(',
         'Box<int>.Put(T1)', 'Box<__Canon>.Put(T1)', 'Convert<?>(T1, M1)', 'ref int', 'in long',
         'void**', 'int[][]', 'string[][,]', 'delegate*<int, ref string, void>', '[dynamic] Given',
         'System.Nullable<int>', '?<int>.Enumerator', 'Lid<__Canon, __Canon>', 'Closures<int>.lambda#')


def without_generics(text):
    """'A<B<int>>.C' -> 'A.C'; a compiler-generated name starts with the bracket, and stays."""
    while (shorter := re.sub(r'(?<=[\w?])<[^<>]*>', '', text)) != text:
        text = shorter
    return text


def split_list(text):
    """Splits at commas outside of brackets."""
    items, depth = [''], 0
    for char in text:
        depth += {'<': 1, '[': 1, '(': 1, '>': -1, ']': -1, ')': -1}.get(char, 0)
        if char == ',' and not depth:
            items.append('')
        else:
            items[-1] += char
    return [item.strip() for item in items] if text else []


def split_name(text):
    """('A.B', 'int, C<D>') of 'A.B(int, C<D>)'. The arguments' parenthesis is the first that does
    not enclose what a part is called."""
    opening = re.search(r'(?<=[^.])\(', text).start()
    return text[:opening], text[opening + 1:-1]


def runtime_method(frame):
    line = frame.line.removeprefix('at ')
    is_machine = line.endswith(STEP + '()')
    name, arguments = split_name(line.removesuffix(STEP + '()'))
    name = without_generics(re.sub(r'`\d+', '', name))
    name = re.sub(r'\[[\w,]*\]$', '', name)
    # An async lambda's machine.
    name = re.sub(r'<(<\w+>[bg]__[\w|]+)>d(__\d+)?\.MoveNext$', r'\1', name)
    arguments = [re.sub(r'`\d+', '', argument) for argument in split_list(arguments)]
    # A dynamic method's arguments have no names.
    types = tuple(argument.rpartition(' ')[0].strip() if frame.token else argument
                  for argument in arguments)
    return Method(name + (STEP if is_machine else ''), types)


def outermost_last(ranks):
    """C# writes the ranks of arrays of arrays in the order of indices, reflection in the order of elements."""
    return ''.join(reversed(re.findall(r'\[,*\]', ranks[0])))


def argument_type(text, frame):
    """Our 'ref N.A<int>[]' as the runtime's 'A[]&'."""
    parameters = {**{f'T{i}': name for i, name in enumerate(frame.type_parameters, 1)},
                  **{f'M{i}': name for i, name in enumerate(frame.method_parameters, 1)}}
    reference = re.match(r'(ref|in|out) ', text)
    text = text[reference.end():] if reference else text
    if text.startswith('delegate*'):
        return ''
    element, suffix = re.fullmatch(r'(.*?)([\[\],*]*)', without_generics(text)).groups()
    element = element.rpartition('.')[2]
    element = parameters.get(element, KEYWORDS.get(element, element))
    suffix = re.sub(r'(\[,*\])+', outermost_last, suffix)
    return element + suffix + ('&' if reference else '')


def source_name(name, n_arguments):
    """Our name without C# words."""
    for words, method in CONVERSIONS:
        if f'.{words}' in name:
            return name[:name.index(f'.{words}') + 1] + method
    if found := re.fullmatch(r'(.*\.)operator (\S+)', name):
        return found[1] + OPERATORS[found[2], n_arguments]
    if found := re.fullmatch(r'(.*\.)this\[\]\.(get|set)', name):
        return f'{found[1]}{found[2]}_Item'
    if found := re.fullmatch(r'(.*\.)(\w+)\.(get|set|init|add|remove)', name):
        return f'{found[1]}{found[3].replace("init", "set")}_{found[2]}'
    if found := re.fullmatch(r'(.*\.)~\w+', name):
        return found[1] + 'Finalize'
    if found := re.fullmatch(r'(.*\.)(\w+)\.(\w+)#(?:(c?)([\d_]*)\.)?([\d_]+)', name):
        before, method, word, is_empty, closure, ordinal = found.groups()
        kind = f'b__{ordinal}' if word == 'lambda' else f'g__{word}|{ordinal}'
        if is_empty:
            before += '<>c.' + (f'__{closure}' if closure else '')
        elif closure:
            before += f'<>c__DisplayClass{closure}.'
        return f'{before}<{method}>{kind}'
    return name


def our_method(csharp, frame):
    name, arguments = split_name(csharp)
    name = without_generics(name.removeprefix('[dynamic] '))
    arguments = split_list(arguments)
    if machine := re.search(r'\.(async|iterator)#\d*$', name):
        name = source_name(name[:machine.start()], 0)
        return Method(name + (STEP if machine[1] == 'iterator' else ''), None)
    return Method(source_name(name, len(arguments)),
                  tuple(argument_type(argument, frame) for argument in arguments))


def same(runtime, ours):
    if ours.arguments is None:
        return runtime.name in (ours.name, ours.name.removesuffix(STEP) + STEP)
    return runtime == ours


def read_frames(program):
    """The distinct frames that the program printed."""
    frames = set()
    for line in program.lines():
        if line.startswith('FRAME\t'):
            module, token, of_type, of_method, text = line.split('\t')[1:]
            frames.add(Frame(module, int(token, 16), tuple(filter(None, of_type.split(','))),
                             tuple(filter(None, of_method.split(','))), text))
    return sorted(frames)


def names_by_token(programs, bodies):
    """(module's file, token) -> our names of its bodies; ('', name) for dynamic methods."""
    raws = sorted({Raw(*(body['method'][key] or '' for key in ('namespace', 'name', 'signature')))
                   for body in bodies})
    csharp = {raw: name.csharp for raw, name in zip(raws, names_of(programs, raws))}
    names = collections.defaultdict(set)
    for body in bodies:
        method = body['method']
        raw = Raw(*(method[key] or '' for key in ('namespace', 'name', 'signature')))
        token = int(method['token'] or '0', 16)
        if token:
            path = body['module']['path'] if body['module'] else ''
            names[pathlib.Path(path).name, token].add(csharp[raw])
        elif raw.name_space == 'dynamicClass':
            names['', raw.name].add(csharp[raw])
    return names


def check_generics(tap, programs, trace, frames, bodies):
    """Names with type arguments, and with the source's names of type parameters."""
    table = programs.run([programs.clrsym, 'methods', '--trace', trace, '--all']).stdout.splitlines()
    at = table[0].index('METHOD')
    shown = collections.defaultdict(set)
    for line in table[1:]:
        shown[line.split()[0]].add(line[at:])
    compared, wrong, unknown = 0, [], []
    own = {frame.token: frame for frame in frames if frame.module == PROGRAM and
           (frame.type_parameters or frame.method_parameters)}
    for body in bodies:
        token = int(body['method']['token'] or '0', 16)
        path = body['module']['path'] if body['module'] else ''
        if pathlib.Path(path or '').name != PROGRAM or token not in own or len(shown[body['start']]) > 1:
            continue
        frame, name = own[token], min(shown[body['start']])
        wanted, got = runtime_method(frame), our_method(name, frame)
        compared += 1
        if not same(wanted, got) or re.search(r'\b[TM][1-9]\b', name):
            wrong.append(f'{frame.line}: {name}: {got} instead of {wanted}')
        if '<?>' in name:
            unknown.append(name)
    tap.check(compared > 10 and not wrong, f'{compared} names of generic code are those of the source', *wrong[:5])
    tap.check(not unknown, 'all have their type arguments', *unknown[:5])


def check_stubs(tap, program, bodies):
    """The methods of the program's IL stubs are the methods that it called through them. .NET 11 compiles a method
    with native code elsewhere under its own name, without a stub."""
    reported = [line.split('\t')[1:] for line in program.lines() if line.startswith('STUB\t')]
    stubs = [body['method'] for body in bodies
             if body['module'] and pathlib.Path(body['module']['path'] or '').name == PROGRAM and
             body['method']['name'] in ('IL_STUB_PInvoke', 'IL_STUB_ReversePInvoke')]
    named = [(stub['name'], f'{stub["stub_for"]["namespace"]} {stub["stub_for"]["name"]}')
             for stub in stubs if stub['stub_for']]
    own = {f'{body["method"]["namespace"]} {body["method"]["name"]}' for body in bodies}
    tap.check(len(named) == len(stubs) > 0, f'all {len(stubs)} stubs are reported to be for a method',
              *stubs)
    missing, others = [], list(named)
    for kind, *methods in reported:
        mine = [name for name in others if name in {(f'IL_STUB_{kind}', method)
                                                    for method in methods}]
        # One stub for all methods, or one for each.
        if not mine and kind == 'PInvoke' and own.issuperset(methods):
            continue
        if not mine or mine[0][1] != methods[0] or len(mine) > len(methods):
            missing.append(f'{kind} {methods}: {mine}')
        others = [name for name in others if name not in mine]
        if len(methods) > 1:
            tap.note(f'{len(methods)} methods of one signature have {len(mine)} stubs')
    tap.check(len(reported) == 5 and not missing and not others,
              f'and these are the methods of {len(reported)} calls', *missing, *others)


def test_runtime(tap, programs, command, directory, what):
    program = live.Program(command, directory, 'stacks')
    with live.session('clrsym-names', f'--output={directory / "trace"}'), program.ready():
        pass
    frames = read_frames(program)
    bodies = programs.bodies(['--trace', str(directory / 'trace')])
    names = names_by_token(programs, bodies)
    check_stubs(tap, program, bodies)

    compared, unknown, wrong = [], [], []
    for frame in frames:
        method = frame.token or split_name(frame.line.removeprefix('at '))[0]
        ours = names.get((frame.module, method), ())
        if not ours:
            unknown.append(frame)
        for name in ours:
            compared.append(name)
            wanted, got = runtime_method(frame), our_method(name, frame)
            if not same(wanted, got):
                wrong.append(f'{frame.line}: {name}: {got} instead of {wanted}')
    tap.check(len(compared) > 80 and not wrong,
              f'{what}: {len(compared)} names of {len(frames)} frames are those of the stack traces',
              f'{len(wrong)} wrong', *wrong[:10])
    mine = [frame for frame in unknown if frame.module in (PROGRAM, '')]
    tap.check(not mine, f"{what}: all of the program's own frames have a body", *mine[:5])
    tap.note(f'{len(unknown)} frames of precompiled code, of which no event has a token')
    check_generics(tap, programs, directory / 'trace', frames, bodies)
    missing = [kind for kind in KINDS if not any(kind in name for name in compared)]
    tap.check(not missing, f'{what}: {len(KINDS)} kinds of names were there', *missing)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for runtime, command in runtimes.commands(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        place = directory / f'run-{runtime}'
        place.mkdir()
        tap.note(f'.NET {runtime}')
        test_runtime(tap, programs, command, place, f'.NET {runtime}')


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))

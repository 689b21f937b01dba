# SPDX-License-Identifier: MIT
"""Turns of phrase that an engineer has to read twice, and words that the glossary of
clrsym-answers(7) replaces. They are looked for in comments, messages, names and the manual."""

import io
import re
import tokenize

import rooms

# Pattern -> what to write in its place. A space stands for any space, also across lines of a comment.
PATTERNS = {
    r'told|tells?|said': 'reports, prints, shows, knows from',
    r'anew': 'again',
    r'mend(s|ed|ing)?': 'fix',
    r'behind': 'after, late',
    r'for want of': 'because there is no',
    r'whose it is': 'its owner',
    r'be it that': 'unless, even if',
    r'nobody holds': 'not held',
    r'is no (?!longer\b|more\b)[a-z]+': 'is not a',
    r'is none': 'is not a',
    r'what there is': 'name it',
    r'(?:silences?|lapses?|strangers?)': 'process gap (glossary)',
    r'(?:news|bury)': 'name it',
    r"the caller's[.;,]": 'the caller owns it',
    r'(?:are|is) not in yet': 'have not arrived yet',
    r'one of them, not both': 'give A or B, not both',
    r'at an address at a time': 'at a given address and time',
}
# At the beginning of a comment.
BEGINNINGS = {r'(?:/\*+|//|#|""")\s*(?:\*\s*)?Of ': 'begin with the subject'}

# Public spellings that stay: options, settings and names in formats. A match within one is left out.
ALLOWED = re.compile(r'''["']mend["']|session mend|is None''')

WHOLE = ('src', 'plugins', 'include', 'man', 'systemd', 'README.md')
WHOLE_SUFFIXES = ('.c', '.h', '.inc', '.build', '.in', '.map', '.bash', '.md')
MANUAL = re.compile(r'\.\d$')
# "There is no" is plain.
THERE = re.compile(r'there[\s*#]+$', re.IGNORECASE)
C_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def compile_patterns():
    """(compiled pattern, what to write in its place) of each."""
    space = r'(?:[\s*#]|\\n|\\fR|" ")+'
    return [(re.compile(rf'(?<![A-Za-z\\])(?:{pattern})(?![A-Za-z])'.replace(' ', space),
                        re.IGNORECASE), instead) for pattern, instead in PATTERNS.items()] + \
        [(re.compile(pattern), instead) for pattern, instead in BEGINNINGS.items()]


def python_prose(text):
    """The comments and the texts of a Python program, each on its line."""
    lines = [''] * (text.count('\n') + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for i, line in enumerate(token.string.split('\n')):
                lines[token.start[0] - 1 + i] += ' ' + line
    return '\n'.join(lines)


def c_prose(text):
    """The comments and the texts of a C program, on their lines."""
    result, end = [], 0
    for match in C_COMMENT.finditer(text):
        result += [re.sub(r'[^\n]', ' ', text[end:match.start()]), match[0]]
        end = match.end()
    return ''.join(result)


def prose(path):
    """What of a file is looked at; None if nothing is."""
    top = path.parts[0]
    if top in WHOLE:
        is_ours = path.suffix in WHOLE_SUFFIXES or MANUAL.search(path.name)
        return rooms.read(path) if is_ours else None
    if top == 'tests' and path.parts[1] != 'tree':
        if path.suffix == '.py':
            return python_prose(rooms.read(path))
        if path.suffix in ('.c', '.h'):
            return c_prose(rooms.read(path))
    return None


def room_of(path):
    """A directory of two levels; each page of the manual is one of its own."""
    return '/'.join(path.parts[:2])


def find(files):
    """Room -> its findings, each a line of text; also rooms without any."""
    patterns, found = compile_patterns(), {}
    for path in files:
        text = prose(path)
        if text is None:
            continue
        lines = found.setdefault(room_of(path), [])
        allowed = [match.span() for match in ALLOWED.finditer(text)]
        for pattern, instead in patterns:
            for match in pattern.finditer(text):
                if not any(start <= match.start() < end for start, end in allowed) and \
                        not (match[0].startswith('is') and THERE.search(text[:match.start()])):
                    line = text.count('\n', 0, match.start()) + 1
                    lines.append(
                        f'{path}:{line}: {" ".join(match[0].split())} -> {instead}')
    return found

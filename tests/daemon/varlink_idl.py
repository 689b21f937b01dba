# SPDX-License-Identifier: MIT
"""Varlink's interface language: reads a description, and finds the parts of a message that the
description lacks."""

import re

TOKEN = re.compile(r'->|\[string\]|\[\]|[?():,]|[A-Za-z0-9_.-]+|(?P<blank>\s+|#[^\n]*)')
FIELD = re.compile(r'[A-Za-z](_?[A-Za-z0-9])*')
NAME = re.compile(r'[A-Z][A-Za-z0-9]*')
INTERFACE = re.compile(r'[A-Za-z]([-]*[A-Za-z0-9])*(\.[A-Za-z0-9]([-]*[A-Za-z0-9])*)+')
BASIC = {'bool': bool, 'int': int, 'float': (int, float), 'string': str, 'object': object}


class IdlError(Exception):
    """The text is not a description."""


class Reader:
    """Splits a description into words."""

    def __init__(self, text):
        self.words, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise IdlError(f'at {text[at:at + 20]!r}')
            at = match.end()
            if not match['blank']:
                self.words.append(match[0])
        self.words.append('')

    def next(self, pattern=None):
        word = self.words.pop(0)
        if pattern and not pattern.fullmatch(word):
            raise IdlError(f'{word!r} where {pattern.pattern} was expected')
        return word

    def take(self, word):
        """Takes WORD if it is the next word. Returns whether it was."""
        if self.words[0] == word:
            self.words.pop(0)
            return True
        return False

    def need(self, word):
        if not self.take(word):
            raise IdlError(f'{self.words[0]!r} where {word!r} was expected')

    def type(self):
        """Returns ('?', T), ('[]', T), ('[string]', T), a struct as a dictionary, or a name."""
        for prefix in ('?', '[]', '[string]'):
            if self.take(prefix):
                inner = self.type()
                if prefix == '?' and inner[0] == '?':
                    raise IdlError('?? is not a type')
                return prefix, inner
        if self.words[0] == '(':
            return self.struct()
        word = self.next()
        if word not in BASIC and not NAME.fullmatch(word):
            raise IdlError(f'{word!r} is not a type')
        return word

    def struct(self):
        self.need('(')
        members = {}
        while not self.take(')'):
            if members:
                self.need(',')
            name = self.next(FIELD)
            if name in members:
                raise IdlError(f'{name} twice')
            self.need(':')
            members[name] = self.type()
        return members


class Interface:
    """A description: name, types, methods (input and output parameters), errors."""

    def __init__(self, text):
        reader = Reader(text)
        reader.need('interface')
        self.name = reader.next(INTERFACE)
        self.types, self.methods, self.errors = {}, {}, {}
        while reader.words[0]:
            kind, name = reader.next(), reader.next(NAME)
            if name in self.types or name in self.methods or name in self.errors:
                raise IdlError(f'{name} twice')
            if kind == 'type':
                self.types[name] = reader.struct()
            elif kind == 'method':
                parameters = reader.struct()
                reader.need('->')
                self.methods[name] = parameters, reader.struct()
            elif kind == 'error':
                self.errors[name] = reader.struct()
            else:
                raise IdlError(f'{kind!r} is not a kind of member')
        if not self.methods:
            raise IdlError('no methods')
        for members in self.structs():
            for type_ in members.values():
                self.resolve(type_)

    def structs(self):
        yield from self.types.values()
        yield from self.errors.values()
        for pair in self.methods.values():
            yield from pair

    def resolve(self, type_):
        """Raises an error if a named type is missing."""
        if isinstance(type_, tuple):
            self.resolve(type_[1])
        elif isinstance(type_, dict):
            for member in type_.values():
                self.resolve(member)
        elif type_ not in BASIC and type_ not in self.types:
            raise IdlError(f'no type {type_}')

    def faults(self, value, type_, where='', seen=None):
        """Returns the parts of VALUE that do not match TYPE; adds members with a value to SEEN."""
        if isinstance(type_, tuple) and type_[0] == '?':
            return [] if value is None else self.faults(value, type_[1], where, seen)
        if isinstance(type_, tuple):
            kind = list if type_[0] == '[]' else dict
            if not isinstance(value, kind):
                return [f'{where} is {value!r}']
            values = value.values() if kind is dict else value
            return [fault for item in values
                    for fault in self.faults(item, type_[1], f'{where}{type_[0]}', seen)]
        if isinstance(type_, dict) or type_ in self.types:
            return self.struct_faults(value, type_, where, seen)
        is_bool = isinstance(value, bool)
        if not isinstance(value, BASIC[type_]) or is_bool and type_ not in ('bool', 'object'):
            return [f'{where} is {value!r}, not {type_}']
        return []

    def struct_faults(self, value, type_, where, seen):
        where = where if isinstance(type_, dict) else type_
        members = type_ if isinstance(type_, dict) else self.types[type_]
        if not isinstance(value, dict):
            return [f'{where} is {value!r}']
        found = [f'{where}.{name} is not described' for name in value.keys() - members.keys()]
        for name, member in members.items():
            if name in value:
                found += self.faults(value[name], member, f'{where}.{name}', seen)
                if seen is not None and value[name] is not None:
                    seen.add(f'{where}.{name}')
            elif member[0] != '?':
                found.append(f'{where}.{name} is missing')
        return found

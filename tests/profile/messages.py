# SPDX-License-Identifier: MIT
"""Protobuf messages of profiles: decoded by google.protobuf, from tables of their fields.

The tables have only the fields that clrsym writes. A field that clrsym does not mean to write, or a
field with a wrong number or wire type, is therefore unknown, and decode() refuses the message.
"""

from google.protobuf import descriptor_pb2, message_factory, unknown_fields
from google.protobuf.message import DecodeError  # pylint: disable=unused-import

# Message -> field, number, type. "*" marks a repeated type, "?" a member of the message's oneof.
Table = dict[str, tuple[tuple[str, int, str], ...]]

# proto/profile.proto of github.com/google/pprof
PPROF: Table = {
    'Profile': (('sample_type', 1, 'ValueType*'), ('sample', 2, 'Sample*'), ('mapping', 3, 'Mapping*'),
                ('location', 4, 'Location*'), ('function', 5, 'Function*'), ('string_table', 6, 'string*'),
                ('time_nanos', 9, 'int64'), ('duration_nanos', 10, 'int64'), ('period_type', 11, 'ValueType'),
                ('period', 12, 'int64'), ('comment', 13, 'int64*')),
    'ValueType': (('type', 1, 'int64'), ('unit', 2, 'int64')),
    'Sample': (('location_id', 1, 'uint64*'), ('value', 2, 'int64*'), ('label', 3, 'Label*')),
    'Label': (('key', 1, 'int64'), ('str', 2, 'int64'), ('num', 3, 'int64')),
    'Mapping': (('id', 1, 'uint64'), ('filename', 5, 'int64'), ('has_functions', 7, 'bool'),
                ('has_filenames', 8, 'bool')),
    'Location': (('id', 1, 'uint64'), ('mapping_id', 2, 'uint64'), ('line', 4, 'Line*')),
    'Line': (('function_id', 1, 'uint64'), ('line', 2, 'int64')),
    'Function': (('id', 1, 'uint64'), ('name', 2, 'int64'), ('filename', 4, 'int64')),
}

# opentelemetry-proto 1.11.0: collector/profiles/v1development, profiles/v1development, resource/v1, common/v1
OTLP: Table = {
    'ExportProfilesServiceRequest': (('resource_profiles', 1, 'ResourceProfiles*'), ('dictionary', 2, 'ProfilesDictionary')),
    'ExportProfilesServiceResponse': (('partial_success', 1, 'ExportProfilesPartialSuccess'),),
    'ExportProfilesPartialSuccess': (('rejected_profiles', 1, 'int64'), ('error_message', 2, 'string')),
    'ProfilesDictionary': (('mapping_table', 1, 'Mapping*'), ('location_table', 2, 'Location*'),
                           ('function_table', 3, 'Function*'), ('link_table', 4, 'Link*'), ('string_table', 5, 'string*'),
                           ('attribute_table', 6, 'KeyValueAndUnit*'), ('stack_table', 7, 'Stack*')),
    'ResourceProfiles': (('resource', 1, 'Resource'), ('scope_profiles', 2, 'ScopeProfiles*')),
    'ScopeProfiles': (('scope', 1, 'InstrumentationScope'), ('profiles', 2, 'Profile*')),
    'Profile': (('sample_type', 1, 'ValueType'), ('samples', 2, 'Sample*'), ('time_unix_nano', 3, 'fixed64'),
                ('duration_nano', 4, 'uint64'), ('period_type', 5, 'ValueType'), ('period', 6, 'int64')),
    'ValueType': (('type_strindex', 1, 'int32'), ('unit_strindex', 2, 'int32')),
    'Sample': (('stack_index', 1, 'int32'), ('attribute_indices', 2, 'int32*'), ('values', 4, 'int64*')),
    'Mapping': (('filename_strindex', 4, 'int32'),),
    'Location': (('mapping_index', 1, 'int32'), ('lines', 3, 'Line*')),
    'Line': (('function_index', 1, 'int32'), ('line', 2, 'int64')),
    'Function': (('name_strindex', 1, 'int32'), ('filename_strindex', 3, 'int32')),
    'Link': (('trace_id', 1, 'bytes'), ('span_id', 2, 'bytes')),
    'Stack': (('location_indices', 1, 'int32*'),),
    'KeyValueAndUnit': (('key_strindex', 1, 'int32'), ('value', 2, 'AnyValue')),
    'Resource': (('attributes', 1, 'KeyValue*'),),
    'InstrumentationScope': (('name', 1, 'string'), ('version', 2, 'string')),
    'KeyValue': (('key', 1, 'string'), ('value', 2, 'AnyValue')),
    'AnyValue': (('string_value', 1, 'string?'), ('int_value', 3, 'int64?')),
}


def file_of(package, table):
    """Returns the FileDescriptorProto of a table."""
    file = descriptor_pb2.FileDescriptorProto(name=f'{package}.proto', package=package, syntax='proto3')
    for name, rows in table.items():
        message = file.message_type.add(name=name)
        for field, number, type_name in rows:
            kind = type_name.rstrip('*?')
            row = message.field.add(name=field, number=number)
            row.label = row.LABEL_REPEATED if type_name.endswith('*') else row.LABEL_OPTIONAL
            if kind in table:
                row.type, row.type_name = row.TYPE_MESSAGE, f'.{package}.{kind}'
            else:
                row.type = row.Type.Value(f'TYPE_{kind.upper()}')
            if type_name.endswith('?'):
                if not message.oneof_decl:
                    message.oneof_decl.add(name='one')
                row.oneof_index = 0
    return file


CLASSES = message_factory.GetMessages([file_of('pprof', PPROF), file_of('otlp', OTLP)])


def check_known(message, path):
    """Raises an error if MESSAGE, or a message within it, has a field that the table lacks."""
    unknown = unknown_fields.UnknownFieldSet(message)
    if len(unknown):
        raise ValueError(f'{path}: unknown field {unknown[0].field_number} with the wire type {unknown[0].wire_type}')
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if field.label == field.LABEL_REPEATED else [value]:
                check_known(inner, f'{path}.{field.name}')


def decode(name, data):
    """Returns the message NAME ("otlp.Profile") in DATA."""
    message = CLASSES[name].FromString(data)
    check_known(message, name)
    return message

# SPDX-License-Identifier: MIT
"""A strict reader of OpenMetrics 1.0 text: gauges, counters and infos."""

import re

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
DESCRIPTION = re.compile(rf'# (TYPE|UNIT|HELP) ({NAME}) (.*)')
SAMPLE = re.compile(rf'({NAME})(?:\{{(.*)\}})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"')
NUMBER = re.compile(r'[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?')
SUFFIX = {'gauge': '', 'counter': '_total', 'info': '_info'}


class OpenMetricsError(Exception):
    """The text is not OpenMetrics."""


def need(condition, why, line):
    if not condition:
        raise OpenMetricsError(f'{why}: {line!r}')


def parse_labels(text, line):
    """Returns the labels as a sorted tuple of pairs."""
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        need(match and match[1] not in labels, 'labels', line)
        labels[match[1]] = match[2]
        at = match.end()
        if at < len(text):
            need(text[at] == ',' and at + 1 < len(text), 'labels', line)
            at += 1
    return tuple(sorted(labels.items()))


def parse(text):
    """Returns a dictionary: (name of the sample, labels) -> value."""
    need(text.endswith('# EOF\n'), 'no "# EOF" at the end', text[-80:])
    samples, families, current = {}, set(), None
    for line in text[:-len('# EOF\n')].split('\n')[:-1]:
        description = DESCRIPTION.fullmatch(line)
        if description:
            kind, name, rest = description.groups()
            if current is None or current['name'] != name:
                need(name not in families, 'a family in two places', line)
                need(current is None or current['n'], 'a family without samples', line)
                current = {'name': name, 'n': 0}
                families.add(name)
            need(kind not in current and not current['n'], f'{kind} late or twice', line)
            need(kind != 'TYPE' or rest in SUFFIX, 'type', line)
            need(kind != 'UNIT' or name.endswith('_' + rest), 'a unit that the name has not', line)
            current[kind] = rest
            continue
        match = SAMPLE.fullmatch(line)
        need(match, 'no sample', line)
        need(current and 'TYPE' in current and
             match[1] == current['name'] + SUFFIX[current['TYPE']], 'a sample of no family', line)
        key = match[1], parse_labels(match[2] or '', line)
        need(key not in samples and NUMBER.fullmatch(match[3]), 'value, or twice', line)
        samples[key] = float(match[3])
        need(current['TYPE'] != 'counter' or samples[key] >= 0, 'a counter below 0', line)
        need(current['TYPE'] != 'info' or samples[key] == 1, 'an info is 1', line)
        current['n'] += 1
    need(current is None or current['n'], 'a family without samples', text[-200:])
    return samples

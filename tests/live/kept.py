# SPDX-License-Identifier: MIT
"""Output files of a recording, compared with the same files made from its saved samples."""

import gzip
import json
import re

# The outputs of one recording, for check().
OUTPUTS = ['-o', 'kept.clrsym', '-o', 'kept.html', '-o', 'kept.firefox.json.gz']


def page_data(path):
    """The page's data, without the numbers of frames, which depend on the order of samples."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>',
                                path.read_text(encoding='utf-8'), re.S)[1])
    frames = data.pop('frames')
    data['frame'] = [frames[number] for number in data['frame']]
    data['threads'] = [[process, tid, frames[number]] for process, tid, number in data['threads']]
    return data


def firefox_markers(path):
    """(process, thread, name, begin, end, text) of each marker, sorted."""
    profile = json.loads(gzip.decompress(path.read_bytes()))
    found = []
    for thread in profile['threads']:
        markers = thread['markers']
        names = thread.get('stringArray') or profile['shared']['stringArray']
        found += [(thread['pid'], thread['tid'], names[name], begin, end, data['text']) for name, begin, end, data in
                  zip(*(markers[column] for column in ('name', 'startTime', 'endTime', 'data')))]
    return sorted(found)


def check(tap, place, what, errors, wants):
    """Checks the OUTPUTS in PLACE. ERRORS: the recording's messages. WANTS: data that its page must have, 'markers'
    or 'physical'."""
    done = place.programs.run([place.programs.clrsym, 'report', 'kept.clrsym', '--summary', '-o', 'again.html', '-o',
                               'again.firefox.json.gz'], cwd=place.directory, env=place.environment)
    if not tap.check(done.returncode == 0, f'{what}: the saved samples are read', done.stderr):
        return
    data, again = (page_data(place.directory / name) for name in ('kept.html', 'again.html'))
    tap.check(data[wants], f'{what}: the page has {wants}', data.keys())
    differing = [name for name in data.keys() | again.keys() if data.get(name) != again.get(name)]
    tap.equal(differing, [], f'{what}: the page of the saved samples has the same data')
    markers, of_saved = (firefox_markers(place.directory / f'{name}.firefox.json.gz') for name in ('kept', 'again'))
    tap.check(markers and markers == of_saved, f'{what}: so have the {len(markers)} markers for Firefox Profiler',
              len(of_saved))
    lines = [line for line in done.stdout.splitlines() if line not in errors.splitlines()]
    tap.check(done.stdout and not lines, f'{what}: and the summary', lines)

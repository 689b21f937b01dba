/* The lines of the selected node's method: [{ file, why, texts: line -> text, counts: line -> [self, total] }]. */
const LINES_AROUND = 4;
const hot = new Map();
for (const [frame, source, ...counts] of data.hot) {
  const [file, why, ...pieces] = data.sources[source], key = listed[frame].method;
  const lines = new Map();
  for (let i = 0; i < counts.length; i += 3)
    lines.set(counts[i], counts.slice(i + 1, i + 3));
  hot.set(key, [...(hot.get(key) || []), { file: data.files[file], why, pieces, counts: lines }]);
}
const allSamples = cells.count.reduce((sum, samples) => sum + samples, 0);
function lineRow(line, text, counts, most) {
  const row = element('tr', !counts ? '' : counts[1] === most ? 'hottest' : 'hot', '');
  const shown = (value) => (value ? share(value, allSamples) : '');
  row.append(element('td', 'number', line ? String(line) : '\u22ee'),
    element('td', 'number', counts ? shown(counts[0]) : ''),
    element('td', 'number', counts ? shown(counts[1]) : ''), element('td', 'code', text));
  return row;
}
function sourceRows({ pieces, counts }) {
  const numbers = [...counts.keys()], most = Math.max(...[...counts.values()].map((row) => row[1]));
  const isNear = (line) => numbers.some((number) => Math.abs(number - line) <= LINES_AROUND);
  const texts = new Map(), rows = [];
  for (const [first, ...lines] of pieces)
    lines.forEach((text, i) => isNear(first + i) && texts.set(first + i, text));
  let last = 0;
  for (const line of [...new Set([...texts.keys(), ...numbers])].sort((a, b) => a - b)) {
    if (last && line > last + 1)
      rows.push(lineRow(0, '', null, most));
    rows.push(lineRow(line, texts.get(line) ?? '', counts.get(line), most));
    last = line;
  }
  return rows;
}
function showSource() {
  if ($('lines').hidden)
    return;
  const found = hot.get(view.key[selected]) || [], name = view.frame[selected].name;
  $('lines').replaceChildren(...found.flatMap((source) => {
    const table = document.createElement('table');
    const head = document.createElement('tr');
    head.append(...['Line', 'Self', 'Total', ''].map((text) => element('th', 'number', text)));
    table.append(head, ...sourceRows(source));
    return [element('p', '', [source.file, source.why].filter(Boolean).join(' \u00b7 ')), table];
  }));
  if (!found.length)
    $('lines').append(element('p', '', selected
      ? 'No line of ' + name + ' is known.'
      : 'Select a method to see its lines: number, share of samples that ended there, that were there or below.'));
  else if (settings.range || settings.thread >= 0)
    $('lines').prepend(element('p', '', 'Lines have their shares of all samples, whatever is selected in the strip.'));
  $('lines').querySelector('.hottest')?.scrollIntoView({ block: 'center' });
}
function toggleSource() {
  if (!hot.size)
    return;
  $('lines').hidden = !$('lines').hidden;
  $('source').setAttribute('aria-pressed', !$('lines').hidden);
  showSource();
  /* The graph has its new height after the next frame. */
  requestAnimationFrame(() => requestAnimationFrame(() => scrollToNode(selected)));
}

/* The flame graph: draws what is seen of the call tree, and answers mouse and keys. */
(function () {
  'use strict';
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($('data').textContent);
  const ROW = 19, PADDING = 4, CELLS_MIN = 4, WIDTH_MIN = 0.3, ROWS_MAX = 500, LINES_MAX = 8, LINES_AROUND = 4;
  const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
  const MATCH = '#ff7ad9';

  /* The tree: node 0 is the root; a node's callees follow it, up to its end. */
  const n = data.frame.length + 1;
  const parent = new Uint32Array(n), depth = new Uint32Array(n), end = new Uint32Array(n);
  const self = new Float64Array(n), total = new Float64Array(n), start = new Float64Array(n);
  /* A comparison: of the other recording, the one that is not shown, each node's samples. */
  const isComparison = Boolean(data.before);
  const otherSelf = new Float64Array(n), otherTotal = new Float64Array(n);
  let deepest = 0, isBefore = false;
  for (let i = 1, at = 0; i < n; i++) {
    for (let up = data.up[i - 1]; up > 0; up--)
      at = parent[at];
    parent[i] = at;
    depth[i] = depth[at] + 1;
    deepest = Math.max(deepest, depth[i]);
    at = i;
  }
  for (let i = n - 1; i >= 0; i--) {
    end[i] = Math.max(end[i], i + 1);
    if (i)
      end[parent[i]] = Math.max(end[parent[i]], end[i]);
  }
  function sum(samples, selves, totals) {
    for (let i = 0; i < n; i++)
      totals[i] = selves[i] = i && samples ? samples[i - 1] : 0;
    for (let i = n - 1; i > 0; i--)
      totals[parent[i]] += totals[i];
  }
  function measure() {
    sum(isBefore ? data.before : data.self, self, total);
    sum(isBefore ? data.self : data.before, otherSelf, otherTotal);
    const next = new Float64Array(n);
    for (let i = 1; i < n; i++) {
      start[i] = next[i] = next[parent[i]];
      next[parent[i]] += total[i];
    }
  }
  measure();

  const ALL = { name: 'all', short: 'all', module: '', kind: 'all samples', tier: '',
    isMarked: false, colour: data.colours.length - 1, shade: 0, source: '' };
  const frames = data.frames.map(([name, begin, stop, module, kind, tier, mark, colour, shade, file, line]) => ({
    name: mark ? name + ' ~' : name,
    short: name.slice(begin, stop) + (mark ? ' ~' : ''),
    method: name, module: module < 0 ? '' : data.modules[module],
    kind: data.kinds[kind], tier: tier < 0 ? '' : data.tiers[tier],
    isMarked: Boolean(mark), colour, shade, isMatch: false,
    source: line ? data.files[file] + ':' + line : '',
  }));
  const frameOf = (node) => (node ? frames[data.frame[node - 1]] : ALL);
  const mixed = new Map(data.mixed.map(([node, ...parts]) => [node + 1, parts]));

  /* State of the view. */
  let zoomed = 0, selected = 0, hovered = -1, isFlipped = false, query = '', shownColour = -1;
  let width = 0, height = 0, cell = 7.25, isDrawn = true;
  const canvas = $('canvas'), context = canvas.getContext('2d');
  const graph = $('graph'), space = $('space'), tip = $('tip'), details = $('details');

  const count = (value) => value.toLocaleString('en-US');
  function share(part, whole) {
    const percent = whole ? 100 * part / whole : 0;
    return percent.toFixed(!part ? 0 : percent < 1 ? 2 : 1) + ' %';
  }

  /* By how many points a share has changed from before. */
  function change(part, whole, otherPart, otherWhole) {
    const points = (whole ? part / whole : 0) - (otherWhole ? otherPart / otherWhole : 0);
    return 100 * (isBefore ? -points : points);
  }
  /* Of two shares: is their difference more than two standard errors? As of profile/change.c. */
  function isCertain(part, whole, otherPart, otherWhole) {
    const p = (part + 1) / (whole + 2), q = (otherPart + 1) / (otherWhole + 2);
    return Math.abs(p - q) > 2 * Math.sqrt(p * (1 - p) / (whole + 2) + q * (1 - q) / (otherWhole + 2));
  }
  const certainChange = (part, otherPart) =>
    isCertain(part, total[0], otherPart, otherTotal[0]) ? change(part, total[0], otherPart, otherTotal[0]) : 0;
  /* Samples of the recording that is shown, or of the other one, with their share and their time. */
  function amount(samples, isOther) {
    const each = data.seconds[isBefore !== isOther ? 1 : 0];
    return count(samples) + ' (' + share(samples, isOther ? otherTotal[0] : total[0]) +
      (each ? ', ' + (samples * each).toFixed(2) + ' s)' : ')');
  }
  const signed = (points) => (points > 0 ? '+' : '') + points.toFixed(2);

  /* Labels. */
  function cells(text) {
    let sum = 0;
    for (const c of text)
      sum += c.codePointAt(0) < 0x1100 ? 1 : 2;
    return sum;
  }
  function sizes(frame) {
    frame.cells ??= cells(frame.name);
    frame.shortCells ??= cells(frame.short);
    return frame;
  }
  function label(frame, room) {
    if (room < CELLS_MIN)
      return '';
    sizes(frame);
    if (frame.cells <= room)
      return frame.name;
    if (frame.shortCells <= room)
      return frame.short;
    let text = '', left = room - 1;
    for (const c of frame.short) {
      left -= cells(c);
      if (left < 0)
        break;
      text += c;
    }
    return text + '\u2026';
  }

  /* Where things are. Rows are counted from the root; flipped, the root is the lowest. */
  const nRows = deepest + 1;
  const rowTop = (row) => (isFlipped ? nRows - 1 - row : row) * ROW;
  function place(node) {
    if (depth[node] <= depth[zoomed])
      return { x: 0, w: width };
    const scale = width / total[zoomed];
    return { x: (start[node] - start[zoomed]) * scale, w: total[node] * scale };
  }

  let style = {};
  function readStyle() {
    const computed = getComputedStyle(document.documentElement);
    for (const name of ['back', 'text', 'focus'])
      style[name] = computed.getPropertyValue('--' + name).trim();
  }

  const changeColour = (node) =>
    data.changes[node ? data.change[node - 1] : (data.changes.length - 1) / 2][1];

  function drawFrame(node, x, w, isCaller) {
    const frame = frameOf(node);
    const top = rowTop(depth[node]) - graph.scrollTop;
    if (top + ROW < 0 || top > height)
      return;
    const isOff = shownColour >= 0 && frame.colour !== shownColour;
    const isMatch = query && frame.isMatch;
    const gap = w > 2 ? 0.5 : 0;
    context.globalAlpha = isOff ? 0.15 : isCaller ? 0.45 : isMatch || isComparison ? 1
      : 1 - 0.07 * frame.shade;
    context.fillStyle = isMatch ? MATCH : isComparison ? changeColour(node)
      : data.colours[frame.colour][1];
    context.fillRect(x + gap, top + 0.5, Math.max(w - 2 * gap, 0.5), ROW - 1);
    if (w > 2 * PADDING + CELLS_MIN * cell) {
      const text = label(frame, Math.floor((w - 2 * PADDING) / cell));
      if (text) {
        context.globalAlpha = isOff ? 0.5 : isCaller ? 0.8 : 1;
        context.fillStyle = isOff || isCaller ? style.text : '#14161a';
        context.fillText(text, x + PADDING, top + ROW / 2 + 0.5);
      }
    }
    if (node === hovered || (node === selected && document.activeElement === canvas)) {
      context.globalAlpha = 1;
      context.strokeStyle = node === hovered ? style.text : style.focus;
      context.lineWidth = node === hovered ? 1 : 2;
      context.strokeRect(x + 1, top + 1.5, Math.max(w - 2, 1), ROW - 3);
    }
  }

  function draw() {
    isDrawn = true;
    context.globalAlpha = 1;
    context.fillStyle = style.back;
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = 'middle';
    for (let node = zoomed; node; ) {
      node = parent[node];
      drawFrame(node, 0, width, true);
    }
    const scale = total[zoomed] ? width / total[zoomed] : 0;
    /* What comes after the lowest row that is seen is not seen either. */
    const lastRow = isFlipped ? nRows - 1 - Math.floor(graph.scrollTop / ROW)
      : Math.ceil((graph.scrollTop + height) / ROW);
    for (let i = zoomed; i < end[zoomed]; ) {
      const w = i === zoomed ? width : total[i] * scale;
      if (w < WIDTH_MIN || depth[i] > lastRow) {
        i = end[i];
        continue;
      }
      drawFrame(i, (start[i] - start[zoomed]) * scale, w, false);
      i++;
    }
    if (n === 1) {
      context.fillStyle = style.text;
      context.fillText('There are no samples.', 12, 40);
    }
  }
  function redraw() {
    if (!isDrawn)
      return;
    isDrawn = false;
    requestAnimationFrame(draw);
  }

  function resize() {
    const ratio = devicePixelRatio || 1;
    const rows = nRows * ROW + 4;
    height = graph.clientHeight;
    space.style.height = Math.max(rows, height) + 'px';
    width = graph.clientWidth;
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    cell = context.measureText('MMMMMMMMMM').width / 10 || cell;
    draw();
  }

  /* The node at a point of the canvas, or -1. */
  function nodeAt(x, y) {
    const line = Math.floor((y + graph.scrollTop) / ROW);
    const row = isFlipped ? nRows - 1 - line : line;
    if (row < 0 || row >= nRows || x < 0 || x > width)
      return -1;
    let node = zoomed;
    if (row <= depth[zoomed]) {
      while (depth[node] > row)
        node = parent[node];
      return node;
    }
    const at = start[zoomed] + x / width * total[zoomed];
    while (depth[node] < row) {
      let child = node + 1;
      while (child < end[node] && at >= start[child] + total[child])
        child = end[child];
      if (child >= end[node])
        return -1;
      node = child;
    }
    return total[node] * width / total[zoomed] < WIDTH_MIN ? -1 : node;
  }

  /* What is known of a node, as lines for the tip and for the details below. */
  function element(tag, className, text) {
    const made = document.createElement(tag);
    made.className = className;
    made.textContent = text;
    return made;
  }
  /* What the node's samples are by WORD of their frame, the largest share first: ["a 60 %", "b 40 %"]. */
  function shares(node, parts, word) {
    const sums = new Map();
    for (let i = 0; parts && i < parts.length; i += 2)
      sums.set(word(frames[parts[i]]), (sums.get(word(frames[parts[i]])) || 0) + parts[i + 1]);
    if (sums.size < 2)
      return [parts ? [...sums.keys()][0] : word(frameOf(node))].filter(Boolean);
    return [...sums].filter(([text]) => text).sort((a, b) => b[1] - a[1])
      .map(([text, samples]) => text + ' ' + share(samples, total[node]));
  }
  function describe(node) {
    const frame = frameOf(node);
    const what = [frame.kind, frame.module].filter(Boolean);
    const parts = mixed.get(node);
    const tierOf = (other) => (other.tier || other.isMarked ? other.tier || 'tier unknown' : '') +
      (other.isMarked ? ', name not certain' : '');
    const tiers = shares(node, parts, tierOf), lines = shares(node, parts, (other) => other.source);
    const samples = [
      count(total[node]) + ' ' + data.noun + (total[node] === 1 ? ' (' : 's (') +
        share(total[node], total[0]) + ')',
      'itself ' + count(self[node]) + ' (' + share(self[node], total[0]) + ')',
    ];
    if (isComparison)
      samples.push((isBefore ? 'after ' : 'before ') + count(otherTotal[node]) + ' (' +
        share(otherTotal[node], otherTotal[0]) + '), itself ' + count(otherSelf[node]),
      signed(change(total[node], total[0], otherTotal[node], otherTotal[0])) + ' points, itself ' +
        signed(change(self[node], total[0], otherSelf[node], otherTotal[0])));
    if (zoomed && node !== zoomed && depth[node] > depth[zoomed])
      samples.push(share(total[node], total[zoomed]) + ' of the zoom');
    return [element('div', 'name', frame.name),
      element('div', 'facts', [...what, ...tiers].join(' \u00b7 ')),
      element('div', 'facts', samples.join(' \u00b7 ')),
      ...lines.slice(0, LINES_MAX).map((line) => element('div', 'facts', line))];
  }
  function showDetails(node) {
    if (node < 0) {
      details.replaceChildren();
      return;
    }
    const [name, facts, samples, ...lines] = describe(node);
    facts.textContent = samples.textContent + ' \u00b7 ' + facts.textContent;
    details.replaceChildren(name, facts, ...lines.slice(0, 1));
  }
  function showTip(node, x, y) {
    tip.hidden = node < 0;
    if (node < 0)
      return;
    tip.replaceChildren(...describe(node));
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + 'px';
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10)
      : y + 18) + 'px';
  }

  /* The lines of the selected node's method: [{ file, why, texts: line -> text, counts: line -> [self, total] }]. */
  const keyOf = (frame) => JSON.stringify([frame.method, frame.module, frame.kind]);
  const hot = new Map();
  for (const [frame, source, ...counts] of data.hot) {
    const [file, why, ...pieces] = data.sources[source], key = keyOf(frames[frame]);
    const lines = new Map();
    for (let i = 0; i < counts.length; i += 3)
      lines.set(counts[i], counts.slice(i + 1, i + 3));
    hot.set(key, [...(hot.get(key) || []), { file: data.files[file], why, pieces, counts: lines }]);
  }
  function lineRow(line, text, counts, most) {
    const row = element('tr', !counts ? '' : counts[1] === most ? 'hottest' : 'hot', '');
    const shown = (value) => (value ? share(value, total[0]) : '');
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
    const found = (selected && hot.get(keyOf(frameOf(selected)))) || [];
    $('lines').replaceChildren(...found.flatMap((source) => {
      const table = document.createElement('table');
      const head = document.createElement('tr');
      head.append(...['Line', 'Self', 'Total', ''].map((text) => element('th', 'number', text)));
      table.append(head, ...sourceRows(source));
      return [element('p', '', [source.file, source.why].filter(Boolean).join(' \u00b7 ')), table];
    }));
    if (!found.length)
      $('lines').append(element('p', '', selected
        ? 'No line of ' + frameOf(selected).method + ' is known.'
        : 'Select a method to see its lines: number, share of samples that ended there, that were there or below.'));
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

  function scrollToNode(node) {
    const top = rowTop(depth[node]);
    if (top < graph.scrollTop)
      graph.scrollTop = top;
    else if (top + ROW > graph.scrollTop + height)
      graph.scrollTop = top + ROW - height;
  }
  function zoom(node) {
    zoomed = selected = node;
    $('reset').disabled = !node;
    showDetails(node);
    showSource();
    scrollToNode(node);
    redraw();
  }
  function select(node) {
    /* What the zoom hides cannot be selected: out of the zoom then. */
    if (node < zoomed || node >= end[zoomed]) {
      let at = zoomed;
      while (at && (node < at || node >= end[at]))
        at = parent[at];
      if (depth[node] < depth[zoomed] && node < zoomed && end[node] >= end[zoomed])
        at = zoomed;
      if (at !== zoomed)
        zoom(at);
    }
    selected = node;
    showDetails(node);
    showSource();
    scrollToNode(node);
    redraw();
  }

  /* Search. Letters in any case; a pattern between slashes. */
  function matcher(text) {
    const pattern = /^\/(.+)\/$/.exec(text);
    if (pattern) {
      try {
        const regexp = new RegExp(pattern[1], 'i');
        return (name) => regexp.test(name);
      } catch {
        return () => false;
      }
    }
    const lower = text.toLowerCase();
    return (name) => name.toLowerCase().includes(lower);
  }
  function search() {
    query = $('search').value.trim();
    const matches = query ? matcher(query) : () => false;
    let matched = 0;
    for (const frame of frames)
      frame.isMatch = matches(frame.name);
    for (let i = 1; query && i < n; ) {
      const isMatch = frameOf(i).isMatch;
      matched += isMatch ? total[i] : 0;
      i = isMatch ? end[i] : i + 1;
    }
    $('found').textContent = query ? share(matched, total[0]) + ' match' : '';
    if (!$('methods').hidden)
      showMethods();
    redraw();
  }
  function nextMatch(step) {
    for (let k = 1, i = selected; query && k < n; k++) {
      i = (i + step + n) % n;
      if (i && frameOf(i).isMatch) {
        select(i);
        return;
      }
    }
  }

  /* All methods: a frame of any tier counts, and in a recursion only the outermost. */
  let methods = null, sortKey = 'self', isDescending = true;
  function sumMethods() {
    const byKey = new Map(), ofFrame = [], covered = new Map();
    frames.forEach((frame, i) => {
      const key = JSON.stringify([frame.method, frame.module, frame.kind]);
      if (!byKey.has(key))
        byKey.set(key, { name: frame.method, module: frame.module, kind: frame.kind, self: 0,
          total: 0, other: 0, otherTotal: 0, change: 0, changeTotal: 0, colours: [] });
      ofFrame[i] = byKey.get(key);
    });
    for (let i = 1; i < n; i++) {
      const method = ofFrame[data.frame[i - 1]];
      const colour = frameOf(i).colour;
      method.self += self[i];
      method.other += otherSelf[i];
      method.colours[colour] = (method.colours[colour] || 0) + self[i] + total[i] / total[0] / n;
      if (i >= (covered.get(method) || 0)) {
        method.total += total[i];
        method.otherTotal += otherTotal[i];
        covered.set(method, end[i]);
      }
    }
    for (const method of byKey.values()) {
      method.change = certainChange(method.self, method.other);
      method.changeTotal = certainChange(method.total, method.otherTotal);
    }
    return [...byKey.values()].filter((method) => method.kind !== 'thread' && method.kind !== 'session' &&
      (method.total || method.otherTotal));
  }
  function showMethods() {
    methods ??= sumMethods();
    const matches = query ? matcher(query) : () => true;
    const shown = methods.filter((method) => matches(method.name));
    const order = (a, b) => (typeof a === 'number' ? a - b : a < b ? -1 : a > b ? 1 : 0);
    shown.sort((a, b) => (isDescending ? -1 : 1) * order(a[sortKey], b[sortKey]) ||
      (sortKey === 'change' && Math.abs(b.changeTotal) - Math.abs(a.changeTotal)) || b.total - a.total || order(a.name, b.name));
    $('rows').replaceChildren(...shown.slice(0, ROWS_MAX).map((method) => {
      const row = document.createElement('tr');
      for (const key of ['self', 'total']) {
        const field = element('td', 'number', count(method[key]) + ' ');
        field.append(element('span', '', share(method[key], total[0])));
        row.append(field);
      }
      if (isComparison) {
        const words = [['itself ', method.change], ['total ', method.changeTotal]]
          .filter(([, points]) => points).map(([word, points]) => word + signed(points));
        const field = element('td', 'number', words.join(', ') || 'none certain');
        field.title = 'itself ' + amount(method.self, false) + ', ' + (isBefore ? 'after ' : 'before ') +
          amount(method.other, true) + '; total ' + amount(method.total, false) + ', ' +
          (isBefore ? 'after ' : 'before ') + amount(method.otherTotal, true);
        row.append(field);
      }
      const name = element('td', 'name', ''), swatch = element('i', '', '');
      const module = element('td', 'module', method.module.replace(/.*\/(?=.)/, ''));
      const best = method.colours.reduce((a, sum, i, sums) => (sum > (sums[a] || 0) ? i : a), 0);
      const button = element('button', '', method.name);
      swatch.style.background = data.colours[best][1];
      button.type = 'button';
      button.title = 'Search for it in the graph';
      button.addEventListener('click', () => {
        $('search').value = method.name;
        toggleTable(false);
        search();
        nextMatch(1);
        canvas.focus();
      });
      const line = element('div', '', '');
      line.append(swatch, button);
      name.append(line);
      module.title = method.module;
      row.append(name, module);
      return row;
    }));
    $('more').textContent = shown.length > ROWS_MAX
      ? `${count(ROWS_MAX)} of ${count(shown.length)} methods; search for others.` : '';
    for (const head of document.querySelectorAll('#methods th'))
      head.setAttribute('aria-sort', head.firstChild.dataset.key !== sortKey ? 'none'
        : isDescending ? 'descending' : 'ascending');
  }
  function toggleTable(isShown) {
    $('methods').hidden = !isShown;
    graph.hidden = isShown;
    $('table').setAttribute('aria-pressed', isShown);
    $('table').textContent = isShown ? 'Graph' : 'Methods';
    tip.hidden = true;
    if (isShown)
      showMethods();
    else
      resize();
  }

  function toggleBefore() {
    if (!isComparison)
      return;
    isBefore = !isBefore;
    $('before').setAttribute('aria-pressed', isBefore);
    measure();
    methods = null;
    if (zoomed && !total[zoomed])
      zoomed = selected = 0;
    $('reset').disabled = !zoomed;
    showDetails(selected);
    search();
  }
  function flip() {
    isFlipped = !isFlipped;
    $('flip').setAttribute('aria-pressed', isFlipped);
    graph.scrollTop = isFlipped ? space.offsetHeight : 0;
    redraw();
  }
  function setTheme(isDark) {
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    $('theme').textContent = isDark ? 'Light' : 'Dark';
    readStyle();
    redraw();
  }
  const toggleTheme = () => setTheme(document.documentElement.dataset.theme !== 'dark');

  function makeLegend() {
    if (isComparison) {
      for (const [text, colour] of data.changes.filter(([text]) => text)) {
        const item = element('li', 'note', ''), swatch = element('i', '', '');
        swatch.style.background = colour;
        item.append(swatch, text);
        $('legend').append(item);
      }
      return;
    }
    data.legend.forEach(([colour, sum]) => {
      const item = document.createElement('li'), button = document.createElement('button');
      const swatch = element('i', '', '');
      swatch.style.background = data.colours[colour][1];
      button.type = 'button';
      button.title = 'Show only these; the share of samples that ended in them';
      button.setAttribute('aria-pressed', 'false');
      button.append(swatch, element('span', '', data.colours[colour][0]));
      if (sum)
        button.append(element('b', '', share(sum, total[0])));
      button.addEventListener('click', () => {
        shownColour = shownColour === colour ? -1 : colour;
        for (const other of $('legend').querySelectorAll('button'))
          other.setAttribute('aria-pressed', other === button && shownColour === colour);
        redraw();
      });
      item.append(button);
      $('legend').append(item);
    });
    if (frames.some((frame) => frame.isMarked))
      $('legend').append(element('li', 'note', '~ name not certain'));
  }

  /* Mouse. */
  canvas.addEventListener('mousemove', (event) => {
    const node = nodeAt(event.offsetX, event.offsetY);
    showTip(node, event.clientX, event.clientY);
    if (node === hovered)
      return;
    hovered = node;
    canvas.style.cursor = node < 0 ? 'default' : 'pointer';
    showDetails(node < 0 ? selected : node);
    redraw();
  });
  canvas.addEventListener('mouseleave', () => {
    hovered = -1;
    tip.hidden = true;
    showDetails(selected);
    redraw();
  });
  canvas.addEventListener('click', (event) => {
    const node = nodeAt(event.offsetX, event.offsetY);
    if (node >= 0)
      zoom(node);
  });
  graph.addEventListener('scroll', () => {
    tip.hidden = true;
    redraw();
  });
  for (const name of ['focus', 'blur'])
    canvas.addEventListener(name, redraw);

  /* Keys. */
  function sibling(step) {
    const above = parent[selected];
    let found = -1, before = -1;
    for (let child = above + 1; selected && child < end[above]; child = end[child]) {
      if (child === selected && step < 0)
        found = before;
      if (before === selected && step > 0)
        found = child;
      before = child;
    }
    return found;
  }
  function callee() {
    for (let i = selected + 1; i < end[selected]; i = end[i])
      if (total[i])
        return i;
    return -1;
  }
  const KEYS = {
    ArrowUp: () => (isFlipped ? callee() : selected ? parent[selected] : -1),
    ArrowDown: () => (isFlipped ? selected ? parent[selected] : -1 : callee()),
    ArrowLeft: () => sibling(-1),
    ArrowRight: () => sibling(1),
    Home: () => 0,
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (KEYS[event.key]) {
      const node = KEYS[event.key]();
      event.preventDefault();
      if (node >= 0)
        select(node);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      zoom(selected);
    } else if (event.key === 'Backspace') {
      zoom(parent[zoomed]);
    }
  });
  const SHORTCUTS = {
    '/': () => $('search').focus(), b: toggleBefore, f: flip, s: toggleSource, t: toggleTheme,
    m: () => toggleTable($('methods').hidden), n: () => nextMatch(1), N: () => nextMatch(-1),
  };
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (query) {
        $('search').value = '';
        search();
      } else {
        zoom(0);
      }
    } else if (SHORTCUTS[event.key] && event.target !== $('search') && !event.ctrlKey &&
        !event.altKey && !event.metaKey) {
      event.preventDefault();
      SHORTCUTS[event.key]();
    }
  });

  /* Controls. */
  let timer = 0;
  $('search').addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, n > 100000 ? 150 : 0);
  });
  $('search').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      search();
      nextMatch(event.shiftKey ? -1 : 1);
    }
  });
  $('reset').addEventListener('click', () => zoom(0));
  $('before').addEventListener('click', toggleBefore);
  $('flip').addEventListener('click', flip);
  $('source').addEventListener('click', toggleSource);
  $('theme').addEventListener('click', toggleTheme);
  $('table').addEventListener('click', () => toggleTable($('methods').hidden));
  for (const button of document.querySelectorAll('th button'))
    button.addEventListener('click', () => {
      const key = button.dataset.key;
      isDescending = key === sortKey ? !isDescending : ['self', 'total', 'change'].includes(key);
      sortKey = key;
      showMethods();
    });

  $('subtitle').textContent = data.subtitle;
  $('source').hidden = !hot.size;
  $('before').hidden = $('change').hidden = !isComparison;
  makeLegend();
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
    (event) => setTheme(event.matches));
  new ResizeObserver(resize).observe(graph);
  resize();
  showDetails(0);
})();

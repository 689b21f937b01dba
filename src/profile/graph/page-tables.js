/* Search, and the table of methods. */
const ROWS_MAX = 500;
let query = '';

/* Does a text match the words that were searched for? Letters in any case; a pattern between slashes. Words that are in
 * no name are tried as a pattern. WHY: what is wrong with the pattern, or ''. */
function makeMatcher(words, isIn) {
  const slashes = /^\/(.+)\/$/.exec(words), lower = words.toLowerCase();
  const isText = (name) => name.toLowerCase().includes(lower);
  if (!slashes && isIn(isText))
    return { test: isText, isPattern: false, why: '' };
  try {
    const pattern = new RegExp(slashes ? slashes[1] : words, 'i');
    return { test: (name) => pattern.test(name), isPattern: !slashes, why: '' };
  } catch (error) {
    return { test: () => false, isPattern: true,
      why: 'No match, and not a pattern: ' + error.message.replace(/^.*\/\w*: */, '') };
  }
}
const isInAnyName = (isText) => listed.some((frame) => isText(frame.name)) ||
  data.processes.some(([, title]) => isText(title));

function search() {
  query = $('search').value.trim();
  isMatch = null;
  $('found').textContent = '';
  if (query) {
    const matcher = makeMatcher(query, isInAnyName), { paths } = tree;
    const matches = listed.map((frame) => matcher.test(frame.name));
    const isCovered = new Uint8Array(paths.base.length);
    let matched = 0;
    isMatch = new Uint8Array(view.n);
    for (let i = 1; i < paths.base.length; i++) {
      const node = tree.place[paths.node[i]];
      const isOne = paths.base[i] ? matches[nodeFrame[paths.base[i]]] : matcher.test(tree.frame[node].name);
      isCovered[i] = isCovered[paths.parent[i]] || isOne;
      if (isOne && !isCovered[paths.parent[i]])
        matched += paths.total[i];
      if (isOne && view === tree)
        isMatch[node] = 1;
    }
    for (let i = 0; view !== tree && i < view.n; i++)
      isMatch[i] = matcher.test(view.frame[i].name);
    $('found').textContent = matcher.why ||
      share(matched, tree.whole) + ' match' + (matcher.isPattern ? ' the pattern' : '');
  }
  if (!$('methods').hidden)
    showMethods();
  redraw();
}
function nextMatch(step) {
  for (let k = 1, i = selected; isMatch && k < view.n; k++) {
    i = (i + step + view.n) % view.n;
    if (i && isMatch[i]) {
      select(i);
      return;
    }
  }
}

/* All methods: a frame of any tier counts, and in a recursion only the outermost. */
let methods = null, sortKey = '', isDescending = true;
/* Until a column is chosen: of your code, what it and its callees took; else what methods took by themselves. */
const sortedBy = () => sortKey || (settings.foldsExternal ? 'total' : 'self');
function isOutermost(paths, path) {
  const { method } = frameOfNode(paths.base[path]);
  for (let at = paths.parent[path]; at; at = paths.parent[at])
    if (paths.base[at] && frameOfNode(paths.base[at]).method === method)
      return false;
  return true;
}
function sumMethods() {
  const { paths } = tree;
  const all = methodFrames.map((frame, number) => ({ number, name: frame.methodName, module: frame.module,
    kind: frame.kind, isYours: frame.isYours, self: 0, total: 0, other: 0, otherTotal: 0, colours: [] }));
  const certainChange = (part, otherPart) => isCertain(part, tree.whole, otherPart, tree.otherWhole)
    ? change(part, tree.whole, otherPart, tree.otherWhole) : 0;
  for (let i = 1; i < paths.base.length; i++) {
    if (!paths.base[i])
      continue;
    const frame = frameOfNode(paths.base[i]), method = all[frame.method];
    method.self += paths.self[i];
    method.other += paths.other[i];
    method.colours[frame.colour] = (method.colours[frame.colour] || 0) + paths.self[i] +
      paths.total[i] / tree.whole / tree.n;
    if (isOutermost(paths, i)) {
      method.total += paths.total[i];
      method.otherTotal += paths.otherTotal[i];
    }
  }
  for (const method of all) {
    method.change = certainChange(method.self, method.other);
    method.seconds = change(method.total * eachSeconds(false), 1, method.otherTotal * eachSeconds(true), 1);
    method.changeTotal = certainChange(method.total, method.otherTotal);
  }
  return all.filter((method) => method.kind !== 'thread' && method.kind !== 'session' &&
    (method.total || method.otherTotal));
}
function methodRow(method) {
  const row = document.createElement('tr');
  for (const key of ['self', 'total']) {
    const field = element('td', 'number', count(method[key]) + ' ');
    field.append(element('span', '', share(method[key], tree.whole)));
    row.append(field);
  }
  if (isComparison) {
    const words = [['itself ', method.change], ['total ', method.changeTotal]]
      .filter(([, points]) => points).map(([word, points]) => word + signed(points));
    const field = element('td', 'number', words.join(', ') || 'none certain');
    const other = settings.isBefore ? 'after ' : 'before ';
    field.title = 'itself ' + amount(method.self, false) + ', ' + other + amount(method.other, true) + '; total ' +
      amount(method.total, false) + ', ' + other + amount(method.otherTotal, true);
    row.append(field);
    if (hasSeconds) {
      const each = [secondsOf(method.otherTotal, true), secondsOf(method.total, false)];
      row.append(element('td', 'number', (settings.isBefore ? each.reverse() : each).join(' \u2192 ')));
    }
  }
  const name = element('td', 'name', ''), swatch = element('i', '', '');
  const module = element('td', 'module', fileName(method.module));
  const best = method.colours.reduce((a, sum, i, sums) => (sum > (sums[a] || 0) ? i : a), 0);
  const button = element('button', '', method.name);
  swatch.style.background = data.colours[best][1];
  button.type = 'button';
  button.title = 'Search for it in the graph';
  button.addEventListener('click', () => {
    $('search').value = method.name;
    toggleTable(false);
    if (callersOf >= 0)
      showCallers(-1);
    search();
    nextMatch(1);
    canvas.focus();
  });
  const line = element('div', '', '');
  const callers = element('button', 'callers', 'callers');
  callers.type = 'button';
  callers.title = 'What called it';
  callers.addEventListener('click', () => {
    toggleTable(false);
    showCallers(method.number);
    canvas.focus();
  });
  line.append(swatch, button, callers);
  name.append(line);
  module.title = method.module;
  row.append(name, module);
  return row;
}
function showMethods() {
  methods ??= sumMethods();
  const { test } = query ? makeMatcher(query, (isText) => methods.some((method) => isText(method.name))) : { test: () => true };
  const shown = methods.filter((method) => test(method.name) && (method.isYours || !settings.foldsExternal));
  const key = sortedBy();
  const order = (a, b) => (typeof a === 'number' ? a - b : a < b ? -1 : a > b ? 1 : 0);
  shown.sort((a, b) => (isDescending ? -1 : 1) * order(a[key], b[key]) ||
    (key === 'change' && Math.abs(b.changeTotal) - Math.abs(a.changeTotal)) || b.total - a.total || order(a.name, b.name));
  $('rows').replaceChildren(...shown.slice(0, ROWS_MAX).map(methodRow));
  $('more').textContent = shown.length > ROWS_MAX
    ? `${count(ROWS_MAX)} of ${count(shown.length)} methods; search for others.`
    : !shown.length && settings.foldsExternal ? 'There is no method of your code. Switch "Your code" off to see all.' : '';
  for (const head of document.querySelectorAll('#methods th'))
    head.setAttribute('aria-sort', head.firstChild.dataset.key !== key ? 'none'
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

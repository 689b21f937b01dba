/* Mouse, keys and controls. */
function zoomTo(node, newSelected) {
  zoomed = node;
  selected = newSelected;
  $('reset').disabled = !node;
  $('callers').disabled = callersOf < 0 && !hasCallers(view.key[selected]);
  showDetails(selected);
  showSource();
  scrollToNode(selected);
  redraw();
}
const zoom = (node) => zoomTo(node, node);
function select(node) {
  /* What the zoom hides cannot be selected: out of the zoom then. */
  if (node < zoomed || node >= view.end[zoomed]) {
    let at = zoomed;
    while (at && (node < at || node >= view.end[at]))
      at = view.parent[at];
    if (view.depth[node] < view.depth[zoomed] && node < zoomed && view.end[node] >= view.end[zoomed])
      at = zoomed;
    if (at !== zoomed)
      zoom(at);
  }
  zoomTo(zoomed, node);
}

/* The keys of the nodes from the root to a node, without it. */
function keysTo(node) {
  const keys = [];
  for (; node; node = view.parent[node])
    keys.unshift(view.key[node]);
  return keys;
}
/* The node of these keys, or the last of them that has samples. */
function nodeOfKeys(keys) {
  let node = 0;
  for (const key of keys) {
    let child = node + 1;
    while (child < view.end[node] && view.key[child] !== key)
      child = view.end[child];
    if (child >= view.end[node] || !view.total[child])
      break;
    node = child;
  }
  return node;
}
/* Makes the tree again, by the settings. What was zoomed and selected stays, if it is there. */
function rebuild() {
  const zoomKeys = keysTo(zoomed), keys = keysTo(selected);
  tree = makeView();
  view = callersOf < 0 ? tree : makeCallers(callersOf);
  methods = null;
  hovered = -1;
  tip.hidden = true;
  zoomed = nodeOfKeys(zoomKeys);
  selected = nodeOfKeys(keys);
  if (selected < zoomed || selected >= view.end[zoomed])
    selected = zoomed;
  showLegend();
  if (!graph.hidden)
    resize();
  zoomTo(zoomed, selected);
  search();
}

/* Switches: the button of each setting. */
const SWITCHES = [
  { id: 'before', setting: 'isBefore', isUseful: () => isComparison },
  { id: 'yours', setting: 'foldsExternal', isUseful: () => listed.some((frame) => frame.isYours) },
  { id: 'processes', setting: 'hasProcesses', isUseful: () => data.processes.length > 1 },
  { id: 'physical', setting: 'isPhysical', isUseful: () => data.physical.length > 0 },
  { id: 'unnamed', setting: 'foldsUnnamed', isUseful: () => listed.some((frame) => frame.isUnnamed) },
];
function toggle({ id, setting, isUseful }) {
  if (!isUseful())
    return;
  settings[setting] = !settings[setting];
  $(id).setAttribute('aria-pressed', settings[setting]);
  rebuild();
}
for (const row of SWITCHES) {
  $(row.id).hidden = !row.isUseful();
  $(row.id).setAttribute('aria-pressed', settings[row.setting]);
  $(row.id).addEventListener('click', () => toggle(row));
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
  if (!strip.hidden)
    drawStrip();
}
const toggleTheme = () => setTheme(document.documentElement.dataset.theme !== 'dark');

/* The colours that there are, each with the share of the samples that ended in it. */
const legendShares = new Map();
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
  const there = new Set(listed.filter((frame) => frame.kind !== 'thread').map((frame) => frame.colour));
  data.colours.forEach(([text, rgb], colour) => {
    if (!there.has(colour))
      return;
    const item = document.createElement('li'), button = document.createElement('button');
    const swatch = element('i', '', ''), part = element('b', '', '');
    swatch.style.background = rgb;
    button.type = 'button';
    button.title = 'Show only these; the share of samples that ended in them';
    button.setAttribute('aria-pressed', 'false');
    button.append(swatch, element('span', '', text), part);
    button.addEventListener('click', () => {
      shownColour = shownColour === colour ? -1 : colour;
      for (const other of $('legend').querySelectorAll('button'))
        other.setAttribute('aria-pressed', other === button && shownColour === colour);
      redraw();
    });
    item.append(button);
    $('legend').append(item);
    legendShares.set(colour, part);
  });
  if (listed.some((frame) => frame.isMarked))
    $('legend').append(element('li', 'note', '~ name not certain'));
}
function showLegend() {
  const { paths } = tree, sums = new Float64Array(data.colours.length);
  for (let i = 1; i < paths.base.length; i++)
    sums[paths.base[i] ? frameOfNode(paths.base[i]).colour : 0] += paths.self[i];
  for (const [colour, part] of legendShares) {
    part.textContent = sums[colour] ? share(sums[colour], tree.whole) : '';
    part.hidden = !sums[colour];
  }
}

/* Mouse. */
canvas.addEventListener('mousemove', (event) => {
  const node = nodeAt(event.offsetX, event.offsetY);
  if (node < 0)
    tip.hidden = true;
  else
    placeTip(describe(node), event.clientX, event.clientY);
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
  const above = view.parent[selected];
  let found = -1, before = -1;
  for (let child = above + 1; selected && child < view.end[above]; child = view.end[child]) {
    if (child === selected && step < 0)
      found = before;
    if (before === selected && step > 0)
      found = child;
    before = child;
  }
  return found;
}
function callee() {
  for (let i = selected + 1; i < view.end[selected]; i = view.end[i])
    if (view.total[i])
      return i;
  return -1;
}
const KEYS = {
  ArrowUp: () => (isFlipped ? callee() : selected ? view.parent[selected] : -1),
  ArrowDown: () => (isFlipped ? selected ? view.parent[selected] : -1 : callee()),
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
    zoom(view.parent[zoomed]);
  }
});
const press = (id) => () => $(id).click();
const SHORTCUTS = {
  '/': () => $('search').focus(), b: press('before'), f: flip, s: toggleSource, t: toggleTheme, y: press('yours'),
  k: press('physical'), p: press('processes'), u: press('unnamed'), c: press('callers'), m: press('table'), n: () => nextMatch(1), N: () => nextMatch(-1),
};
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (query) {
      $('search').value = '';
      search();
    } else if (zoomed) {
      zoom(0);
    } else if (callersOf >= 0) {
      showCallers(-1);
    } else if (settings.range || settings.thread >= 0) {
      choose(null, -1);
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
  timer = setTimeout(search, nNodes > 100000 ? 150 : 0);
});
$('search').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') {
    search();
    nextMatch(event.shiftKey ? -1 : 1);
  }
});
$('callers').addEventListener('click', () => {
  toggleTable(false);
  showCallers(callersOf < 0 ? view.key[selected] : -1);
});
$('reset').addEventListener('click', () => zoom(0));
$('flip').addEventListener('click', flip);
$('source').addEventListener('click', toggleSource);
$('theme').addEventListener('click', toggleTheme);
$('table').addEventListener('click', () => toggleTable($('methods').hidden));
for (const button of document.querySelectorAll('th button'))
  button.addEventListener('click', () => {
    const key = button.dataset.key;
    isDescending = key === sortedBy() ? !isDescending : ['self', 'total', 'change', 'seconds'].includes(key);
    sortKey = key;
    showMethods();
  });

$('subtitle').textContent = data.subtitle;
$('source').hidden = !hot.size;
$('change').hidden = !isComparison;
$('seconds').hidden = !isComparison || !hasSeconds;
makeLegend();
showLegend();
setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
  (event) => setTheme(event.matches));
beginStrip();
new ResizeObserver(resize).observe(graph);
resize();
zoom(0);

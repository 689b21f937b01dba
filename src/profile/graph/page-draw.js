/* The graph: where the nodes of the view are, and how they look. */
const ROW = 19, PADDING = 4, CELLS_MIN = 4, WIDTH_MIN = 0.3, LINES_MAX = 8;
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const MATCH = '#ff7ad9';
const canvas = $('canvas'), context = canvas.getContext('2d');
const graph = $('graph'), space = $('space'), tip = $('tip'), details = $('details');

/* What is drawn: the tree of calls, or a method's callers (then TREE has the other one). */
let tree = makeView(), view = tree;
let zoomed = 0, selected = 0, hovered = -1, isFlipped = false, shownColour = -1;
/* Of each node of the view: was it searched for? null: nothing was. */
let isMatch = null;
let width = 0, height = 0, cell = 7.25, isDrawn = true;

const count = (value) => value.toLocaleString('en-US');
function share(part, whole) {
  const percent = whole ? 100 * part / whole : 0;
  return percent.toFixed(!part ? 0 : percent < 1 ? 2 : 1) + ' %';
}
/* The time that a sample stands for, of the recording that is shown, or of the other one; undefined: not known. */
const eachSeconds = (isOther) => data.seconds[settings.isBefore !== isOther ? 1 : 0];
const hasSeconds = data.seconds.length > 0;
const secondsOf = (samples, isOther) => (samples * eachSeconds(isOther)).toFixed(2) + ' s';
/* Samples of the recording that is shown, or of the other one, with their share, and their time. */
const amount = (samples, isOther) => count(samples) + ' (' + share(samples, isOther ? view.otherWhole : view.whole) +
  (hasSeconds && isComparison ? ', ' + secondsOf(samples, isOther) : '') + ')';
const signed = (points) => (points > 0 ? '+' : '') + points.toFixed(2);

/* Labels. */
function cellsOf(text) {
  let sum = 0;
  for (const c of text)
    sum += c.codePointAt(0) < 0x1100 ? 1 : 2;
  return sum;
}
function label(frame, room) {
  if (room < CELLS_MIN)
    return '';
  frame.cells ??= cellsOf(frame.name);
  frame.shortCells ??= cellsOf(frame.short);
  if (frame.cells <= room)
    return frame.name;
  if (frame.shortCells <= room)
    return frame.short;
  let text = '', left = room - 1;
  for (const c of frame.short) {
    left -= cellsOf(c);
    if (left < 0)
      break;
    text += c;
  }
  return text + '\u2026';
}

/* Where nodes are. Rows are counted from the root; flipped, the root is the lowest. */
const nRows = () => view.deepest + 1;
const rowTop = (row) => (isFlipped ? nRows() - 1 - row : row) * ROW;

let style = {};
function readStyle() {
  const computed = getComputedStyle(document.documentElement);
  for (const name of ['back', 'panel', 'text', 'faint', 'line', 'focus'])
    style[name] = computed.getPropertyValue('--' + name).trim();
}

function colourOf(node) {
  if (isMatch?.[node])
    return MATCH;
  return view.change ? data.changes[view.change[node]][1] : data.colours[view.frame[node].colour][1];
}

function drawFrame(node, x, w, isCaller) {
  const frame = view.frame[node];
  const top = rowTop(view.depth[node]) - graph.scrollTop;
  if (top + ROW < 0 || top > height)
    return;
  const isOff = shownColour >= 0 && frame.colour !== shownColour;
  const gap = w > 2 ? 0.5 : 0;
  context.globalAlpha = isOff ? 0.15 : isCaller ? 0.45 : isMatch?.[node] || view.change ? 1
    : 1 - 0.07 * frame.shade;
  context.fillStyle = colourOf(node);
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
    node = view.parent[node];
    drawFrame(node, 0, width, true);
  }
  const scale = view.total[zoomed] ? width / view.total[zoomed] : 0;
  /* What comes after the lowest row that is seen is not seen either. */
  const lastRow = isFlipped ? nRows() - 1 - Math.floor(graph.scrollTop / ROW)
    : Math.ceil((graph.scrollTop + height) / ROW);
  for (let i = zoomed; i < view.end[zoomed]; ) {
    const w = i === zoomed ? width : view.total[i] * scale;
    if (w < WIDTH_MIN || view.depth[i] > lastRow) {
      i = view.end[i];
      continue;
    }
    drawFrame(i, (view.start[i] - view.start[zoomed]) * scale, w, false);
    i++;
  }
  if (view.n === 1) {
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

/* A canvas with the pixels of the screen. */
function fitCanvas(element, w, h) {
  const ratio = devicePixelRatio || 1, pen = element.getContext('2d');
  element.style.width = w + 'px';
  element.style.height = h + 'px';
  element.width = Math.round(w * ratio);
  element.height = Math.round(h * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}
function resize() {
  height = graph.clientHeight;
  space.style.height = Math.max(nRows() * ROW + 4, height) + 'px';
  width = graph.clientWidth;
  fitCanvas(canvas, width, height);
  context.font = FONT;
  cell = context.measureText('MMMMMMMMMM').width / 10 || cell;
  draw();
}

/* The node at a point of the canvas, or -1. */
function nodeAt(x, y) {
  const line = Math.floor((y + graph.scrollTop) / ROW);
  const row = isFlipped ? nRows() - 1 - line : line;
  if (row < 0 || row >= nRows() || x < 0 || x > width)
    return -1;
  let node = zoomed;
  if (row <= view.depth[zoomed]) {
    while (view.depth[node] > row)
      node = view.parent[node];
    return node;
  }
  const at = view.start[zoomed] + x / width * view.total[zoomed];
  while (view.depth[node] < row) {
    let child = node + 1;
    while (child < view.end[node] && at >= view.start[child] + view.total[child])
      child = view.end[child];
    if (child >= view.end[node])
      return -1;
    node = child;
  }
  return view.total[node] * width / view.total[zoomed] < WIDTH_MIN ? -1 : node;
}

/* What is known of a node, as lines for the tip and for the details below. */
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
/* The node's samples by WORD of their frame, the largest share first: ["a 60 %", "b 40 %"]. */
function shares(node, word) {
  const { paths } = view, sums = new Map();
  for (let i = view.firstPath?.[node]; i; i = view.nextPath[i]) {
    const text = paths.base[i] ? word(frameOfNode(paths.base[i])) : '';
    sums.set(text, (sums.get(text) || 0) + paths.total[i]);
  }
  if (sums.size < 2)
    return [...sums.keys()].filter(Boolean);
  return [...sums].filter(([text, samples]) => text && samples).sort((a, b) => b[1] - a[1])
    .map(([text, samples]) => text + ' ' + share(samples, view.total[node]));
}
/* A caller, by the samples of the method that it leads to. */
function describeCaller(node) {
  const { name, kind, module } = view.frame[node];
  const whose = node ? 'of ' + view.frame[0].name + ' by this caller' : 'with what it called \u00b7 its callers are below';
  const numbers = [amount(view.total[node], false), amount(view.otherTotal[node], true)];
  const samples = [numbers[0].replace(' (', ' ' + data.noun + (view.total[node] === 1 ? ' (' : 's (')) + ' ' + whose];
  if (node)
    samples.push(share(view.total[node], view.total[0]) + ' of its samples');
  if (isComparison)
    samples.push((settings.isBefore ? 'after ' : 'before ') + numbers[1]);
  return [element('div', 'name', name), element('div', 'facts', [kind, module].filter(Boolean).join(' \u00b7 ')),
    element('div', 'facts', samples.join(' \u00b7 '))];
}
function describe(node) {
  if (view.isCallers)
    return describeCaller(node);
  const frame = view.frame[node], isRun = view.key[node] < 0 || view.key[node] >= EXTERNAL;
  const what = [frame.kind, frame.module].filter(Boolean);
  const tierOf = (other) => (other.tier || other.isMarked ? other.tier || 'tier unknown' : '') +
    (other.isMarked ? ', name not certain' : '');
  const tiers = isRun ? [] : shares(node, tierOf), lines = isRun ? [] : shares(node, (other) => other.source);
  const samples = [
    amount(view.total[node], false).replace(' (', ' ' + data.noun + (view.total[node] === 1 ? ' (' : 's (')),
    'itself ' + amount(view.self[node], false),
  ];
  if (isComparison)
    samples.push((settings.isBefore ? 'after ' : 'before ') + amount(view.otherTotal[node], true) + ', itself ' +
      amount(view.other[node], true),
    signed(change(view.total[node], view.whole, view.otherTotal[node], view.otherWhole)) + ' points, itself ' +
      signed(change(view.self[node], view.whole, view.other[node], view.otherWhole)));
  if (zoomed && node !== zoomed && view.depth[node] > view.depth[zoomed])
    samples.push(share(view.total[node], view.total[zoomed]) + ' of the zoom');
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
/* Puts the tip beside a point of the window. */
function placeTip(lines, x, y) {
  tip.hidden = false;
  tip.replaceChildren(...lines);
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10)
    : y + 18) + 'px';
}

function scrollToNode(node) {
  const top = rowTop(view.depth[node]);
  if (top < graph.scrollTop)
    graph.scrollTop = top;
  else if (top + ROW > graph.scrollTop + height)
    graph.scrollTop = top + ROW - height;
}

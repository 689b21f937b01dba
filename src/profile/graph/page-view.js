/* The tree that is shown: made of the stacks, as the switches want it. */

/* What is shown of the samples, and how. */
const settings = {
  isBefore: false,       /* of a comparison, the other recording */
  foldsUnnamed: true,    /* runs of unnamed frames of one library are one frame */
  foldsExternal: false,  /* frames between those of your code are one frame */
  hasProcesses: data.processes.length > 1,
  range: null,           /* [from, to): buckets of time; null: all */
  isPhysical: false,     /* stacks as the threads have them */
  thread: -1,            /* of data.threads; -1: all */
};

/* Keys of nodes: numbers of methods; after them, external code, and processes. */
const EXTERNAL = methodFrames.length, PROCESS = EXTERNAL + 1;
const MISSING = { methodName: '', tier: '', isMarked: false, shade: 0, source: '', isYours: false };
const ALL = { ...MISSING, name: 'all', short: 'all', module: '', kind: 'all samples', colour: data.colours.length - 1 };

/* Marks of missing frames, threads and sessions stay. */
const isExternal = (frame) => !frame.isYours && ['managed', 'native', 'kernel'].includes(frame.kind);

/*
 * Paths are stacks of samples, nodes what is shown of them: several paths are in one node if their
 * frames are folded, or are of one method. Each list begins with the root.
 */
function makePaths() {
  const paths = { base: [0], parent: [0], node: [0], length: [0], self: [0], other: [0] };
  const nodes = { parent: [0], key: [-1], low: [Infinity], high: [0] };
  const byKey = new Map(), chain = [];
  /* The path of each node of the stacks' tree, above or at the innermost frame of your code, and below; 0: none yet. */
  const above = new Uint32Array(nNodes), below = new Uint32Array(nNodes);
  let root = 0, process = -1;

  function nodeOf(parent, key) {
    const place = parent * (PROCESS + data.processes.length) + key;
    let node = byKey.get(place);
    if (node === undefined) {
      byKey.set(place, node = nodes.parent.length);
      nodes.parent.push(parent);
      nodes.key.push(key);
      nodes.low.push(Infinity);
      nodes.high.push(0);
    }
    return node;
  }
  function addPath(base, parent, node, length) {
    paths.base.push(base);
    paths.parent.push(parent);
    paths.node.push(node);
    paths.length.push(length);
    paths.self.push(0);
    paths.other.push(0);
    return paths.base.length - 1;
  }
  /* A run of folded frames ends with this path. */
  function endRun(path) {
    const node = paths.node[path], length = paths.length[path];
    if (length) {
      nodes.low[node] = Math.min(nodes.low[node], length);
      nodes.high[node] = Math.max(nodes.high[node], length);
    }
  }
  function step(base, from, isAbove) {
    const frame = frameOfNode(base), isFolded = isAbove && isExternal(frame);
    const key = isFolded ? EXTERNAL : frame.method;
    const length = isFolded || (settings.foldsUnnamed && frame.isUnnamed) ? 1 : 0;
    if (length && paths.length[from] && nodes.key[paths.node[from]] === key)
      return addPath(base, from, paths.node[from], paths.length[from] + 1);
    endRun(from);
    return addPath(base, from, nodeOf(paths.node[from], key), length);
  }
  function pathOf(leaf) {
    const yours = settings.foldsExternal ? nodeYours[leaf] : 0;
    let at = leaf, from = 0;
    for (; at && !(from = (at <= yours ? above : below)[at]); at = nodeParent[at])
      chain.push(at);
    from ||= root;
    while (chain.length) {
      at = chain.pop();
      from = step(at, from, at < yours);
      (at <= yours ? above : below)[at] = from;
    }
    return from;
  }
  function enter(newProcess) {
    process = newProcess;
    root = addPath(0, 0, nodeOf(0, PROCESS + process), 0);
    above.fill(0);
    below.fill(0);
  }
  function add(cells, sums) {
    const [from, to] = settings.range || [0, nBuckets];
    for (let i = 0; i < cells.n; i++) {
      if (cells.bucket[i] < from || cells.bucket[i] >= to || (settings.thread >= 0 && settings.thread !== cells.thread[i]))
        continue;
      const itsProcess = data.threads[cells.thread[i]][0];
      if (settings.hasProcesses && itsProcess !== process)
        enter(itsProcess);
      sums[pathOf((settings.isPhysical ? stackPhysical : stackNode)[cells.stack[i]])] += cells.count[i];
    }
  }
  add(cells, settings.isBefore ? paths.other : paths.self);
  add(cellsBefore, settings.isBefore ? paths.self : paths.other);
  for (let i = 1; i < paths.base.length; i++)
    if (paths.self[i] || paths.other[i])
      endRun(i);
  return { paths, nodes };
}

/* Adds to each total what is below; parents are before children. */
function sumUp(selves, parents) {
  const totals = Float64Array.from(selves);
  for (let i = totals.length - 1; i > 0; i--)
    totals[parents[i]] += totals[i];
  return totals;
}

/* The frame of a node, by the frame of most of its samples. */
function frameOf(key, base, low, high) {
  if (key < 0)
    return ALL;
  if (key >= PROCESS) {
    const [pid, title] = data.processes[key - PROCESS];
    return { ...MISSING, name: title, short: title, module: '', kind: 'process ' + pid, colour: data.colours.length - 1 };
  }
  const frame = frameOfNode(base), times = high > 1 ? ' x' + (low < high ? low + '-' + high : high) : '';
  if (key === EXTERNAL)
    return { ...MISSING, name: '[external code]' + times, short: '[external code]' + times, module: '',
      kind: 'frames that are not of your code', colour: data.colours.length - 1 };
  return times ? { ...frame, name: frame.name + times, short: frame.short + times } : frame;
}

const nameOf = (key) => (key < EXTERNAL ? methodFrames[key].methodName : key >= PROCESS ? data.processes[key - PROCESS][1] : '');

/*
 * The nodes in the order of drawing: a node's callees follow it, up to its end; those with most
 * samples first. PLACE[i] is where the node i went.
 */
function layOut(nodes, selves, others) {
  const n = nodes.parent.length;
  const totals = sumUp(selves, nodes.parent), otherTotals = sumUp(others, nodes.parent);
  const first = new Int32Array(n).fill(-1), next = new Int32Array(n), place = new Uint32Array(n);
  const isEarlier = (a, b) => totals[b] - totals[a] || otherTotals[b] - otherTotals[a] ||
    (nameOf(nodes.key[a]) < nameOf(nodes.key[b]) ? -1 : 1);
  for (let i = n - 1; i > 0; i--) {
    next[i] = first[nodes.parent[i]];
    first[nodes.parent[i]] = i;
  }
  for (let i = 0; i < n; i++) {
    const siblings = [];
    for (let child = first[i]; child >= 0 && (siblings.length || next[child] >= 0); child = next[child])
      siblings.push(child);
    siblings.sort(isEarlier).forEach((child, k) => { next[child] = siblings[k + 1] ?? -1; });
    first[i] = siblings[0] ?? first[i];
  }
  const view = { n, place, deepest: 0, whole: totals[0], otherWhole: otherTotals[0], key: new Int32Array(n) };
  for (const name of ['parent', 'depth', 'end'])
    view[name] = new Uint32Array(n);
  for (const name of ['self', 'total', 'start', 'other', 'otherTotal'])
    view[name] = new Float64Array(n);
  for (let at = 0, i = 0, node = 0; node >= 0; at++) {
    const above = nodes.parent[node];
    place[node] = at;
    view.key[at] = nodes.key[node];
    view.self[at] = selves[node];
    view.total[at] = totals[node];
    view.other[at] = others[node];
    view.otherTotal[at] = otherTotals[node];
    if (node) {
      view.parent[at] = place[above];
      view.depth[at] = view.depth[place[above]] + 1;
    }
    view.deepest = Math.max(view.deepest, view.depth[at]);
    for (i = node, node = first[i]; node < 0 && i; i = nodes.parent[i])
      node = next[i];
  }
  const filled = new Float64Array(n);
  for (let i = 1; i < n; i++) {
    const above = view.parent[i];
    view.start[i] = filled[i] = filled[above];
    filled[above] += view.total[i];
  }
  for (let i = n - 1; i >= 0; i--) {
    view.end[i] = Math.max(view.end[i], i + 1);
    if (i)
      view.end[view.parent[i]] = Math.max(view.end[view.parent[i]], view.end[i]);
  }
  return view;
}

function makeView() {
  const { paths, nodes } = makePaths(), n = nodes.parent.length;
  const selves = new Float64Array(n), others = new Float64Array(n);
  paths.total = sumUp(paths.self, paths.parent);
  paths.otherTotal = sumUp(paths.other, paths.parent);
  for (let i = 0; i < paths.base.length; i++) {
    selves[paths.node[i]] += paths.self[i];
    others[paths.node[i]] += paths.other[i];
  }
  const view = layOut(nodes, selves, others);
  /* The paths of each node, as a list that ends with 0. */
  view.firstPath = new Uint32Array(n);
  view.nextPath = new Uint32Array(paths.base.length);
  const best = new Uint32Array(n);
  for (let i = 1; i < paths.base.length; i++) {
    const at = view.place[paths.node[i]], most = best[at];
    view.nextPath[i] = view.firstPath[at];
    view.firstPath[at] = i;
    if (!most || paths.total[i] > paths.total[most] ||
        (paths.total[i] === paths.total[most] && paths.otherTotal[i] > paths.otherTotal[most]))
      best[at] = i;
  }
  view.paths = paths;
  view.frame = new Array(n);
  for (let i = 0; i < n; i++) {
    const at = view.place[i];
    view.frame[at] = frameOf(nodes.key[i], paths.base[best[at]], nodes.low[i], nodes.high[i]);
  }
  if (isComparison)
    colourChanges(view);
  return view;
}

/* Of two shares: is their difference more than two standard errors? As of profile/change.c. */
function isCertain(part, whole, otherPart, otherWhole) {
  const p = (part + 1) / (whole + 2), q = (otherPart + 1) / (otherWhole + 2);
  return Math.abs(p - q) > 2 * Math.sqrt(p * (1 - p) / (whole + 2) + q * (1 - q) / (otherWhole + 2));
}
/* By how many points a share has changed from before. */
function change(part, whole, otherPart, otherWhole) {
  const points = (whole ? part / whole : 0) - (otherWhole ? otherPart / otherWhole : 0);
  return 100 * (settings.isBefore ? -points : points);
}
/* The colour of each node's change: by the root of its part of the largest one, as of profile/change.c. */
function colourChanges(view) {
  const steps = (data.changes.length - 1) / 2;
  const points = (i) => change(view.total[i], view.whole, view.otherTotal[i], view.otherWhole);
  let largest = 0;
  for (let i = 1; i < view.n; i++)
    largest = Math.max(largest, Math.abs(points(i)));
  view.change = new Uint8Array(view.n).fill(steps);
  for (let i = 1; i < view.n; i++)
    if (isCertain(view.total[i], view.whole, view.otherTotal[i], view.otherWhole))
      view.change[i] += Math.sign(points(i)) * Math.max(1, Math.ceil(Math.sqrt(Math.abs(points(i)) / largest) * steps));
}

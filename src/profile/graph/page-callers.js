/* The callers of a method: its samples by what called it, by what called that, and so on to the thread. */

/* The method whose callers are shown; -1: the tree of calls is shown. What was selected and zoomed in the tree. */
let callersOf = -1, callsSelected = [], callsZoomed = [];

const hasCallers = (key) => key >= 0 && key < EXTERNAL && methodFrames[key].kind !== 'thread';

/*
 * A tree with the method as its root, and callers below it. Each sample counts once: of a recursion by its outermost call.
 */
function makeCallers(method) {
  const { paths } = tree;
  const nodes = { parent: [0], key: [method] }, frames = [methodFrames[method]];
  const selves = [0], others = [0], byKey = new Map();
  function callerOf(node, at) {
    const key = tree.key[at], place = node * (PROCESS + data.processes.length) + key;
    let caller = byKey.get(place);
    if (caller === undefined) {
      byKey.set(place, caller = nodes.parent.length);
      nodes.parent.push(node);
      nodes.key.push(key);
      /* Runs of several lengths are one caller. */
      frames.push(key === EXTERNAL || tree.frame[at].isUnnamed ? frameOf(key, paths.base[tree.firstPath[at]], 1, 1) : tree.frame[at]);
      selves.push(0);
      others.push(0);
    }
    return caller;
  }
  for (let i = 1; i < paths.base.length; i++) {
    if (!paths.base[i] || frameOfNode(paths.base[i]).method !== method || !isOutermost(paths, i))
      continue;
    let node = 0;
    for (let at = tree.parent[tree.place[paths.node[i]]]; at; at = tree.parent[at])
      node = callerOf(node, at);
    /* Where the last caller is, so that the sums of all of them have it. */
    selves[node] += paths.total[i];
    others[node] += paths.otherTotal[i];
  }
  const made = layOut(nodes, selves, others);
  made.whole = tree.whole;
  made.otherWhole = tree.otherWhole;
  made.isCallers = true;
  made.frame = new Array(made.n);
  frames.forEach((frame, i) => { made.frame[made.place[i]] = frame; });
  if (isComparison)
    colourChanges(made);
  return made;
}

/* Shows the callers of a method; -1: the tree of calls again, as it was. */
function showCallers(method) {
  if (callersOf < 0) {
    callsSelected = keysTo(selected);
    callsZoomed = keysTo(zoomed);
  }
  callersOf = method;
  view = method < 0 ? tree : makeCallers(method);
  zoomed = method < 0 ? nodeOfKeys(callsZoomed) : 0;
  selected = method < 0 ? nodeOfKeys(callsSelected) : 0;
  if (selected < zoomed || selected >= view.end[zoomed])
    selected = zoomed;
  hovered = -1;
  tip.hidden = true;
  $('callers').setAttribute('aria-pressed', method >= 0);
  graph.scrollTop = 0;
  if (!graph.hidden)
    resize();
  zoomTo(zoomed, selected);
  search();
}

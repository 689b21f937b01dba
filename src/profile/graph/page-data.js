/* The page's data: frames, stacks, and the samples of each thread in each stack and each piece of time. */
const $ = (id) => document.getElementById(id);
const data = JSON.parse($('data').textContent);
/* Of a comparison, "before" are the samples of the other recording. */
const isComparison = Boolean(data.before);

const fileName = (path) => path.replace(/.*\/(?=.)/, '');

/* Frames. Those of one method differ by tier, line and certainty; METHOD is the method's number. */
const methodFrames = [], methodNumbers = new Map();
const listed = data.frames.map(([name, begin, stop, module, kind, tier, mark, colour, shade, isYours, file, line]) => {
  const key = JSON.stringify([name, module, kind]);
  if (!methodNumbers.has(key))
    methodNumbers.set(key, methodNumbers.size);
  const frame = {
    method: methodNumbers.get(key), methodName: name,
    name: mark ? name + ' ~' : name, short: name.slice(begin, stop) + (mark ? ' ~' : ''),
    module: module < 0 ? '' : data.modules[module],
    kind: data.kinds[kind], tier: tier < 0 ? '' : data.tiers[tier],
    isMarked: Boolean(mark), colour, shade, isYours: Boolean(isYours),
    source: line ? data.files[file] + ':' + line : '',
  };
  frame.isUnnamed = ['native', 'session'].includes(frame.kind) && Boolean(frame.module) &&
    name === '[' + fileName(frame.module) + ']';
  methodFrames[frame.method] ??= frame;
  return frame;
});

/* Stacks are paths of a tree from node 0; a node's parent has a smaller number. */
const nNodes = data.frame.length + 1;
const nodeFrame = new Uint32Array(nNodes), nodeParent = new Uint32Array(nNodes);
/* The nearest frame of your code, from the node itself towards the root; 0: there is none. */
const nodeYours = new Uint32Array(nNodes);
for (let i = 1; i < nNodes; i++) {
  nodeFrame[i] = data.frame[i - 1];
  nodeParent[i] = i - 1 - data.up[i - 1];
  nodeYours[i] = listed[nodeFrame[i]].isYours ? i : nodeYours[nodeParent[i]];
}
const frameOfNode = (node) => listed[nodeFrame[node]];

/* The leaves of stacks. */
const stackNode = new Uint32Array(data.stacks.length);
for (let i = 0, at = 0; i < stackNode.length; i++)
  stackNode[i] = at += data.stacks[i];
/* Those of the threads themselves, without the methods that await. */
const stackPhysical = stackNode.map((node, i) => data.physical[i] || node);

/* Samples of one thread, one stack and one bucket of time. */
function decode(lists) {
  const n = lists.reduce((sum, list) => sum + list.length / 3, 0);
  const cells = { n, thread: new Uint32Array(n), bucket: new Uint32Array(n),
    stack: new Uint32Array(n), count: new Float64Array(n) };
  let at = 0;
  lists.forEach((list, thread) => {
    for (let i = 0, bucket = 0, stack = 0; i < list.length; i += 3, at++) {
      if (list[i])
        stack = 0;
      cells.thread[at] = thread;
      cells.bucket[at] = bucket += list[i];
      cells.stack[at] = stack += list[i + 1];
      cells.count[at] = list[i + 2];
    }
  });
  return cells;
}
/* ns from the first sample to the last, and in how many buckets. */
const [duration, nBuckets] = data.time;
const cells = decode(data.cells), cellsBefore = decode(data.before || []);

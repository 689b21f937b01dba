/* The strip over time: samples, the busiest threads, and garbage collections. A range of it can be selected. */
const strip = $('strip'), time = $('time');
const GUTTER = 170, AXIS = 14, BARS = 40, LANE = 11, THREADS_MAX = 5, BIN = 3;
const ns = duration / nBuckets;
const MARKERS = [{ colour: '#d99a2b', text: 'garbage collection' }, { colour: '#d6453d', text: 'paused for a collection' }];
let stripWidth = 0, dragFrom = -1;

const seconds = (value) => (value / 1e9).toFixed(duration < 1e8 ? 4 : duration < 1e10 ? 2 : 1) + ' s';

/* Samples by bucket: of all threads, and of the busiest. */
const byBucket = new Float64Array(nBuckets);
let busiest = [];
function countBuckets() {
  const totals = new Float64Array(data.threads.length);
  for (let i = 0; i < cells.n; i++) {
    byBucket[cells.bucket[i]] += cells.count[i];
    totals[cells.thread[i]] += cells.count[i];
  }
  const order = [...totals.keys()].filter((thread) => totals[thread]).sort((a, b) => totals[b] - totals[a]);
  busiest = order.length < 2 ? [] : order.slice(0, THREADS_MAX).map((thread) => ({ thread, counts: new Float64Array(nBuckets) }));
  const lanes = new Map(busiest.map(({ thread, counts }) => [thread, counts]));
  for (let i = 0; i < cells.n; i++)
    if (lanes.has(cells.thread[i]))
      lanes.get(cells.thread[i])[cells.bucket[i]] += cells.count[i];
}
function threadName(thread) {
  const [process, tid, frame] = data.threads[thread];
  return listed[frame].name + ' ' + tid + (data.processes.length > 1 ? ' of ' + data.processes[process][1] : '');
}

const xOf = (bucket) => GUTTER + bucket / nBuckets * (stripWidth - GUTTER);
const bucketAt = (x) => Math.max(0, Math.min(nBuckets, (x - GUTTER) / (stripWidth - GUTTER) * nBuckets));
/* Buckets that are drawn as one. */
const binSize = () => 2 ** Math.max(0, Math.ceil(Math.log2(nBuckets * BIN / Math.max(1, stripWidth - GUTTER))));
const laneTop = (lane) => AXIS + BARS + 3 + lane * (LANE + 2);

function drawBins(pen, counts, top, tall, isBars) {
  const size = binSize(), sums = [];
  for (let i = 0; i < nBuckets; i++)
    sums[Math.floor(i / size)] = (sums[Math.floor(i / size)] || 0) + counts[i];
  const most = Math.max(...sums);
  sums.forEach((sum, bin) => {
    const x = xOf(bin * size), w = Math.max(1, xOf(Math.min(nBuckets, (bin + 1) * size)) - x - 0.5);
    const part = most ? sum / most : 0, h = isBars ? Math.ceil(part * tall) : tall;
    pen.globalAlpha = isBars || !part ? 1 : 0.25 + 0.75 * part;
    if (part)
      pen.fillRect(x, top + tall - h, w, h);
  });
  pen.globalAlpha = 1;
}
function drawStrip() {
  const pen = fitCanvas(time, stripWidth, laneTop(busiest.length + (data.markers.length ? 1 : 0)) + 2);
  pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
  pen.textBaseline = 'middle';
  const write = (text, top, tall) => {
    pen.save();
    pen.beginPath();
    pen.rect(0, top, GUTTER - 6, tall);
    pen.clip();
    pen.fillText(text, 4, top + tall / 2 + 0.5);
    pen.restore();
  };
  pen.fillStyle = style.back;
  pen.fillRect(0, 0, stripWidth, time.clientHeight);
  pen.fillStyle = style.faint;
  write(data.noun + 's over time', AXIS, BARS);
  for (let i = 0; i <= 5; i++) {
    pen.textAlign = i === 5 ? 'right' : i ? 'center' : 'left';
    pen.fillText(seconds(duration * i / 5), xOf(nBuckets * i / 5), AXIS / 2);
  }
  pen.textAlign = 'left';
  pen.fillStyle = data.colours[0][1];
  drawBins(pen, byBucket, AXIS, BARS, true);
  busiest.forEach(({ thread, counts }, lane) => {
    pen.fillStyle = thread === settings.thread ? style.focus : style.faint;
    write(threadName(thread), laneTop(lane) - 1, LANE + 2);
    pen.fillStyle = data.colours[0][1];
    drawBins(pen, counts, laneTop(lane), LANE, false);
  });
  if (data.markers.length) {
    const top = laneTop(busiest.length);
    pen.fillStyle = style.faint;
    write('collections', top - 1, LANE + 2);
    for (const [kind, , begin, length] of data.markers) {
      pen.fillStyle = MARKERS[kind].colour;
      pen.fillRect(xOf(begin / ns), kind ? top + 2 : top, Math.max(1, xOf((begin + length) / ns) - xOf(begin / ns)), kind ? LANE - 2 : LANE);
    }
  }
  if (settings.range) {
    const [from, to] = settings.range.map(xOf), h = time.clientHeight;
    pen.globalAlpha = 0.6;
    pen.fillStyle = style.back;
    pen.fillRect(GUTTER, AXIS, from - GUTTER, h);
    pen.fillRect(to, AXIS, stripWidth - to, h);
    pen.globalAlpha = 1;
    pen.strokeStyle = style.focus;
    pen.strokeRect(from + 0.5, AXIS + 0.5, Math.max(1, to - from - 1), h - AXIS - 1);
  }
  if (document.activeElement === time) {
    pen.strokeStyle = style.focus;
    pen.strokeRect(0.5, 0.5, stripWidth - 1, time.clientHeight - 1);
  }
}
function showRange() {
  const parts = [];
  if (settings.range)
    parts.push(settings.range.map((bucket) => seconds(bucket * ns)).join(' to '));
  if (settings.thread >= 0)
    parts.push('thread ' + threadName(settings.thread));
  const part = tree.whole / allSamples;
  $('range').textContent = parts.length
    ? parts.join(', ') + ': ' + count(tree.whole) + ' ' + data.noun + (tree.whole === 1 ? '' : 's') + ' (' + share(part, 1) + '); shares are of these'
    : 'Drag over the strip to look at a part of the time, click on a thread to look at it alone.';
  $('all').hidden = !parts.length;
}

/* Samples from bucket to bucket, and of a thread; null and -1: of all. */
function choose(range, thread) {
  settings.range = range;
  settings.thread = thread;
  rebuild();
  showRange();
  drawStrip();
}
function rangeOf(from, to) {
  const size = binSize(), low = Math.floor(Math.min(from, to) / size) * size;
  return [low, Math.min(nBuckets, Math.max(low + size, Math.ceil(Math.max(from, to) / size) * size))];
}
const laneAt = (y) => busiest.findIndex((_, lane) => y >= laneTop(lane) - 1 && y < laneTop(lane) + LANE + 1);

function tipAt(x, y) {
  const lane = laneAt(y), at = bucketAt(x) * ns;
  if (x < GUTTER)
    return lane < 0 ? [] : [threadName(busiest[lane].thread), 'Click to see this thread alone'];
  const slack = 2 * ns * nBuckets / stripWidth;
  const markers = y < laneTop(busiest.length) ? []
    : data.markers.filter(([, , begin, length]) => at >= begin - slack && at <= begin + length + slack);
  if (markers.length)
    return markers.slice(0, LINES_MAX).map(([kind, process, , length, text]) => [MARKERS[kind].text, text,
      (length / 1e6).toFixed(2) + ' ms', data.processes.length > 1 && process >= 0 ? data.processes[process][1] : ''].filter(Boolean).join(' \u00b7 '));
  const [from, to] = rangeOf(bucketAt(x), bucketAt(x)), counts = lane < 0 ? byBucket : busiest[lane].counts;
  const sum = counts.subarray(from, to).reduce((all, one) => all + one, 0);
  return [seconds(from * ns) + ' to ' + seconds(to * ns), count(sum) + ' ' + data.noun + (sum === 1 ? '' : 's') +
    (lane < 0 ? '' : ' of ' + threadName(busiest[lane].thread))];
}

time.addEventListener('mousedown', (event) => {
  const lane = laneAt(event.offsetY);
  if (event.offsetX >= GUTTER)
    dragFrom = bucketAt(event.offsetX);
  else if (lane >= 0)
    choose(settings.range, busiest[lane].thread === settings.thread ? -1 : busiest[lane].thread);
});
addEventListener('mousemove', (event) => {
  if (dragFrom < 0)
    return;
  settings.range = rangeOf(dragFrom, bucketAt(event.clientX - time.getBoundingClientRect().x));
  drawStrip();
});
addEventListener('mouseup', (event) => {
  if (dragFrom < 0)
    return;
  const to = bucketAt(event.clientX - time.getBoundingClientRect().x);
  const isClick = Math.abs(xOf(to) - xOf(dragFrom)) < 3;
  /* A click ends the selection. */
  choose(isClick ? null : rangeOf(dragFrom, to), settings.thread);
  dragFrom = -1;
});
time.addEventListener('mousemove', (event) => {
  const lines = tipAt(event.offsetX, event.offsetY);
  tip.hidden = true;
  if (lines.length)
    placeTip(lines.map((line) => element('div', 'facts', line)), event.clientX, event.clientY);
});
time.addEventListener('mouseleave', () => { tip.hidden = true; });
time.addEventListener('keydown', (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] * Math.max(binSize(), Math.round(nBuckets / 64));
  if (!step || event.ctrlKey || event.altKey || event.metaKey)
    return;
  const [from, to] = settings.range || [0, 0];
  const newTo = Math.max(from + 1, Math.min(nBuckets, to + step));
  event.preventDefault();
  choose(event.shiftKey || !settings.range ? rangeOf(from, newTo)
    : rangeOf(Math.max(0, Math.min(nBuckets - 1, from + step)), newTo), settings.thread);
});
for (const name of ['focus', 'blur'])
  time.addEventListener(name, drawStrip);
$('all').addEventListener('click', () => choose(null, -1));

function beginStrip() {
  strip.hidden = nBuckets < 2;
  if (strip.hidden)
    return;
  countBuckets();
  new ResizeObserver(() => {
    stripWidth = strip.clientWidth;
    drawStrip();
  }).observe(strip);
  stripWidth = strip.clientWidth;
  showRange();
  drawStrip();
}

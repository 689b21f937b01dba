/* Search, zoom and details of the flame graph; without it the file is a still picture. */
(function () {
  'use strict';
  const svg = document.currentScript.closest('svg');
  const group = svg.querySelector('#frames');
  const texts = svg.querySelectorAll('text.l');
  const details = texts[texts.length - 1];
  const MARGIN = 10, PADDING = 3, CELL = 7.25, CELLS_MIN = 4, WIDTH_MIN = 0.1, GAP = 0.5;
  const XHTML = 'http://www.w3.org/1999/xhtml';

  const frames = Array.from(group.children, (element) => {
    const rect = element.querySelector('rect');
    const title = element.querySelector('title').textContent;
    const name = title.slice(0, title.indexOf('\n'));
    const part = element.dataset.k ? element.dataset.k.split(',').map(Number) : null;
    return {
      element, rect, text: element.querySelector('text'), name,
      short: part ? name.slice(part[0], part[1]) + (name.endsWith(' ~') ? ' ~' : '') : name,
      details: title.replaceAll('\n', ' \u00b7 '),
      y: Number(rect.getAttribute('y')),
      start: Number(element.dataset.s), count: Number(element.dataset.n),
    };
  });
  if (!frames.length)
    return;
  const byElement = new Map(frames.map((frame) => [frame.element, frame]));
  const root = frames[0];
  let zoomed = root, width = 0;

  function cells(text) {
    let n = 0;
    for (const c of text)
      n += c.codePointAt(0) < 0x1100 ? 1 : 2;
    return n;
  }

  function label(frame, room) {
    if (room < CELLS_MIN)
      return '';
    if (cells(frame.name) <= room)
      return frame.name;
    if (cells(frame.short) <= room)
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

  function setLabel(frame, x, w) {
    const text = label(frame, Math.floor((w - 2 * PADDING) / CELL));
    if (!text && !frame.text)
      return;
    if (!frame.text) {
      frame.text = document.createElementNS(svg.namespaceURI, 'text');
      frame.text.setAttribute('y', frame.y + 13);
      frame.element.append(frame.text);
    }
    frame.text.textContent = text;
    frame.text.setAttribute('x', x + PADDING);
  }

  function layout() {
    const scale = (width - 2 * MARGIN) / zoomed.count;
    const end = zoomed.start + zoomed.count;
    for (const frame of frames) {
      const frameEnd = frame.start + frame.count;
      /* Lower ones that hold all of it are what called it. */
      const isCaller = frame.y > zoomed.y && frame.start <= zoomed.start && frameEnd >= end;
      const isCalled = frame.y <= zoomed.y && frame.start >= zoomed.start && frameEnd <= end;
      const w = isCaller ? width - 2 * MARGIN : frame.count * scale;
      const isShown = isCaller || (isCalled && w >= WIDTH_MIN);
      frame.element.style.display = isShown ? '' : 'none';
      if (!isShown)
        continue;
      const x = isCaller ? MARGIN : MARGIN + (frame.start - zoomed.start) * scale;
      frame.element.classList.toggle('dim', isCaller);
      frame.rect.setAttribute('x', x);
      frame.rect.setAttribute('width', w > 4 * GAP ? w - GAP : w);
      setLabel(frame, x, w);
    }
    reset.style.visibility = zoomed === root ? 'hidden' : 'visible';
  }

  function zoom(frame) {
    zoomed = frame;
    layout();
  }

  /* Letters in any case; a pattern between slashes. */
  function matcher(query) {
    const pattern = /^\/(.+)\/$/.exec(query);
    if (pattern) {
      try {
        const regexp = new RegExp(pattern[1], 'i');
        return (name) => regexp.test(name);
      } catch {
        return () => false;
      }
    }
    const lower = query.toLowerCase();
    return (name) => name.toLowerCase().includes(lower);
  }

  function search(query) {
    const matches = query ? matcher(query) : () => false;
    const ranges = [];
    for (const frame of frames) {
      const isMatch = matches(frame.name);
      frame.element.classList.toggle('match', isMatch);
      if (isMatch)
        ranges.push(frame);
    }
    /* A match above another one is in it. */
    ranges.sort((a, b) => a.start - b.start || b.count - a.count);
    let sum = 0, covered = 0;
    for (const frame of ranges) {
      if (frame.start >= covered) {
        sum += frame.count;
        covered = frame.start + frame.count;
      }
    }
    found.textContent = query ? (100 * sum / root.count).toFixed(1) + ' % match' : '';
  }

  /* Controls, which a still picture has no use for. */
  const holder = document.createElementNS(svg.namespaceURI, 'foreignObject');
  const controls = document.createElementNS(XHTML, 'div');
  const found = document.createElementNS(XHTML, 'output');
  const input = document.createElementNS(XHTML, 'input');
  const reset = document.createElementNS(XHTML, 'button');
  input.type = 'search';
  input.placeholder = 'Search (/regex/)';
  input.setAttribute('aria-label', 'Search for methods');
  input.addEventListener('input', () => search(input.value.trim()));
  reset.type = 'button';
  reset.textContent = 'Reset zoom';
  reset.addEventListener('click', () => zoom(root));
  controls.style.cssText = 'display:flex;gap:8px;justify-content:flex-end;align-items:center;' +
    'font:12px system-ui,"DejaVu Sans",sans-serif;color-scheme:light dark';
  found.style.color = getComputedStyle(details).fill;
  found.style.whiteSpace = 'nowrap';
  input.style.cssText = 'width:170px;font:inherit;padding:3px 6px';
  reset.style.cssText = 'font:inherit;padding:3px 8px;white-space:nowrap';
  controls.append(found, reset, input);
  holder.append(controls);
  holder.setAttribute('y', 6);
  holder.setAttribute('width', 460);
  holder.setAttribute('height', 32);
  svg.append(holder);
  svg.classList.add('active');

  group.addEventListener('click', (event) => {
    const frame = byElement.get(event.target.closest('.f'));
    if (frame)
      zoom(frame);
  });
  group.addEventListener('mouseover', (event) => {
    const frame = byElement.get(event.target.closest('.f'));
    details.textContent = frame ? frame.details : '';
  });
  group.addEventListener('mouseleave', () => {
    details.textContent = '';
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      zoom(root);
    } else if (event.key === '/' && event.target !== input) {
      event.preventDefault();
      input.focus();
    }
  });

  /* As wide as the window, if the file is by itself. */
  function resize() {
    const box = svg.viewBox.baseVal;
    width = document.documentElement === svg ? Math.max(600, innerWidth) : box.width;
    svg.setAttribute('width', width);
    svg.setAttribute('viewBox', `0 0 ${width} ${box.height}`);
    holder.setAttribute('x', width - MARGIN - 460);
    layout();
  }
  addEventListener('resize', resize);
  resize();
})();

import { callTree, type Call, type CpuProfile } from './cpu-profile.js';

const WIDTH = 1_200;
const ROW = 16;
/** Narrower calls are left out, which bounds the file. */
const NARROWEST = 1.2;
const CHARACTER = 6.3;
const NOT_WORK = new Set(['(idle)']);

/** A flame graph that needs nothing but a browser: each call as wide as its time, its callees above it. */
export function flameGraph(profile: CpuProfile, requests: number): string {
  const root = callTree(profile);
  const roots = [...root.callees.values()].filter(({ name }) => !NOT_WORK.has(name));
  const totalUs = roots.reduce((sum, call) => sum + call.totalUs, 0);
  const scale = WIDTH / totalUs;
  const boxes: { call: Call; x: number; depth: number }[] = [];
  const place = (calls: Iterable<Call>, from: number, depth: number): void => {
    let x = from;
    for (const call of [...calls].sort((a, b) => b.totalUs - a.totalUs)) {
      if (call.totalUs * scale >= NARROWEST) {
        boxes.push({ call, x, depth });
        place(call.callees.values(), x, depth + 1);
      }
      x += call.totalUs * scale;
    }
  };
  place(roots, 0, 0);
  const height = (Math.max(0, ...boxes.map(({ depth }) => depth)) + 3) * ROW;
  const perRequest = (us: number): string => (us / requests).toFixed(1);
  const box = ({ call, x, depth }: (typeof boxes)[number]): string => {
    const width = call.totalUs * scale;
    const y = height - (depth + 1) * ROW;
    const label = width < 20 ? '' : call.name.slice(0, Math.floor((width - 4) / CHARACTER));
    const text =
      label === '' ? '' : `<text x="${(x + 2).toFixed(1)}" y="${y + ROW - 4}">${escaped(label)}</text>`;
    const title = `${call.name} (${call.place}): ${perRequest(call.totalUs)} µs a request, itself ${perRequest(call.selfUs)}`;
    return `<g><title>${escaped(title)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colour(call.place)}"/>${text}</g>`;
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10.5">
<rect width="100%" height="100%" fill="#fff"/>
<text x="4" y="13">edge, main thread: ${perRequest(totalUs)} µs a request; colour = part of the program; point at a box for its figures</text>
${boxes.map(box).join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** One hue per part of the program; ours are warm, Node's cool, the engine's grey. */
function colour(place: string): string {
  if (place.startsWith('(')) return '#ccc';
  let hash = 0;
  for (const character of place) hash = (hash * 31 + character.charCodeAt(0)) % 997;
  if (place.startsWith('node:')) return `hsl(${180 + (hash % 50)} 45% 78%)`;
  if (/^(?:@[^/]+\/[^/]+|fastify|undici|ioredis|kafkajs|pino|prom-client)$/.test(place))
    return `hsl(${260 + (hash % 60)} 45% 82%)`;
  return `hsl(${hash % 60} 80% 68%)`;
}

import type { SimDialect, SimEvent } from './dialect.js';
import type { Script } from './script.js';

const QUIRKS = ['crlf', 'comments', 'pings', 'multiline', 'nospace', 'nofinal'] as const;
export type FrameQuirk = (typeof QUIRKS)[number];

/** The odd but legal forms of server-sent events that the script asks for. */
export function quirksOf(script: Script): ReadonlySet<FrameQuirk> {
  const wanted = (script.values.get('frames') ?? '').split(',');
  return new Set(QUIRKS.filter((quirk) => wanted.includes(quirk)));
}

/** One event as bytes, what stands before it included. */
export function frame(event: SimEvent, quirks: ReadonlySet<FrameQuirk>, dialect: SimDialect): string {
  if (quirks.size === 0)
    return event.name === undefined
      ? `data: ${event.data}\n\n`
      : `event: ${event.name}\ndata: ${event.data}\n\n`;
  const space = quirks.has('nospace') ? '' : ' ';
  let text = '';
  if (quirks.has('comments')) text += ': between frames\n\n';
  if (quirks.has('pings')) text += dialect.keepAlive;
  if (event.name !== undefined) text += `event:${space}${event.name}\n`;
  for (const line of linesOf(event.data, quirks)) text += `data:${space}${line}\n`;
  text += '\n';
  return quirks.has('crlf') ? text.replaceAll('\n', '\r\n') : text;
}

/** JSON may break a line anywhere between tokens: indenting it is the honest way to many data lines. */
function linesOf(data: string, quirks: ReadonlySet<FrameQuirk>): string[] {
  if (!quirks.has('multiline') || !data.startsWith('{')) return [data];
  const value: unknown = JSON.parse(data);
  return JSON.stringify(value, null, 1).split('\n');
}

/** All events framed; `nofinal` takes the blank line from the last one, so one frame is held back. */
export function* framesOf(
  events: Iterable<SimEvent>,
  script: Script,
  dialect: SimDialect,
): Generator<string> {
  const quirks = quirksOf(script);
  if (!quirks.has('nofinal')) {
    for (const event of events) yield frame(event, quirks, dialect);
    return;
  }
  let held: string | undefined;
  for (const event of events) {
    if (held !== undefined) yield held;
    held = frame(event, quirks, dialect);
  }
  if (held !== undefined) yield held.replace(/(\r?\n)\r?\n$/, '$1');
}

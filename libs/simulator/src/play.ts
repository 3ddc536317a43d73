import type { SimDialect, SimEvent } from './dialect.js';
import type { NativeError } from './error-table.js';
import { frame, framesOf, quirksOf } from './frames.js';
import type { Exchange } from './http-server.js';
import { pause } from './pace.js';
import { chunkOf, endStream, headOf, sendWhole, STREAM_TYPE, streamHeadOf } from './reply.js';
import type { SimAnswer } from './sim-endpoint.js';
import { cutOf, isOn, numberOf, oneOf, type Cut, type Script } from './script.js';

/** No real provider answers later; a scripted hang longer than this is closed. */
const FOREVER_MS = 600_000;
const HTML = '<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>';

/** Waits, hangs or resets as the script asks before the first byte; false where no answer follows. */
export async function playBeforeHead(exchange: Exchange, script: Script): Promise<boolean> {
  const hang = script.values.get('hang');
  if (hang !== undefined) await pause(hang === '1' ? FOREVER_MS : numberOf(script, 'hang', 0), exchange);
  const latency = numberOf(script, 'latency', 0);
  if (latency > 0) await pause(latency, exchange);
  if (exchange.closed) return false;
  if (script.values.get('reset') === 'before' || hang === '1') {
    exchange.cut(true);
    return false;
  }
  return true;
}

/** Sends a whole body, broken where the script says. */
export function playPlain(exchange: Exchange, script: Script, answer: SimAnswer): void {
  const { body, contentType, headers } = answer;
  const bytes = Buffer.from(body);
  const cut = cutOf(script);
  const reset = oneOf(script, 'reset', ['none', 'before', 'headers', 'body']);
  if (reset === 'none' && cut === undefined) {
    const malformed = oneOf(script, 'malformed', MALFORMED);
    if (malformed === 'no') sendWhole(exchange, 200, contentType, body, headers);
    else sendMalformed(exchange, malformed, bytes, contentType);
    return;
  }
  exchange.write(headOf(200, contentType, bytes.length));
  if (reset !== 'headers') exchange.write(bytes.subarray(0, bytes.length >> 1));
  // The head must leave before the reset does: a RST discards what is still queued.
  setImmediate(() => exchange.cut(reset !== 'none' || cut?.how === 'reset'));
}

const MALFORMED = ['no', 'html', 'empty', 'truncated', 'content-type', 'utf8', 'shape'] as const;
type Malformed = (typeof MALFORMED)[number];

function sendMalformed(
  exchange: Exchange,
  kind: Exclude<Malformed, 'no'>,
  bytes: Buffer,
  contentType: string,
): void {
  switch (kind) {
    case 'html':
      return sendWhole(exchange, 200, 'text/html', HTML);
    case 'empty':
      return sendWhole(exchange, 200, contentType, '');
    case 'truncated':
      return sendWhole(exchange, 200, contentType, bytes.subarray(0, bytes.length - 20));
    case 'content-type':
      return sendWhole(exchange, 200, 'text/plain', bytes);
    case 'utf8':
      return sendWhole(exchange, 200, contentType, withBrokenUtf8(bytes));
    case 'shape':
      return sendWhole(exchange, 200, contentType, '{"unexpected":true}');
  }
}

/** The last letter inside the body becomes a byte that UTF-8 does not know. */
function withBrokenUtf8(bytes: Buffer): Buffer {
  const broken = Buffer.from(bytes);
  const at = Math.max(0, broken.indexOf('Hello'), broken.indexOf('sim'));
  broken[at] = 0xff;
  return broken;
}

export interface StreamPlay {
  readonly dialect: SimDialect;
  readonly script: Script;
  readonly events: Iterable<SimEvent>;
  /** An error sent as an event after `inband` others, where the script asks for one. */
  readonly error: NativeError | undefined;
}

/** Streams the events at the scripted pace up to the scripted end. */
export async function playStream(exchange: Exchange, play: StreamPlay): Promise<void> {
  const { script } = play;
  const malformed = oneOf(script, 'malformed', MALFORMED);
  if (malformed !== 'no') {
    const text = [...framesOf(play.events, script, play.dialect)].join('');
    sendMalformed(exchange, malformed, Buffer.from(text), STREAM_TYPE);
    return;
  }
  exchange.write(streamHeadOf(exchange));
  if (oneOf(script, 'reset', ['none', 'before', 'headers', 'body']) !== 'none') {
    setImmediate(() => exchange.cut(true));
    return;
  }
  await playFrames(exchange, play);
}

async function playFrames(exchange: Exchange, { dialect, script, events, error }: StreamPlay): Promise<void> {
  const cut = cutOf(script);
  const delay = numberOf(script, 'delay', 0);
  const errorAt = error === undefined ? -1 : numberOf(script, 'inband', 0);
  const silence = numberOf(script, 'silent', 0);
  const silentAt = silence > 0 ? numberOf(script, 'silent_at', 1) : -1;
  let sent = 0;
  for (const text of framesOf(events, script, dialect)) {
    if (sent === silentAt) await pause(silence, exchange);
    if (delay > 0 && sent > 0) await pause(delay, exchange);
    if (exchange.closed) return;
    if (error !== undefined && sent === errorAt) {
      await writeFrame(
        exchange,
        script,
        Buffer.from(frame(dialect.errorEvent(error), quirksOf(script), dialect)),
      );
      endStream(exchange);
      return;
    }
    if (cut !== undefined && sent >= cut.after && playCut(exchange, cut, Buffer.from(text))) return;
    await writeFrame(exchange, script, Buffer.from(text));
    sent += 1;
  }
  endStream(exchange);
}

async function writeFrame(exchange: Exchange, script: Script, bytes: Buffer): Promise<void> {
  const size = isOn(script, 'split') ? Math.max(1, numberOf(script, 'split', 1)) : bytes.length;
  for (let at = 0; at < bytes.length && !exchange.closed; at += size) {
    const isTaken = exchange.write(chunkOf(exchange, bytes.subarray(at, at + size)));
    if (!isTaken) await exchange.drained();
    // A turn of the loop between pieces makes them separate segments and lets endless streams notice a close.
    if (size < bytes.length || isOn(script, 'endless')) await pause(0, exchange);
  }
}

/** Breaks the stream inside or before this frame; false where a multi-byte character is wanted and not in it. */
function playCut(exchange: Exchange, cut: Cut, bytes: Buffer): boolean {
  const middle = bytes.findIndex((byte) => byte >= 0xc2) + 1;
  if (cut.inside === 'utf8' && middle === 0) return false;
  const length = { frame: 0, mid: bytes.length >> 1, utf8: middle }[cut.inside];
  if (length > 0) exchange.write(chunkOf(exchange, bytes.subarray(0, length)));
  if (cut.how === 'eof') endStream(exchange);
  else setImmediate(() => exchange.cut(cut.how === 'reset'));
  return true;
}

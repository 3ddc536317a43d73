import { Pool, type Dispatcher } from 'undici';
import type { StreamOrder } from './stream-upstream.js';

export interface StreamLoad {
  url: string;
  key: string;
  model: string;
  headers?: Readonly<Record<string, string>>;
  /** Streams at a time. */
  connections: number;
  frames: number;
  gapMs: number;
  /** A connection starts no further stream after this time; 0 = one stream each. */
  seconds: number;
  /** Time over which the first streams are started; one gap by default, so that not all frames come at once. */
  rampMs?: number;
}

/** Everything that was read, checked frame by frame. */
export interface StreamFigures {
  /** Sorted milliseconds from the request to the first frame with content. */
  firstMs: number[];
  /** Sorted milliseconds between two frames of a stream. */
  gapsMs: number[];
  /** Sorted milliseconds from the upstream's write of a frame to its arrival. */
  transitMs: number[];
  streams: number;
  frames: number;
  /** Frames that never came. */
  lost: number;
  /** Frames that came out of their order, or twice. */
  reordered: number;
  /** Frames of another stream. */
  foreign: number;
  /** Streams that were refused, broke, or had no [DONE]. */
  broken: number;
  /** Failure of the first of them. */
  firstFault: string;
}

const FRAME = /"content":"(\d+):(\d+):([\d.]+):/;
const SAMPLES_MAX = 2_000_000;

function nothing(): StreamFigures {
  return {
    firstMs: [],
    gapsMs: [],
    transitMs: [],
    streams: 0,
    frames: 0,
    lost: 0,
    reordered: 0,
    foreign: 0,
    broken: 0,
    firstFault: '',
  };
}

/** Reads one stream as it comes; each frame is looked at. */
class Reader implements Dispatcher.DispatchHandler {
  private rest = '';
  private expected = 0;
  private received = 0;
  private lastMs = 0;
  private isDone = false;
  private status = 0;

  constructor(
    private readonly order: StreamOrder,
    private readonly into: StreamFigures,
    private readonly startedMs: number,
    private readonly ended: () => void,
  ) {}

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, statusCode: number): void {
    this.status = statusCode;
  }

  onResponseData(_controller: unknown, bytes: Buffer): void {
    const nowMs = performance.now();
    const frames = (this.rest + bytes.toString('latin1')).split('\n\n');
    this.rest = frames.pop() ?? '';
    for (const frame of frames) {
      const found = FRAME.exec(frame);
      if (found) this.content(Number(found[1]), Number(found[2]), Number(found[3]), nowMs);
      else if (frame === 'data: [DONE]') this.isDone = true;
    }
  }

  onResponseEnd(): void {
    this.into.streams += 1;
    this.into.lost += this.order.frames - this.received;
    if (this.status !== 200 || !this.isDone) this.broke(`status ${this.status} ${this.rest.slice(0, 200)}`);
    this.ended();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.isDone = false;
    this.rest = error.message;
    this.onResponseEnd();
  }

  private broke(why: string): void {
    this.into.broken += 1;
    if (this.into.firstFault === '') this.into.firstFault = why;
  }

  private content(stream: number, number: number, writtenMs: number, nowMs: number): void {
    const { into } = this;
    into.frames += 1;
    if (stream !== this.order.stream) {
      into.foreign += 1;
      return;
    }
    if (number < this.expected) into.reordered += 1;
    else this.received += 1;
    this.expected = Math.max(this.expected, number + 1);
    if (into.transitMs.length < SAMPLES_MAX) {
      into.transitMs.push(nowMs - writtenMs);
      if (this.lastMs === 0) into.firstMs.push(nowMs - this.startedMs);
      else into.gapsMs.push(nowMs - this.lastMs);
    }
    this.lastMs = nowMs;
  }
}

let streamNumber = 0;

/** Reads streams one after the other on each connection. */
export async function readStreams(options: StreamLoad): Promise<StreamFigures> {
  const { url, key, model, connections, frames, gapMs, seconds, rampMs = options.gapMs } = options;
  const pool = new Pool(url, { connections, headersTimeout: 60_000, bodyTimeout: 60_000 });
  const figures = nothing();
  const untilMs = performance.now() + seconds * 1_000;
  const one = (): Promise<void> => {
    streamNumber += 1;
    const order: StreamOrder = { stream: streamNumber, frames, gapMs };
    const body = JSON.stringify({
      model,
      stream: true,
      messages: [{ role: 'user', content: JSON.stringify(order) }],
    });
    const headers = {
      ...options.headers,
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
    };
    return new Promise((resolve) => {
      const reader = new Reader(order, figures, performance.now(), resolve);
      pool.dispatch({ path: '/v1/chat/completions', method: 'POST', headers, body }, reader);
    });
  };
  const connection = async (at: number): Promise<void> => {
    if (rampMs > 0) await new Promise((resolve) => setTimeout(resolve, (rampMs * at) / connections));
    do await one();
    while (performance.now() < untilMs);
  };
  try {
    await Promise.all(Array.from({ length: connections }, (_, at) => connection(at)));
  } finally {
    await pool.destroy();
  }
  for (const samples of [figures.firstMs, figures.gapsMs, figures.transitMs]) samples.sort((a, b) => a - b);
  return figures;
}

/** A sentence of what went wrong with frames; empty where all came in order and once. */
export function faultsOf({ lost, reordered, foreign, broken, firstFault }: StreamFigures): string {
  const faults = Object.entries({ lost, reordered, foreign, broken }).filter(([, count]) => count !== 0);
  const first = firstFault === '' ? '' : ` (the first: ${firstFault})`;
  return `${faults.map(([kind, count]) => `${count} ${kind}`).join(', ')}${first}`;
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UpstreamDouble } from '@gateway/testing';

/** The way in which a body is put on the wire. */
export type SplitMode = 'whole' | 'per event' | 'random bytes';
export const SPLIT_MODES: readonly SplitMode[] = ['whole', 'per event', 'random bytes'];

export interface Answer {
  status: number;
  contentType: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Small and repeatable: the same seed cuts the same bytes. */
function* randomSizes(seed: number): Generator<number> {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield 1 + (state % 7);
  }
}

function* pieces({ body }: Answer, mode: SplitMode, seed: number): Generator<Buffer> {
  if (mode === 'whole') {
    yield body;
    return;
  }
  if (mode === 'per event') {
    let from = 0;
    for (const { index } of body.toString('latin1').matchAll(/\r?\n\r?\n/g)) {
      const end = body.indexOf('\n', body.indexOf('\n', index) + 1) + 1;
      if (end <= from) continue;
      yield body.subarray(from, end);
      from = end;
    }
    if (from < body.length) yield body.subarray(from);
    return;
  }
  const sizes = randomSizes(seed);
  for (let from = 0; from < body.length;) {
    const size = sizes.next().value as number;
    yield body.subarray(from, from + size);
    from += size;
  }
}

/** Yields the pieces with a tick of the event loop now and then: the kernel would join them again otherwise. */
async function* spread(answer: Answer, mode: SplitMode): AsyncGenerator<Buffer> {
  let written = 0;
  for (const piece of pieces(answer, mode, answer.body.length)) {
    yield piece;
    written += 1;
    if (mode !== 'whole' && written % 4 === 0) await nextTurn();
  }
}

/** Makes the upstream give this answer, with its record of requests emptied. */
export function serve(upstream: UpstreamDouble, answer: Answer, mode: SplitMode): void {
  upstream.seen.length = 0;
  upstream.answer = () => ({
    status: answer.status,
    headers: { ...answer.headers, 'content-type': answer.contentType },
    pieces: spread(answer, mode),
  });
}

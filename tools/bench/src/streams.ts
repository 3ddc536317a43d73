import { Pool } from 'undici';

export interface StreamFigures {
  /** Milliseconds from the request written to the first byte of the body. */
  firstByteP50Ms: number;
  firstByteP99Ms: number;
  streams: number;
  /** Streams without their last frame. */
  broken: number;
}

export interface StreamOptions {
  url: string;
  key: string;
  model: string;
  connections: number;
  seconds: number;
}

function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Streams one after the other on each connection and looks at every byte of them. */
export async function stream({
  url,
  key,
  model,
  connections,
  seconds,
}: StreamOptions): Promise<StreamFigures> {
  const pool = new Pool(url, { connections });
  const until = performance.now() + seconds * 1_000;
  const firstBytes: number[] = [];
  let broken = 0;
  const body = JSON.stringify({
    model,
    stream: true,
    messages: [{ role: 'user', content: 'Hello there, how are you?' }],
  });
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      const startedMs = performance.now();
      const { body: answer } = await pool.request({
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body,
      });
      let text = '';
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        if (text === '') firstBytes.push(performance.now() - startedMs);
        text += chunk.toString();
      }
      if (!text.endsWith('data: [DONE]\n\n')) broken += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  await pool.close();
  firstBytes.sort((a, b) => a - b);
  return {
    firstByteP50Ms: percentile(firstBytes, 0.5),
    firstByteP99Ms: percentile(firstBytes, 0.99),
    streams: firstBytes.length,
    broken,
  };
}

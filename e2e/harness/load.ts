import { eventually } from '@gateway/testing';
import { askOnce } from './requests.js';

export interface Sent {
  status: number;
  /** Milliseconds of this process's clock. */
  sentAt: number;
  answeredAt: number;
  /** Address and key of a load's requests. */
  url: string;
  key: string;
}

export interface Load {
  readonly answers: readonly Sent[];
  /** Resolves when so many more answers have come. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Asks each address in turn with its keys, one request of each address at a time, until it is stopped. */
export function startLoad(
  lanes: { url: string; keys: readonly string[] }[],
  body: object,
  pauseMs = 10,
): Load {
  const answers: Sent[] = [];
  let isOver = false;
  const run = async ({ url, keys }: (typeof lanes)[number]): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const key = keys[n % keys.length];
      const sentAt = performance.now();
      const answer = await askOnce({ url, key }, 'POST', '/v1/chat/completions', { body });
      answers.push({ status: answer.status, sentAt, answeredAt: performance.now(), url, key });
      await new Promise((resume) => setTimeout(resume, pauseMs));
    }
  };
  const running = lanes.map(run);
  return {
    answers,
    more: async (count) => {
      const wanted = answers.length + count;
      await eventually(() => answers.length >= wanted, { timeoutMs: 30_000 });
    },
    stop: async () => {
      isOver = true;
      await Promise.all(running);
    },
  };
}

/** One sample of a Prometheus text, summed over the labels that are not named; 0 where there is none. */
export async function metric(url: string, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name) && line.includes(labels));
  return lines
    .filter((line) => /^[{ ]/.test(line.slice(name.length)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

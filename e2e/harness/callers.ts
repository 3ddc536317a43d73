import { setTimeout as pause } from 'node:timers/promises';
import { askOnce, type Answered, type Body } from './requests.js';

/** One kind of request of a load. */
export interface LoadKind {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  body?: Body;
  /** True where the whole answer says that it is whole. */
  isWhole(text: string): boolean;
}

export interface LoadResult {
  /** Answers by kind. */
  answered: Readonly<Record<string, number>>;
  /** Ids of inference requests that were answered whole. */
  inferred: string[];
  /** One sentence for each request that was not. */
  failed: string[];
  /** 503s of ours that were sent again, as the SDKs do. */
  retried: number;
}

const MOST_RETRIES = 40;
const RETRY_MS = 250;

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
const claude = { ...chat, model: 'simulator/claude', max_tokens: 64 };
const isJson = (text: string): boolean => text.endsWith('}') || text.endsWith(']');

/** Requests of applications, and of their dashboards beside them. */
const EVERYDAY: readonly LoadKind[] = [
  { name: 'chat', method: 'POST', path: '/v1/chat/completions', body: chat, isWhole: isJson },
  {
    name: 'chat stream',
    method: 'POST',
    path: '/v1/chat/completions',
    body: { ...chat, stream: true },
    isWhole: (text) => text.endsWith('data: [DONE]\n\n'),
  },
  { name: 'message', method: 'POST', path: '/v1/messages', body: claude, isWhole: isJson },
  {
    name: 'message stream',
    method: 'POST',
    path: '/v1/messages',
    body: { ...claude, stream: true },
    isWhole: (text) => text.includes('event: message_stop'),
  },
  { name: 'key', method: 'GET', path: '/v1/key', isWhole: isJson },
  { name: 'balance', method: 'GET', path: '/v1/balance', isWhole: isJson },
  { name: 'models', method: 'GET', path: '/v1/models', isWhole: isJson },
];

/** Callers that send one request after another until they are stopped; each begins at another kind. */
export function startLoad(
  target: { url: string; key: string },
  options: { callers: number; pauseMs: number; kinds?: readonly LoadKind[]; mostRetries?: number },
): { soFar(): LoadResult; stop(): Promise<LoadResult> } {
  const { kinds = EVERYDAY, mostRetries = MOST_RETRIES } = options;
  const answered: Record<string, number> = {};
  const result: LoadResult = { answered, inferred: [], failed: [], retried: 0 };
  let isOver = false;
  /** A 503 that says so may be sent again: nothing was counted. On a busy machine there are some, whoever restarts. */
  const sent = async (kind: LoadKind): Promise<Answered> => {
    for (let left = mostRetries; ; left -= 1) {
      const answer = await askOnce(target, kind.method, kind.path, { body: kind.body });
      if (answer.status !== 503 || answer.headers.get('x-should-retry') !== 'true' || left === 0)
        return answer;
      result.retried += 1;
      await pause(RETRY_MS);
    }
  };
  const once = async (kind: LoadKind): Promise<void> => {
    const startedMs = performance.now();
    try {
      const { status, text, requestId } = await sent(kind);
      if (status !== 200 || !kind.isWhole(text)) throw new Error(`${status} ${text.slice(0, 300)}`);
      answered[kind.name] = (answered[kind.name] ?? 0) + 1;
      if (kind.method === 'POST') result.inferred.push(requestId);
    } catch (error) {
      // Of another realm than a test's own errors.
      const { cause } = error as { cause?: { message?: string } };
      const why = cause?.message === undefined ? '' : ` (${cause.message})`;
      const afterMs = Math.round(performance.now() - startedMs);
      result.failed.push(`${kind.name} after ${afterMs} ms: ${String(error)}${why}`);
    }
  };
  const callers = Array.from({ length: options.callers }, async (_, first) => {
    for (let turn = first; !isOver; turn += 1) {
      await once(kinds[turn % kinds.length]);
      await pause(options.pauseMs);
    }
  });
  return {
    soFar: () => result,
    stop: async () => {
      isOver = true;
      await Promise.all(callers);
      return result;
    },
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from './gateway.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is asserted
export type Body = Record<string, any>;

export interface Answered {
  status: number;
  headers: Headers;
  requestId: string;
  text: string;
  /** The text as JSON; {} where it is not. */
  body: Body;
}

type Asked = [
  gateway: Pick<Gateway, 'url' | 'key'>,
  method: string,
  path: string,
  more?: { body?: object | string | Buffer; headers?: Record<string, string>; key?: string },
];

/** Sends a request to the front door and reads its whole answer, as a client does. */
export function ask(...asked: Asked): Promise<Answered> {
  return answered(() => askOnce(...asked));
}

/** Sends one request whose answer the test judges itself: a busy machine may answer 503. */
export async function askOnce(...[gateway, method, path, more = {}]: Asked): Promise<Answered> {
  const { body } = more;
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${more.key ?? gateway.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more.headers,
    },
    body: body === undefined ? undefined : isRaw ? new Uint8Array(Buffer.from(body)) : JSON.stringify(body),
  });
  const text = await answer.text();
  const { status, headers } = answer;
  return { status, headers, requestId: headers.get('x-request-id') ?? '', text, body: parsed(text) };
}

const SENT_AGAIN_MAX = 120;
const BETWEEN_MS = 500;

/** Sends a request until it is decided: a busy machine may answer 503, which is sent again, as clients do. */
export async function answered<T extends Pick<Response, 'status' | 'headers'>>(
  send: () => Promise<T>,
): Promise<T> {
  for (let again = 0; ; again += 1) {
    const answer = await send();
    const isDecided = answer.status !== 503 || answer.headers.get('x-should-retry') !== 'true';
    if (isDecided || again === SENT_AGAIN_MAX) return answer;
    await pause(BETWEEN_MS);
  }
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}

/** An amount in units of 10^-12 USD: sums of these are exact. */
export function pico(usd: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(usd) ?? [];
  if (whole === undefined) throw new Error(`${usd} is not an amount.`);
  return BigInt(`${sign}${whole}${fraction.padEnd(12, '0')}`);
}

/** The amount below 1 USD that `pico` reads as so many. */
export function usd(amount: bigint): string {
  return `0.${String(amount).padStart(12, '0')}`;
}

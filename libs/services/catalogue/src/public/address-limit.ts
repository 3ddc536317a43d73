import { isIPv6 } from 'node:net';
import { ApiError, type Clock } from '@gateway/contracts';

const WINDOW_MS = 60_000;
const PER_WINDOW = 60;
/** Number of addresses; past it the address that was new longest ago is forgotten. */
const ADDRESSES_MAX = 50_000;

interface Window {
  startedAt: number;
  count: number;
}

/**
 * Reads of one address in a minute. Counts live in this process: n replicas allow n times as many, which reads from
 * memory bear.
 */
export class AddressLimit {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  /** Counts one read. Throws ApiError `rate_limit_exceeded` beyond the limit. */
  take(address: string): void {
    const now = this.clock.monotonic();
    const who = networkOf(address);
    let window = this.windows.get(who);
    if (window === undefined || now - window.startedAt >= WINDOW_MS) {
      window = { startedAt: now, count: 0 };
      this.windows.delete(who);
      this.windows.set(who, window);
      const [oldest] = this.windows.keys();
      if (this.windows.size > ADDRESSES_MAX) this.windows.delete(oldest);
    }
    window.count += 1;
    if (window.count > PER_WINDOW)
      throw new ApiError('rate_limit_exceeded', {
        message: `This address may read the public catalogue ${PER_WINDOW} times a minute.`,
        retryAfterSeconds: (window.startedAt + WINDOW_MS - now) / 1_000,
      });
  }
}

/** One subscriber has a whole /64 of IPv6: its addresses count together. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1];
  const [head, tail] = address.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

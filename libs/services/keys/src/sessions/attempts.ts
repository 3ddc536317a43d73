import { ApiError, type Clock } from '@gateway/contracts';

const WINDOW_MS = 15 * 60_000;
const PER_ADDRESS = 10;
const PER_IP = 50;
/** Entries of each kind; past it the oldest window is forgotten. */
const ENTRIES_MAX = 20_000;

interface Window {
  startedAt: number;
  count: number;
}

/**
 * Bounds logins per IP and per address, known or not. Counts live in this process: n replicas allow n times as many,
 * which a password of 32 random characters or argon2id bears.
 */
export class LoginAttempts {
  private readonly byAddress = new Map<string, Window>();
  private readonly byIp = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  /** Counts one attempt. Throws ApiError `rate_limit_exceeded` where it is one too many. */
  take(ip: string, address: string): void {
    this.count(this.byIp, ip, PER_IP);
    this.count(this.byAddress, address, PER_ADDRESS);
  }

  /** A login that succeeded does not count against its address. */
  succeeded(address: string): void {
    this.byAddress.delete(address);
  }

  private count(windows: Map<string, Window>, name: string, limit: number): void {
    const now = this.clock.monotonic();
    const known = windows.get(name);
    const window =
      known !== undefined && now - known.startedAt < WINDOW_MS ? known : { startedAt: now, count: 0 };
    window.count += 1;
    if (window !== known) {
      windows.delete(name);
      windows.set(name, window);
      const [oldest] = windows.keys();
      if (windows.size > ENTRIES_MAX) windows.delete(oldest);
    }
    if (window.count <= limit) return;
    throw new ApiError('rate_limit_exceeded', {
      message: 'Too many attempts. Wait before the next one.',
      retryAfterSeconds: (window.startedAt + WINDOW_MS - now) / 1000,
    });
  }
}

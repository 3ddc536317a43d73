import { isUndecided, problemOf, unreachable, type Problem } from './problem.js';

/** The answer of the session's endpoints. */
export interface SignedIn {
  token: string;
  expires_at: string;
  user: Person;
}

interface Person {
  id: string;
  email: string;
  name: string;
  time_zone: string | null;
  locale: string | null;
}

export type Session =
  | { state: 'starting' }
  | { state: 'out' }
  /** The session is unknown: the service that answers is unreachable. */
  | { state: 'away'; failure: Problem }
  | { state: 'in'; token: string; expiresAt: number; person: Person }
  /** It ended while somebody worked: sign-in opens over the page and what was typed stays. */
  | { state: 'ended'; person: Person };

type Message = { kind: 'in'; session: SignedIn } | { kind: 'out' };

/** The parts of the browser that the session needs; a test gives its own. */
export interface SessionWorld {
  fetch: typeof fetch;
  now(): number;
  /** Calls back once after so many milliseconds; answers how to take it back. */
  later(call: () => void, ms: number): () => void;
  /** One tab at a time. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  channel: Pick<BroadcastChannel, 'postMessage' | 'addEventListener'>;
}

const AHEAD_MS = 60_000;
/** A new token is not renewed again so soon: the tabs of a browser are due at one moment. */
const FRESH_MS = 5_000;

/** The session of this browser: its token is in memory only, and the refresh cookie, which no script can read, renews it. */
export class SessionToken {
  private current: Session = { state: 'starting' };
  private refreshedAt = 0;
  private running: Promise<Problem | null> | null = null;
  private cancel: () => void = () => undefined;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly world: SessionWorld) {
    world.channel.addEventListener('message', (event) => {
      const message = (event as MessageEvent<Message>).data;
      if (message.kind === 'in') this.accept(message.session);
      else this.set({ state: 'out' });
    });
  }

  readonly get = (): Session => this.current;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /**
   * Renews the token by the cookie; answers why where it was not. Calls that come together share one. A token that was
   * `rejected` is renewed however new it is, unless another has taken its place.
   */
  refresh(rejected?: string): Promise<Problem | null> {
    this.running ??= this.world.exclusive(() => this.renew(rejected)).finally(() => (this.running = null));
    return this.running;
  }

  /** Stores the session: a known token serves this tab and the others. */
  signIn(session: SignedIn): void {
    this.accept(session);
    this.world.channel.postMessage({ kind: 'in', session } satisfies Message);
  }

  async signOut(): Promise<void> {
    // The cookie goes with the request; where the server is away the tab forgets its token all the same.
    await this.world
      .fetch('/auth/logout', { method: 'POST', headers: this.authorization() })
      .catch(() => undefined);
    this.set({ state: 'out' });
    this.world.channel.postMessage({ kind: 'out' } satisfies Message);
  }

  authorization(): Record<string, string> {
    return this.current.state === 'in' ? { authorization: `Bearer ${this.current.token}` } : {};
  }

  private async renew(rejected?: string): Promise<Problem | null> {
    // Another tab may have renewed it while this one waited for the lock.
    if (this.current.state === 'in') {
      const isFresh = this.world.now() - this.refreshedAt < FRESH_MS;
      if (rejected === undefined ? isFresh : this.current.token !== rejected) return null;
    }
    let answer: Response;
    try {
      answer = await this.world.fetch('/auth/refresh', { method: 'POST' });
    } catch {
      return this.retryLater(unreachable());
    }
    if (answer.ok) {
      this.signIn((await answer.json()) as SignedIn);
      return null;
    }
    const failure = await problemOf(answer);
    if (isUndecided(failure)) return this.retryLater(failure);
    this.end();
    return failure;
  }

  /** A server that is away ends no session: it is asked again until it answers. */
  private retryLater(failure: Problem): Problem {
    const { state } = this.current;
    if (state === 'starting' || state === 'away') this.set({ state: 'away', failure });
    this.schedule(FRESH_MS);
    return failure;
  }

  private end(): void {
    const { current } = this;
    if (current.state === 'in') this.set({ state: 'ended', person: current.person });
    else if (current.state !== 'ended') this.set({ state: 'out' });
  }

  private accept({ token, expires_at: expires, user }: SignedIn): void {
    this.refreshedAt = this.world.now();
    const expiresAt = Date.parse(expires);
    this.set({ state: 'in', token, expiresAt, person: user });
    this.schedule(Math.max(FRESH_MS, expiresAt - this.world.now() - AHEAD_MS));
  }

  private schedule(ms: number): void {
    this.cancel();
    this.cancel = this.world.later(() => void this.refresh(), ms);
  }

  private set(session: Session): void {
    if (session.state !== 'in') this.cancel();
    this.current = session;
    for (const listener of this.listeners) listener();
  }
}

import { SessionToken, type SessionWorld, type SignedIn } from './session-token.js';

const person = { id: 'usr_1', email: 'ada@example.com', name: 'Ada', time_zone: null, locale: null };

/** Tabs of one browser: they share cookie, lock and channel, and a clock that stands still. */
class BrowserDouble {
  now = Date.parse('2026-11-22T12:00:00Z');
  refreshes = 0;
  answer: () => Response | Promise<Response> = () => this.signedIn();
  timers: { at: number; call: () => void }[] = [];
  private readonly tabs: ((event: Event) => void)[] = [];
  private queue: Promise<unknown> = Promise.resolve();

  signedIn(): Response {
    const session: SignedIn = {
      token: `token-${this.refreshes}`,
      expires_at: new Date(this.now + 900_000).toISOString(),
      user: person,
    };
    return { ok: true, status: 200, json: () => Promise.resolve(session) } as Response;
  }

  status(status: number): Response {
    return {
      ...{ ok: false, status, headers: new Headers({ 'x-request-id': 'req_1' }) },
      json: () => Promise.resolve({ error: { code: `code_${status}`, message: 'In words.' } }),
    } as Response;
  }

  tab(): SessionToken {
    let own: ((event: Event) => void) | null = null;
    const world: SessionWorld = {
      fetch: async (url) => {
        if (url !== '/auth/refresh') return this.status(204);
        this.refreshes += 1;
        return this.answer();
      },
      now: () => this.now,
      later: (call, ms) => {
        const timer = { at: this.now + ms, call };
        this.timers.push(timer);
        return () => (this.timers = this.timers.filter((one) => one !== timer));
      },
      exclusive: (work) => {
        const result = this.queue.then(work);
        this.queue = result.catch(() => undefined);
        return result;
      },
      channel: {
        postMessage: (data: unknown) => {
          for (const tab of this.tabs) if (tab !== own) tab({ data } as MessageEvent);
        },
        addEventListener: (_type: string, listener: unknown) => {
          own = listener as (event: Event) => void;
          this.tabs.push(own);
        },
      },
    };
    return new SessionToken(world);
  }

  async passTime(ms: number): Promise<void> {
    this.now += ms;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { call } of due) call();
    await this.queue;
  }
}

describe('the session of a browser', () => {
  let browser: BrowserDouble;
  beforeEach(() => (browser = new BrowserDouble()));

  it('is renewed once by two tabs that start together', async () => {
    const tabs = [browser.tab(), browser.tab()];
    expect(await Promise.all(tabs.map((tab) => tab.refresh()))).toEqual([null, null]);
    expect(browser.refreshes).toBe(1);
    expect(tabs.map((tab) => tab.authorization())).toEqual(
      tabs.map(() => ({ authorization: 'Bearer token-1' })),
    );
  });

  it('is renewed a minute before its token ends', async () => {
    const tab = browser.tab();
    await tab.refresh();
    await browser.passTime(839_000);
    expect(browser.refreshes).toBe(1);
    await browser.passTime(1_000);
    expect(browser.refreshes).toBe(2);
  });

  it('shares one renewal between requests that were rejected together', async () => {
    const tab = browser.tab();
    await tab.refresh();
    await browser.passTime(10_000);
    await Promise.all([tab.refresh(), tab.refresh(), tab.refresh()]);
    expect(browser.refreshes).toBe(2);
  });

  it('keeps the page where it ends during work, and is out where it never began', async () => {
    const [working, fresh] = [browser.tab(), browser.tab()];
    await working.refresh();
    browser.answer = () => browser.status(401);
    await browser.passTime(10_000);
    expect(await working.refresh()).toMatchObject({ status: 401 });
    expect(working.get()).toEqual({ state: 'ended', person });
    const third = browser.tab();
    await third.refresh();
    expect(third.get()).toEqual({ state: 'out' });
    expect(fresh.get().state).toBe('in');
  });

  it('point 10 401 asks for sign-in where a token is rejected seconds after it was given', async () => {
    const tab = browser.tab();
    await tab.refresh();
    browser.answer = () => browser.status(401);
    expect(await tab.refresh('token-1')).toMatchObject({ status: 401 });
    expect(tab.get()).toEqual({ state: 'ended', person });
  });

  it('renews no token that has taken the place of the rejected one', async () => {
    const tabs = [browser.tab(), browser.tab()];
    await tabs[0].refresh();
    await browser.passTime(10_000);
    expect(await Promise.all(tabs.map((tab) => tab.refresh('token-1')))).toEqual([null, null]);
    expect(browser.refreshes).toBe(2);
    await browser.passTime(10_000);
    expect(await tabs[1].refresh('token-1')).toBeNull();
    expect(browser.refreshes).toBe(2);
  });

  it.each([
    ['answers 503', (double: BrowserDouble) => double.status(503)],
    ['is away', () => Promise.reject(new TypeError('Failed to fetch'))],
  ])('outlives a server that %s', async (_what, answer) => {
    const tab = browser.tab();
    await tab.refresh();
    browser.answer = () => answer(browser);
    await browser.passTime(840_000);
    expect(tab.get().state).toBe('in');
    browser.answer = () => browser.signedIn();
    await browser.passTime(5_000);
    expect(tab.authorization()).toEqual({ authorization: 'Bearer token-3' });
  });

  it.each([
    ['answers 503', 503, 'code_503', (double: BrowserDouble) => double.status(503)],
    ['answers 429', 429, 'code_429', (double: BrowserDouble) => double.status(429)],
    ['is away', 0, 'unreachable', () => Promise.reject(new TypeError('Failed to fetch'))],
  ])(
    'point 18 says what is away, and begins by itself, where the server %s when the page is opened',
    async (_what, status, code, answer) => {
      const tab = browser.tab();
      browser.answer = () => answer(browser);
      expect(await tab.refresh()).toMatchObject({ status, code });
      expect(tab.get()).toMatchObject({ state: 'away', failure: { status, code } });
      await browser.passTime(5_000);
      expect(browser.refreshes).toBe(2);
      expect(tab.get().state).toBe('away');
      browser.answer = () => browser.signedIn();
      await browser.passTime(5_000);
      expect(tab.get().state).toBe('in');
    },
  );

  it('point 18 asks for sign-in where the server comes back and knows no session', async () => {
    const tab = browser.tab();
    browser.answer = () => browser.status(503);
    await tab.refresh();
    browser.answer = () => browser.status(401);
    await browser.passTime(5_000);
    expect(tab.get()).toEqual({ state: 'out' });
  });

  it('ends in every tab at once', async () => {
    const tabs = [browser.tab(), browser.tab()];
    await tabs[0].refresh();
    await tabs[1].signOut();
    expect(tabs.map((tab) => tab.get().state)).toEqual(['out', 'out']);
  });
});

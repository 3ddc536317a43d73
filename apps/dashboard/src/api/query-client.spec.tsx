/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { QueryClientProvider, useQuery, type QueryClient } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { Problem, unreachable } from './problem.js';
import { keepToPerson, newQueryClient } from './query-client.js';
import type { Session } from './session-token.js';

describe('a read that failed', () => {
  let reads: number;
  let shown: string[];
  let client: QueryClient;
  let closePage: () => void;
  let openPage: () => void;

  beforeEach(() => {
    jest.useFakeTimers();
    client = newQueryClient();
    [reads, shown] = [0, []];
  });
  afterEach(() => {
    cleanup();
    jest.useRealTimers();
  });

  const reject = (status: number, retryAfterSeconds: number | null, shouldRetry?: boolean) => () =>
    Promise.reject<string>(
      new Problem({ status, code: 'some_code', message: 'In words.', retryAfterSeconds, shouldRetry }),
    );

  /** A page that reads; the last answer is that of all later reads. */
  async function open(...answers: (() => Promise<string>)[]): Promise<void> {
    const read = (): Promise<string> => answers[Math.min(reads++, answers.length - 1)]();
    function Page(): ReactNode {
      const { status, data } = useQuery({ queryKey: ['me', 'noun'], queryFn: read });
      shown.push(status);
      return data ?? status;
    }
    const inClient = (page: ReactNode): ReactNode => (
      <QueryClientProvider client={client}>{page}</QueryClientProvider>
    );
    const { rerender } = render(inClient(<Page />));
    closePage = () => rerender(inClient(null));
    openPage = () => rerender(inClient(<Page />));
    await pass(10);
  }
  const pass = (ms: number): Promise<void> => act(() => jest.advanceTimersByTimeAsync(ms));

  it('point 18 of a service that is away is read again until it answers, and its failure stands meanwhile', async () => {
    await open(reject(503, 2), reject(503, 2), () => Promise.resolve('here'));
    expect([reads, shown.splice(0)]).toEqual([1, ['pending', 'error']]);
    await pass(5_000);
    expect(reads).toBe(2);
    await pass(5_000);
    expect(reads).toBe(3);
    await pass(10);
    expect(new Set(shown)).toEqual(new Set(['error', 'success']));
    screen.getByText('here');
    await pass(600_000);
    expect(reads).toBe(3);
  });

  it('waits as long as the gateway asked', async () => {
    await open(reject(429, 40));
    await pass(39_000);
    expect(reads).toBe(1);
    await pass(2_000);
    expect(reads).toBe(2);
  });

  it.each([402, 403, 404, 422])('of a %i is not read again', async (status) => {
    await open(reject(status, null));
    await pass(600_000);
    expect(reads).toBe(1);
  });

  it('is not read again where the answer says so, unless it says when', async () => {
    await open(reject(500, null, false));
    await pass(600_000);
    expect(reads).toBe(1);
    closePage();
    client.clear();
    reads = 0;
    await open(reject(429, 70, false));
    await pass(71_000);
    expect(reads).toBe(2);
  });

  it('point 18 says so where the browser has no network, and is read again', async () => {
    const away = (): Promise<string> => Promise.reject(unreachable());
    await open(
      () => Promise.resolve('here'),
      away,
      away,
      away,
      () => Promise.resolve('back'),
    );
    act(() => void window.dispatchEvent(new Event('offline')));
    await act(async () => void client.resetQueries());
    await pass(10_000);
    expect([reads, shown.at(-1)]).toEqual([4, 'error']);
    await pass(20_000);
    screen.getByText('back');
    act(() => void window.dispatchEvent(new Event('online')));
  });

  it('point 18 and a change without a network fails at once, and is not made later', async () => {
    await open(() => Promise.resolve('here'));
    act(() => void window.dispatchEvent(new Event('offline')));
    let tries = 0;
    const mutationFn = (): Promise<never> => Promise.reject((tries++, unreachable()));
    const change = client
      .getMutationCache()
      .build(client, { ...client.getDefaultOptions().mutations, mutationFn });
    void change.execute(undefined).catch(() => undefined);
    await pass(10);
    expect([tries, change.state.status]).toEqual([1, 'error']);
    act(() => void window.dispatchEvent(new Event('online')));
    await pass(600_000);
    expect(tries).toBe(1);
  });

  it('point 18 begins anew where it was removed while it failed: nothing is read for the page that has gone', async () => {
    const never = (): Promise<string> => new Promise(() => undefined);
    await open(reject(503, 2), never, () => Promise.resolve('here'));
    // The second read is under way.
    await pass(5_000);
    expect([reads, shown.at(-1)]).toEqual([2, 'error']);
    closePage();
    client.clear();
    await pass(600_000);
    expect(reads).toBe(2);
    shown = [];
    openPage();
    await pass(10);
    expect([shown.at(0), new Set(shown), reads]).toEqual(['pending', new Set(['pending', 'success']), 3]);
  });

  it('point 18 shows no failure of before it succeeded, nor of before it was reset', async () => {
    const slow = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('here'), 1_000));
    await open(reject(503, 2), () => Promise.resolve('here'), slow, reject(503, 2), slow);
    await pass(5_010);
    screen.getByText('here');
    for (const reset of ['after a success', 'after a failure']) {
      shown = [];
      await act(async () => void client.resetQueries());
      await pass(500);
      expect([reset, new Set(shown)]).toEqual([reset, new Set(['pending'])]);
      await pass(600);
      screen.getByText('here');
      await act(async () => void client.invalidateQueries());
      await pass(10);
    }
  });
});

describe('what a tab has read', () => {
  const ada = { id: 'usr_1', email: 'ada@example.com', name: 'Ada', time_zone: null, locale: null };
  const signedIn = (person: typeof ada): Session => ({ state: 'in', token: 't', expiresAt: 0, person });

  it('is forgotten at the end of a session, and left where another person is signed in', () => {
    const client = newQueryClient();
    let [current, changed, left]: [Session, () => void, number] = [{ state: 'starting' }, () => undefined, 0];
    const session = { get: () => current, subscribe: (call: () => void) => ((changed = call), () => true) };
    keepToPerson(client, session, () => (left += 1));
    const becomes = (next: Session): unknown => {
      client.setQueryData(['me'], 'Ada');
      current = next;
      changed();
      return [client.getQueryData(['me']), left];
    };
    expect(becomes(signedIn(ada))).toEqual(['Ada', 0]);
    expect(becomes({ state: 'ended', person: ada })).toEqual(['Ada', 0]);
    expect(becomes(signedIn(ada))).toEqual(['Ada', 0]);
    expect(becomes(signedIn({ ...ada, id: 'usr_2' }))).toEqual(['Ada', 1]);
    expect(becomes({ state: 'out' })).toEqual([undefined, 1]);
    expect(becomes(signedIn(ada))).toEqual(['Ada', 1]);
  });
});

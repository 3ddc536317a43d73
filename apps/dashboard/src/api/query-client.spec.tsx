/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { Problem } from './problem.js';
import { newQueryClient } from './query-client.js';

describe('a read that failed', () => {
  let reads: number;
  let shown: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    [reads, shown] = [0, []];
  });
  afterEach(() => {
    cleanup();
    jest.useRealTimers();
  });

  const refuse = (status: number, retryAfterSeconds: number | null) => (): Promise<string> =>
    Promise.reject(new Problem({ status, code: 'some_code', message: 'In words.', retryAfterSeconds }));

  /** A page that reads; the last answer is that of all later reads. */
  async function open(...answers: (() => Promise<string>)[]): Promise<void> {
    const read = (): Promise<string> => answers[Math.min(reads++, answers.length - 1)]();
    function Page(): ReactNode {
      const { status, data } = useQuery({ queryKey: ['me', 'noun'], queryFn: read });
      shown.push(status);
      return data ?? status;
    }
    render(
      <QueryClientProvider client={newQueryClient()}>
        <Page />
      </QueryClientProvider>,
    );
    await pass(10);
  }
  const pass = (ms: number): Promise<void> => act(() => jest.advanceTimersByTimeAsync(ms));

  it('point 18 of a service that is away is read again until it answers, and its failure stands meanwhile', async () => {
    await open(refuse(503, 2), refuse(503, 2), () => Promise.resolve('here'));
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
    await open(refuse(429, 40));
    await pass(39_000);
    expect(reads).toBe(1);
    await pass(2_000);
    expect(reads).toBe(2);
  });

  it.each([402, 403, 404, 422])('of a %i is not read again', async (status) => {
    await open(refuse(status, null));
    await pass(600_000);
    expect(reads).toBe(1);
  });
});

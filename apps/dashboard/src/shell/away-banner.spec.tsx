/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { Problem, unreachable } from '../api/problem.js';
import { newQueryClient } from '../api/query-client.js';
import { rendered } from './rendered.fixture.js';

jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: () => new Promise(() => undefined) },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
await import('./away-banner.js');
const { BelowBanner } = await import('./below-banner.js');
const { ProblemCard } = await import('./problem-card.js');

let answer: (name: string) => unknown;
function Card({ name }: { name: string }): ReactNode {
  const read = useQuery({ queryKey: [name], queryFn: () => answer(name) });
  if (read.isPending) return null;
  if (read.isError) return <ProblemCard failure={read.error} retry={() => void read.refetch()} />;
  return <p>{`${name} is there`}</p>;
}
const pass = (ms: number): Promise<void> => act(() => jest.advanceTimersByTimeAsync(ms));
const away = (): never => {
  throw unreachable();
};
/** Time after which a read has failed for good. */
const FAILS_MS = 5_000;

describe('a gateway that is away', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    cleanup();
    jest.useRealTimers();
  });

  async function open(): Promise<void> {
    rendered(
      <QueryClientProvider client={newQueryClient()}>
        <BelowBanner>
          {['Spend', 'Balance', 'Keys'].map((name) => (
            <Card key={name} name={name} />
          ))}
        </BelowBanner>
      </QueryClientProvider>,
    );
    await pass(FAILS_MS);
  }

  it('is said once for all cards, with the time of the next try, and its cards keep their places', async () => {
    answer = away;
    await open();
    expect(screen.getAllByRole('alert')).toHaveLength(1);
    screen.getByText('The gateway cannot be reached');
    const before = screen.getByText(/^Trying again in \d+ s\.$/).textContent;
    expect(screen.getAllByRole('status', { name: 'Not read yet' })).toHaveLength(3);
    await pass(2_000);
    expect(screen.getByText(/^Trying again in \d+ s\.$/).textContent).not.toBe(before);
  });

  it('comes back by itself, and by Retry at once', async () => {
    answer = away;
    await open();
    answer = (name) => name;
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    await pass(0);
    expect(screen.queryByRole('alert')).toBeNull();
    for (const name of ['Spend', 'Balance', 'Keys']) screen.getByText(`${name} is there`);
  });

  it('is not said of a rejection of one card, which says so itself', async () => {
    answer = (name) => {
      if (name !== 'Keys') return name;
      throw new Problem({ status: 403, code: 'forbidden', message: 'This is not yours.' });
    };
    await open();
    expect(screen.getAllByRole('alert')).toHaveLength(1);
    screen.getByText('This is not yours.');
    expect(screen.queryByText('The gateway cannot be reached')).toBeNull();
  });
});

/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { act, fireEvent, screen } from '@testing-library/react';
import { Problem } from '../api/problem.js';
import { rendered } from './rendered.fixture.js';

const TABLE = { codes: { some_code: { action: 'Raise the cap or add credit.' } } };
const GET = jest.fn((_path: string) => Promise.resolve({ data: TABLE }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
let state = 'out';
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state }) }));
const { ProblemCard } = await import('./problem-card.js');

const problem = (status: number, retryAfterSeconds: number | null = null): Problem =>
  new Problem({ status, code: 'some_code', message: 'In words.', requestId: 'req_7', retryAfterSeconds });

describe('a failure on a page', () => {
  it.each([402, 403, 404, 409, 422])('%i names its code and request and offers no retry', (status) => {
    rendered(<ProblemCard failure={problem(status)} retry={() => undefined} />);
    expect(screen.getByText('some_code')).not.toBeNull();
    expect(screen.getByText('req_7')).not.toBeNull();
    expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
  });

  it('point 18 says what to do, by the table of errors, to who is signed in', async () => {
    rendered(<ProblemCard failure={problem(402)} />);
    expect(GET).not.toHaveBeenCalled();
    state = 'in';
    rendered(<ProblemCard failure={problem(402)} />);
    await screen.findByText('Raise the cap or add credit.');
    expect(GET.mock.calls).toEqual([['/v1/errors']]);
    state = 'out';
  });

  it.each([0, 429, 500, 502, 503])('%i may be tried again', (status) => {
    let tries = 0;
    rendered(<ProblemCard failure={problem(status)} retry={() => (tries += 1)} />);
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(tries).toBe(1);
  });

  it('counts down what the server asked to wait', () => {
    jest.useFakeTimers();
    rendered(<ProblemCard failure={problem(429, 2)} retry={() => undefined} />);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Retry in 2 s' }).disabled).toBe(true);
    for (let second = 0; second < 2; second += 1) act(() => jest.advanceTimersByTime(1_000));
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Retry' }).disabled).toBe(false);
    jest.useRealTimers();
  });
});

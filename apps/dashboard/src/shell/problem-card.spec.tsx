/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { act, fireEvent, screen } from '@testing-library/react';
import { Problem, problemOf } from '../api/problem.js';
import { rendered } from './rendered.fixture.js';

/** Builds an entry as GET /v1/errors has it. */
const listed = (action: string, retryable: boolean) => ({ action, retryable });
const TABLE = {
  codes: {
    some_code: listed('Raise the cap or add credit.', false),
    internal_error: listed('Report the request_id if it happens again.', false),
    concurrent_sessions_exceeded: listed('Close a session first.', false),
    bad_request: listed('Correct the named field or option and send it again.', false),
    model_capability_not_supported: listed('Choose a model whose record says it can.', false),
    rate_limit_exceeded: listed('Wait for Retry-After, then send again.', true),
    gateway_timeout: listed('Send it again with back-off.', true),
    provider_not_available: listed('Send it again after Retry-After.', true),
    service_unavailable: listed('Send it again after Retry-After.', true),
  },
};
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

  it.each([
    [500, 'internal_error'],
    [429, 'concurrent_sessions_exceeded'],
    [408, 'bad_request'],
    [501, 'model_capability_not_supported'],
    [429, 'rate_limit_exceeded'],
    [504, 'gateway_timeout'],
    [503, 'service_unavailable'],
  ] as const)('point 18 a %i %s may be tried again where the table says so', async (status, code) => {
    state = 'in';
    const failure = new Problem({ status, code, message: 'In words.' });
    rendered(<ProblemCard failure={failure} retry={() => undefined} />);
    await screen.findByText(TABLE.codes[code].action);
    expect(screen.queryAllByRole('button', { name: 'Retry' })).toHaveLength(
      TABLE.codes[code].retryable ? 1 : 0,
    );
    state = 'out';
  });

  it.each([
    ['500 of the gateway itself', 500, 'false', 0],
    ['503', 503, 'true', 1],
    ['502 of a proxy', 502, null, 1],
    ['501 of a proxy', 501, null, 0],
  ])('while the table is not known, as a %s says', async (_name, status, shouldRetry, buttons) => {
    const headers: Record<string, string> = shouldRetry === null ? {} : { 'x-should-retry': shouldRetry };
    const answer = { status, headers: new Headers(headers), json: () => Promise.resolve({}) };
    const failure = await problemOf(answer as unknown as Response);
    rendered(<ProblemCard failure={failure} retry={() => undefined} />);
    expect(screen.queryAllByRole('button', { name: 'Retry' })).toHaveLength(buttons);
  });

  it('a model without a credential says to add a provider key, and not to wait', async () => {
    state = 'in';
    const failure = new Problem({
      ...{ status: 503, code: 'provider_not_available', message: 'In words.' },
      ...{ retryAfterSeconds: 60, shouldRetry: false },
    });
    rendered(<ProblemCard failure={failure} retry={() => undefined} />);
    await screen.findByText('No provider key');
    await screen.findByText(/^Add a provider key, or choose a model that is ready\./);
    expect(screen.queryByText('Send it again after Retry-After.')).toBeNull();
    expect(screen.queryByRole('button', { name: /Retry/ })).toBeNull();
    state = 'out';
  });

  it.each([0, 429, 500, 502, 503])('%i may be tried again where nobody says anything of it', (status) => {
    let tries = 0;
    rendered(<ProblemCard failure={problem(status)} retry={() => (tries += 1)} />);
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(tries).toBe(1);
  });

  it('point 18 counts down what the server asked to wait, by the clock', () => {
    jest.useFakeTimers();
    rendered(<ProblemCard failure={problem(429, 86_400)} retry={() => undefined} />);
    const shows = (name: string): boolean => screen.getByRole<HTMLButtonElement>('button', { name }).disabled;
    expect(shows('Retry in 24 h')).toBe(true);
    // The browser let no timer of a hidden page run meanwhile.
    jest.setSystemTime(Date.now() + 86_396_000);
    act(() => jest.advanceTimersByTime(1_000));
    expect(shows('Retry in 3 s')).toBe(true);
    act(() => jest.advanceTimersByTime(3_000));
    expect(shows('Retry')).toBe(false);
    jest.useRealTimers();
  });
});

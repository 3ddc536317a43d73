import { admittedAfter, placed } from './waterfall.js';

const attempt = (n: number, seconds: number, latencyMs: number, ttftMs: number | null) => ({
  n,
  status: n === 1 ? 'failed' : 'success',
  http_status: 200,
  error_code: null,
  error_message: null,
  started_at: new Date(Date.UTC(2026, 10, 22, 12, 0, seconds)).toISOString(),
  latency_ms: latencyMs,
  ttft_ms: ttftMs,
  prompt_tokens: 1,
  completion_tokens: 1,
  served: n !== 1,
});

describe('the waterfall of attempts', () => {
  it('lays each where it ran: the wait for the first token, then the answer', () => {
    const [first, second] = placed([attempt(1, 0, 1_000, null), attempt(2, 1, 3_000, 1_000)]);
    expect(first).toMatchObject({ left: 0, wait: 25, stream: 0 });
    expect(second).toMatchObject({ left: 25, wait: 25, stream: 50 });
  });

  it('says how long admission took, and nothing where a clock says that it took less than no time', () => {
    const attempts = [attempt(2, 2, 1, null), attempt(1, 1, 1, null)];
    const cameAt = (created_at: string) => admittedAfter({ created_at, attempts });
    expect(cameAt('2026-11-22T12:00:00.998Z')).toBe(2);
    expect(cameAt('2026-11-22T12:00:01.001Z')).toBeNull();
    expect(admittedAfter({ created_at: '2026-11-22T12:00:00Z', attempts: [] })).toBeNull();
  });

  it('holds for none, and for one that took no time', () => {
    expect(placed([])).toEqual([]);
    expect(placed([attempt(1, 0, 0, null)])).toMatchObject([{ left: 0, wait: 0, stream: 0 }]);
  });
});

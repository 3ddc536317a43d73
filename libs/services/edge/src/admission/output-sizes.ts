import type { Clock } from '@gateway/contracts';
import { p95OutputTokens } from '@gateway/money';

const WINDOW_MS = 3_600_000;
const MOST_SAMPLES = 512;
const MOST_MODELS = 4_096;
/** The percentile is sorted anew at most so often. */
const FRESH_MS = 1_000;

interface Samples {
  tokens: number[];
  at: number[];
  next: number;
  p95: number | null;
  computedMs: number;
}

/** Output tokens of the served units of the last hour, by model: what a reservation expects. */
export class OutputSizes {
  private readonly models = new Map<string, Samples>();

  constructor(private readonly clock: Clock) {}

  add(model: string, tokens: number): void {
    let samples = this.models.get(model);
    if (!samples) {
      if (this.models.size >= MOST_MODELS) this.models.clear();
      this.models.set(model, (samples = { tokens: [], at: [], next: 0, p95: null, computedMs: -FRESH_MS }));
    }
    samples.tokens[samples.next] = tokens;
    samples.at[samples.next] = this.clock.monotonic();
    samples.next = (samples.next + 1) % MOST_SAMPLES;
  }

  p95(model: string): number | null {
    const samples = this.models.get(model);
    if (!samples) return null;
    const now = this.clock.monotonic();
    if (now - samples.computedMs < FRESH_MS) return samples.p95;
    const recent = samples.tokens.filter((_tokens, at) => now - samples.at[at] < WINDOW_MS);
    samples.p95 = p95OutputTokens(recent);
    samples.computedMs = now;
    return samples.p95;
  }
}

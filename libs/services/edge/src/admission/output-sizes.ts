import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { p95OutputTokens } from '@gateway/money';
import { CLOCK } from '@gateway/platform';

const WINDOW_MS = 3_600_000;
const MOST_SAMPLES = 128;
/** Accounts times models: at most some 25 MB. */
const MOST_SERIES = 10_000;
/** The percentile is sorted anew at most so often. */
const FRESH_MS = 1_000;

interface Samples {
  tokens: number[];
  at: number[];
  next: number;
  p95: number | null;
  computedMs: number;
}

/**
 * Output tokens of the served units of the last hour, by account and model: what a reservation expects. Never over all
 * accounts: what one tenant asks for must not make another's reservation small.
 */
@Injectable()
export class OutputSizes {
  private readonly series = new Map<string, Samples>();

  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  add(accountId: string, model: string, tokens: number): void {
    const name = `${accountId} ${model}`;
    const samples = this.series.get(name) ?? {
      tokens: [],
      at: [],
      next: 0,
      p95: null,
      computedMs: -FRESH_MS,
    };
    // The one that was used last comes last, so that the bound takes the one that rested longest.
    this.series.delete(name);
    this.series.set(name, samples);
    if (this.series.size > MOST_SERIES) this.dropOldest();
    samples.tokens[samples.next] = tokens;
    samples.at[samples.next] = this.clock.monotonic();
    samples.next = (samples.next + 1) % MOST_SAMPLES;
  }

  /** null under 20 units. */
  p95(accountId: string, model: string): number | null {
    const samples = this.series.get(`${accountId} ${model}`);
    if (!samples) return null;
    const now = this.clock.monotonic();
    if (now - samples.computedMs < FRESH_MS) return samples.p95;
    const recent = samples.tokens.filter((_tokens, at) => now - samples.at[at] < WINDOW_MS);
    samples.p95 = p95OutputTokens(recent);
    samples.computedMs = now;
    return samples.p95;
  }

  private dropOldest(): void {
    for (const oldest of this.series.keys()) {
      this.series.delete(oldest);
      return;
    }
  }
}

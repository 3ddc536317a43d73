import type { CredentialCount, CredentialCounted } from '@gateway/contracts';
import { minuteOf } from '../windows.js';

const MINUTE_MS = 60_000;

interface Counts {
  minute: number;
  requests: number;
  tokens: number;
}

/** Requests and tokens of platform credentials in the current minute, as the Redis scripts count them. */
export class CredentialCounts {
  private readonly counts = new Map<string, Counts>();

  count({ id, rpm, tpm, tokens }: CredentialCount, nowMs: number): CredentialCounted {
    const minute = minuteOf(nowMs);
    const found = this.counts.get(id);
    const counted = found?.minute === minute ? found : { minute, requests: 0, tokens: 0 };
    if (counted.requests >= (rpm ?? Infinity) || counted.tokens >= (tpm ?? Infinity))
      return { fullForMs: MINUTE_MS - (nowMs % MINUTE_MS) };
    counted.requests += 1;
    counted.tokens += tokens;
    this.counts.set(id, counted);
    return { minute };
  }

  correct({ id, minute, tokens }: { id: string; minute: number; tokens: number }): void {
    const counted = this.counts.get(id);
    if (counted?.minute === minute) counted.tokens = Math.max(0, counted.tokens + tokens);
  }

  /** Forgets credentials that were not used in this minute. */
  sweep(nowMs: number): void {
    for (const [id, { minute }] of this.counts) if (minute < minuteOf(nowMs)) this.counts.delete(id);
  }
}

import type { Clock, RequestContents } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';
import type { ResponseCache } from './response-cache.js';

const EVERY_MS = 5_000;
/** The longest answer that was under way at an erasure is kept after it: so long an erasure is looked at again. */
const AGAIN_MS = 35 * 60_000;

interface Deps {
  cache: ResponseCache;
  contents: Pick<RequestContents, 'erasedSince'>;
  clock: Clock;
  onFailure: (failure: unknown) => void;
}

/**
 * Removes kept answers of end users who were erased, within seconds. Asks only while answers of end users are kept, so
 * that an edge without them asks nobody.
 */
export class ForgetErased {
  private round: Repeated | null = null;
  private seenToMs: number;

  constructor(private readonly deps: Deps) {
    this.seenToMs = deps.clock.now();
    deps.cache.onEndUser = () => this.start();
  }

  async look(): Promise<void> {
    const { cache, clock, contents } = this.deps;
    if (!cache.keepsEndUsers) return;
    const now = clock.now();
    for (let fromMs = this.seenToMs - AGAIN_MS; ;) {
      const { erased, isAll } = await contents.erasedSince(new Date(fromMs));
      for (const one of erased) cache.forget(one);
      const lastMs = erased.at(-1)?.erasedAtMs ?? fromMs;
      if (isAll || lastMs <= fromMs) break;
      fromMs = lastMs;
    }
    this.seenToMs = now;
  }

  async stop(): Promise<void> {
    await this.round?.stop();
  }

  private start(): void {
    this.round ??= repeat(this.deps.clock, EVERY_MS, () => this.look(), this.deps.onFailure);
  }
}

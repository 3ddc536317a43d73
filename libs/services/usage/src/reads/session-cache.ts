import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import { createHash } from 'node:crypto';
import { HEADER, type Clock, type Principal } from '@gateway/contracts';
import type { FastifyReply } from 'fastify';

const KEPT_MS = 60_000;
const ENTRIES_MAX = 500;

interface Kept {
  at: number;
  answer: Promise<unknown>;
}

interface Read<T> {
  principal: Principal;
  /** The endpoint and everything that its answer depends on. */
  question: readonly unknown[];
  isRefreshed: boolean;
  /** `mayLag`: an answer of some seconds ago will do. */
  read: (mayLag: boolean) => Promise<T>;
}

/**
 * Usage that sessions and admin keys have read in the last minute: dashboards ask for the same again and
 * again, and all at once. An API key is never answered from here.
 */
@Injectable()
export class SessionCache {
  private readonly kept = new Map<string, Kept>();

  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  /** The answer, with its `Age` on the reply where it was read before. Throws what `read` throws, which is not kept. */
  async answer<T>(reply: FastifyReply, { principal, question, isRefreshed, read }: Read<T>): Promise<T> {
    if (principal.kind === 'key') return read(false);
    const name = createHash('sha256').update(JSON.stringify(question)).digest('base64');
    const now = this.clock.monotonic();
    const known = this.kept.get(name);
    if (known !== undefined && !isRefreshed && now - known.at < KEPT_MS) {
      const answer = (await known.answer) as T;
      void reply.header(HEADER.age, Math.floor((now - known.at) / 1000));
      return answer;
    }
    const answer = read(!isRefreshed);
    this.keep(name, { at: now, answer });
    answer.catch(() => {
      if (this.kept.get(name)?.answer === answer) this.kept.delete(name);
    });
    return answer;
  }

  private keep(name: string, kept: Kept): void {
    this.kept.delete(name);
    this.kept.set(name, kept);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= ENTRIES_MAX) break;
      this.kept.delete(oldest);
    }
  }
}

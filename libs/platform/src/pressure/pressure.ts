import { Inject, Injectable } from '@nestjs/common';
import type { ApiError, Random } from '@gateway/contracts';
import type { FastifyInstance } from 'fastify';
import { totalmem } from 'node:os';
import { unavailable } from '../errors/unavailable.js';
import { RANDOM } from '../time/tokens.js';
import { LoopDelay } from './loop-delay.js';
import { ResidentMemory } from './resident-memory.js';

/** Limits above which work is refused (reliability 5.3): batch work and free models first, then everything. */
export interface PressureLimits {
  /** Mean of the event-loop delay over each of the last two seconds. */
  delayMs: { some: number; all: number };
  /** Resident memory. */
  rssBytes: { some: number; all: number };
  /** Large request bodies that are being served, as far as they have arrived. */
  bodyBytes: { some: number; all: number };
}

const MIB = 1024 * 1024;
const UNAUTHENTICATED_BYTES_MAX = 16 * MIB;
/** One account holds one of so many parts at most; two of the largest requests fit into each. */
const ACCOUNT_PARTS = 4;

/** 70 and 80 % of the memory that this process may use: the container's limit, else the machine's. */
export function defaultPressureLimits(): PressureLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 && constrained < totalmem() ? constrained : totalmem();
  return {
    delayMs: { some: 50, all: 200 },
    rssBytes: { some: memory * 0.7, all: memory * 0.8 },
    bodyBytes: { some: 192 * MIB, all: 256 * MIB },
  };
}

/** A budget for bytes that a small request names and does not hold. */
export interface MemoryBudget {
  held(bytes: number): void;
  released(bytes: number): void;
  /** Returns the reason why so many bytes are not read; null where the budget allows them. */
  refusalOfMore(bytes: number): ApiError | null;
}

/** The load of this process. The edge asks it before batch work and free models. */
@Injectable()
export class Pressure implements MemoryBudget {
  private bodyBytes = 0;
  private unauthenticatedBytes = 0;
  /** Bytes that small requests of an account named, by account; an account without any has no entry. */
  private readonly namedBytes = new Map<string, number>();
  private limits = defaultPressureLimits();
  private readonly delay = new LoopDelay();
  private readonly memory = new ResidentMemory();

  constructor(@Inject(RANDOM) private readonly random: Random) {}

  get bodyBytesInFlight(): number {
    return this.bodyBytes;
  }

  /** Counts bytes of a request body that arrived and is being served. */
  held(bytes: number): void {
    this.bodyBytes += bytes;
  }

  released(bytes: number): void {
    this.bodyBytes -= bytes;
  }

  /** Counts bytes, more or fewer, of callers that have shown no valid credential. */
  heldUnauthenticated(bytes: number): void {
    this.unauthenticatedBytes += bytes;
  }

  /** They share one budget, whatever their number (reliability 5.5). */
  get refusesUnauthenticated(): boolean {
    return this.unauthenticatedBytes > UNAUTHENTICATED_BYTES_MAX;
  }

  /** True where batch work and requests of free models are to be refused with `service_unavailable`. */
  get refusesSome(): boolean {
    const { delayMs, rssBytes, bodyBytes } = this.limits;
    if (this.bodyBytes > bodyBytes.some) return true;
    return this.delay.meanMs > delayMs.some || this.memory.bytes > rssBytes.some;
  }

  /** Begins to measure. */
  watch(instance: FastifyInstance, limits: PressureLimits): void {
    this.limits = limits;
    this.delay.start();
    this.memory.start();
    instance.addHook('onClose', (_instance, closed) => {
      this.delay.stop();
      this.memory.stop();
      closed();
    });
  }

  /** Returns the reason to refuse a request that declares so many bytes past the limits; null admits it. */
  refusal(declaredBytes: number): ApiError | null {
    const { delayMs, rssBytes, bodyBytes } = this.limits;
    const resident = this.memory.bytes;
    if (resident > rssBytes.all) return this.overloaded(`its resident memory is ${resident} bytes`);
    const { meanMs } = this.delay;
    if (meanMs > delayMs.all) return this.overloaded(`its event loop is ${meanMs} ms late`);
    if (declaredBytes === 0 || this.bodyBytes <= bodyBytes.all) return null;
    return this.overloaded(`${this.bodyBytes} bytes of bodies are in flight`);
  }

  /**
   * Returns the reason why so many bytes that a small request names are not read; null where the budget allows them.
   * Unlike bodies they never take the last of it: what they fill is full for them alone.
   */
  refusalOfMore(bytes: number): ApiError | null {
    const refusal = this.refusal(0);
    if (refusal !== null || this.bodyBytes + bytes <= this.limits.bodyBytes.all) return refusal;
    return this.overloaded(`${bytes} bytes more than the ${this.bodyBytes} of bodies that are in flight`);
  }

  /** The quota of one account: its slow answers leave the rest to others. */
  ofAccount(accountId: string): MemoryBudget {
    const add = (bytes: number): void => {
      const sum = (this.namedBytes.get(accountId) ?? 0) + bytes;
      if (sum > 0) this.namedBytes.set(accountId, sum);
      else this.namedBytes.delete(accountId);
    };
    return {
      held: (bytes) => {
        add(bytes);
        this.held(bytes);
      },
      released: (bytes) => {
        add(-bytes);
        this.released(bytes);
      },
      refusalOfMore: (bytes) => {
        const own = this.namedBytes.get(accountId) ?? 0;
        // One that is larger than the part is read alone.
        if (own === 0 || own + bytes <= this.limits.bodyBytes.all / ACCOUNT_PARTS)
          return this.refusalOfMore(bytes);
        return this.overloaded(`${bytes} bytes more than the ${own} that the account holds`);
      },
    };
  }

  private overloaded(why: string): ApiError {
    return unavailable(this.random, new Error(`The process is overloaded: ${why}.`));
  }
}

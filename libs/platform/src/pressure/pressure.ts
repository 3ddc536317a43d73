import { Inject, Injectable } from '@nestjs/common';
import { BODY_LIMIT_BYTES, type ApiError, type Random } from '@gateway/contracts';
import type { FastifyInstance } from 'fastify';
import { totalmem } from 'node:os';
import type { RecordableHistogram } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { unavailable } from '../errors/unavailable.js';
import { RANDOM } from '../time/tokens.js';
import { LoopDelay } from './loop-delay.js';
import { ResidentMemory } from './resident-memory.js';

/** Limits above which work is refused: batch work and free models first, then everything. */
export interface PressureLimits {
  /** Mean of the event-loop delay over each of the last two seconds. */
  delayMs: { some: number; all: number };
  /** Resident memory. */
  rssBytes: { some: number; all: number };
  /** Large request bodies that are being served, as far as they have arrived. One that is there alone is always read. */
  bodyBytes: { some: number; all: number };
}

const MIB = 1024 * 1024;
const UNAUTHENTICATED_BYTES_MAX = 16 * MIB;
const BODY_BYTES_MAX = 256 * MIB;
/** Heap of a process that serves no large body. */
const OWN_HEAP_BYTES = 128 * MIB;
/** A body that is parsed, checked and written for its upstream takes so many times its bytes of the heap. */
const HEAP_OF_BODY_BYTE = 6;
/** One account holds one of so many parts at most; two of the largest requests fit into each. */
const ACCOUNT_PARTS = 4;

/**
 * 70 and 80 % of the memory that this process may use: the container's limit, else the machine's. Bodies take what its
 * heap has room for, 256 MiB at most and one of the largest at least. Node gives a small container a small heap, and ends
 * a process that fills it.
 */
export function defaultPressureLimits(heapBytes = getHeapStatistics().heap_size_limit): PressureLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 && constrained < totalmem() ? constrained : totalmem();
  const ofHeap = (heapBytes - OWN_HEAP_BYTES) / HEAP_OF_BODY_BYTE;
  const bodies = Math.min(BODY_BYTES_MAX, Math.max(BODY_LIMIT_BYTES, ofHeap));
  return {
    delayMs: { some: 50, all: 200 },
    rssBytes: { some: memory * 0.7, all: memory * 0.8 },
    bodyBytes: { some: bodies * 0.75, all: bodies },
  };
}

/** A budget for bytes that a small request names and does not hold. */
export interface MemoryBudget {
  buffered(bytes: number): void;
  released(bytes: number): void;
  /** Returns the reason why so many bytes are not read; null where the budget allows them. */
  rejectionOfMore(bytes: number): ApiError | null;
}

/** The load of this process. The edge asks it before batch work and free models. */
@Injectable()
export class Pressure implements MemoryBudget {
  private bodyBytes = 0;
  /** Bytes among `bodyBytes` that came in large bodies. */
  private arrivedBytes = 0;
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
  buffered(bytes: number): void {
    this.bodyBytes += bytes;
  }

  released(bytes: number): void {
    this.bodyBytes -= bytes;
  }

  /**
   * Counts bytes of a large body as they arrive. Returns the reason to read no more of it, where so many of it are buffered;
   * null where it goes on, as one does that is there alone, and beside what small requests name.
   */
  arrived(bytes: number, ownBytes: number): ApiError | null {
    this.buffered(bytes);
    this.arrivedBytes += bytes;
    if (this.arrivedBytes <= this.limits.bodyBytes.all || this.arrivedBytes <= ownBytes) return null;
    return this.overloaded(`${this.arrivedBytes} bytes of bodies have arrived at once`);
  }

  /** Gives back what arrived of a body. */
  dropped(bytes: number): void {
    this.released(bytes);
    this.arrivedBytes -= bytes;
  }

  /** Counts bytes, more or fewer, of callers that have shown no valid credential. */
  bufferedUnauthenticated(bytes: number): void {
    this.unauthenticatedBytes += bytes;
  }

  /** They share one budget, whatever their number. */
  get refusesUnauthenticated(): boolean {
    return this.unauthenticatedBytes > UNAUTHENTICATED_BYTES_MAX;
  }

  /** True where batch work and requests of free models are to be refused with `service_unavailable`. */
  get refusesSome(): boolean {
    const { delayMs, rssBytes, bodyBytes } = this.limits;
    if (this.bodyBytes > bodyBytes.some) return true;
    return this.delay.meanMs > delayMs.some || this.memory.bytes > rssBytes.some;
  }

  /** Delays of the event loop, in nanoseconds, for whoever reports them. */
  get delays(): RecordableHistogram {
    return this.delay.delays;
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
  rejection(declaredBytes: number): ApiError | null {
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
  rejectionOfMore(bytes: number): ApiError | null {
    const rejection = this.rejection(0);
    if (rejection !== null || this.bodyBytes + bytes <= this.limits.bodyBytes.all) return rejection;
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
      buffered: (bytes) => {
        add(bytes);
        this.buffered(bytes);
      },
      released: (bytes) => {
        add(-bytes);
        this.released(bytes);
      },
      rejectionOfMore: (bytes) => {
        const own = this.namedBytes.get(accountId) ?? 0;
        // One that is larger than the part is read alone.
        if (own === 0 || own + bytes <= this.limits.bodyBytes.all / ACCOUNT_PARTS)
          return this.rejectionOfMore(bytes);
        return this.overloaded(`${bytes} bytes more than the ${own} that the account holds`);
      },
    };
  }

  private overloaded(why: string): ApiError {
    return unavailable(this.random, new Error(`The process is overloaded: ${why}.`));
  }
}

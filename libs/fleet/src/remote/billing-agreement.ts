import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { BILLING_MODES, type BillingMode, type Clock } from '@gateway/contracts';
import { CLOCK, InternalHttp, LOGGER, ReadinessChecks, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';

/** Nest token of the mode of this process. */
export const OWN_BILLING = Symbol('OwnBilling');

const EVERY_MS = 1_000;
const TIMEOUT_MS = 2_000;
/** Reads that say how a service bills. */
const READS = { keys: '/auth/options', usage: '/internal/billing' } as const;
type Other = keyof typeof READS;
const OTHERS: readonly Other[] = ['keys', 'usage'];

/**
 * Condition of an edge's readiness: keys and usage bill as it does. Else units would be admitted in one mode and shown in
 * another. One that does not answer is asked again, and holds up nothing.
 */
@Injectable()
export class BillingAgreement implements OnModuleInit, BeforeApplicationShutdown {
  private readonly modes = new Map<Other, BillingMode>();
  private loop: Repeated | null = null;
  private said = '';

  constructor(
    @Inject(OWN_BILLING) private readonly own: BillingMode,
    private readonly http: InternalHttp,
    private readonly readiness: ReadinessChecks,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    this.readiness.add('billing', () => this.difference() ?? true);
    await this.ask();
    if (!this.isAgreed())
      this.loop = repeat(this.clock, EVERY_MS, () => this.again(), this.onFailure, EVERY_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  private async again(): Promise<void> {
    await this.ask();
    if (this.isAgreed()) void this.loop?.stop();
  }

  /** Asks whoever has not agreed yet. */
  private async ask(): Promise<void> {
    const open = OTHERS.filter((name) => this.modes.get(name) !== this.own);
    await Promise.allSettled(open.map((name) => this.askOne(name)));
    const sentence = this.difference() ?? '';
    if (sentence !== '' && sentence !== this.said) this.logger.error(sentence);
    this.said = sentence;
  }

  private isAgreed(): boolean {
    return OTHERS.every((name) => this.modes.get(name) === this.own);
  }

  private readonly onFailure = (failure: unknown): void =>
    this.logger.error({ err: failure }, 'the modes of billing could not be compared');

  private async askOne(name: Other): Promise<void> {
    const asked = { service: name, method: 'GET', path: READS[name] } as const;
    const { status, body } = await this.http.request({ ...asked, timeoutMs: TIMEOUT_MS, idempotent: false });
    const sent: unknown = Reflect.get(Object(body), 'billing');
    const mode = BILLING_MODES.find((one) => one === sent);
    // A release that does not say it has no other mode than its own.
    if (status < 400 || status === 404) this.modes.set(name, mode ?? this.own);
  }

  /** Returns the sentence of the first service that bills otherwise; null where none is known to. */
  private difference(): string | null {
    for (const [name, mode] of this.modes)
      if (mode !== this.own)
        return `BILLING is ${this.own} here and ${mode} in the ${name} service: set it alike`;
    return null;
  }
}

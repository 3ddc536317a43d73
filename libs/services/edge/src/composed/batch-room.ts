import type { AdmitRequest } from '@gateway/contracts';
import type { PricedPlan } from '../admission/admission.js';
import type { ProviderAdmission } from '../admission/provider-admission.js';

/**
 * The most that the platform may owe a provider for the lines of a batch that it shall run. Nobody can stop them there, and
 * their cost is posted without an admission: so all of it has to fit in the provider's hard budgets before, and is held there
 * until they end.
 */
export class BatchRoom {
  private asked: AdmitRequest | null = null;
  private nano = 0n;
  private readonly slug: string | null;

  constructor(
    private readonly providers: ProviderAdmission,
    credential: string,
    private readonly begun: { unitId: string; requestedAtMs: number },
  ) {
    // What runs on a customer's key costs the platform nothing.
    this.slug = credential.includes('#') ? null : credential.split('@', 1)[0];
  }

  add(line: PricedPlan): void {
    const asked = this.slug === null ? null : this.providers.askedOf(this.begun, this.slug, line);
    if (asked === null) return;
    this.asked = asked;
    this.nano += asked.worstNano ?? asked.reservationNano;
  }

  /** Holds all of it. Returns the amount, 0 where no budget counts it; null where it does not fit. Throws where budgets cannot be asked. */
  async take(): Promise<bigint | null> {
    const { asked, nano, providers } = this;
    if (asked === null) return 0n;
    // A worker that died here may have held it before.
    await providers.hold(asked, 0n);
    if (!(await providers.fits(asked, nano))) return null;
    await providers.hold(asked, nano);
    // Two that begin together find each other's now.
    if (await providers.fits(asked, 0n)) return nano;
    await providers.hold(asked, 0n);
    return null;
  }

  /** Holds the amount for the time of another lease, also where it was lost; 0 lets it go. */
  async keep(nano: bigint): Promise<void> {
    const asked = this.slug === null ? null : this.providers.holding(this.begun, this.slug);
    if (asked !== null) await this.providers.hold(asked, nano);
  }
}

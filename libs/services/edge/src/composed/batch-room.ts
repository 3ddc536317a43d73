import type { AdmitRequest } from '@gateway/contracts';
import type { PricedPlan } from '../admission/admission.js';
import type { ProviderAdmission } from '../admission/provider-admission.js';

/**
 * The most that the platform may owe a provider for the lines of a batch that it shall run. Nobody can stop them there, and
 * their cost is posted without an admission: so all of it has to fit in the provider's hard budgets before.
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

  /** Throws where the budgets cannot be asked. */
  async isEnough(): Promise<boolean> {
    const { asked, nano } = this;
    return asked === null || this.providers.fits({ ...asked, reservationNano: nano, worstNano: nano });
  }
}

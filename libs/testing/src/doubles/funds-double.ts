import { ApiError, Funds, type AppliedRange, type LimitStore } from '@gateway/contracts';
import { Usd } from '@gateway/money';

type Scopes = Parameters<Funds['seedSpendLimit']>[2];
type Credit = Parameters<Funds['credit']>[0];

/** A ledger of a few numbers that a test sets and takes away. */
export class FundsDouble extends Funds {
  /**
   * USD by `<kind> <id>`, or `<kind> <id> of <account>` where only what that account paid is asked for; 0 where there
   * is none.
   */
  readonly spentByScope = new Map<string, string>();
  readonly credits: Credit[] = [];
  balanceNano = 0n;
  /** Gates seeded, and calls of `spent`. */
  seeded = 0;
  calls = 0;
  /** Sequence numbers that are posted, whoever the producer. */
  appliedRanges: AppliedRange[] = [];
  /** Units that are posted. */
  readonly posted = new Set<string>();
  /** Producers that were heard of and have not ended, `<producer>/<epoch>`. */
  readonly living = new Set<string>();
  isUnavailable = false;

  /** @param limits the store whose gates are seeded; without one nothing is */
  constructor(private readonly limits: LimitStore | null = null) {
    super();
  }

  async seedSpendLimit(accountId: string, gen: string | null, scopes: Scopes): Promise<void> {
    this.reach();
    this.seeded += 1;
    const posted = scopes.map(({ kind, id }) => {
      const postedNano = Usd.parse(this.spentOn({ kind, id })).toNano('half-up');
      return { kind, id, postedNano };
    });
    const { balanceNano } = this;
    await this.limits?.mirror({ accountId, gen, version: 1, balanceNano, scopes: posted, units: [] });
  }

  async spent(scopes: Scopes, accountId: string | null): Promise<string[]> {
    this.calls += 1;
    this.reach();
    return scopes.map((scope) => {
      const { kind, id } = scope;
      return this.spentByScope.get(`${kind} ${id} of ${accountId}`) ?? this.spentOn(scope);
    });
  }

  async balance(): Promise<string> {
    this.reach();
    return Usd.fromNano(this.balanceNano).toString();
  }

  async credit(credit: Credit): Promise<void> {
    this.reach();
    if (!this.credits.some(({ source }) => source === credit.source)) this.credits.push(credit);
  }

  async watermark(): Promise<number> {
    return 0;
  }

  async applied(): Promise<AppliedRange[]> {
    this.reach();
    return this.appliedRanges;
  }

  async heard(producer: string, epoch: string, isEnded: boolean): Promise<void> {
    this.reach();
    if (isEnded) this.living.delete(`${producer}/${epoch}`);
    else this.living.add(`${producer}/${epoch}`);
  }

  async reportDue(accountId: string): Promise<void> {
    this.reach();
    const due = (await this.limits?.due(accountId, 1_000)) ?? [];
    const units = due.filter((unit) => this.posted.has(unit)).map((unit) => ({ unit, crash: false }));
    const { balanceNano } = this;
    await this.limits?.mirror({ accountId, gen: null, version: 1, balanceNano, scopes: [], units });
  }

  private spentOn({ kind, id }: Scopes[number]): string {
    return this.spentByScope.get(`${kind} ${id}`) ?? '0';
  }

  private reach(): void {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
  }
}

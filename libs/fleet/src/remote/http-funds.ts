import { Inject, Injectable } from '@nestjs/common';
import { Funds, type AppliedRange, type Random, type SpendScope } from '@gateway/contracts';
import { RANDOM, unavailable } from '@gateway/platform';
import { InternalHttp, type InternalResponse } from '@gateway/platform';

type Scope = { kind: SpendScope; id: string };

const TIMEOUT_MS = 1_000;

/** The usage service's ledger over HTTP. Every call may be repeated: a seed and a credit have one effect. */
@Injectable()
export class HttpFunds extends Funds {
  /** Requests under way, by what they ask for. */
  private readonly seeds = new Map<string, Promise<void>>();
  private readonly dues = new Map<string, Promise<void>>();

  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  /** One call for all who wait for the same: after Redis was emptied that is every request of the account. */
  override seedSpendLimit(accountId: string, gen: string | null, scopes: Scope[]): Promise<void> {
    const name = [accountId, gen ?? '', ...scopes.map(({ kind, id }) => `${kind}:${id}`)].join('\n');
    let seed = this.seeds.get(name);
    if (seed === undefined) {
      seed = this.post(`/internal/gate/${encodeURIComponent(accountId)}`, { gen, scopes })
        .then(() => undefined)
        .finally(() => this.seeds.delete(name));
      this.seeds.set(name, seed);
    }
    return seed;
  }

  override async spent(scopes: Scope[], accountId: string | null): Promise<string[]> {
    const body = await this.post('/internal/spend', { scopes, account_id: accountId ?? undefined });
    const spent = member(body, 'spent_usd');
    if (!Array.isArray(spent) || spent.length !== scopes.length) throw this.notUnderstood('spent_usd');
    return spent.map((amount: unknown) => {
      if (typeof amount !== 'string') throw this.notUnderstood('spent_usd');
      return amount;
    });
  }

  override async balance(accountId: string): Promise<string> {
    const answer = await this.http.request({
      service: 'usage',
      method: 'GET',
      path: `/internal/balances/${encodeURIComponent(accountId)}`,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    const balance = member(this.accepted(answer), 'balance_usd');
    if (typeof balance !== 'string') throw this.notUnderstood('balance_usd');
    return balance;
  }

  override async credit(credit: Parameters<Funds['credit']>[0]): Promise<void> {
    await this.post('/internal/credits', {
      account_id: credit.accountId,
      org_id: credit.orgId,
      amount_usd: credit.amountUsd,
      kind: credit.kind,
      source: credit.source,
    });
  }

  override async watermark(producer: string, epoch: string): Promise<number> {
    const answer = await this.http.request({
      service: 'usage',
      method: 'GET',
      path: `/internal/watermarks/${encodeURIComponent(producer)}?epoch=${encodeURIComponent(epoch)}`,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    const watermark = member(this.accepted(answer), 'watermark');
    if (typeof watermark !== 'number') throw this.notUnderstood('watermark');
    return watermark;
  }

  override async applied(producer: string, epoch: string, above: number): Promise<AppliedRange[]> {
    const query = `epoch=${encodeURIComponent(epoch)}&above=${above}`;
    const answer = await this.http.request({
      service: 'usage',
      method: 'GET',
      path: `/internal/applied/${encodeURIComponent(producer)}?${query}`,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    const ranges = member(this.accepted(answer), 'ranges');
    if (!Array.isArray(ranges)) throw this.notUnderstood('ranges');
    return ranges.map((range: unknown) => {
      if (!Array.isArray(range)) throw this.notUnderstood('ranges');
      const [first, last] = range as unknown[];
      if (typeof first !== 'number' || typeof last !== 'number') throw this.notUnderstood('ranges');
      return [first, last] as const;
    });
  }

  override async heard(producer: string, epoch: string, isEnded: boolean): Promise<void> {
    await this.post(`/internal/producers/${encodeURIComponent(producer)}`, { epoch, is_ended: isEnded });
  }

  /** One call for all who wait for the same. */
  override reportDue(accountId: string): Promise<void> {
    let asked = this.dues.get(accountId);
    if (asked === undefined) {
      asked = this.post(`/internal/gate/${encodeURIComponent(accountId)}/due`, {})
        .then(() => undefined)
        .finally(() => this.dues.delete(accountId));
      this.dues.set(accountId, asked);
    }
    return asked;
  }

  private async post(path: string, body: unknown): Promise<unknown> {
    const answer = await this.http.request({
      service: 'usage',
      method: 'POST',
      path,
      body,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    return this.accepted(answer);
  }

  private accepted({ status, body }: InternalResponse): unknown {
    if (status >= 400) throw unavailable(this.random, new Error(`The usage service answered ${status}.`));
    return body;
  }

  private notUnderstood(what: string): Error {
    return unavailable(this.random, new Error(`The usage service answered no ${what}.`));
  }
}

function member(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? (body as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

import { Controller, Get, Inject, Query, Req } from '@nestjs/common';
import {
  HELD_KINDS,
  LimitStore,
  RateLimitsQuery,
  UsageContextQuery,
  type AccountState,
  type BalanceRecord,
  type Clock,
  type Principal,
  PrincipalReader,
  type RateLimitState,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { Access, CLOCK, credentialOfRequest, principalOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { LedgerStore } from '../ledger/ledger.store.js';
import { UsageConfig } from '../usage.config.js';
import { Freshness } from './freshness.js';
import { rateLimitState, seenLimits } from './rate-limits.js';
import { payerOf } from './view.js';

/** Routes of an account's balance and counters. Never cached. */
@Controller('v1')
@Access({
  key: { permission: 'usage:read' },
  session: true,
  adminKey: { scope: 'usage:read' },
  org: { roles: ['owner', 'admin', 'member'], own: true },
})
export class AccountController {
  constructor(
    @Inject(LimitStore) private readonly limits: LimitStore,
    private readonly ledger: LedgerStore,
    private readonly freshness: Freshness,
    private readonly principals: PrincipalReader,
    private readonly config: UsageConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads the counters of every limit, as they are now. */
  @Get('usage/rate-limits')
  async rateLimits(@Query() query: RateLimitsQuery, @Req() request: FastifyRequest): Promise<RateLimitState> {
    const principal = query.key_id === undefined ? await this.newest(request) : principalOf(request);
    const { accountId, limits } = await seenLimits(principal, query, this.principals);
    const scopes = limits.map(({ kind, id }) => ({ kind, id }));
    return rateLimitState(limits, await this.limits.read(accountId, scopes), this.clock.now());
  }

  /**
   * Posted less unposted, so that a finished request shows at once. Both are sent together: what the ledger posts between two
   * reads would count twice.
   */
  @Get('balance')
  async balance(@Query() query: UsageContextQuery, @Req() request: FastifyRequest): Promise<BalanceRecord> {
    const accountId = payerOf(principalOf(request), query.org_id);
    await this.freshness.settled(accountId);
    const { state, posted } = await this.freshness.matched(accountId, () => this.ledger.balance(accountId));
    const balance = (posted?.posted ?? Usd.zero).minus(Usd.fromNano(state.unpostedNano));
    const reserved = Usd.fromNano(state.reservedNano);
    const isOff = this.config.BILLING === 'off';
    return {
      billing: this.config.BILLING,
      balance_usd: isOff ? '0' : balance.toString(),
      reserved_usd: reserved.toString(),
      available_usd: isOff ? '0' : balance.minus(reserved).toString(),
      reserved_breakdown: breakdownOf(state),
      updated_at: (posted?.updatedAt ?? new Date(this.clock.now())).toISOString(),
    };
  }

  /** Reads the principal past the cache: an organization's change of its limits raises no version of its people. */
  private async newest(request: FastifyRequest): Promise<Principal> {
    const principal = principalOf(request);
    if (principal.kind !== 'session') return principal;
    return this.principals.reload(credentialOfRequest(request.raw));
  }
}

/** Returns the holds by kind; the rest is of ordinary requests. Kinds that hold nothing are left out. */
function breakdownOf({ reservedNano, scopes }: AccountState): BalanceRecord['reserved_breakdown'] {
  const apart = HELD_KINDS.map((kind, index) => ({ kind, nano: scopes[index].reservedNano }));
  const rest = apart.reduce((left, { nano }) => left - nano, reservedNano);
  return [{ kind: 'inference' as const, nano: rest }, ...apart]
    .filter(({ nano }) => nano > 0n)
    .map(({ kind, nano }) => ({ kind, reserved_usd: Usd.fromNano(nano).toString() }));
}

import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  HOLD_UNIT,
  LimitStore,
  type AdmitRequest,
  type Clock,
  type HoldCall,
  type InferenceCall,
  type KeyPrincipal,
  type PutUnit,
  type Random,
} from '@gateway/contracts';
import { admitRequest, budgetsOf, LEASE_MS, trialChecks, unitScopes, type TrialCheck } from '@gateway/limits';
import { Usd } from '@gateway/money';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { Admission } from '../admission/admission.js';
import { PostedTotals } from '../admission/posted-totals.js';
import { Settling } from '../admission/settling.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { BatchTargets } from './batch-target.js';
import { LinePlans } from './line-plans.js';
import { ServiceRequests } from './service-requests.js';

type Json = Record<string, unknown>;

/** Stale once, missing once, and one of each again after a failover. */
const ROUNDS_MAX = 5;

/** Costs of lines of batches before they are run. */
@Injectable()
export class BatchWorth {
  constructor(
    private readonly requests: ServiceRequests,
    private readonly plans: LinePlans,
    private readonly targets: BatchTargets,
    private readonly admission: Admission,
  ) {}

  /**
   * Returns the sum in nano-USD that the lines of a batch would reserve; a line that would be refused reserves nothing. Where
   * its provider runs the batch a line holds the most that it may cost: nobody can stop it there, and its cost is posted
   * without an admission.
   */
  async of(call: InferenceCall, bodies: readonly Json[]): Promise<bigint> {
    let sum = 0n;
    for (const body of bodies) {
      try {
        const request = await this.requests.of({ ...call, body });
        const planned = await this.plans.of(request);
        const { principal } = request;
        const { reservationNano, worstNano } = this.admission.requestFor('', request.receivedAtMs, {
          principal,
          ...planned,
        });
        const credential = this.targets.credentialFor(planned.plan.routes[0]);
        const runsAtProvider =
          credential !== null && (await this.targets.of(credential, async () => principal)) !== null;
        sum += runsAtProvider ? (worstNano ?? reservationNano) : reservationNano;
      } catch (failure) {
        // It is refused when its turn comes, and says then why.
        if (!(failure instanceof ApiError) || failure.status >= 500) throw failure;
      }
    }
    return sum;
  }
}

/**
 * Money for lines of batches that have not begun, as one unit in flight of the limit store: whoever runs the batch renews it,
 * and where nobody does it lapses. Lines are admitted by themselves; the hold is lowered before.
 */
@Injectable()
export class BatchHolds {
  constructor(
    private readonly requests: ServiceRequests,
    private readonly routes: RoutePlanner,
    private readonly limits: LimitStore,
    private readonly totals: PostedTotals,
    private readonly settling: Settling,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Holds the amount of the call in place of the one before. Throws ApiError `spend_limit_exceeded` where a first hold does not fit. */
  async hold(call: HoldCall): Promise<void> {
    const nano = BigInt(call.nano);
    const principal = await this.principalOf(call, false);
    const index = this.routes.index();
    // Of an alias the first target: the hold counts beside the limits of one model.
    const id = index.alias(call.model, principal.orgId)?.targets[0]?.model ?? call.model;
    const record = index.find(id)?.record;
    // Its lines are refused, so there is nothing to hold money for.
    if (record === undefined) return;
    const requestedAtMs = this.clock.now();
    const requestOf = (whose: KeyPrincipal): AdmitRequest =>
      admitRequest(
        whose,
        { id: record.id, isFree: record.is_free },
        `${call.request_id}/${HOLD_UNIT}`,
        {
          ...{ nano, worstNano: nano, tokens: 0, requestedAtMs },
          heldAs: 'batch',
        },
        budgetsOf(whose, { tags: whose.requestTags, endUserHash: null }),
      );
    const { accountId, unitId: unit, ...counted } = requestOf(principal);
    const put = (action: PutUnit['action'], amount: bigint): PutUnit => ({
      ...{ accountId, unit, action, nano: amount, scopes: unitScopes(counted) },
      ...{ tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: LEASE_MS },
    });
    if (call.is_first && nano > 0n) {
      // A worker that died here may have held it before: that is no reason to refuse it.
      await this.limits.put([put('cancel', 0n)]);
      await this.requireFit(call, requestOf, principal);
    }
    // Cancelled first: a renewal alone keeps the amount.
    await this.limits.put([put('cancel', 0n), ...(nano > 0n ? [put('renew', nano)] : [])]);
  }

  private principalOf(call: HoldCall, isNew: boolean): Promise<KeyPrincipal> {
    return this.requests.principalOf(call, isNew, 'batches:write');
  }

  /** Checks the amount strictly: an admission overruns by one request, and this one would be a large one. */
  private async requireFit(
    call: HoldCall,
    requestOf: (whose: KeyPrincipal) => AdmitRequest,
    first: KeyPrincipal,
  ): Promise<void> {
    const { limits, random, settling, totals } = this;
    let principal = first;
    let isAsked = false;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const request = requestOf(principal);
      const trial = await limits.trial(request);
      const { result } = trial;
      switch (result.kind) {
        case 'ok':
        case 'refused':
        case 'doubted': {
          const full = fullOf(request.reservationNano, trialChecks(request, trial));
          if (full === null) return;
          if (isAsked && result.kind !== 'doubted') throw noBudget(request.reservationNano, full);
          if (isAsked) throw unavailable(random, new Error('what is spent of the account is in doubt'));
          // As for a request: what is posted and still counted beside it is freed before the batch is refused for good.
          isAsked = true;
          await settling.reported(request.accountId);
          await totals.free(request.accountId);
          break;
        }
        case 'stale':
          principal = await this.principalOf(call, true);
          await limits.stamp(principal.accountId, principal.accountVersion, result.gen);
          break;
        case 'missing':
          await totals.seed(request, result.gen);
          break;
        default:
          throw unavailable(random, new Error(`a hold was answered ${result.kind}`));
      }
    }
    throw unavailable(random, new Error('a hold did not settle'));
  }
}

/** The limit of money that the hold does not fit in; null where it fits. Requests and tokens are counted by the lines. */
function fullOf(nano: bigint, checks: readonly TrialCheck[]): TrialCheck | null {
  const full = checks.find(({ metric, current, limit }) =>
    metric === 'balance'
      ? current - nano < limit
      : (metric === 'spend_cap' || metric === 'budget') && current + nano > limit,
  );
  return full ?? null;
}

function noBudget(nano: bigint, { metric, scope }: TrialCheck): ApiError {
  const cap = metric === 'budget' ? 'budget' : 'spend cap';
  const whose = metric === 'balance' ? 'balance of the account' : `${cap} of the ${scope}`;
  return new ApiError('spend_limit_exceeded', {
    message: `The lines of the batch may cost ${Usd.fromNano(nano).toString()} USD together, which the ${whose} does not cover. A lower max_tokens in its lines holds less.`,
    shouldRetry: false,
  });
}

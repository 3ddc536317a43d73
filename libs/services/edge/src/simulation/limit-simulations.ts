import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  shownScope,
  type Clock,
  type ErrorCode,
  type KeyPrincipal,
  type LimitCheck,
  type LimitSimulation,
  type Principal,
  type SimulateLimitsBody,
} from '@gateway/contracts';
import { wholeBody, type Asked, type Endpoint } from '@gateway/endpoints';
import { trialChecks, trialHeld, type TrialCheck } from '@gateway/limits';
import { price, priceAt, Usd } from '@gateway/money';
import { CLOCK, permit, visibleKey } from '@gateway/platform';
import type { PlannedRoute } from '@gateway/routing';
import {
  Admission,
  Rejected,
  type DryRun,
  type Plannable,
  type PlannedUnit,
} from '../admission/admission.js';
import { endpointAt } from '../request/endpoint-at.js';
import { isRejection } from '../units/rejections.js';
import { RoutePlanner, type PlanFor } from '../routes/route-planner.js';

/** Bytes of a token in the estimate of a prompt. */
const BYTES_PER_TOKEN = 4;
const TAGS_MAX = 16;
const CHAT = endpointAt('/chat/completions');

/**
 * Dry runs of a key's chat completion: the plan and the admission of a real one, in which the store checks and does not
 * count. Nothing is recorded.
 */
@Injectable()
export class LimitSimulations {
  constructor(
    private readonly principals: PrincipalReader,
    private readonly routes: RoutePlanner,
    private readonly admission: Admission,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Throws ApiError `not_found` for a key that the caller may not look at, `service_unavailable`. */
  async simulate(caller: Principal, body: SimulateLimitsBody, requestId: string): Promise<LimitSimulation> {
    const key = await visibleKey(this.principals, caller, body.key_id);
    const endpoint = CHAT;
    const ofRequest = tagsOf(body);
    const asked = askedOf(endpoint, body);
    const seen: { last: DryRun | null; price: string | null } = { last: null, price: null };
    const usable = (principal: KeyPrincipal): KeyPrincipal => this.usable(principal, endpoint);
    const again: Plannable = {
      reload: async () => usable(await visibleKey(this.principals, caller, body.key_id)),
      planFor: (principal) => {
        const nowMs = this.clock.now();
        const planned = this.planned(asked, { endpoint, principal, nowMs }, ofRequest);
        seen.price = priceOf(planned.plan.routes[0].terms, body, asked, nowMs);
        return planned;
      },
    };
    try {
      const planned = await this.admission.plan(usable(key), again);
      const of = { unitId: `${requestId}/0`, requestedAtMs: this.clock.now(), planned, again };
      const outcome = await this.admission.tryOut(of, (run) => (seen.last = run));
      return answerOf(outcome instanceof Rejected ? outcome.error.code : null, seen.last, seen.price);
    } catch (rejection) {
      if (!isRejection(rejection)) throw rejection;
      return { admitted: false, code: rejection.code, checks: [], price_usd: null, reserve_usd: null };
    }
  }

  private planned(asked: Asked, planFor: PlanFor, ofRequest: Record<string, string>): PlannedUnit {
    const plan = this.routes.plan(asked, planFor);
    const { principal } = planFor;
    const tags = { ...principal.requestTags, ...ofRequest };
    return { principal, asked, plan, tags, ...UNRECORDED };
  }

  /** Returns the key as the guard judges it at a real request. */
  private usable(key: KeyPrincipal, { permission }: Endpoint): KeyPrincipal {
    permit(key, { key: { permission } }, this.clock);
    return key;
  }
}

const UNRECORDED = { storedRequest: null, cacheName: null, cached: null, hasMemory: false };

/** Returns the tags that the request would carry in its header. Throws ApiError `validation_error`. */
function tagsOf({ request_tags }: SimulateLimitsBody): Record<string, string> {
  const tags = Object.entries(request_tags ?? {});
  const isTag = ([name, value]: [string, unknown]): boolean =>
    name !== '' && name.length <= 64 && typeof value === 'string' && value.length <= 512;
  if (tags.length <= TAGS_MAX && tags.every(isTag)) return Object.fromEntries(tags) as Record<string, string>;
  const msg = `request_tags must be at most ${TAGS_MAX} names with a text each.`;
  throw new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'tags_invalid', loc: ['request_tags'], msg }],
  });
}

/** A greeting with the numbers of the simulation in place of its own. */
function askedOf(endpoint: Endpoint, body: SimulateLimitsBody): Asked {
  const greeting = { model: body.model, messages: [{ role: 'user', content: 'Hello' }] };
  const bytes = Buffer.from(JSON.stringify(greeting));
  const asked = wholeBody(endpoint.read({ bytes, headers: { 'content-type': 'application/json' } }));
  return {
    ...asked,
    input: { inputBytes: body.prompt_tokens * BYTES_PER_TOKEN },
    maxOutputTokens: body.max_tokens,
    endUser: body.end_user_id ?? null,
  };
}

/** Returns the cost at the price that holds now. */
function priceOf(
  terms: PlannedRoute['terms'],
  body: SimulateLimitsBody,
  { context }: Asked,
  nowMs: number,
): string {
  const usage = { prompt_tokens: body.prompt_tokens, completion_tokens: body.max_tokens };
  const { record } = priceAt(terms.record, nowMs);
  return price({ ...terms, record, usage, context }).cost_usd;
}

function answerOf(code: ErrorCode | null, seen: DryRun | null, priceUsd: string | null): LimitSimulation {
  const held = seen === null ? null : trialHeld(seen.request, seen.trial);
  const reserve = held === null ? null : Usd.fromNano(held).toString();
  const checks = seen === null ? [] : trialChecks(seen.request, seen.trial).map(toWire);
  return { admitted: code === null, code, checks, price_usd: priceUsd, reserve_usd: reserve };
}

function toWire({ scope, scopeId, counter, metric, current, limit, refuses }: TrialCheck): LimitCheck {
  const isMoney = metric === 'spend_cap' || metric === 'budget' || metric === 'balance';
  const shown = (value: bigint): number | string =>
    isMoney ? Usd.fromNano(value).toString() : Number(value);
  const whose = { ...shownScope(scope, scopeId), counter };
  return { ...whose, metric, current: shown(current), limit: shown(limit), refuses };
}

import { Writable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { newId, type Clock, type KeyPrincipal, type Random } from '@gateway/contracts';
import { StoredContentNeeded, type Asked } from '@gateway/endpoints';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { Plan, ShadowedAlias } from '@gateway/routing';
import { ProviderAdmission } from '../admission/provider-admission.js';
import { Clients, type AnswerSink } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { Units } from '../units/unit.js';
import { Deliveries } from './deliveries.js';

/** A request of a caller that was answered. */
export interface Shadowed {
  request: InferenceRequest;
  /** The caller, as its answer was planned. */
  principal: KeyPrincipal;
  alias: ShadowedAlias;
}

/** Account, key and person in whose names the platform pays for shadows. They have no limits, and nobody can call with them. */
const COST_ACCOUNT: KeyPrincipal = {
  kind: 'key',
  ...{ keyId: 'key_shadow', label: null, status: 'active', createdBy: 'usr_shadow' },
  ...{ accountId: 'acct_shadow', accountVersion: 0, creditLimitUsd: null, billing: 'off' },
  ...{ orgId: null, teamId: null, apiVersion: null, defaultModel: null, permissions: null },
  limits: [
    {
      ...{ kind: 'key', id: 'key_shadow', rpm: null, rpd: null, tpm: null, spendCapUsd: null },
      isDefault: { rpm: false, rpd: false, tpm: false },
    },
  ],
  ...{ access: [], modelLimits: {}, fixedProvider: null, requestTags: {}, expiresAtMs: null, endUserKey: '' },
  // A second try could be paid twice.
  routingPolicy: { max_retries: 0 },
};
const NO_BYTES = new Uint8Array();

/** Runs shadows, each a unit of the platform's cost account with a reservation, a price and a usage event of its own. */
@Injectable()
export class ShadowRuns {
  constructor(
    private readonly routes: RoutePlanner,
    private readonly admission: ProviderAdmission,
    private readonly units: Units,
    private readonly deliveries: Deliveries,
    private readonly clients: Clients,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Runs one to its end, or until the signal. Returns why there is none for this request; null where there was one, however
   * it ended. Rejects where it could not be begun.
   */
  async run(shadowed: Shadowed, signal: AbortSignal): Promise<'stateful' | 'not_permitted' | null> {
    const { clock, random, admission, units, deliveries } = this;
    const asked = withoutState(shadowed.request);
    if (asked === null) return 'stateful';
    const nowMs = clock.now();
    const plan = this.planOf(shadowed, asked, nowMs);
    if (plan === null) return 'not_permitted';
    const { request, alias } = shadowed;
    const requestId = newId('req', clock, random);
    const shadow: InferenceRequest = {
      ...request,
      ...{ requestId, unitIndex: 0, principal: COST_ACCOUNT, headers: {}, bytes: NO_BYTES },
      ...{ receivedAtMs: nowMs, startedMs: clock.monotonic() },
      origin: {
        kind: 'shadow',
        shadowOf: { alias_id: alias.shadow.alias_id, request_id: request.requestId },
      },
      reload: () => Promise.resolve(COST_ACCOUNT),
    };
    const planned = {
      ...{ principal: COST_ACCOUNT, plan, asked: { ...asked, endUser: null }, tags: {} },
      ...{ storedRequest: null, cacheName: null, cached: null, hasMemory: false },
    };
    const admitted = await admission.letInWithin({ unitId: `${requestId}/0`, requestedAtMs: nowMs, planned });
    const client = this.clients.of(new NoSink());
    const unit = units.open(shadow, admitted, client.upstream);
    const cutOff = (): void => client.upstream.abort(signal.reason);
    signal.addEventListener('abort', cutOff, { once: true });
    if (signal.aborted) cutOff();
    try {
      await deliveries.run(unit, client);
    } catch (error) {
      await deliveries.fail(unit, error, client);
    } finally {
      signal.removeEventListener('abort', cutOff);
      units.leave(unit);
    }
    return null;
  }

  /** Returns null, too, for what cannot be said in the route's dialect. */
  private planOf({ request, principal, alias }: Shadowed, asked: Asked, nowMs: number): Plan | null {
    const plan = this.routes.shadow(alias, asked, { endpoint: request.endpoint, principal, nowMs });
    try {
      plan?.routes[0].translation.prepare?.();
      return plan;
    } catch {
      return null;
    }
  }
}

/** Reads the body again; null for one that is stored, goes on from something that is, or names content of its account. */
function withoutState(request: InferenceRequest): Asked | null {
  const { endpoint } = request;
  const asked = endpoint.read(request);
  if (asked instanceof StoredContentNeeded || asked.files !== undefined) return null;
  if (asked.isStored || (asked.input.inputDocuments?.length ?? 0) > 0) return null;
  const { state } = endpoint;
  if (state === undefined) return asked;
  const isBound =
    state.storedRequest(asked).isStored || state.link(asked) !== null || state.references(asked).length > 0;
  return isBound ? null : asked;
}

/** End of the answer of a shadow, which nobody reads. */
class NoSink extends Writable implements AnswerSink {
  readonly socket = null;

  writeHead(): this {
    return this;
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

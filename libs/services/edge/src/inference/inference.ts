import { Injectable } from '@nestjs/common';
import { ApiError, HEADER } from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { rateHeaders } from '@gateway/limits';
import type { Closing } from '@gateway/platform';
import type { Plan } from '@gateway/routing';
import { Admission, Rejected, type AdmittedUnit, type PlannedUnit } from '../admission/admission.js';
import { ProviderAdmission } from '../admission/provider-admission.js';
import { ContentLog } from '../contents/content-log.js';
import type { Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { Rejections, type RejectedAs } from '../units/rejections.js';
import { Units } from '../units/unit.js';
import { Deliveries } from './deliveries.js';
import { Planner, type LaterRequest, type ReadRequest } from './planner.js';
import { Shadows } from './shadows.js';

/** Inference of this process: each request from its bytes to its last byte. */
@Injectable()
export class Inference {
  constructor(
    private readonly planner: Planner,
    private readonly admission: Admission,
    private readonly providers: ProviderAdmission,
    private readonly units: Units,
    private readonly deliveries: Deliveries,
    private readonly rejections: Rejections,
    private readonly contents: ContentLog,
    private readonly shadows: Shadows,
  ) {}

  /**
   * Runs one request in the order of rejections: body, model and access, capability, plan, limits; then attempts. Throws
   * ApiError while nothing was sent; after that failures are in-band.
   */
  async run(request: InferenceRequest, client: Client): Promise<void> {
    const admitted = await this.admitted(request, client);
    client.rateHeaders = rateHeaders(admitted.admitRequest.scopes, admitted.counted);
    if (admitted.principal.responseCache && request.endpoint.isCacheable)
      client.rateHeaders = { ...client.rateHeaders, [HEADER.cache]: admitted.cached ? 'HIT' : 'MISS' };
    const unit = this.units.open(request, admitted, client.upstream);
    this.units.watchKey(unit, client.upstream);
    const content = admitted.principal.requestLogging ? this.contents.begin(request, admitted, client) : null;
    try {
      if (admitted.cached) await this.deliveries.replay(unit, admitted.cached, client);
      else await this.deliveries.run(unit, client);
    } catch (error) {
      throw await this.deliveries.fail(unit, error, client);
    } finally {
      this.units.leave(unit);
      content?.end();
      if (admitted.plan.alias?.shadow !== undefined) this.shadows.watch(unit, client);
    }
  }

  /**
   * Checks a request that is answered later, as if it were run now, and counts nothing. Returns its plan, with the items that
   * it names, buffered until `checks` closes. Throws ApiError; the rejection is recorded.
   */
  async check(
    request: InferenceRequest,
    asked: Asked,
    client: Client,
    checks: Closing,
  ): Promise<{ plan: Plan; asked: Asked }> {
    const { planner, admission, rejections } = this;
    let later: LaterRequest | null = null;
    let planned: PlannedUnit | null = null;
    let decided: AdmittedUnit | Rejected;
    const as = (id: string | null): RejectedAs => ({
      id,
      requested: asked.model,
      tags: later?.read.facts.tags,
    });
    try {
      later = await planner.readLater(request, asked, checks);
      planned = await admission.plan(request.principal, later.read);
      decided = await admission.tryOut({
        unitId: `${request.requestId}/0`,
        requestedAtMs: request.receivedAtMs,
        planned,
        again: later.read,
      });
    } catch (failure) {
      const error = flagged(failure);
      rejections.addFailure(request, as(planned?.plan.model.record.id ?? null), error);
      throw error;
    }
    if (decided instanceof Rejected) {
      client.rateHeaders = decided.rateHeaders;
      rejections.add(request, as(decided.model), decided.error, decided.rejection);
      throw decided.error;
    }
    client.rateHeaders = rateHeaders(decided.admitRequest.scopes, decided.counted);
    return { plan: decided.plan, asked: later.own };
  }

  /** Everything before the first attempt. A rejection is recorded, and nothing of it is counted. */
  private async admitted(request: InferenceRequest, client: Client): Promise<AdmittedUnit> {
    const { planner, admission, units, rejections } = this;
    let read: ReadRequest | null = null;
    let planned: PlannedUnit | null = null;
    let decided: AdmittedUnit | Rejected;
    try {
      const reading = planner.read(request, client);
      read = reading instanceof Promise ? await reading : reading;
      planned = await admission.plan(request.principal, read);
      units.requireOpen();
      const unitId = `${request.requestId}/${request.unitIndex}`;
      const requestedAtMs = request.receivedAtMs;
      const { providers } = this;
      if (request.origin.kind === 'given') return providers.letIn(unitId, requestedAtMs, planned);
      const of = { unitId, requestedAtMs, planned, again: read };
      // Asked here: where no provider has a budget not a function more runs.
      const hasBudgets = providers.pools.budgets !== undefined;
      decided = await (hasBudgets ? providers.admit(of) : admission.admit(of));
      if (!(decided instanceof Rejected)) return decided;
    } catch (error) {
      rejections.addFailure(request, rejectedAs(read, planned?.plan.model.record.id ?? null), error);
      throw error;
    }
    const { error, rejection, model } = decided;
    client.rateHeaders = decided.rateHeaders;
    rejections.addFailure(request, rejectedAs(read, model), error, rejection);
    throw error;
  }
}

function rejectedAs(read: ReadRequest | null, id: string | null): RejectedAs {
  return { id, requested: read?.requested ?? null, tags: read?.facts.tags };
}

/** A model that cannot answer later lacks the capability, whatever else a plan may lack. */
function flagged(failure: unknown): unknown {
  if (!(failure instanceof ApiError) || failure.options.param !== 'background') return failure;
  return new ApiError('model_capability_not_supported', {
    status: 400,
    message: 'The model does not support background responses.',
    param: 'background',
  });
}

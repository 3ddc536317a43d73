import { Injectable } from '@nestjs/common';
import {
  Inference,
  type HoldCall,
  type InferenceAnswer,
  type InferenceCall,
  type InferencePlan,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { BatchHolds, BatchWorth } from './batch-holds.js';
import { InferenceRuns } from './inference-runs.js';
import { LinePlans } from './line-plans.js';
import { ServiceRequests } from './service-requests.js';
import { UpstreamBatches } from './upstream-batches.js';

/** Inference of this process for work that outlives a request. */
@Injectable()
export class EdgeInference extends Inference {
  constructor(
    private readonly runs: InferenceRuns,
    private readonly requests: ServiceRequests,
    private readonly plans: LinePlans,
    private readonly batchWorth: BatchWorth,
    private readonly holds: BatchHolds,
    private readonly batches: UpstreamBatches,
  ) {
    super();
  }

  override infer(call: InferenceCall): Promise<InferenceAnswer> {
    return this.runs.run(call);
  }

  override async plan(call: InferenceCall): Promise<InferencePlan> {
    const { plan } = await this.plans.of(await this.requests.of(call));
    return { model: plan.model.record.id, provider: plan.routes[0].route.provider };
  }

  override async worth(call: InferenceCall, bodies: readonly Record<string, unknown>[]): Promise<string> {
    return String(await this.batchWorth.of(call, bodies));
  }

  override hold(call: HoldCall): Promise<void> {
    return this.holds.hold(call);
  }

  override upstreamBatch(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    return this.batches.step(call);
  }
}

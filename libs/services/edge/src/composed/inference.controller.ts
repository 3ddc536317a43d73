import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import {
  ApiError,
  errorEnvelope,
  HoldBody,
  InferBody,
  UpstreamBatchBody,
  WorthBody,
  type InferenceAnswer,
  type InferencePlan,
  type UpstreamBatch,
} from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { EdgeInference } from './edge-inference.js';

/** Inference for services that run long work. */
@Controller('internal/infer')
@Access({ internal: true })
export class InferenceController {
  constructor(private readonly inference: EdgeInference) {}

  @Post()
  @HttpCode(200)
  infer(@Body() body: InferBody): Promise<InferenceAnswer> {
    return this.inference.infer(body);
  }

  /** A refusal is an answer: its status says nothing of this service. */
  @Post('plan')
  @HttpCode(200)
  async plan(
    @Body() body: InferBody,
  ): Promise<{ plan: InferencePlan } | { refusal: object; status: number }> {
    try {
      return { plan: await this.inference.plan(body) };
    } catch (failure) {
      return refusalOf(failure, body);
    }
  }

  @Post('worth')
  @HttpCode(200)
  async worth(@Body() { bodies, ...call }: WorthBody): Promise<{ nano: string }> {
    return { nano: await this.inference.worth(call, bodies) };
  }

  /** A step of a batch that its provider runs as a whole. */
  @Post('batch')
  @HttpCode(200)
  batch(@Body() body: UpstreamBatchBody): Promise<UpstreamBatch> {
    return this.inference.upstreamBatch(body);
  }

  @Post('hold')
  @HttpCode(200)
  async hold(@Body() body: HoldBody): Promise<{ refusal?: object; status?: number }> {
    try {
      await this.inference.hold(body);
      return {};
    } catch (failure) {
      return refusalOf(failure, body);
    }
  }
}

function refusalOf(
  failure: unknown,
  { request_id }: { request_id: string },
): { refusal: object; status: number } {
  if (!(failure instanceof ApiError) || failure.status >= 500) throw failure;
  return { refusal: errorEnvelope(failure, request_id).error, status: failure.status };
}

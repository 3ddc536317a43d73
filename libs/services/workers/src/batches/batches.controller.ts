import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import {
  ApiError,
  BatchesQuery,
  CreateBatchBody,
  Inference,
  ObjectStore,
  uuidv7,
  type Clock,
  type IdempotencyClaim,
  type InferenceCall,
  type InferencePlan,
  type Random,
} from '@gateway/contracts';
import { IdempotencyTable } from '@gateway/database';
import { Access, CLOCK, keyOf, RANDOM, textLines, idempotent } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { checkedMetadata } from '../checked-metadata.js';
import { noFile } from '../files/files.controller.js';
import { contentOf, FileStore, type FileRow } from '../files/files.store.js';
import { answerClaim } from '../idempotency/answer-claim.js';
import { LINE_BYTES_MAX, readLine, type BatchLine } from './batch-lines.js';
import { BatchRunner } from './batch-runner.js';
import { BatchStore, batchView, type Batch } from './batches.store.js';

/** Statuses of rejections that are about the body of a line, or the model that it names. */
const OF_A_LINE: ReadonlySet<number> = new Set([400, 404, 422]);
const DAY_MS = 86_400_000;

/** Batches of the key that made them. */
@Controller(['v1/batches', 'openai/v1/batches'])
@Access({ key: { permission: 'batches:write' } })
export class BatchesController {
  constructor(
    private readonly batches: BatchStore,
    private readonly files: FileStore,
    private readonly objects: ObjectStore,
    private readonly inference: Inference,
    private readonly runner: BatchRunner,
    private readonly idempotency: IdempotencyTable,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Begins a batch: the requests of an uploaded file, answered within a day. */
  @Post()
  @HttpCode(200)
  async create(@Body() body: CreateBatchBody, @Req() request: FastifyRequest): Promise<object> {
    const { clock, idempotency: store } = this;
    const answer = await idempotent({ store, clock }, request, async (claim) => ({
      status: 200,
      body: await this.begin(body, request, claim),
    }));
    return answer.body;
  }

  /** Lists the batches of the key, the newest first. */
  @Get()
  async list(@Query() query: BatchesQuery, @Req() request: FastifyRequest): Promise<object> {
    const rows = await this.batches.list(keyOf(request).keyId, query);
    const data = rows.slice(0, query.limit).map((row) => batchView(row));
    const [first, last] = [rows.at(0)?.id ?? null, rows.at(data.length - 1)?.id ?? null];
    return { object: 'list', data, first_id: first, last_id: last, has_more: rows.length > data.length };
  }

  /** Reads a batch. */
  @Get(':id')
  async read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<object> {
    return batchView(await this.found(request, id));
  }

  /** Ends a batch: what has been answered stays, and is billed. */
  @Post(':id/cancel')
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<object> {
    const { status } = await this.found(request, id);
    if (!(await this.batches.cancel(keyOf(request).keyId, id)))
      throw new ApiError('conflict', { message: `The batch is ${status} and cannot be cancelled.` });
    // What cancels it already goes on with that.
    if (status !== 'cancelling') this.runner.stop(id);
    return batchView(await this.found(request, id));
  }

  private async begin(
    body: CreateBatchBody,
    request: FastifyRequest,
    claim: IdempotencyClaim | null,
  ): Promise<object> {
    const principal = keyOf(request);
    const { keyId: key_id, accountId: account_id, orgId: org_id } = principal;
    const file = await this.files.read(keyOf(request).keyId, body.input_file_id);
    if (file === null) throw noFile(body.input_file_id);
    if (file.purpose !== 'batch') throw fault('input_file_id', 'The purpose of the file is not batch.');
    const metadata = body.metadata ? checkedMetadata(body.metadata) : null;
    const now = this.clock.now();
    const id = `batch_${uuidv7(this.clock, this.random)}`;
    const { endpoint } = body;
    const first = await this.firstLine(file, endpoint);
    const plan = await this.planOf({
      ...{ key_id, account_id, request_id: request.id, unit: 0, recorded_path: '/v1/batches' },
      ...{ endpoint, body: first.body, is_batch: true },
    });
    const batch: Batch = {
      ...NEW,
      ...{ id, key_id, account_id, org_id, request_id: request.id, endpoint, metadata },
      ...{ model: String(first.body.model), provider: plan.provider, input_file_id: file.id },
      output_seconds: body.output_expires_after?.seconds ?? null,
      created_at: new Date(now),
      expires_at: new Date(now + DAY_MS),
    };
    const view = batchView(batch);
    await this.batches.add(batch, (client) => answerClaim(client, claim, view));
    this.runner.wake();
    return view;
  }

  /** Plans the first line. Throws its rejection, with its place. */
  private async planOf(call: InferenceCall): Promise<InferencePlan> {
    try {
      return await this.inference.plan(call);
    } catch (rejection) {
      if (!(rejection instanceof ApiError) || !OF_A_LINE.has(rejection.status)) throw rejection;
      throw new ApiError(rejection.code, { ...rejection.options, message: `Line 1: ${rejection.message}` });
    }
  }

  private async found(request: FastifyRequest, id: string): Promise<Batch> {
    const batch = await this.batches.read(keyOf(request).keyId, id);
    if (batch === null)
      throw new ApiError('not_found', { message: `No batch with id ${id.slice(0, 80)} was found.` });
    return batch;
  }

  /** Enough of the file to know whether its model takes batches. Throws ApiError `validation_error`. */
  private async firstLine(file: FileRow, endpoint: string): Promise<BatchLine> {
    const found = await this.objects.get(contentOf(file));
    if (found === null) throw noFile(file.id);
    try {
      for await (const text of textLines(found.content, LINE_BYTES_MAX)) {
        const line = readLine(text, 0, endpoint);
        if ('message' in line) throw fault('input_file_id', `Line 1: ${line.message}`);
        return line;
      }
    } catch (failure) {
      if (failure instanceof RangeError) throw fault('input_file_id', failure.message);
      throw failure;
    } finally {
      found.content.destroy();
    }
    throw fault('input_file_id', 'The file is empty.');
  }
}

const NEW = {
  status: 'validating',
  worth_nano: null,
  upstream: null,
  errors: null,
  total: 0,
  completed: 0,
  failed: 0,
  usage: null,
  output_file_id: null,
  error_file_id: null,
  in_progress_at: null,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
} as const;

function fault(field: string, msg: string): ApiError {
  const detail = { type: 'batch_invalid' as const, loc: [field], msg };
  return new ApiError('validation_error', { message: msg, details: [detail], param: field });
}

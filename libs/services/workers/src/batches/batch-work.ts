import { Inject, Injectable } from '@nestjs/common';
import { writeJson } from '@gateway/json-body';
import {
  ApiError,
  Inference,
  ObjectStore,
  type Clock,
  type InferenceAnswer,
  type NewAccountEvent,
} from '@gateway/contracts';
import { CLOCK, textLines } from '@gateway/platform';
import { unavailableAnswer, isUnit, pauseMs } from '../leased/answered.js';
import { contentOf, FileStore } from '../files/files.store.js';
import { BatchHold, BatchWorth } from './batch-hold.js';
import { BatchAnswers, type LineAnswer } from './batch-answers.js';
import {
  FileCheck,
  LINE_BYTES_MAX,
  LINES_MAX,
  readLine,
  type BatchLine,
  type LineFault,
} from './batch-lines.js';
import { BatchStore, type Batch, type LineResult } from './batches.store.js';
import { BatchTimeSlice, Rested } from './batch-time-slice.js';
import { copyOf, UpstreamWork } from './upstream-work.js';
import { WorkersConfig } from '../workers.config.js';
import { UsageSum } from './usage-sum.js';

/** Statuses that may pass by themselves; a full limit is waited for until the batch expires. */
const RETRIED: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const TRIES_MAX = 3;
const WAIT_MS = { first: 1_000, max: 60_000 };
const OUTPUT_BYTES_MAX = 8 * 1_024 * 1_024 * 1_024;

/** The steps of a batch. Each step may be done again: a worker that dies leaves nothing half done. */
@Injectable()
export class BatchWork {
  constructor(
    private readonly batches: BatchStore,
    private readonly files: FileStore,
    private readonly objects: ObjectStore,
    private readonly inference: Inference,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly answers: BatchAnswers,
    private readonly upstream: UpstreamWork,
    private readonly config: WorkersConfig,
  ) {}

  /** Runs the batch to its end, unless `signal` stops it or another batch is due. */
  async run(batch: Batch, worker: string, signal: AbortSignal): Promise<void> {
    try {
      await this.steps(batch, worker, signal);
    } catch (failure) {
      if (failure instanceof Rested) return;
      if (!endsIt(failure)) throw failure;
      const code = failure.status === 402 ? failure.code : 'invalid_file';
      const error = { code, message: failure.message, param: null, line: null };
      const how = { status: 'failed', errors: { object: 'list', data: [error] } } as const;
      await this.batches.end(batch, worker, how, eventOf(batch, 'failed', null));
    }
  }

  private async steps(batch: Batch, worker: string, signal: AbortSignal): Promise<void> {
    const hold =
      batch.status === 'validating' ? await this.validate(batch, worker, signal) : this.holdOf(batch);
    if (hold === null) return;
    try {
      await this.heldSteps(batch, worker, hold, signal);
    } catch (failure) {
      if (endsIt(failure)) await hold.end();
      throw failure;
    }
  }

  private async heldSteps(batch: Batch, worker: string, hold: BatchHold, signal: AbortSignal): Promise<void> {
    const { batches, upstream, clock } = this;
    const isNew =
      batch.status === 'validating' ? this.config.WORKERS_UPSTREAM_BATCHES : batch.upstream?.kind === 'new';
    if (isNew && (batch.status === 'validating' || batch.status === 'in_progress')) {
      if (await hold.renewed(() => upstream.upload(batch, worker, signal))) return;
      batch.upstream = null;
    }
    if (batch.status === 'finalizing') await hold.end();
    if (batch.status === 'cancelling') {
      const cancelled = ended('batch_cancelled', 'The batch was cancelled.');
      await hold.during(() => this.runLines(batch, { hold, slice: null, signal }, async () => cancelled));
      return this.finish(batch, worker, 'cancelled', signal);
    }
    if (batch.status !== 'finalizing') {
      const isLate = (): boolean => clock.now() >= batch.expires_at.getTime();
      let hasExpired = false;
      const slice = new BatchTimeSlice(batches, clock, this.config.WORKERS_LEASE_MS);
      await hold.during(() =>
        this.runLines(batch, { hold, slice, signal }, async (line) => {
          hasExpired ||= isLate();
          const outcome = hasExpired
            ? EXPIRED
            : await this.answer(batch, line, { isLate, hold, slice }, signal);
          // Its time may have ended while the line waited.
          hasExpired ||= outcome === EXPIRED;
          return outcome;
        }),
      );
      if (hasExpired) return this.finish(batch, worker, 'expired', signal);
      if (!(await batches.finalize(batch, worker))) return;
    }
    await this.finish(batch, worker, 'completed', signal);
  }

  /** Null where the batch has ended or was cancelled. Throws ApiError where there is no money for its lines. */
  private async validate(batch: Batch, worker: string, signal: AbortSignal): Promise<BatchHold | null> {
    const check = new FileCheck(batch.model);
    const worth = new BatchWorth(this.inference, batch);
    try {
      for await (const line of this.linesOf(batch, signal)) {
        if (!check.see(line)) break;
        if (!('message' in line) && check.faults.length === 0) await worth.see(line);
      }
    } catch (failure) {
      if (!(failure instanceof RangeError)) throw failure;
      check.faults.push({
        code: 'invalid_file',
        message: failure.message,
        param: null,
        line: check.total + 1,
      });
    }
    if (check.faults.length === 0) {
      const worthNano = await worth.total();
      const hold = this.holdOf({ ...batch, total: check.total, worth_nano: String(worthNano) });
      await hold.first();
      const upstream = this.config.WORKERS_UPSTREAM_BATCHES ? ({ kind: 'new' } as const) : null;
      const begun = { total: check.total, worthNano, upstream };
      if (await this.batches.begin(batch, worker, begun)) return hold;
      await hold.end();
      return null;
    }
    const errors = { object: 'list', data: check.faults };
    await this.batches.end(batch, worker, { status: 'failed', errors }, eventOf(batch, 'failed', null));
    return null;
  }

  private holdOf(batch: Batch): BatchHold {
    return new BatchHold(this.inference, this.clock, { batch, linesAtOnce: this.config.WORKERS_BATCH_LINES });
  }

  private async *linesOf(batch: Batch, signal: AbortSignal): AsyncGenerator<BatchLine | LineFault> {
    const { files, objects } = this;
    const isCopied = batch.upstream?.kind === 'ended';
    const file = isCopied ? null : await files.read(batch.key_id, batch.input_file_id);
    const object = isCopied ? copyOf(batch) : file === null ? null : contentOf(file);
    const found = object === null ? null : await objects.get(object);
    if (found === null)
      throw new ApiError('resource_not_found', { message: 'The input file was deleted or has expired.' });
    // One that was cancelled may never have been checked: what is wrong with its file does not keep it from its end.
    const whereLonger = batch.status === 'cancelling' ? 'passed over' : 'throws';
    try {
      let number = 0;
      for await (const text of textLines(found.content, LINE_BYTES_MAX, whereLonger)) {
        signal.throwIfAborted();
        yield readLine(text, number, batch.endpoint);
        number += 1;
      }
    } finally {
      found.content.destroy();
    }
  }

  /** Every line that has no answer yet gets one: first those that their provider has answered, which hold nothing themselves. */
  private async runLines(
    batch: Batch,
    { hold, slice, signal }: { hold: BatchHold; slice: BatchTimeSlice | null; signal: AbortSignal },
    answer: (line: BatchLine) => Promise<Outcome>,
  ): Promise<void> {
    const { batches, answers } = this;
    const done = await batches.linesDone(batch.id);
    if (batch.upstream?.kind === 'ended') {
      await hold.goOn(done.size, 'posted');
      await this.eachLine(batch, { done, slice, signal }, async (line) => {
        const known = await answers.of(batch.id, line.number);
        if (known === null) return null;
        const outcome = await this.given(batch, line, known, signal);
        await hold.less();
        return outcome;
      });
    }
    if (batch.status === 'cancelling') await hold.end();
    else await hold.goOn(done.size, 'run');
    await this.eachLine(batch, { done, slice, signal }, async (line) => {
      await hold.less();
      return answer(line);
    });
  }

  /** Lines that are not in `done`, some at once; those that get an outcome are kept and in it afterwards. */
  private async eachLine(
    batch: Batch,
    { done, slice, signal }: { done: Set<number>; slice: BatchTimeSlice | null; signal: AbortSignal },
    outcomeOf: (line: BatchLine) => Promise<Outcome | null>,
  ): Promise<void> {
    const { batches, config } = this;
    const lines = this.linesOf(batch, signal);
    let fault: unknown;
    const worker = async (): Promise<void> => {
      for (;;) {
        await slice?.check();
        const next = await lines.next();
        if (next.done === true || fault !== undefined) return;
        const line = next.value;
        if ('message' in line || done.has(line.number)) continue;
        const outcome = await outcomeOf(line);
        if (outcome === null) continue;
        await batches.keep(batch.id, resultOf(batch, line, outcome));
        done.add(line.number);
      }
    };
    const workers = Array.from({ length: config.WORKERS_BATCH_LINES }, () =>
      worker().catch((failure: unknown) => (fault ??= failure)),
    );
    await Promise.all(workers);
    await lines.return(undefined);
    if (fault !== undefined && !(batch.status === 'cancelling' && isGone(fault))) throw fault as Error;
  }

  /** Returns the answer of one line. A try that failed was a unit of its own, so the next one has another number. */
  private async answer(
    batch: Batch,
    { number, body }: BatchLine,
    { isLate, hold, slice }: { isLate: () => boolean; hold: BatchHold; slice: BatchTimeSlice },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { inference, clock } = this;
    const { key_id, account_id, request_id, endpoint } = batch;
    let [waitMs, failures] = [WAIT_MS.first, 0];
    for (let unit = number; ;) {
      if (isLate()) return EXPIRED;
      const call = { key_id, account_id, request_id, unit, recorded_path: '/v1/batches', endpoint, body };
      // Waited for at a stop, too: it is paid for.
      const answer = await inference.infer({ ...call, is_batch: true }).catch(unavailableAnswer);
      // What is held for the lines after it must not refuse this one.
      if (answer.status === 402 && !isUnit(answer) && (await hold.giveWay())) continue;
      if (RETRIED.has(answer.status)) {
        failures += isUnit(answer) ? 1 : 0;
        if (failures >= TRIES_MAX) return { answer };
      } else if (answer.status !== 429) return { answer };
      if (isUnit(answer)) unit += LINES_MAX;
      const leftMs = batch.expires_at.getTime() - clock.now();
      const nextMs = pauseMs(answer, waitMs, leftMs);
      // Once a try was a unit, the line needs the number of the next one, which nobody else knows.
      await (unit === number ? slice.wait(nextMs, signal) : clock.sleep(nextMs, signal));
      waitMs = Math.min(waitMs * 2, WAIT_MS.max);
    }
  }

  /** Prices and records a line that its provider has answered, whenever that can be. */
  private async given(
    batch: Batch,
    { number, body }: BatchLine,
    { status, body: answered }: LineAnswer,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { inference, clock } = this;
    const { key_id, account_id, request_id, endpoint, upstream } = batch;
    const credential = upstream?.kind === 'ended' ? upstream.credential : '';
    const given = { credential, status, body: answered };
    const call = {
      key_id,
      account_id,
      request_id,
      unit: number,
      recorded_path: '/v1/batches',
      endpoint,
      body,
    };
    for (let waitMs = WAIT_MS.first; ; waitMs = Math.min(waitMs * 2, WAIT_MS.max)) {
      const answer = await inference.infer({ ...call, is_batch: true, given }).catch(unavailableAnswer);
      if (isUnit(answer) || !RETRIED.has(answer.status) || isRouteGone(answer)) return { answer };
      await clock.sleep(Math.max(waitMs, (answer.retry_after_seconds ?? 0) * 1_000), signal);
    }
  }

  private async finish(
    batch: Batch,
    worker: string,
    status: 'completed' | 'expired' | 'cancelled',
    signal: AbortSignal,
  ): Promise<void> {
    const { batches, files } = this;
    const sum = new UsageSum();
    const output = await this.write(batch, 'output', false, sum, signal);
    const errors = await this.write(batch, 'errors', true, sum, signal);
    const made = [output, errors].filter((file) => file !== null);
    const how = {
      status,
      usage: sum.shown,
      output_file_id: output?.id ?? null,
      error_file_id: errors?.id ?? null,
      completed: output?.lines ?? 0,
      failed: errors?.lines ?? 0,
    };
    const event =
      status === 'cancelled' ? null : eventOf(batch, status, how.output_file_id ?? how.error_file_id);
    await batches.end(batch, worker, how, event, async (client) => {
      for (const file of made) await files.add(file, client);
    });
    if (batch.upstream !== null) await this.upstream.remove(batch);
  }

  /** A file of results; null where there are none. Its id is the batch's own, so that a repeat writes over it. */
  private async write(
    batch: Batch,
    name: 'output' | 'errors',
    isError: boolean,
    sum: UsageSum,
    signal: AbortSignal,
  ): Promise<ResultFile | null> {
    const { batches, objects, clock } = this;
    const { key_id, account_id, output_seconds } = batch;
    const file = { id: batch.id.replace(/^batch_/, `file-${name}-`), key_id, account_id };
    let lines = 0;
    const content = async function* (): AsyncGenerator<Uint8Array> {
      for await (const result of batches.results(batch.id)) {
        if (result.is_error !== isError) continue;
        lines += 1;
        if (!isError) sum.add(result.content);
        yield Buffer.from(`${result.content}\n`);
      }
    };
    const { bytes } = await objects.put(contentOf(file), content(), { maxBytes: OUTPUT_BYTES_MAX, signal });
    if (lines === 0) {
      await objects.remove(contentOf(file));
      return null;
    }
    const expires_at = output_seconds === null ? null : new Date(clock.now() + output_seconds * 1_000);
    const filename = `${batch.id}_${name}.jsonl`;
    return { ...file, lines, bytes, filename, purpose: 'batch_output', expires_at };
  }
}

type ResultFile = Parameters<FileStore['add']>[0] & { lines: number };

type Outcome = { answer: InferenceAnswer } | { error: { code: string; message: string } };

/** The route that answered is in the catalogue no more. */
function isRouteGone({ body }: InferenceAnswer): boolean {
  return (body as { error?: { code?: string } }).error?.code === 'provider_not_available';
}

const EXPIRED = ended('batch_expired', 'The batch expired before this line was run.');

function ended(code: string, message: string): Outcome {
  return { error: { code, message } };
}

function resultOf({ id, request_id }: Batch, { number, custom_id }: BatchLine, outcome: Outcome): LineResult {
  const shown = { id: `batch_req_${id.replace(/^batch_/, '')}_${number}`, custom_id };
  if ('error' in outcome)
    return {
      line: number,
      is_error: true,
      content: writeJson({ ...shown, response: null, error: outcome.error }),
    };
  const { status: status_code, body } = outcome.answer;
  const response = { status_code, request_id, body };
  const content = writeJson({ ...shown, response, error: null });
  return { line: number, is_error: status_code !== 200, content };
}

function eventOf(
  { id, account_id, org_id, model, provider }: Batch,
  status: 'completed' | 'failed' | 'expired',
  file: string | null,
): NewAccountEvent {
  const fields = { batch_id: id, model, provider };
  const whose = { account_id, org_id };
  if (status === 'completed')
    return { ...whose, type: 'batch.completed', data: { ...fields, status, output_file_id: file ?? '' } };
  return { ...whose, type: 'batch.failed', data: { ...fields, status, output_file_id: null } };
}

/** Its file is gone, or the account has not the money that is to be held. */
function endsIt(failure: unknown): failure is ApiError {
  return isGone(failure) || (failure instanceof ApiError && failure.status === 402);
}

function isGone(failure: unknown): failure is ApiError {
  return failure instanceof ApiError && failure.code === 'resource_not_found';
}

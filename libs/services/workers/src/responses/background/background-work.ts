import { Inject, Injectable } from '@nestjs/common';
import { ApiError, Inference, type Clock, type InferenceAnswer } from '@gateway/contracts';
import { CLOCK, Pressure, Stage, withMemory } from '@gateway/platform';
import { unavailableAnswer, errorOf, isUnit, pauseMs } from '../../leased/answered.js';
import { untilAborted } from '../../leased/until-aborted.js';
import { BackgroundStore, type BackgroundTask } from './background.store.js';

type Json = Record<string, unknown>;

const PATH = '/v1/responses';
const WAIT_MS = { first: 500, max: 30_000 };
/** Number of tries of units that ended before anything was answered. */
const TRIES_MAX = 3;
const RETRIED: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** The steps of a background response. The edge runs it and says where it is kept how it went. */
@Injectable()
export class BackgroundWork {
  constructor(
    private readonly tasks: BackgroundStore,
    private readonly inference: Inference,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly pressure: Pressure,
  ) {}

  /**
   * Runs the response to its end, unless `signal` stops it. Throws service_unavailable where no memory is left for its
   * body.
   */
  async run(task: BackgroundTask, worker: string, signal: AbortSignal): Promise<void> {
    const { tasks, pressure } = this;
    const run = new Stage();
    try {
      const body = await withMemory(pressure, run, (reserveMemory) => tasks.bodyOf(task.id, reserveMemory));
      if (body !== null) await this.runBody({ ...task, body }, worker, signal);
    } finally {
      run.close();
    }
  }

  private async runBody(
    task: BackgroundTask & { body: Json },
    worker: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { tasks, clock } = this;
    let { unit } = task;
    let [waitMs, failures] = [WAIT_MS.first, 0];
    while (!signal.aborted) {
      if (clock.now() >= task.expires_at.getTime()) return tasks.fail(task, worker, EXPIRED);
      const answer = await untilAborted(this.ask(task, unit).catch(unavailableAnswer), signal);
      if (answer === null || answer.status === 200) return;
      failures += isUnit(answer) ? 1 : 0;
      const mayPass = isUnit(answer) ? RETRIED.has(answer.status) : answer.status === 503;
      if (answer.status !== 429 && (!mayPass || failures >= TRIES_MAX))
        return tasks.fail(task, worker, errorOf(answer));
      if (isUnit(answer)) {
        unit += 1;
        await tasks.note(task.id, worker, unit);
      }
      const leftMs = task.expires_at.getTime() - clock.now();
      await clock.sleep(pauseMs(answer, waitMs, leftMs), signal).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, WAIT_MS.max);
    }
  }

  private ask(
    { id, key_id, account_id, request_id, body }: BackgroundTask & { body: Json },
    unit: number,
  ): Promise<InferenceAnswer> {
    return this.inference.infer({
      ...{ key_id, account_id, request_id, unit, body },
      ...{ recorded_path: PATH, endpoint: PATH, is_batch: false },
      background: { response_id: id },
    });
  }
}

const EXPIRED = new ApiError('gateway_timeout', { message: 'The response was not made in time.' });

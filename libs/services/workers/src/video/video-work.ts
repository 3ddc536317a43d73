import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, hasBegunNothing } from '@gateway/platform';
import {
  ApiError,
  Inference,
  ObjectStore,
  type Clock,
  type InferenceAnswer,
  type NewAccountEvent,
  type ObjectKey,
} from '@gateway/contracts';
import { untilAborted } from '../leased/until-aborted.js';
import { unavailableAnswer, errorOf, isUnit, pauseMs } from '../leased/answered.js';
import { VideoStore, type VideoTask } from './video.store.js';

const PATH = '/v1/video/generations';
const WAIT_MS = { first: 500, max: 30_000 };
/** Number of units for a task that exists and whose unit ended without an answer. */
const UNITS_MAX = 20;
/** Links in events live as long as results are kept. */
const EVENT_LINK_MS = 7 * 86_400_000;

/** The steps of a video task. The edge runs it; here is kept what a crash must not lose. */
@Injectable()
export class VideoWork {
  constructor(
    private readonly tasks: VideoStore,
    private readonly objects: ObjectStore,
    private readonly inference: Inference,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Begins the task until the provider has it, or until nobody can say whether it has; `ignored` names members of its body
   * that the provider is not sent. Throws the ApiError that it is refused with.
   */
  async begin(task: VideoTask): Promise<{ begun: VideoTask; ignored: readonly string[] }> {
    const answer = await this.ask(task, false).catch(notRefused);
    if ('is_lost' in answer) {
      // Who cannot note it either finds it asked for.
      if (!answer.is_lost) await this.tasks.note({ ...task, is_asked: false }).catch(() => undefined);
      return { begun: task, ignored: [] };
    }
    if (answer.status !== 202 && answer.status !== 200) throw errorOf(answer);
    const known = answer.status === 202 ? this.noted(task, answer) : this.completed(task, answer);
    const { ignored = [] } = answer.body as { ignored?: readonly string[] };
    return { begun: await known.catch(() => task), ignored };
  }

  /**
   * Runs the task to its end, unless `signal` stops it. One whose provider may have been asked to begin it is not begun
   * again: an edge that runs it says so, and where none does it fails.
   */
  async run(begun: VideoTask, signal: AbortSignal): Promise<void> {
    const { clock } = this;
    let task = begun;
    let [waitMs, unknown] = [WAIT_MS.first, 0];
    while (!signal.aborted) {
      if (clock.now() >= task.expires_at.getTime()) return this.failed(task, EXPIRED);
      const isRepeat = task.is_asked && task.provider_task_id === null;
      if (!task.is_asked) await this.tasks.note((task = { ...task, is_asked: true }));
      const answer = await untilAborted(this.ask(task, isRepeat).catch(unavailableAnswer), signal);
      if (answer === null) return;
      if (answer.status === 202) {
        task = await this.noted(task, answer);
        continue;
      }
      if (answer.status === 200) return void (await this.completed(task, answer));
      if (answer.is_unknown) unknown += 1;
      const error = unknown >= UNKNOWN_MAX ? UNKNOWN : errorOf(answer);
      if (error === UNKNOWN || !mayPass(error, task)) return this.failed(task, error);
      const next = after(task, answer, isRepeat);
      if (next !== task) await this.tasks.note((task = next));
      const leftMs = task.expires_at.getTime() - clock.now();
      await clock.sleep(pauseMs(answer, waitMs, leftMs), signal).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, WAIT_MS.max);
    }
  }

  private ask(asked: VideoTask, isRepeat: boolean): Promise<InferenceAnswer> {
    const { key_id, account_id, request_id, unit, body, ...task } = asked;
    const { credential, provider_task_id: state } = task;
    const call = {
      key_id,
      account_id,
      request_id,
      unit,
      recorded_path: PATH,
      endpoint: PATH,
      body: body ?? {},
    };
    return this.inference.infer({
      ...call,
      is_batch: false,
      task: state === null ? null : { credential, state },
      ...(isRepeat && { is_repeat: true }),
    });
  }

  private async noted(task: VideoTask, { body }: InferenceAnswer): Promise<VideoTask> {
    const { credential, state } = body as { credential: string; state: string };
    const now = { ...task, status: 'in_progress' as const, credential, provider_task_id: state };
    await this.tasks.note(now);
    return now;
  }

  private async completed(task: VideoTask, { body }: InferenceAnswer): Promise<VideoTask> {
    const { object, seconds } = body as { object: string; seconds: number };
    const { tasks, objects, clock } = this;
    const completed_at = new Date(clock.now());
    const done = { ...task, status: 'completed' as const, object_key: object, seconds, completed_at };
    const video_url = await objects.link(object as ObjectKey, EVENT_LINK_MS);
    const { status } = done;
    await tasks.end(done, {
      ...whose(task),
      type: 'video.completed',
      data: { ...fieldsOf(task), status, video_url, error_code: null, error_message: null },
    });
    return done;
  }

  private async failed(task: VideoTask, error: ApiError): Promise<void> {
    const { code, message, options } = error;
    const { providerCode } = options;
    const shown = { code, message, ...(providerCode === undefined ? {} : { provider_code: providerCode }) };
    await this.tasks.end(
      { ...task, status: 'failed', error: shown },
      {
        ...whose(task),
        type: 'video.failed',
        data: {
          ...fieldsOf(task),
          status: 'failed',
          video_url: null,
          error_code: code,
          error_message: message,
        },
      },
    );
  }
}

const EXPIRED = new ApiError('gateway_timeout', {
  providerCode: 'provider_timeout',
  message: 'The provider did not finish the video in time.',
});

/** Number of edges' answers that know nothing of a task before it is given up. */
const UNKNOWN_MAX = 6;
const UNKNOWN = new ApiError('upstream_error', {
  providerCode: 'provider_timeout',
  message:
    'The begin of the video was interrupted. Its provider may have begun it, so it was not begun again.',
});

/** The task after a rejection that may pass: a unit that has ended takes no other answer. */
function after(task: VideoTask, answer: InferenceAnswer, isRepeat: boolean): VideoTask {
  const { provider_task_id: state } = task;
  if (isUnit(answer)) return { ...task, unit: task.unit + 1, is_asked: state !== null };
  const isLost = 'is_lost' in answer && answer.is_lost === true;
  return state !== null || isRepeat || isLost ? task : { ...task, is_asked: false };
}

/** A task that the provider has is gone on with whatever kept its unit from an answer. */
function mayPass({ status, code }: ApiError, { provider_task_id, unit }: VideoTask): boolean {
  if (status === 429) return true;
  if (status === 503 && code !== 'upstream_error') return true;
  const isOurs = code === 'gateway_timeout' || code === 'internal_error';
  return isOurs && provider_task_id !== null && unit < UNITS_MAX;
}

/** Throws what an edge refuses; an answer that did not come is none. */
function notRefused(failure: unknown): { is_lost: boolean } {
  if (failure instanceof ApiError && failure.status < 500) throw failure;
  return { is_lost: !hasBegunNothing(failure) };
}

function whose({ account_id, org_id }: VideoTask): Pick<NewAccountEvent, 'account_id' | 'org_id'> {
  return { account_id, org_id };
}

function fieldsOf({ id, model, credential }: VideoTask): {
  task_id: string;
  model: string;
  provider: string;
} {
  return { task_id: id, model, provider: credential?.split('#')[0] ?? '' };
}

import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  objectName,
  ObjectStore,
  uuidv7,
  type Clock,
  type InferenceAnswer,
  type InferenceCall,
  type Random,
} from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { AccountShare } from '../state/account-share.js';

type Json = Record<string, unknown>;

/** Tasks that this process watches at once. */
const RUNNING_MAX = 2_000;
const RESULT_BYTES_MAX = 256 * 1024 * 1024;

interface Running {
  begun: Promise<Json>;
  ended: Promise<InferenceAnswer>;
}

/** The run of one task: `begun` is called as soon as its provider has it. */
type Run = (begun: (task: Json) => void) => Promise<InferenceAnswer>;

/**
 * Units whose provider works for minutes. Who asks for one that has no task yet is answered with it (202) as soon as it is
 * there. Who brings it is answered when it has ended, however often it asks.
 */
@Injectable()
export class EdgeTasks {
  private readonly running = new Map<string, Running>();
  private readonly share = new AccountShare(RUNNING_MAX);

  constructor(
    private readonly objects: ObjectStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  has(name: string): boolean {
    return this.running.has(name);
  }

  async answer(name: string, { task, account_id }: InferenceCall, run: Run): Promise<InferenceAnswer> {
    const found = this.running.get(name) ?? this.start(name, account_id, run);
    if (task != null) return found.ended;
    const begun = found.begun.then((body) => ({ status: 202, body, retry_after_seconds: null }));
    return Promise.race([begun, found.ended]);
  }

  private start(name: string, accountId: string, run: Run): Running {
    if (!this.share.take(accountId))
      throw new ApiError('service_unavailable', { retryAfterSeconds: 5, shouldRetry: true });
    let begin: (task: Json) => void = () => undefined;
    const begun = new Promise<Json>((resolve) => (begin = resolve));
    const ended = run(begin).finally(() => {
      this.running.delete(name);
      this.share.release(accountId);
    });
    const started = { begun, ended };
    this.running.set(name, started);
    // Whoever asked may have gone: its failure is nobody's then.
    ended.catch(() => undefined);
    return started;
  }

  /** Returns the result of a task in the object store, and what is said of it. */
  async store(
    { account_id }: InferenceCall,
    chunks: readonly Buffer[],
    head: Readonly<Record<string, string>>,
  ): Promise<InferenceAnswer> {
    const key = objectName('results', account_id, `${uuidv7(this.clock, this.random)}.mp4`);
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield* chunks;
    };
    await this.objects.put(key, content(), { maxBytes: RESULT_BYTES_MAX });
    const body = { object: key, seconds: Number(head['x-video-seconds'] ?? 0) };
    return { status: 200, body, retry_after_seconds: null, unit_ended: true };
  }
}

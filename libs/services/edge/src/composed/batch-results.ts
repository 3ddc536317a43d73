import { Injectable } from '@nestjs/common';
import {
  objectName,
  ObjectStore,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import type { UpstreamBody } from '@gateway/dialects';
import { textLines } from '@gateway/platform';
import { TransportFailure } from '@gateway/providers';
import { BatchTargets, callBounds, isFinal, type Bounds, type Target } from './batch-target.js';
import { Unanswered } from './sent-lines.js';

const MIB = 1_048_576;
/** Size of a returned line, also as it is stored: a line and its answer go in one body. */
const LINE_BYTES_MAX = 16 * MIB;
/** Size of all answers. What comes after it, or in a line that is too long, is asked for again, line by line. */
const RESULTS_BYTES_MAX = 8_192 * MIB;
const CALL_MS = 15_000;
const TRANSFER: Bounds = { idleMs: 60_000, totalMs: 1_500_000, maxBytes: RESULTS_BYTES_MAX };

/** Answers of batches that providers run. */
@Injectable()
export class BatchResults {
  constructor(
    private readonly targets: BatchTargets,
    private readonly objects: ObjectStore,
  ) {}

  /** Returns the state of a provider's batch; once it has ended its answers are in the object store. */
  async look(
    call: UpstreamBatchCall,
    { id, state }: { id: string; state: UpstreamBatchState },
    target: Target,
  ): Promise<UpstreamBatch> {
    const files = await target.dialect.look(this.targets.callsTo(target, callBounds(CALL_MS)), id);
    if (files === null) return { kind: 'at', state };
    if (files.length === 0) return { kind: 'ended', results: null };
    return this.keep(call, { files, state }, target);
  }

  /**
   * The same of batches one of which may be it: those that have ended and have lines of others are left out. What they answered
   * is read no further than to a line's name, and none of them is cancelled.
   */
  async lookAmong(
    call: UpstreamBatchCall,
    { maybe, state }: { maybe: readonly string[]; state: UpstreamBatchState },
    target: Target,
  ): Promise<UpstreamBatch> {
    const running: string[] = [];
    for (const id of maybe) {
      const files = await this.filesOf(id, target);
      if (files === null) running.push(id);
      else if (await this.isOurs(call.batch_id, files, target))
        return this.keep(call, { files, state }, target);
    }
    return running.length === 0 ? { kind: 'none' } : { kind: 'at', state: { ...state, maybe: running } };
  }

  /** None of a batch that the provider does not know. */
  private async filesOf(id: string, target: Target): Promise<readonly UpstreamBody[] | null> {
    try {
      return await target.dialect.look(this.targets.callsTo(target, callBounds(CALL_MS)), id);
    } catch (failure) {
      if (isFinal(failure)) return [];
      throw failure;
    }
  }

  /** All lines of a batch are one's: the first that has a name decides. */
  private async isOurs(name: string, files: readonly UpstreamBody[], target: Target): Promise<boolean> {
    for (const file of files)
      for await (const text of this.linesIn(file, target)) {
        const isIts = target.dialect.owns?.(text, name) ?? null;
        if (isIts !== null) return isIts;
      }
    return false;
  }

  private async keep(
    call: UpstreamBatchCall,
    { files, state }: { files: readonly UpstreamBody[]; state: UpstreamBatchState },
    target: Target,
  ): Promise<UpstreamBatch> {
    const results = objectName('results', call.account_id, `${call.batch_id}-answers.jsonl`);
    const answers = this.answersIn(call.batch_id, files, new Unanswered(state.sent), target);
    await this.objects.put(results, answers, { maxBytes: RESULTS_BYTES_MAX + LINE_BYTES_MAX });
    return { kind: 'ended', results };
  }

  /** Each line that was sent, once, whatever the files hold: the first answer of it stands. */
  private async *answersIn(
    name: string,
    files: readonly UpstreamBody[],
    unanswered: Unanswered,
    target: Target,
  ): AsyncGenerator<Uint8Array> {
    let size = 0;
    for (const file of files)
      for await (const text of this.linesIn(file, target)) {
        const answer = target.dialect.answer(text, name);
        if (answer === null || !unanswered.take(answer.line)) continue;
        const kept = Buffer.from(`${JSON.stringify(answer)}\n`);
        if (kept.byteLength > LINE_BYTES_MAX) continue;
        yield kept;
        size += kept.byteLength;
        if (unanswered.isEmpty || size > RESULTS_BYTES_MAX) return;
      }
  }

  /** Yields the lines of a provider's file; a broken read is tried again. */
  private async *linesIn(file: UpstreamBody, target: Target): AsyncGenerator<string> {
    try {
      const response = await this.targets.send(target, file, TRANSFER);
      yield* textLines(response.chunks(), LINE_BYTES_MAX, 'passed over');
    } catch (failure) {
      const isTooLarge = failure instanceof TransportFailure && failure.fault === 'too_large';
      if (!isTooLarge && !isFinal(failure)) throw failure;
    }
  }
}

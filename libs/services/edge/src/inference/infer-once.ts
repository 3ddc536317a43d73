import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  objectName,
  ObjectStore,
  uuidv7,
  type Clock,
  type IdempotencyClaim,
  type ObjectKey,
  type Random,
  type StoredAnswer,
} from '@gateway/contracts';
import { JSON_HEADERS } from '@gateway/dialects';
import { CLOCK, Deadlines, Pressure, RANDOM, type Deadline } from '@gateway/platform';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import { IdempotencyClaims } from './idempotency-claims.js';
import { Inference } from './inference.js';
import { SubAnswers } from './sub-answer.js';

/** Interval of a claim's renewal; it lapses in two minutes. */
const RENEW_MS = 30_000;
/** Size above any model's answer: a larger one is not stored. */
const STORED_BYTES_MAX = 256 * 1_048_576;
/** Kind of objects that the workers remove after a day. */
const ANSWERS = 'answers';

type Out = string | Uint8Array;

/** Answers of requests with an Idempotency-Key, in the object store. */
@Injectable()
export class StoredAnswers {
  constructor(
    private readonly objects: ObjectStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns the name of the stored answer; null where it could not be stored. */
  store(accountId: string, out: Out): Promise<ObjectKey | null> {
    const name = objectName(ANSWERS, accountId, `${uuidv7(this.clock, this.random)}.json`);
    return this.objects.put(name, piecesOf(out), { maxBytes: STORED_BYTES_MAX }).then(
      () => name,
      () => null,
    );
  }

  /** Sends a stored answer, never whole in memory. Throws ApiError `conflict` where it is not there. */
  async send({ body }: StoredAnswer, client: Client): Promise<void> {
    const { object, request_id } = body;
    const found = typeof object === 'string' ? await this.objects.get(object as ObjectKey) : null;
    if (found === null)
      throw new ApiError('conflict', {
        message: `This Idempotency-Key was answered by request ${String(request_id)}, whose answer is not kept.`,
        shouldRetry: false,
      });
    try {
      client.open(JSON_HEADERS, found.bytes);
      for await (const piece of found.content) {
        if (client.isGone) break;
        await client.write(piece);
      }
      client.end();
    } catch {
      client.cut();
    } finally {
      found.content.destroy();
    }
  }
}

/**
 * Requests that run once under their Idempotency-Key. The answer is stored before its unit ends, so that no repeat is
 * charged, whatever process dies in between. The work goes on when its caller leaves, who will ask for it again.
 */
@Injectable()
export class OnceInference {
  constructor(
    private readonly inference: Inference,
    private readonly subAnswers: SubAnswers,
    private readonly claims: IdempotencyClaims,
    private readonly answers: StoredAnswers,
    private readonly deadlines: Deadlines,
    private readonly pressure: Pressure,
  ) {}

  /** Runs a request, or sends the stored answer of its key. Throws ApiError while nothing was sent. */
  async run(request: InferenceRequest, client: Client): Promise<void> {
    const { claims, answers, deadlines, pressure } = this;
    const claimed = await claims.take(request);
    if (claimed === null) return this.inference.run(request, client);
    if (claimed.answer !== null) return answers.send(claimed.answer, client);
    const work = new HeldWork(claimed.claim, request, client, claims, answers, deadlines, pressure);
    try {
      await this.answerFirst(work, request, client);
    } catch (failure) {
      await work.release();
      throw failure;
    } finally {
      work.end();
    }
  }

  private async answerFirst(work: HeldWork, request: InferenceRequest, client: Client): Promise<void> {
    let answer: Out | null = null;
    const store = async (out: Out): Promise<void> => {
      await work.store(out);
      answer = out;
    };
    const sink = this.subAnswers.sink(async () => undefined);
    const nobody = { upstream: new AbortController() };
    const storing: InferenceRequest = { ...request, origin: { ...request.origin, store } };
    const { error, rateHeaders } = await this.subAnswers.askInto(sink, storing, nobody);
    client.rateHeaders = rateHeaders;
    if (error !== null) throw error;
    if (answer === null) throw new TypeError('an answer of several pieces is not stored');
    client.answer(answer, sink.head);
  }
}

/** A request that has its key, until it is answered. */
class HeldWork {
  private renewal: Deadline;
  private isOver = false;
  private bufferedBytes = 0;

  constructor(
    private claim: IdempotencyClaim,
    private readonly request: InferenceRequest,
    client: Client,
    private readonly claims: IdempotencyClaims,
    private readonly answers: StoredAnswers,
    private readonly deadlines: Deadlines,
    private readonly pressure: Pressure,
  ) {
    this.renewal = this.renewLater();
    // A caller's body counts until the caller leaves; this one is needed longer.
    client.whenClosed(() => {
      if (this.isOver) return;
      this.bufferedBytes = request.bytes.byteLength;
      pressure.buffered(this.bufferedBytes);
    });
  }

  /** Throws ApiError where it cannot be stored that it was answered. */
  async store(out: Out): Promise<void> {
    // Without its bytes it counts as answered all the same.
    const object = await this.answers.store(this.request.principal.accountId, out);
    const body = { object, request_id: this.claim.owner };
    if (await this.claims.complete(this.claim, { status: 200, body })) return;
    throw new ApiError('conflict', {
      message: 'Another request with this Idempotency-Key has begun meanwhile.',
    });
  }

  release(): Promise<void> {
    return this.claims.release(this.claim);
  }

  end(): void {
    this.isOver = true;
    this.renewal.cancel();
    this.pressure.released(this.bufferedBytes);
  }

  private renewLater(): Deadline {
    return this.deadlines.set(RENEW_MS, () => {
      this.claim = this.claims.renew(this.claim);
      this.renewal = this.renewLater();
    });
  }
}

async function* piecesOf(out: Out): AsyncGenerator<Uint8Array> {
  yield typeof out === 'string' ? Buffer.from(out) : out;
}

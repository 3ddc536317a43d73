import { createHash } from 'node:crypto';
import {
  ApiError,
  HEADER,
  objectName,
  uuidv7,
  type IdempotencyClaim,
  type ObjectKey,
  type StoredAnswer,
} from '@gateway/contracts';
import { JSON_HEADERS } from '@gateway/dialects';
import { claimKey, type Deadline } from '@gateway/platform';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import type { InferDeps } from './infer-deps.js';
import { NO_MODEL } from '../units/rejections.js';
import { askInto, SubSink } from './sub-answer.js';

/** Interval of a claim's renewal; it lapses in two minutes. */
const RENEW_MS = 30_000;
/** Size above any model's answer: a larger one is not stored. */
const KEPT_BYTES_MAX = 256 * 1_048_576;
/** More than any form has. */
const PARTS_MAX = 1_000;
/** Kind of objects that the workers remove after a day. */
const ANSWERS = 'answers';
export interface Claimed {
  claim: IdempotencyClaim;
  /** Answer to the first request with the key. */
  answer: StoredAnswer | null;
}

/** Takes the request's Idempotency-Key; null where it has none. Throws ApiError; a refusal is recorded. */
export async function claimed(
  call: InferenceRequest,
  { idempotency, clock, rejections }: InferDeps,
): Promise<Claimed | null> {
  const { headers, principal, path, requestId } = call;
  const key = headers[HEADER.idempotencyKey.toLowerCase()];
  if (key === undefined) return null;
  const asked = { key, principal, route: `POST ${path}`, requestId, bodyDigest: digestOf(call) };
  try {
    return await claimKey({ store: idempotency, clock }, asked);
  } catch (refusal) {
    if (refusal instanceof ApiError && refusal.status < 500) rejections.add(call, NO_MODEL, refusal, null);
    throw refusal;
  }
}

/**
 * One inference request, run once under its Idempotency-Key: its answer is kept before its unit ends, so that whoever dies
 * in between, no repeat is charged. It goes on when its caller leaves, who will ask for it again.
 */
export async function inferOnce(call: InferenceRequest, client: Client, deps: InferDeps): Promise<void> {
  const held = await claimed(call, deps);
  if (held === null) return deps.inference.run(call, client);
  if (held.answer !== null) return answerAgain(held.answer, client, deps);
  const work = new HeldWork(held.claim, call, client, deps);
  try {
    await answerFirst(work, { call, client }, deps);
  } catch (failure) {
    await work.release();
    throw failure;
  } finally {
    work.end();
  }
}

async function answerFirst(
  work: HeldWork,
  { call, client }: { call: InferenceRequest; client: Client },
  deps: InferDeps,
): Promise<void> {
  let answer: string | Uint8Array | null = null;
  const keep = async (out: string | Uint8Array): Promise<void> => {
    await work.keep(out);
    answer = out;
  };
  const sink = new SubSink(
    async () => undefined,
    () => deps.clock.monotonic(),
  );
  const nobody = { upstream: new AbortController() };
  const { error, rateHeaders } = await askInto(
    sink,
    { ...call, origin: { ...call.origin, keep } },
    nobody,
    deps,
  );
  client.rateHeaders = rateHeaders;
  if (error !== null) throw error;
  if (answer === null) throw new TypeError('an answer of several pieces is not kept');
  client.answer(answer, sink.head);
}

/** A request that has its key, until it is answered. */
class HeldWork {
  private renewal: Deadline;
  private isOver = false;
  private heldBytes = 0;

  constructor(
    private claim: IdempotencyClaim,
    private readonly call: InferenceRequest,
    client: Client,
    private readonly deps: InferDeps,
  ) {
    this.renewal = this.renewLater();
    // A caller's body counts until the caller leaves; this one is needed longer.
    client.whenClosed(() => {
      if (this.isOver) return;
      this.heldBytes = call.bytes.byteLength;
      deps.pressure.held(this.heldBytes);
    });
  }

  /** Throws ApiError where it cannot be kept that it was answered. */
  async keep(out: string | Uint8Array): Promise<void> {
    const { objects, idempotency, clock, random } = this.deps;
    const name = objectName(ANSWERS, this.call.principal.accountId, `${uuidv7(clock, random)}.json`);
    // Without its bytes it counts as answered all the same.
    const object = await objects.put(name, piecesOf(out), { maxBytes: KEPT_BYTES_MAX }).then(
      () => name,
      () => null,
    );
    const body = { object, request_id: this.claim.owner };
    if (await idempotency.complete(this.claim, { status: 200, body })) return;
    throw new ApiError('conflict', {
      message: 'Another request with this Idempotency-Key has begun meanwhile.',
    });
  }

  /** Releases the claim; where the store is unreachable it lapses by itself. */
  async release(): Promise<void> {
    await this.deps.idempotency.release(this.claim).catch(() => undefined);
  }

  end(): void {
    this.isOver = true;
    this.renewal.cancel();
    this.deps.pressure.released(this.heldBytes);
  }

  private renewLater(): Deadline {
    const { deadlines, clock, idempotency } = this.deps;
    return deadlines.set(RENEW_MS, () => {
      this.claim = { ...this.claim, createdAt: new Date(clock.now()) };
      // The next one may be taken; where none is, the end of the request finds out.
      idempotency.renew(this.claim).catch(() => undefined);
      this.renewal = this.renewLater();
    });
  }
}

/** Sends the stored answer, never whole in memory. */
async function answerAgain({ body }: StoredAnswer, client: Client, { objects }: InferDeps): Promise<void> {
  const { object, request_id } = body;
  const found = typeof object === 'string' ? await objects.get(object as ObjectKey) : null;
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

/** A form that is sent again has another boundary. */
function digestOf({ bytes, headers }: InferenceRequest): string {
  const hash = createHash('sha256');
  const boundary = /boundary="?([^";]+)/i.exec(headers['content-type'] ?? '')?.[1];
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = 0;
  for (let part = 0; boundary !== undefined && part < PARTS_MAX; part += 1) {
    const at = body.indexOf(boundary, from);
    if (at === -1) break;
    hash.update(body.subarray(from, at)).update('\n--');
    from = at + boundary.length;
  }
  return hash.update(body.subarray(from)).digest('hex');
}

async function* piecesOf(out: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof out === 'string' ? Buffer.from(out) : out;
}

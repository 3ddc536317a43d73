import { writeJson } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import {
  BackgroundResponses,
  newAnswerId,
  type Clock,
  type IdempotencyClaim,
  type Random,
} from '@gateway/contracts';
import { JSON_HEADERS } from '@gateway/dialects';
import {
  EVENT_STREAM_HEADERS,
  followEvents,
  StoredContentNeeded,
  wholeBody,
  type Asked,
  type EndpointBackground,
} from '@gateway/endpoints';
import { CLOCK, PageBudget, Pressure, RANDOM, Stage, type Closing } from '@gateway/platform';
import type { Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { callerEndUserHash } from '../request/end-user-hash.js';
import { IdempotencyClaims } from './idempotency-claims.js';
import { Inference } from './inference.js';
import { StoredBodies } from './stored-bodies.js';

interface Begin {
  request: InferenceRequest;
  asked: Asked;
  background: EndpointBackground;
  claim?: IdempotencyClaim;
}

/** The caller of a request that is begun, and the end of its checks. */
interface BeginCaller {
  client: Client;
  checks: Closing;
}

type BegunResponse = Record<string, unknown> & { id: string };

/** Requests of an endpoint whose answers may be made later: begun where they ask for that, waited for otherwise. */
@Injectable()
export class BackgroundInference {
  constructor(
    private readonly inference: Inference,
    private readonly claims: IdempotencyClaims,
    private readonly bodies: StoredBodies,
    private readonly responses: BackgroundResponses,
    private readonly pressure: Pressure,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Throws ApiError while nothing was sent. */
  async run(background: EndpointBackground, request: InferenceRequest, client: Client): Promise<void> {
    const asked = background.mayBe(request.bytes) ? await this.askedLater(request, background) : null;
    if (asked === null) return this.inference.run(request, client);
    return this.begin({ request, asked, background }, client);
  }

  /** Null for a body that is waited for, and for one that is refused: that is said where all others are. */
  private async askedLater(
    { bytes, headers, principal }: InferenceRequest,
    background: EndpointBackground,
  ): Promise<Asked | null> {
    const read = readable(() => background.read({ bytes, headers }));
    if (!(read instanceof StoredContentNeeded)) return read;
    const composed = await this.bodies.bodyOf(read, principal).catch(() => null);
    return composed === null
      ? null
      : readable(() => wholeBody(background.read({ bytes: composed, headers })));
  }

  private async begin(begun: Begin, client: Client): Promise<void> {
    // What was recalled for the checks is over with them: who follows the events may be there for hours.
    const checks = new Stage();
    const response = await this.beginOnce(begun, { client, checks }).finally(() => checks.close());
    if (!begun.asked.stream) return client.answer(writeJson(response), JSON_HEADERS);
    client.open(EVENT_STREAM_HEADERS);
    const { keyId, accountId } = begun.request.principal;
    const budget = new PageBudget(this.pressure.ofAccount(accountId));
    const events = followEvents({
      read: (after) =>
        budget.read((reserveMemory) => this.responses.events(keyId, response.id, after, reserveMemory)),
      after: -1,
      clock: this.clock,
      isGone: () => client.isGone,
    });
    try {
      for await (const frames of events) await client.write(frames);
      client.end();
    } catch {
      // It goes on, and its stream can be resumed.
      client.cut();
    } finally {
      budget.close();
    }
  }

  /** A repeat under an Idempotency-Key follows the response that the first one began. */
  private async beginOnce(begun: Begin, caller: BeginCaller): Promise<BegunResponse> {
    const claimed = await this.claims.take(begun.request);
    if (claimed === null) return this.beginNow(begun, caller);
    const { claim, answer } = claimed;
    if (answer !== null) return answer.body as BegunResponse;
    try {
      return await this.beginNow({ ...begun, claim }, caller);
    } catch (failure) {
      // Where it has begun all the same, it is answered by now.
      await this.claims.release(claim);
      throw failure;
    }
  }

  /** Refuses what would be refused now, counting nothing; what is run is admitted when it is. */
  private async beginNow(begun: Begin, { client, checks }: BeginCaller): Promise<BegunResponse> {
    const { request, background, claim } = begun;
    const { endpoint, principal } = request;
    const { plan, asked } = await this.inference.check(request, begun.asked, client, checks);
    const id = newAnswerId(endpoint.idPrefix, this.clock, this.random);
    const createdAt = Math.floor(request.receivedAtMs / 1_000);
    const response = { ...background.begun(asked, { id, createdAt, model: plan.model.record.id }), id };
    const { isStored: _always, ...record } = endpoint.state?.storedRequest(asked) ?? NO_RECORD;
    const hash = asked.endUser === null ? null : callerEndUserHash(principal, asked.endUser);
    const made = {
      ...record,
      ...{ id, key_id: principal.keyId, account_id: principal.accountId, request_id: request.requestId },
      ...{ end_user_hash: hash, created_at: createdAt, response },
      body: { ...background.body(asked), model: asked.model ?? principal.defaultModel },
    };
    await this.responses.begin(made, claim);
    return response;
  }
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

const NO_RECORD = { isStored: true, input: [], previous_response_id: null, conversation_id: null };

import {
  ApiError,
  BackgroundResponses,
  type BackgroundRun,
  type EndedResponse,
  type EventsPage,
  type IdempotencyClaim,
  type ReserveMemory,
  type NewBackgroundResponse,
  type NumberedEvent,
} from '@gateway/contracts';
import { IdempotencyStoreDouble } from './idempotency-store-double.js';

/** Background responses in memory, that nobody runs by themselves. */
export class BackgroundResponsesDouble extends BackgroundResponses {
  readonly begun: NewBackgroundResponse[] = [];
  readonly said = new Map<string, NumberedEvent[]>();
  readonly ended = new Map<string, EndedResponse>();
  /** The run that has each; null once it was cancelled. */
  readonly runs = new Map<string, string | null>();
  /** Store in which claims are answered. */
  readonly creates = new IdempotencyStoreDouble();
  /** Calls that fail, one each, as where the store is away. */
  faults = 0;

  override async begin(response: NewBackgroundResponse, claim?: IdempotencyClaim): Promise<void> {
    this.fail();
    if (claim && !(await this.creates.complete(claim, { status: 200, body: response.response })))
      throw new ApiError('conflict');
    this.begun.push(response);
  }

  override async take({ response_id, run }: BackgroundRun): Promise<number | null> {
    this.fail();
    if (this.runs.get(response_id) === null) return null;
    this.runs.set(response_id, run);
    return (this.said.get(response_id)?.at(-1)?.number ?? -1) + 1;
  }

  override async append(
    { response_id, run }: BackgroundRun,
    events: NumberedEvent[],
    ended: EndedResponse | null,
  ): Promise<boolean> {
    this.fail();
    if (this.runs.get(response_id) !== run) return false;
    this.said.set(response_id, [...(this.said.get(response_id) ?? []), ...events]);
    if (ended !== null) this.ended.set(response_id, ended);
    return true;
  }

  override async events(
    _keyId: string,
    id: string,
    after: number,
    reserveMemory: ReserveMemory,
  ): Promise<EventsPage | null> {
    const events = (this.said.get(id) ?? []).filter(({ number }) => number > after);
    reserveMemory(Buffer.byteLength(JSON.stringify(events)));
    return { events, is_over: this.ended.has(id) };
  }

  private fail(): void {
    if (this.faults === 0) return;
    this.faults -= 1;
    throw new ApiError('service_unavailable');
  }
}

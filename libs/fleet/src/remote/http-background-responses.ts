import { Inject, Injectable } from '@nestjs/common';
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
  type Random,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const PATH = '/internal/background-responses';
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 40 * 1_048_576;

/** The workers service's background responses over HTTP. Everything may be repeated: it has one effect. */
@Injectable()
export class HttpBackgroundResponses extends BackgroundResponses {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async begin(response: NewBackgroundResponse, claim?: IdempotencyClaim): Promise<void> {
    await this.post('', { response, claim });
  }

  override async take(run: BackgroundRun): Promise<number | null> {
    return (await this.post<{ first: number | null }>('/take', run)).first;
  }

  override async append(
    run: BackgroundRun,
    events: NumberedEvent[],
    ended: EndedResponse | null,
  ): Promise<boolean> {
    return (await this.post<{ is_current: boolean }>('/append', { run, events, ended })).is_current;
  }

  override async events(
    keyId: string,
    id: string,
    after: number,
    reserveMemory: ReserveMemory,
  ): Promise<EventsPage | null> {
    const asked = { key_id: keyId, response_id: id, after };
    return (await this.post<{ page: EventsPage | null }>('/events', asked, reserveMemory)).page;
  }

  private async post<T>(path: string, body: unknown, reserveMemory?: ReserveMemory): Promise<T> {
    const { status, body: answer } = await this.http.request({
      service: 'workers',
      method: 'POST',
      path: `${PATH}${path}`,
      body,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
      maxBytes: ANSWER_BYTES_MAX,
      reserveMemory,
    });
    const { error } = (answer ?? {}) as { error?: { message?: string } };
    if (status === 409) throw new ApiError('conflict', { message: error?.message });
    if (status >= 400 || answer === null || typeof answer !== 'object')
      throw unavailable(this.random, new Error(`The workers service answered ${status}.`));
    return answer as T;
  }
}

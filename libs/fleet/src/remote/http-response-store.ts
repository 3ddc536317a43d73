import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  ResponseStore,
  type ReserveMemory,
  type NamedFile,
  type Random,
  type RecalledItems,
  type ResponseLink,
  type StoredResponse,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

type Json = Record<string, unknown>;

const TIMEOUT_MS = 5_000;
/** Largest size of a chain of responses with its frame. */
const ANSWER_BYTES_MAX = 40 * 1_048_576;

/** The workers service's responses over HTTP. Keeping may be repeated: it has one effect. */
@Injectable()
export class HttpResponseStore extends ResponseStore {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async store(responses: readonly StoredResponse[]): Promise<void> {
    await this.post('/internal/responses', { responses });
  }

  override async recall(
    keyId: string,
    link: ResponseLink,
    reserveMemory: ReserveMemory,
  ): Promise<RecalledItems | null> {
    const body = await this.post('/internal/responses/recall', { key_id: keyId, ...link }, reserveMemory);
    const { found } = (body ?? {}) as { found?: RecalledItems | null };
    if (found === undefined)
      throw unavailable(this.random, new Error('The workers service answered nothing.'));
    return found;
  }

  override async items(
    keyId: string,
    ids: readonly string[],
    reserveMemory: ReserveMemory,
  ): Promise<ReadonlyMap<string, Json>> {
    const body = await this.post('/internal/responses/items', { key_id: keyId, ids }, reserveMemory);
    const { items } = (body ?? {}) as { items?: Record<string, Json> };
    if (items === undefined)
      throw unavailable(this.random, new Error('The workers service answered nothing.'));
    return new Map(Object.entries(items));
  }

  override async files(keyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedFile>> {
    const body = await this.post('/internal/responses/files', { key_id: keyId, ids });
    const { files } = (body ?? {}) as { files?: Record<string, NamedFile> };
    if (files === undefined)
      throw unavailable(this.random, new Error('The workers service answered nothing.'));
    return new Map(Object.entries(files));
  }

  override async forget(accountId: string, endUserHash: string, until: Date): Promise<void> {
    const body = { account_id: accountId, end_user_hash: endUserHash, until: until.toISOString() };
    await this.post('/internal/responses/forget', body);
  }

  private async post(path: string, body: unknown, reserveMemory?: ReserveMemory): Promise<unknown> {
    const answer = await this.http.request({
      service: 'workers',
      method: 'POST',
      path,
      body,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
      maxBytes: ANSWER_BYTES_MAX,
      reserveMemory,
    });
    if (answer.status === 400 && reserveMemory !== undefined)
      throw new ApiError('context_window_exceeded', {
        message: 'The earlier responses are too large to go on from.',
      });
    if (answer.status === 409)
      throw new ApiError('conflict', {
        message: 'The previous response has not ended: go on from it once it has.',
      });
    if (answer.status >= 400)
      throw unavailable(this.random, new Error(`The workers service answered ${answer.status}.`));
    return answer.body;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { RequestContents, type ErasedEndUser, type Random, type UnitContent } from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 5_000;
const READ_TIMEOUT_MS = 2_000;

/** The usage service's contents and erasures over HTTP. Keeping may be repeated: it has one effect. */
@Injectable()
export class HttpRequestContents extends RequestContents {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async keep(contents: readonly UnitContent[]): Promise<void> {
    const { status } = await this.http.request({
      service: 'usage',
      method: 'POST',
      path: '/internal/contents',
      body: { contents },
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    if (status !== 204) throw unavailable(this.random, new Error(`The usage service answered ${status}.`));
  }

  override async erasedSince(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    const { status, body } = await this.http.request({
      service: 'usage',
      method: 'GET',
      path: `/internal/erasures?since=${encodeURIComponent(since.toISOString())}`,
      timeoutMs: READ_TIMEOUT_MS,
      idempotent: true,
    });
    if (status >= 400) throw unavailable(this.random, new Error(`The usage service answered ${status}.`));
    if (isErased(body)) return body;
    throw unavailable(this.random, new Error('The usage service answered no erasures.'));
  }
}

function isErased(body: unknown): body is { erased: ErasedEndUser[]; isAll: boolean } {
  return (
    typeof body === 'object' &&
    body !== null &&
    'erased' in body &&
    Array.isArray(body.erased) &&
    body.erased.every(isEndUser) &&
    'isAll' in body &&
    typeof body.isAll === 'boolean'
  );
}

function isEndUser(one: unknown): one is ErasedEndUser {
  const { accountId, endUserHash, erasedAtMs } = (one ?? {}) as Partial<ErasedEndUser>;
  return typeof accountId === 'string' && typeof endUserHash === 'string' && typeof erasedAtMs === 'number';
}

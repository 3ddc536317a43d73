import { Inject, Injectable } from '@nestjs/common';
import { RequestContents, type Random, type UnitContent } from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 5_000;

/** The usage service's contents over HTTP. Keeping may be repeated: it has one effect. */
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
}

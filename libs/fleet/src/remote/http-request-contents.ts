import { RequestContents, type Random, type UnitContent } from '@gateway/contracts';
import { unavailable, type InternalHttp } from '@gateway/platform';

const TIMEOUT_MS = 5_000;

/** The usage service's contents over HTTP. Keeping may be repeated: it has one effect. */
export class HttpRequestContents extends RequestContents {
  constructor(
    private readonly http: InternalHttp,
    private readonly random: Random,
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

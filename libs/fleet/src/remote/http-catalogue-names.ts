import { Inject, Injectable } from '@nestjs/common';
import { CatalogueNames, type CatalogueAsked, type CatalogueNamed, type Random } from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 2_000;

/** The catalogue service's names over HTTP. */
@Injectable()
export class HttpCatalogueNames extends CatalogueNames {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async unknown(named: CatalogueAsked): Promise<CatalogueNamed> {
    const { status, body } = await this.http.request({
      service: 'catalogue',
      method: 'POST',
      path: '/internal/catalogue/unknown',
      body: named,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    const { models, ids, providers } = { ...(body as Partial<Record<keyof CatalogueNamed, unknown>> | null) };
    if (status !== 200 || !isNames(models) || !isNames(ids) || !isNames(providers))
      throw unavailable(this.random, new Error(`catalogue answered ${status} for names`));
    return { models, ids, providers };
  }
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

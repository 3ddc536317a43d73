import { Inject, Injectable } from '@nestjs/common';
import { OrgOwners, type Random } from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 2_000;

/** The keys service's owners over HTTP. */
@Injectable()
export class HttpOrgOwners extends OrgOwners {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async emails(orgId: string): Promise<string[]> {
    const { status, body } = await this.http.request({
      service: 'keys',
      method: 'GET',
      path: `/internal/orgs/${encodeURIComponent(orgId)}/owners`,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    const { emails } = { ...(body as { emails?: unknown } | null | undefined) };
    if (status !== 200 || !Array.isArray(emails) || !emails.every((email) => typeof email === 'string'))
      throw unavailable(this.random, new Error(`keys answered ${status} for the owners of an organization`));
    return emails;
  }
}

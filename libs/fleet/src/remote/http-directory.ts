import { Inject, Injectable } from '@nestjs/common';
import {
  Directory,
  type AuditedAction,
  type ContentPromise,
  type NamedIds,
  type Payer,
  type Random,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable, type InternalRequest } from '@gateway/platform';

const TIMEOUT_MS = 2_000;

/** The keys service's directory over HTTP. */
@Injectable()
export class HttpDirectory extends Directory {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async names(accountId: string, ids: Parameters<Directory['names']>[1]): Promise<NamedIds> {
    const body = await this.asked('POST', 'directory/names', { account_id: accountId, ...ids });
    const { keys, users, teams } = body;
    if (!isNames(keys) || !isNames(users) || !isNames(teams)) throw this.unknown();
    return { keys, users, teams };
  }

  override async teamsOf(orgId: string, userId: string): Promise<string[]> {
    const [org, user] = [encodeURIComponent(orgId), encodeURIComponent(userId)];
    const { teams } = await this.asked('GET', `directory/orgs/${org}/people/${user}/teams`);
    if (!areTexts(teams)) throw this.unknown();
    return teams;
  }

  override async payer(id: string): Promise<Payer | null> {
    const { payer } = await this.asked('GET', `directory/payers/${encodeURIComponent(id)}`);
    if (payer === null) return null;
    const found: { accountId?: unknown; orgId?: unknown; isClosed?: unknown } =
      typeof payer === 'object' ? { ...payer } : {};
    const { accountId, orgId, isClosed } = found;
    if (typeof accountId !== 'string' || (orgId !== null && typeof orgId !== 'string')) throw this.unknown();
    return { accountId, orgId, ...(isClosed === true && { isClosed }) };
  }

  override async ownerEmails(orgId: string): Promise<string[]> {
    const { emails } = await this.asked('GET', `orgs/${encodeURIComponent(orgId)}/owners`);
    if (!areTexts(emails)) throw this.unknown();
    return emails;
  }

  override forget(accountId: string, endUserHash: string): Promise<void> {
    return this.done('directory/forget', { account_id: accountId, end_user_hash: endUserHash });
  }

  override audit(action: AuditedAction): Promise<void> {
    return this.done('directory/audit', action);
  }

  override async contentPromises(orgIds: readonly string[]): Promise<Record<string, ContentPromise[]>> {
    const { promises } = await this.asked('POST', 'directory/content-promises', { org_ids: orgIds });
    if (!arePromises(promises)) throw this.unknown();
    return promises;
  }

  private async done(path: string, body: object): Promise<void> {
    const answer = await this.http.request({
      service: 'keys',
      method: 'POST',
      path: `/internal/${path}`,
      body,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    if (answer.status !== 204) throw this.unknown();
  }

  private async asked(
    method: InternalRequest['method'],
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const answer = await this.http.request({
      service: 'keys',
      method,
      path: `/internal/${path}`,
      ...(body === undefined ? {} : { body }),
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    if (answer.status !== 200 || typeof answer.body !== 'object' || answer.body === null)
      throw this.unknown();
    return answer.body as Record<string, unknown>;
  }

  private unknown(): Error {
    return unavailable(this.random, new Error('the keys service gave no usable answer of its directory'));
  }
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function arePromises(value: unknown): value is Record<string, ContentPromise[]> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((each) => Array.isArray(each) && each.every(isPromise))
  );
}

function isPromise(value: unknown): value is ContentPromise {
  const { until, days }: Partial<Record<keyof ContentPromise, unknown>> =
    typeof value === 'object' ? { ...value } : {};
  const isTime = until === null || (typeof until === 'string' && Number.isFinite(Date.parse(until)));
  return isTime && Number.isInteger(days);
}

function isNames(value: unknown): value is Record<string, string | null> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((name) => name === null || typeof name === 'string')
  );
}

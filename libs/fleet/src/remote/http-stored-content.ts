import { Inject, Injectable } from '@nestjs/common';
import { StoredContent, type PromptContent, type Random } from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 1_000;

/** The keys service's templates and memories over HTTP. It keeps nothing. */
@Injectable()
export class HttpStoredContent extends StoredContent {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async template(
    accountId: string,
    name: string,
    version: string | number | null,
  ): Promise<PromptContent | null> {
    const content = await this.post('template', 'content', { account_id: accountId, name, version });
    if (content === null || isContent(content)) return content;
    throw this.notUnderstood();
  }

  override async memories(accountId: string, endUserHash: string, max: number): Promise<string[]> {
    const sent = { account_id: accountId, end_user_hash: endUserHash, max };
    const texts = await this.post('memories', 'texts', sent);
    if (!Array.isArray(texts)) throw this.notUnderstood();
    return texts.filter((text) => typeof text === 'string');
  }

  private async post(path: string, member: string, sent: object): Promise<unknown> {
    const { status, body } = await this.http.request({
      service: 'keys',
      method: 'POST',
      path: `/internal/content/${path}`,
      body: sent,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    if (status >= 400) throw unavailable(this.random, new Error(`The keys service answered ${status}.`));
    return typeof body === 'object' && body !== null ? Reflect.get(body, member) : undefined;
  }

  private notUnderstood(): Error {
    return unavailable(this.random, new Error('The keys service answered no stored content.'));
  }
}

function isContent(value: unknown): value is PromptContent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'messages' in value &&
    Array.isArray(value.messages) &&
    'variables' in value &&
    Array.isArray(value.variables)
  );
}

import { ApiError, StoredContent, type PromptContent } from '@gateway/contracts';

/** Templates and memories that a spec has put in. */
export class StoredContentDouble extends StoredContent {
  /** Templates by `<name>` for the published version, `<name> <version>` for others. */
  readonly templates = new Map<string, PromptContent>();
  /** Memories of every end user of every account. */
  memoryTexts: string[] = [];
  /** Look-ups. */
  calls = 0;
  isUnavailable = false;

  override async template(
    _accountId: string,
    name: string,
    version: string | number | null,
  ): Promise<PromptContent | null> {
    this.reach();
    return this.templates.get(version === null ? name : `${name} ${version}`) ?? null;
  }

  override async memories(_accountId: string, _endUserHash: string, max: number): Promise<string[]> {
    this.reach();
    return this.memoryTexts.slice(-max);
  }

  private reach(): void {
    this.calls += 1;
    if (this.isUnavailable) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { StoredContent, type MemoriesRecord, type PromptContent, type Random } from '@gateway/contracts';
import { RANDOM, unavailable } from '@gateway/platform';
import { storedJson, writtenJson } from '../postgres/columns.js';
import { KeysDatabase } from '../postgres/keys-database.js';

/** Larger numbers are no version's. */
const NUMBER = /^[1-9]\d{0,8}$/;

/** Templates and memories from the database. */
@Injectable()
export class DatabaseStoredContent extends StoredContent {
  constructor(
    private readonly database: KeysDatabase,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override template(
    accountId: string,
    name: string,
    version: string | number | null,
  ): Promise<PromptContent | null> {
    return this.asked(async () => {
      const { promptTemplate, promptTemplateVersion } = this.database.prisma;
      const where = { account_id: accountId, archived: false };
      const template =
        (await promptTemplate.findFirst({ where: { ...where, name } })) ??
        (await promptTemplate.findFirst({ where: { ...where, id: name } }));
      if (template === null) return null;
      const wanted = version ?? template.published_version_id;
      if (wanted === null) return null;
      const named = NUMBER.test(String(wanted)) ? { version: Number(wanted) } : { id: String(wanted) };
      const row = await promptTemplateVersion.findFirst({ where: { template_id: template.id, ...named } });
      return row === null ? null : writtenJson<PromptContent>(row.content);
    });
  }

  override memories(accountId: string, endUserHash: string, max: number): Promise<string[]> {
    return this.asked(async () => {
      const where = { account_id: accountId, end_user_hash: endUserHash };
      const row = await this.database.prisma.memory.findFirst({ where });
      const items = row === null ? [] : storedJson<MemoriesRecord['items']>(row.items);
      return items.slice(-max).map(({ text }) => text);
    });
  }

  /** A lookup that fails is 503, never a 404. */
  private async asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }
}

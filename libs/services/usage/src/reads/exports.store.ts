import { createHash } from 'node:crypto';
import type { Clock, Random, UsageFilterBody } from '@gateway/contracts';
import type { Prisma } from '../generated/prisma/client.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { View } from './view.js';

/** What a CSV is made of. */
export interface ExportQuestion {
  view: View;
  filter: UsageFilterBody;
  timeZone: string;
}

const LIVES_MS = 60_000;
const TOKEN_BYTES = 32;

/** Exports that were asked for: a browser fetches one by its address alone, once. */
export class ExportsStore {
  constructor(private readonly deps: { database: UsageDatabase; clock: Clock; random: Random }) {}

  async keep(question: ExportQuestion): Promise<{ token: string; expiresAt: Date }> {
    const { clock, database, random } = this.deps;
    const now = clock.now();
    const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
    const expiresAt = new Date(now + LIVES_MS);
    await database.prisma.usageExport.deleteMany({ where: { expires_at: { lt: new Date(now) } } });
    await database.prisma.usageExport.create({
      data: {
        token_digest: digestOf(token),
        account_id: question.view.accountId,
        question: question as unknown as Prisma.InputJsonObject,
        expires_at: expiresAt,
      },
    });
    return { token, expiresAt };
  }

  /** Once; null for a token that is unknown, used or too old. */
  async take(token: string): Promise<ExportQuestion | null> {
    const { rows } = await this.deps.database.pool.query<{ question: ExportQuestion }>(
      'DELETE FROM usage_export WHERE token_digest = $1 AND expires_at > $2 RETURNING question',
      [digestOf(token), new Date(this.deps.clock.now())],
    );
    return rows.at(0)?.question ?? null;
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

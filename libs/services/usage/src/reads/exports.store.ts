import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import { createHash } from 'node:crypto';
import type { Clock, Random, UsageFilter } from '@gateway/contracts';
import type { AuditRow } from '@gateway/database';
import { insertAudit } from '../postgres/audit-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { View } from './view.js';

/** The content of a CSV. */
export interface ExportQuestion {
  view: View;
  filter: UsageFilter;
  timeZone: string;
}

const LIVES_MS = 60_000;
const TOKEN_BYTES = 32;

/** Exports that were asked for: a browser fetches one by its address alone, once. */
@Injectable()
export class ExportsStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async keep(question: ExportQuestion, audit: AuditRow): Promise<{ token: string; expiresAt: Date }> {
    const { clock, database, random } = this;
    const now = clock.now();
    const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
    const expiresAt = new Date(now + LIVES_MS);
    await database.transaction(async (client) => {
      await client.query('DELETE FROM usage_export WHERE expires_at < $1', [new Date(now)]);
      await client.query(
        'INSERT INTO usage_export (token_digest, account_id, question, expires_at) VALUES ($1, $2, $3, $4)',
        [digestOf(token), question.view.accountId, JSON.stringify(question), expiresAt],
      );
      await insertAudit(client, audit);
    });
    return { token, expiresAt };
  }

  /** Notes a CSV that is sent at once. */
  async note(audit: AuditRow): Promise<void> {
    await this.database.transaction((client) => insertAudit(client, audit));
  }

  /** null for a token that is unknown, used or too old. */
  async find(token: string): Promise<ExportQuestion | null> {
    const { rows } = await this.database.pool.query<{ question: ExportQuestion }>(
      'SELECT question FROM usage_export WHERE token_digest = $1 AND expires_at > $2',
      [digestOf(token), new Date(this.clock.now())],
    );
    return rows.at(0)?.question ?? null;
  }

  /** Returns true for the one caller who takes the token: once, for a token that was found. */
  async take(token: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query('DELETE FROM usage_export WHERE token_digest = $1', [
      digestOf(token),
    ]);
    return rowCount === 1;
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

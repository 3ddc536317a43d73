import { Injectable } from '@nestjs/common';
import { ErasedEndUsers, type ErasedEndUser } from '@gateway/contracts';
import { UsageDatabase } from '../postgres/usage-database.js';

const AT_ONCE = 5_000;

/** Tombstones from the database. */
@Injectable()
export class DatabaseErasedEndUsers extends ErasedEndUsers {
  constructor(private readonly database: UsageDatabase) {
    super();
  }

  override async since(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    const { rows } = await this.database.pool.query<{
      account_id: string;
      end_user_hash: string;
      erased_at: Date;
    }>(
      `SELECT account_id, end_user_hash, erased_at FROM erased_end_user WHERE erased_at >= $1
       ORDER BY erased_at LIMIT $2`,
      [since, AT_ONCE],
    );
    const erased = rows.map(({ account_id, end_user_hash, erased_at }) => ({
      accountId: account_id,
      endUserHash: end_user_hash,
      erasedAtMs: erased_at.getTime(),
    }));
    return { erased, isAll: rows.length < AT_ONCE };
  }
}

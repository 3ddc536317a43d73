import { Controller, Get } from '@nestjs/common';
import type { BooksRecord } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { DIFFERENCES } from './finding.js';
import { Reconciler } from './reconciler.js';

/** Routes of the ledger's proof, for operators of the platform. */
@Controller('v1/admin')
@Access({ superAdmin: true })
export class BooksController {
  constructor(private readonly reconciler: Reconciler) {}

  /** Reads what the proof of the books has found. */
  @Get('books')
  read(): BooksRecord {
    const { findings, accountsProved, lastProved, roundEndedAtMs } = this.reconciler.state;
    return {
      is_proved: roundEndedAtMs !== null && lastProved > 0 && findings.length === 0,
      round_ended_at: roundEndedAtMs === null ? null : new Date(roundEndedAtMs).toISOString(),
      accounts_proved: accountsProved,
      differences: findings.map(({ kind, account, scope, expected, found }) => ({
        kind,
        meaning: DIFFERENCES[kind],
        account_id: account,
        scope,
        expected,
        found,
      })),
    };
  }
}

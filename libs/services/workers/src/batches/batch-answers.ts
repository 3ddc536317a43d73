import { Injectable } from '@nestjs/common';
import { WorkersDatabase } from '../postgres/workers-database.js';

/** The answer of a provider to a line of its own batch. */
export interface LineAnswer {
  line: number;
  status: number;
  body: string;
}

/** Lines that are written at once. */
const LINES_AT_ONCE = 200;
const SIZE_AT_ONCE = 4 * 1_048_576;

/** Answers of providers that run batches themselves, until their lines have a result. They go with the batch's end. */
@Injectable()
export class BatchAnswers {
  constructor(private readonly database: WorkersDatabase) {}

  /** A repeat changes nothing. */
  async keep(batchId: string, answers: AsyncIterable<LineAnswer>): Promise<void> {
    let [held, size]: [LineAnswer[], number] = [[], 0];
    for await (const answer of answers) {
      held.push(answer);
      size += answer.body.length;
      if (held.length < LINES_AT_ONCE && size < SIZE_AT_ONCE) continue;
      await this.write(batchId, held);
      [held, size] = [[], 0];
    }
    await this.write(batchId, held);
  }

  async of(batchId: string, line: number): Promise<LineAnswer | null> {
    const { rows } = await this.database.pool.query<LineAnswer>({
      name: 'batch-answer',
      text: 'SELECT line, status, body FROM batch_answers WHERE batch_id = $1 AND line = $2',
      values: [batchId, line],
    });
    return rows.at(0) ?? null;
  }

  private async write(batchId: string, answers: readonly LineAnswer[]): Promise<void> {
    if (answers.length === 0) return;
    await this.database.pool.query(
      `INSERT INTO batch_answers SELECT $1, * FROM unnest($2::int[], $3::int[], $4::text[]) ON CONFLICT DO NOTHING`,
      [
        batchId,
        answers.map(({ line }) => line),
        answers.map(({ status }) => status),
        answers.map(({ body }) => body),
      ],
    );
  }
}

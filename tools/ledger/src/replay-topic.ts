import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumedRecord } from '@gateway/contracts';
import type { LedgerOperator } from '@gateway/usage';

const BATCH = 200;
const TRIES = 100;
const BETWEEN_TRIES_MS = 200;

/**
 * Applies a file of records, one CloudEvent a line, in batches. The cursor moves after its batch is in: killed in
 * between, the batch comes again and changes nothing. Gives up after a hundred failures of one batch.
 */
export async function replay(
  file: string,
  cursorFile: string | null,
  operator: Pick<LedgerOperator, 'apply'>,
  print: (line: string) => void,
): Promise<void> {
  const done = cursorFile !== null && existsSync(cursorFile) ? Number(readFileSync(cursorFile, 'utf8')) : 0;
  let line = 0;
  let batch: ConsumedRecord[] = [];
  const apply = async (): Promise<void> => {
    await untilApplied(batch, operator);
    batch = [];
    if (cursorFile !== null) {
      writeFileSync(`${cursorFile}.new`, String(line));
      renameSync(`${cursorFile}.new`, cursorFile);
    }
    print(`applied ${line}`);
  };
  for await (const value of createInterface({ input: createReadStream(file) })) {
    line += 1;
    if (line <= done || value === '') continue;
    batch.push({ topic: topicOf(value), partition: 0, offset: String(line), key: '', value });
    if (batch.length === BATCH) await apply();
  }
  if (batch.length > 0) await apply();
  print('done');
}

async function untilApplied(batch: ConsumedRecord[], operator: Pick<LedgerOperator, 'apply'>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await operator.apply(batch);
    } catch (error) {
      if (tries === TRIES) throw error;
      await pause(BETWEEN_TRIES_MS);
    }
  }
}

/** Empty for a line that is no event: it becomes a dead letter. */
function topicOf(value: string): string {
  try {
    const { type } = JSON.parse(value) as { type?: unknown };
    return typeof type === 'string' ? type : '';
  } catch {
    return '';
  }
}

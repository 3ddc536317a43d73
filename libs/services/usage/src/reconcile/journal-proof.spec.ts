import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC } from '@gateway/contracts';
import { encodeFrame } from '@gateway/journal';
import { fixedClock, usageRecord } from '@gateway/testing';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { proveJournals, type JournalProof } from './journal-proof.js';

let folder: string;
/** Units or requests of each question to the ledger. */
let asked: string[][];
let onQuestion: () => void;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-proof-'));
  asked = [];
  onQuestion = () => undefined;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function prove(): Promise<JournalProof> {
  const query = async (_sql: string, [names]: [string[]]): Promise<{ rows: object[] }> => {
    asked.push([...names]);
    onQuestion();
    return { rows: [] };
  };
  const database = { pool: { query } } as unknown as UsageDatabase;
  const isThere = (): void => undefined;
  return proveJournals([folder], isThere, { database, clock: fixedClock('2026-11-26T12:00:00Z') });
}

function write(epoch: string, name: string, ...frames: readonly (object | Buffer)[]): string {
  const dir = join(folder, 'edge-p', epoch);
  mkdirSync(dir, { recursive: true });
  const bytes = frames.map((one) => (Buffer.isBuffer(one) ? one : encodeFrame(JSON.stringify(one))));
  writeFileSync(join(dir, name), Buffer.concat(bytes));
  return join(dir, name);
}

function intent(unit: string): object {
  return { intent: { unit, accountId: 'acct_1', facts: { created_at: '2026-11-26T10:00:00Z' } } };
}

function outcome(seq: number, request_id: string): object {
  const head = { seq, topic: TOPIC.usage, key: 'acct_1', at: 0, unit: `${request_id}/0`, isCrash: false };
  return { outcome: { ...head, settle: null }, value: usageRecord({ request_id, seq, cost_usd: '1' }) };
}

const DAMAGE = Buffer.from('no frame');

describe('the proof of journals, however long they are', () => {
  it('B16 asks for what one segment holds before it reads the next, which its process may have removed by then', async () => {
    write('e1', '1.log', intent('req_1/0'), outcome(1, 'req_1'), outcome(2, 'req_2'));
    const next = write('e1', '2.log', outcome(3, 'req_3'));
    onQuestion = () => rmSync(next, { force: true });
    expect((await prove()).findings).toEqual([]);
    expect(asked).toEqual([['req_1', 'req_2']]);
  });

  it('B16 asks for the units alone that have no outcome, whichever segment or epoch it stands in', async () => {
    write('e1', '1.log', intent('req_1/0'), intent('req_2/0'), intent('req_3/0'), intent('req_4/0'));
    write('e1', '2.log.quarantine', intent('req_5/0'), DAMAGE, outcome(1, 'req_1'));
    write('e1', '10.log', outcome(2, 'req_2'), outcome(2, 'req_2'));
    write('e0', '1.log', outcome(1, 'req_3'));
    await prove();
    expect(asked).toEqual([['req_3'], ['req_2'], ['req_3/0', 'req_4/0', 'req_5/0'], ['req_4/0']]);
  });

  it('B16 names each of 200,000 ranges that cannot be read', async () => {
    const one = Buffer.concat([encodeFrame(JSON.stringify(intent('req_1/0'))), DAMAGE]);
    write('e1', '1.log', Buffer.concat(Array<Buffer>(200_000).fill(one)));
    expect((await prove()).findings).toHaveLength(200_000);
  });
});

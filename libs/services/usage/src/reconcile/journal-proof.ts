import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TOPIC, type Clock, type ConsumedRecord, type UsageRecord } from '@gateway/contracts';
import { parseFrame, readSegment } from '@gateway/journal';
import { settledNano } from '@gateway/money';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { Finding } from './finding.js';

/** A finished unit that a journal holds and the ledger does not know. */
export interface MissingUnit {
  record: ConsumedRecord;
  usage: UsageRecord;
}

export interface JournalProof {
  findings: Finding[];
  /** Behind the watermark: they will not come by themselves. */
  missing: MissingUnit[];
  /** Per account what is finished and not posted: the limit store must hold as much as unposted. */
  tailNano: Map<string, bigint>;
}

interface Intent {
  unit: string;
  accountId: string;
  createdAtMs: number;
}

interface Epoch {
  outcomes: UsageRecord[];
  intents: Map<string, Intent>;
  /** Ranges that cannot be read, and segments that were set aside because of one. */
  skipped: Finding[];
  /** Admitted units whose outcome may have stood in one of these ranges. */
  suspects: Intent[];
}

/** The longest stream, its late usage and the taking over of a dead process lie well within it. */
const INTENT_MS = 3_600_000;
const SEGMENT = /^\d+\.log$/;
const QUARANTINED = /^\d+\.log\.quarantine$/;
const AT_ONCE = 1_000;

/**
 * Compares journal folders with the ledger: every admitted unit has one event. Reads whole segments of at most 64 MiB,
 * one after the other, and never writes; a living process may go on writing meanwhile.
 */
export async function proveJournals(
  folders: readonly string[],
  { database, clock }: { database: UsageDatabase; clock: Clock },
): Promise<JournalProof> {
  const proof: JournalProof = { findings: [], missing: [], tailNano: new Map() };
  const intents = new Map<string, Intent>();
  const closed = new Set<string>();
  for (const folder of folders.flatMap(epochFolders)) {
    const { outcomes, intents: open, skipped, suspects } = readEpoch(folder);
    proof.findings.push(...skipped);
    for (const { unit, accountId } of await closedAsLost(suspects, database))
      proof.findings.push({
        ...{ kind: 'journal_range_skipped', account: accountId, scope: unit },
        ...{ expected: '1', found: '0' },
      });
    for (const [unit, intent] of open) intents.set(unit, intent);
    for (const outcome of outcomes) closed.add(`${outcome.request_id}/${outcome.unit}`);
    for (let start = 0; start < outcomes.length; start += AT_ONCE)
      await proveOutcomes(outcomes.slice(start, start + AT_ONCE), database, proof);
  }
  const old = [...intents.values()].filter(
    ({ unit, createdAtMs }) => !closed.has(unit) && clock.now() - createdAtMs > INTENT_MS,
  );
  for (const { unit, accountId } of await withoutEvent(old, database))
    proof.findings.push({
      kind: 'intent_without_event',
      account: accountId,
      scope: unit,
      expected: '1',
      found: '0',
    });
  return proof;
}

/** `<dir>/<producer>/<epoch>`. */
function epochFolders(dir: string): string[] {
  return folders(dir).flatMap((producer) => folders(producer));
}

function folders(dir: string): string[] {
  return readdirSync(dir)
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isDirectory());
}

function readEpoch(folder: string): Epoch {
  const epoch: Epoch = { outcomes: [], intents: new Map(), skipped: [], suspects: [] };
  const seen = new Set<number>();
  const known = new Map<string, Intent>();
  const ended = new Set<string>();
  const read = (name: string, isSetAside: boolean): void => {
    const path = join(folder, name);
    const bad = readSegment(readFileSync(path), (json) => {
      const frame = parseFrame(json);
      if (frame.kind === 'intent') {
        const { unit, accountId, facts } = frame.intent;
        const intent = { unit, accountId, createdAtMs: Date.parse(facts.created_at) };
        known.set(unit, intent);
        if (!isSetAside) epoch.intents.set(unit, intent);
        return;
      }
      const { head, value } = frame;
      if (head.unit !== null) ended.add(head.unit);
      if (isSetAside || head.topic !== TOPIC.usage || seen.has(head.seq)) return;
      seen.add(head.seq);
      epoch.outcomes.push(JSON.parse(value) as UsageRecord);
    });
    epoch.skipped.push(...bad.map((range) => skippedFinding(path, range)));
  };
  const names = readdirSync(folder);
  const segments = names.filter((name) => SEGMENT.test(name));
  for (const name of segments.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)))
    read(name, false);
  for (const name of names.filter((one) => QUARANTINED.test(one))) read(name, true);
  if (epoch.skipped.length > 0) epoch.suspects = [...known.values()].filter(({ unit }) => !ended.has(unit));
  return epoch;
}

/** Expected and found: bytes that a segment should hold, and those of it that do. */
function skippedFinding(path: string, { offset, bytes }: { offset: number; bytes: number }): Finding {
  const scope = `${path} at ${offset}`;
  return { kind: 'journal_range_skipped', account: null, scope, expected: String(bytes), found: '0' };
}

async function proveOutcomes(
  outcomes: readonly UsageRecord[],
  database: UsageDatabase,
  proof: JournalProof,
): Promise<void> {
  const { rows } = await database.pool.query<{ n: string; is_applied: boolean }>(
    `SELECT u.n::text, coalesce(p.applied @> u.seq, false) AS is_applied
     FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::bigint[])
       WITH ORDINALITY AS u(request_id, unit, producer, epoch, seq, n)
     LEFT JOIN producer p ON p.producer = u.producer AND p.epoch = u.epoch
     WHERE NOT EXISTS (SELECT 1 FROM usage_event e WHERE e.request_id = u.request_id AND e.unit = u.unit)
       AND NOT EXISTS (SELECT 1 FROM dead_letter d WHERE d.request_id = u.request_id AND d.unit = u.unit)`,
    [
      outcomes.map(({ request_id }) => request_id),
      outcomes.map(({ unit }) => unit),
      outcomes.map(({ producer }) => producer),
      outcomes.map(({ epoch }) => epoch),
      outcomes.map(({ seq }) => seq),
    ],
  );
  for (const { n, is_applied } of rows) {
    const usage = outcomes[Number(n) - 1];
    const { account_id: account, cost_usd } = usage;
    if (!is_applied) {
      const nano = typeof cost_usd === 'string' ? settledNano(cost_usd) : 0n;
      proof.tailNano.set(account, (proof.tailNano.get(account) ?? 0n) + nano);
      continue;
    }
    const scope = `${usage.request_id}/${usage.unit}`;
    proof.findings.push({ kind: 'unit_without_event', account, scope, expected: '1', found: '0' });
    proof.missing.push({ usage, record: recordOf(usage) });
  }
}

function withoutEvent(intents: readonly Intent[], database: UsageDatabase): Promise<Intent[]> {
  return intentsWhere('NOT EXISTS (SELECT 1 FROM usage_event e WHERE', '', intents, database);
}

/**
 * Whoever took the epoch over closed them, and knew that their outcome might have been there: the ledger knows such a record
 * by its estimated usage. One that is still under way, or that died before it had an outcome, is none.
 */
function closedAsLost(intents: readonly Intent[], database: UsageDatabase): Promise<Intent[]> {
  const crashed = "AND e.error_code = 'gateway_crash' AND e.usage_estimated";
  return intentsWhere('EXISTS (SELECT 1 FROM usage_event e WHERE', crashed, intents, database);
}

async function intentsWhere(
  exists: string,
  more: string,
  intents: readonly Intent[],
  database: UsageDatabase,
): Promise<Intent[]> {
  const chosen: Intent[] = [];
  for (let start = 0; start < intents.length; start += AT_ONCE) {
    const some = intents.slice(start, start + AT_ONCE);
    const { rows } = await database.pool.query<{ n: string }>(
      `SELECT u.n::text FROM unnest($1::text[]) WITH ORDINALITY AS u(unit, n)
       WHERE ${exists} e.request_id || '/' || e.unit = u.unit
         AND e.request_id = left(u.unit, length(u.unit) - strpos(reverse(u.unit), '/')) ${more})`,
      [some.map(({ unit }) => unit)],
    );
    chosen.push(...rows.map(({ n }) => some[Number(n) - 1]));
  }
  return chosen;
}

/** The record as the shipper would have sent it. */
function recordOf(usage: UsageRecord): ConsumedRecord {
  const envelope = {
    specversion: '1.0',
    id: `${usage.epoch}-${usage.seq}`,
    source: `/${usage.producer}`,
    type: TOPIC.usage,
    time: usage.created_at,
    datacontenttype: 'application/json',
    data: usage,
  };
  return {
    topic: TOPIC.usage,
    partition: -1,
    offset: '0',
    key: usage.account_id,
    value: JSON.stringify(envelope),
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  TOPIC,
  wholeUsage,
  type Clock,
  type ConsumedRecord,
  type UsageRecord,
  type UsageRecordV2,
} from '@gateway/contracts';
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
  /** Units behind the watermark: they will not come by themselves. */
  missing: MissingUnit[];
  /** Sum by account of what is finished and not posted: the limit store must hold as much as unposted. */
  tailNano: Map<string, bigint>;
}

interface Intent {
  unit: string;
  accountId: string;
  createdAtMs: number;
}

/** The known part of an epoch. An INTENT stands before its OUTCOME, so only units under way are held. */
interface Epoch {
  /** Intents without an outcome yet. */
  open: Map<string, Intent & { isSetAside: boolean }>;
  /** The highest number of an outcome: they ascend, and a part of a segment may have been written twice. */
  seq: number;
  /** Some range could not be read. */
  isDamaged: boolean;
}

interface Segment {
  outcomes: UsageRecord[];
  /** Units that an outcome closes and no INTENT of this epoch names: those of a process that died. */
  foreign: string[];
  /** Ranges that cannot be read. */
  skipped: Finding[];
}

/** The longest stream, its late usage and the taking over of a dead process lie well within it. */
const INTENT_MS = 3_600_000;
const SEGMENT = /^\d+\.log(\.quarantine)?$/;
const AT_ONCE = 1_000;

/**
 * Compares journal folders with the ledger: every admitted unit has one event. Reads segments of at most 64 MiB one after
 * the other, proves each before the next, and never writes; a living process may go on writing and removing meanwhile. So
 * one segment is in memory, and of the others the units that have no outcome. `isThere` hears of each unit that a journal has
 * and the ledger does not.
 */
export async function proveJournals(
  folders: readonly string[],
  isThere: (unit: string) => void,
  { database, clock }: { database: UsageDatabase; clock: Clock },
): Promise<JournalProof> {
  const proof: JournalProof = { findings: [], missing: [], tailNano: new Map() };
  const intents = new Map<string, Intent>();
  const closed = new Set<string>();
  for (const folder of folders.flatMap(epochFolders)) {
    const epoch: Epoch = { open: new Map(), seq: 0, isDamaged: false };
    for (const path of segmentPaths(folder)) {
      const segment = readSegmentOf(path, epoch);
      if (segment === null) continue;
      for (const finding of segment.skipped) proof.findings.push(finding);
      for (const unit of segment.foreign) closed.add(unit);
      for (let start = 0; start < segment.outcomes.length; start += AT_ONCE)
        await proveOutcomes(segment.outcomes.slice(start, start + AT_ONCE), isThere, database, proof);
    }
    const suspects = epoch.isDamaged ? [...epoch.open.values()] : [];
    for (const { unit, accountId } of await closedAsLost(suspects, database))
      proof.findings.push({
        ...{ kind: 'journal_range_skipped', account: accountId, scope: unit },
        ...{ expected: '1', found: '0' },
      });
    for (const [unit, intent] of epoch.open) {
      isThere(unit);
      if (!intent.isSetAside) intents.set(unit, intent);
    }
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
  return folders(dir).flatMap((producer) => unlessGone(() => folders(producer)) ?? []);
}

function folders(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(dir, name));
}

/** Returns the segments in the order in which they were written, those that were set aside among the others. */
function segmentPaths(folder: string): string[] {
  const names = (unlessGone(() => readdirSync(folder)) ?? []).filter((name) => SEGMENT.test(name));
  const indexOf = (name: string): number => Number.parseInt(name, 10);
  return names.toSorted((a, b) => indexOf(a) - indexOf(b)).map((name) => join(folder, name));
}

/** null for what its process has removed meanwhile: the ledger has all of it. */
function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw failure;
  }
}

/** Reads a segment. One that was set aside has shipped as far as it could be read: only its admitted units matter. */
function readSegmentOf(path: string, epoch: Epoch): Segment | null {
  const bytes = unlessGone(() => readFileSync(path));
  if (bytes === null) return null;
  const isSetAside = !path.endsWith('.log');
  const segment: Segment = { outcomes: [], foreign: [], skipped: [] };
  const bad = readSegment(bytes, (json) => {
    const frame = parseFrame(json);
    if (frame.kind === 'intent') {
      const { unit, accountId, facts } = frame.intent;
      epoch.open.set(unit, { unit, accountId, createdAtMs: Date.parse(facts.created_at), isSetAside });
      return;
    }
    if (frame.kind === 'begin') return;
    const { head, value } = frame;
    const isKnown = head.unit === null || epoch.open.delete(head.unit);
    if (isSetAside || head.topic === TOPIC.rejections || head.seq <= epoch.seq) return;
    epoch.seq = head.seq;
    if (head.unit !== null && !isKnown) segment.foreign.push(head.unit);
    // A whole record stays what it is.
    segment.outcomes.push(wholeUsage(JSON.parse(value) as UsageRecordV2));
  });
  if (bad.length > 0) epoch.isDamaged = true;
  segment.skipped = bad.map((range) => skippedFinding(path, range));
  return segment;
}

/** Expected and found: bytes that a segment should hold, and those of it that do. */
function skippedFinding(path: string, { offset, bytes }: { offset: number; bytes: number }): Finding {
  const scope = `${path} at ${offset}`;
  return { kind: 'journal_range_skipped', account: null, scope, expected: String(bytes), found: '0' };
}

async function proveOutcomes(
  outcomes: readonly UsageRecord[],
  isThere: (unit: string) => void,
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
    const scope = `${usage.request_id}/${usage.unit}`;
    isThere(scope);
    if (!is_applied) {
      const nano = typeof cost_usd === 'string' ? settledNano(cost_usd) : 0n;
      proof.tailNano.set(account, (proof.tailNano.get(account) ?? 0n) + nano);
      continue;
    }
    proof.findings.push({ kind: 'unit_without_event', account, scope, expected: '1', found: '0' });
    proof.missing.push({ usage, record: recordOf(usage) });
  }
}

function withoutEvent(intents: readonly Intent[], database: UsageDatabase): Promise<Intent[]> {
  return intentsWhere('NOT EXISTS (SELECT 1 FROM usage_event e WHERE', '', intents, database);
}

/**
 * Returns the intents that the next owner of the epoch closed as lost: the ledger knows such a record by its estimated
 * usage. One that is still under way, or that died before it had an outcome, is none.
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
    for (const { n } of rows) chosen.push(some[Number(n) - 1]);
  }
  return chosen;
}

/** The record as the shipper would have sent it to gateway.usage.v1. */
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

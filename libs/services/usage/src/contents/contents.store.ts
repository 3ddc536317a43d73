import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import {
  Directory,
  retainedFromMs,
  retainedUntilMs,
  RequestContents,
  type Clock,
  type ErasedEndUser,
  type Random,
  type UnitContent,
  type UnitContentRecord,
} from '@gateway/contracts';
import { parseSpelled, writeJson } from '@gateway/json-body';
import { arrayLiteral } from '../postgres/array-literal.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { View } from '../reads/view.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { CONTENT_KEKS, openedColumns, sealedColumns, type Keks } from './content-keys.js';
import { readAnswer } from './read-answer.js';
import { redacted } from './redact.js';

const DAY_MS = 86_400_000;
const UNITS_MAX = 8;
const ROWS_AT_ONCE = 1_000;
/** Parts of one round: what is left waits for the next. */
const PARTS_MAX = 100;
/** Number of organizations that the directory takes at once. */
const ORGS_AT_ONCE = 500;
const ERASED_AT_ONCE = 5_000;

type Body = Record<string, unknown>;
/** The sealed part of a unit. */
type Sealed = Omit<UnitContentRecord, 'unit' | 'created_at' | 'expires_at'>;

/** Bodies that organizations log, sealed a row each. */
@Injectable()
export class ContentsStore extends RequestContents {
  constructor(
    private readonly database: UsageDatabase,
    /** null: this deployment keeps no contents. */
    @Inject(CONTENT_KEKS) private readonly keks: Keks | null,
    /** Knows for how long organizations keep what they log. */
    @Inject(Directory) private readonly directory: Pick<Directory, 'contentPromises'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  /** One at a time with a tick of the event loop between: masking takes milliseconds of a megabyte. */
  override async keep(contents: readonly UnitContent[]): Promise<void> {
    const { keks } = this;
    if (keks === null || contents.length === 0) return;
    const rows: Row[] = [];
    for (const content of contents) {
      rows.push(this.row(content, keks));
      await yieldToEventLoop();
    }
    await this.insert(rows);
  }

  override async erasedSince(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    const { rows } = await this.database.pool.query<{
      account_id: string;
      end_user_hash: string;
      erased_at: Date;
    }>(
      `SELECT account_id, end_user_hash, erased_at FROM erased_end_user WHERE erased_at >= $1
       ORDER BY erased_at LIMIT $2`,
      [since, ERASED_AT_ONCE],
    );
    const erased = rows.map(({ account_id, end_user_hash, erased_at }) => ({
      accountId: account_id,
      endUserHash: end_user_hash,
      erasedAtMs: erased_at.getTime(),
    }));
    return { erased, isAll: rows.length < ERASED_AT_ONCE };
  }

  /**
   * Ids and sealed contents of a request that one of the views shows; empty where there is none. Throws ApiError
   * `service_unavailable` where nobody could say whether its time is over.
   */
  async find(views: readonly View[], requestId: string): Promise<FoundContent[]> {
    const { clock, database, directory } = this;
    const { prisma } = database;
    const now = new Date(clock.now());
    const rows = await prisma.requestContent.findMany({
      where: {
        request_id: requestId,
        expires_at: { gt: now },
        OR: views.map(rowsOf),
      },
      orderBy: { unit: 'asc' },
      take: UNITS_MAX,
    });
    if (rows.length === 0) return [];
    const orgIds = [...new Set(rows.map(({ org_id }) => org_id))];
    const purges = await prisma.contentPurge.findMany({ where: { org_id: { in: orgIds } } });
    const untilOf = new Map(purges.map(({ org_id, until }) => [org_id, until]));
    const promises = await directory.contentPromises(orgIds);
    return rows
      .filter(({ org_id, created_at }) => created_at > (untilOf.get(org_id) ?? new Date(0)))
      .map((row) => ({ ...row, expires_at: new Date(retainedUntilMs(row, promises[row.org_id] ?? [])) }))
      .filter(({ expires_at }) => expires_at > now);
  }

  opened(rows: readonly FoundContent[]): UnitContentRecord[] {
    const { keks } = this;
    if (keks === null) return [];
    return rows.map((row) => ({
      unit: row.unit,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      ...(parseSpelled(openedColumns(row, keks, nameOf(row)).toString('utf8')) as Sealed),
    }));
  }

  /** Nothing that the organization has logged until now is read any more; the rows go in the background. */
  async purge(orgId: string): Promise<void> {
    const until = new Date(this.clock.now());
    await this.database.prisma.contentPurge.upsert({
      where: { org_id: orgId },
      create: { org_id: orgId, until },
      update: { until },
    });
  }

  /**
   * Removes expired contents, those that organizations have purged, and those whose retention was shortened since they
   * were written.
   */
  async removeOld(): Promise<void> {
    const now = new Date(this.clock.now());
    await this.removeParts('SELECT ctid FROM request_content WHERE expires_at <= $1', [now]);
    await this.removeParts(
      `SELECT c.ctid FROM content_purge p JOIN request_content c ON c.org_id = p.org_id AND c.created_at <= p.until
       WHERE p.until <= $1`,
      [now],
    );
    await this.removeShortened(now.getTime());
  }

  private async removeShortened(nowMs: number): Promise<void> {
    let orgIds = await this.orgsAfter('');
    while (orgIds.length > 0) {
      const promises = await this.directory.contentPromises(orgIds);
      const since = orgIds.map((id) => new Date(retainedFromMs(promises[id] ?? [], nowMs)));
      await this.removeParts(
        `SELECT c.ctid FROM unnest($1::text[], $2::timestamptz[]) AS kept (org_id, since)
         JOIN request_content c ON c.org_id = kept.org_id AND c.created_at < kept.since`,
        [orgIds, since],
      );
      orgIds = orgIds.length < ORGS_AT_ONCE ? [] : await this.orgsAfter(orgIds[ORGS_AT_ONCE - 1]);
    }
  }

  /** The next organizations that have contents, each by one look into the index. */
  private async orgsAfter(orgId: string): Promise<string[]> {
    const next = (after: string): string =>
      `SELECT min(org_id) AS org_id FROM request_content WHERE org_id > ${after}`;
    const { rows } = await this.database.pool.query<{ org_id: string }>(
      `WITH RECURSIVE org AS (
         ${next('$1')} UNION ALL SELECT (${next('org.org_id')}) FROM org WHERE org.org_id IS NOT NULL
       )
       SELECT org_id FROM org WHERE org_id IS NOT NULL LIMIT ${ORGS_AT_ONCE}`,
      [orgId],
    );
    return rows.map(({ org_id }) => org_id);
  }

  private async removeParts(which: string, values: unknown[]): Promise<void> {
    for (let part = 0; part < PARTS_MAX; part += 1) {
      const { rowCount } = await this.database.pool.query(
        `DELETE FROM request_content WHERE ctid = ANY (ARRAY(${which} LIMIT ${ROWS_AT_ONCE}))`,
        values,
      );
      if ((rowCount ?? 0) < ROWS_AT_ONCE) return;
    }
  }

  private row(content: UnitContent, keks: Keks): Row {
    const { redact: personal } = content;
    const [request, response] = [
      masked(content.request === null ? null : readAnswer(content.request), personal),
      masked(content.response === null ? null : readAnswer(content.response), personal),
    ];
    const sealed: Sealed = {
      endpoint: content.endpoint,
      request: request.body,
      request_bytes: content.request_bytes,
      response: response.body,
      response_bytes: content.response_bytes,
      redactions: request.redactions + response.redactions,
    };
    const plain = Buffer.from(writeJson(sealed));
    return { content, ...sealedColumns(plain, keks, nameOf(content), this.random) };
  }

  /** Inserts rows; a late content does not bring back what an erasure or a purge has removed. */
  private async insert(rows: readonly Row[]): Promise<void> {
    const of = (value: (row: Row) => string | number | null): string => arrayLiteral(rows.map(value));
    const hex = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;
    await this.database.pool.query(
      `INSERT INTO request_content (request_id, unit, account_id, org_id, member_id, end_user_hash, created_at,
         expires_at, sealed, wrapped_key, kek_id)
       SELECT c.* FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[],
         $7::timestamptz[], $8::timestamptz[], $9::bytea[], $10::bytea[], $11::text[]) AS c (request_id, unit,
         account_id, org_id, member_id, end_user_hash, created_at, expires_at, sealed, wrapped_key, kek_id)
       WHERE NOT EXISTS (SELECT 1 FROM erased_end_user e WHERE e.account_id = c.account_id
           AND e.end_user_hash = c.end_user_hash AND e.erased_at >= c.created_at)
         AND NOT EXISTS (SELECT 1 FROM content_purge p WHERE p.org_id = c.org_id AND p.until >= c.created_at)
       ON CONFLICT DO NOTHING`,
      [
        of(({ content }) => content.request_id),
        of(({ content }) => content.unit),
        of(({ content }) => content.account_id),
        of(({ content }) => content.org_id),
        of(({ content }) => content.member_id),
        of(({ content }) => content.end_user_hash),
        of(({ content }) => content.created_at),
        of(({ content }) => expiryOf(content)),
        of(({ sealed }) => hex(sealed)),
        of(({ wrapped_key }) => hex(wrapped_key)),
        of(({ kek_id }) => kek_id),
      ],
    );
  }
}

interface Row {
  content: UnitContent;
  sealed: Uint8Array;
  wrapped_key: Uint8Array;
  kek_id: string;
}

export interface FoundContent {
  request_id: string;
  unit: number;
  account_id: string;
  org_id: string;
  created_at: Date;
  expires_at: Date;
  sealed: Uint8Array<ArrayBuffer>;
  wrapped_key: Uint8Array<ArrayBuffer>;
  kek_id: string;
}

function rowsOf(view: View): { account_id: string; org_id?: string; member_id?: string } {
  const { accountId: account_id } = view;
  if (view.kind === 'key' || view.kind === 'person') return { account_id };
  const org = { account_id, org_id: view.orgId };
  return view.kind === 'member' ? { ...org, member_id: view.userId } : org;
}

/** Returns the context that binds an envelope to its row: moved to another one it does not open. */
function nameOf({
  request_id,
  unit,
  account_id,
  org_id,
}: Pick<UnitContent, 'request_id' | 'unit' | 'account_id' | 'org_id'>): string {
  return `request_content/${request_id}/${unit}/${account_id}/${org_id}`;
}

function expiryOf({ created_at, retention_days }: UnitContent): string {
  return new Date(Date.parse(created_at) + retention_days * DAY_MS).toISOString();
}

function masked(body: Body | null, personal: boolean): { body: Body | null; redactions: number } {
  if (body === null) return { body, redactions: 0 };
  const { body: kept, redactions } = redacted(body, { personal });
  return { body: kept as Body, redactions };
}

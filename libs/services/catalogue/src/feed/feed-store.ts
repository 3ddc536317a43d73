import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type CatalogueSync, type Clock, type Random } from '@gateway/contracts';
import { auditRow } from '@gateway/database';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { catalogueDiff } from '../admin/catalogue-diff.js';
import { Prisma, type Feed } from '../generated/prisma/client.js';
import { OwnEntries } from '../own/own-entries.js';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { feedRow, packed, unpacked, type FeedLayer } from '../seed/feed-layer.js';
import { isOfSimulator } from '../seed/release-data.js';
import { importSeed } from '../seed/seed-import.js';
import type { Seed, SeedModel, SeedProvider } from '../seed/seed-record.js';
import { publishAfter } from '../snapshots/publish.js';
import { StoredCatalogueReader } from '../snapshots/stored-catalogue-reader.js';
import { FeedRefused } from '../signed/envelope.js';
import {
  feedChanges,
  isTaken,
  refuseUnlikely,
  withChanges,
  type FeedChange,
  type FeedPolicy,
} from './feed-change.js';
import type { FeedDocument } from './feed-document.js';

/** Time that a write waits for one of another process. */
const LOCK_TIMEOUT_MS = 3_000;

export type Actor = Pick<FastifyRequest, 'principal' | 'clientIp' | 'id'>;

/** The newest document with the changes of it that wait. */
interface PendingFeed {
  changeId: string | null;
  row: Feed | null;
  document: FeedDocument | null;
  changes: FeedChange[];
}

interface Taking extends FeedPolicy {
  keyid: string;
  force: boolean;
  dryRun: boolean;
}

/** Documents in the tables: what of them is served, and what waits. Each write publishes in its own transaction. */
@Injectable()
export class FeedStore {
  constructor(
    private readonly database: CatalogueDatabase,
    private readonly reader: StoredCatalogueReader,
    private readonly own: OwnEntries,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  row(): Promise<Feed | null> {
    return feedRow(this.database.prisma);
  }

  /** Writes how the last reading ended: null for well. */
  async note(ended: { last_error: object | null; refused_digest: string | null }): Promise<void> {
    const data = { ...ended, last_error: ended.last_error ?? Prisma.DbNull };
    await this.database.prisma.feed.upsert({ where: { id: 1 }, create: { id: 1, ...data }, update: data });
  }

  /** True if no other process has begun a reading since then; the reading is this one's then. */
  async claim(sinceMs: number): Promise<boolean> {
    const attempted_at = new Date(this.clock.now());
    const before = new Date(sinceMs);
    await this.database.prisma.feed.createMany({ data: [{ id: 1 }], skipDuplicates: true });
    const { count } = await this.database.prisma.feed.updateMany({
      where: { id: 1, OR: [{ attempted_at: null }, { attempted_at: { lt: before } }] },
      data: { attempted_at },
    });
    return count === 1;
  }

  /** Takes a document as far as the policy goes. Throws FeedRefused; then everything is as it was. */
  async take(document: FeedDocument, taking: Taking, actor: Actor): Promise<CatalogueSync> {
    if (taking.dryRun) return (await this.judged(this.database.prisma, document, taking)).answer;
    return this.write(async (tx, now) => {
      const { answer, layer, isNew } = await this.judged(tx, document, taking);
      const read_at = now;
      if (!isNew) {
        await tx.feed.update({ where: { id: 1 }, data: { read_at } });
        return answer;
      }
      const { keyid } = taking;
      const taken = {
        ...{ version: BigInt(document.version), keyid, document_at: new Date(document.createdAt), read_at },
        ...{ digest: document.digest, document: await packed(document), dismissed: [] },
        ...(layer === null ? {} : { layer: await packed(layer), applied_at: now }),
      };
      await tx.feed.upsert({ where: { id: 1 }, create: { id: 1, ...taken }, update: taken });
      await this.serve(tx, layer, now);
      await this.audit(tx, actor, 'catalogue.feed', `${keyid}:${document.version}`);
      return answer;
    });
  }

  /** Returns the changes of the newest document that are not applied and not dismissed. */
  async pending(tx: Tx = this.database.prisma): Promise<PendingFeed> {
    const row = await feedRow(tx);
    if (row?.document == null || Number(row.version) < this.own.releaseVersion())
      return { changeId: null, row, document: null, changes: [] };
    const document = await unpacked<FeedDocument>(row.document);
    const { base } = await this.layers(row);
    const dismissed = new Set(row.dismissed);
    const changes = feedChanges(base, document.models).filter(({ model }) => !dismissed.has(model));
    const changeId = changes.length === 0 ? null : `chg_${document.digest.slice(0, 32)}`;
    return { changeId, row, document, changes };
  }

  /** Applies or dismisses pending changes, all where no models are named. Throws ApiError `conflict`. */
  settle(
    verb: 'apply' | 'dismiss',
    { change_id, models }: { change_id: string; models?: readonly string[] },
    actor: Actor,
  ): Promise<CatalogueSync> {
    return this.write(async (tx, now) => {
      const { changeId, row, document, changes } = await this.pending(tx);
      if (changeId !== change_id || row === null || document === null)
        throw new ApiError('conflict', {
          message: `${change_id} does not wait any more: read what is pending again.`,
        });
      const named = new Set(models ?? changes.map(({ model }) => model));
      const chosen = changes.filter(({ model }) => named.has(model));
      if (chosen.length < named.size)
        throw new ApiError('conflict', { message: `A model is not pending in ${change_id}.` });
      const rest = changes.filter(({ model }) => !named.has(model));
      const { base, seed } = await this.layers(row);
      if (verb === 'apply') {
        const layer = layerOf(seed, document, withChanges(base, chosen));
        await tx.feed.update({ where: { id: 1 }, data: { layer: await packed(layer), applied_at: now } });
        await this.serve(tx, layer, now);
      } else await tx.feed.update({ where: { id: 1 }, data: { dismissed: [...row.dismissed, ...named] } });
      await this.audit(tx, actor, `catalogue.feed.${verb}`, `${row.keyid}:${document.version}`);
      const applied = verb === 'apply' ? chosen : [];
      return answerOf({ document, base, applied, pending: rest }, { keyid: row.keyid ?? '', dryRun: false });
    });
  }

  private async judged(
    tx: Tx,
    document: FeedDocument,
    { keyid, force, dryRun, ...policy }: Taking,
  ): Promise<{ answer: CatalogueSync; layer: FeedLayer | null; isNew: boolean }> {
    const row = await feedRow(tx);
    const newest = Math.max(Number(row?.version ?? 0), this.own.releaseVersion());
    const { version, digest } = document;
    const isKnown = row?.digest === digest;
    if (version < newest && !isKnown)
      throw new FeedRefused('version', `The document has version ${version}, and ${newest} is known.`);
    if (!isKnown && row !== null && version === Number(row.version ?? 0))
      throw new FeedRefused('version', `Another document of version ${version} was taken before.`);
    const { base, seed } = await this.layers(row);
    if (isKnown) {
      const { changes: pending } = await this.pending(tx);
      const answer = answerOf({ document, base, applied: [], pending }, { keyid, dryRun });
      return { answer: { ...answer, status: 'unchanged' }, layer: null, isNew: false };
    }
    const changes = feedChanges(base, document.models);
    if (!force) refuseUnlikely(changes, base);
    const applied = changes.filter((change) => isTaken(change, policy));
    const pending = changes.filter((change) => !applied.includes(change));
    const isServed = applied.length > 0 || pending.length === 0;
    const layer = isServed ? layerOf(seed, document, withChanges(base, applied)) : null;
    return { answer: answerOf({ document, base, applied, pending }, { keyid, dryRun }), layer, isNew: true };
  }

  /** The data below all else, and of it the models that a feed may change. */
  private async layers(row: Feed | null): Promise<{ seed: Seed; base: readonly SeedModel[] }> {
    const layer = row?.layer == null ? null : await unpacked<FeedLayer>(row.layer);
    const seed = this.own.layers(layer).base;
    return { seed, base: seed.models.filter((model) => !isOfSimulator(model)) };
  }

  private async serve(tx: Tx, layer: FeedLayer | null, now: Date): Promise<void> {
    if (layer !== null) await importSeed(tx, this.own.layers(layer).seed, now);
  }

  private async write<T>(change: (tx: Tx, now: Date) => Promise<T>): Promise<T> {
    const { clock, random } = this;
    const deps = { ...this.own.release(), clock, random, lockTimeoutMs: LOCK_TIMEOUT_MS };
    const results: T[] = [];
    await publishAfter(this.database, deps, async (tx, now) => results.push(await change(tx, now)));
    await this.reader.refresh();
    return results[0];
  }

  private async audit(tx: Tx, actor: Actor, action: string, targetId: string): Promise<void> {
    const { clock, random } = this;
    const write = { action, targetType: 'catalogue_feed', targetId, orgId: null, changedFields: [] };
    await tx.auditLog.create({ data: auditRow(actor, write, { clock, random }) });
  }
}

/** The layer of these models, with the document's words on brands and providers. */
function layerOf(seed: Seed, document: FeedDocument, models: SeedModel[]): FeedLayer {
  const known = new Map(seed.providers.map((provider) => [provider.slug, provider]));
  const named = document.providers.map(({ slug, name, dialects, regions, zero_retention }): SeedProvider => ({
    ...{ slug, name, dialects: dialects ?? [], base_url: null, env: {} },
    logo: known.get(slug)?.logo ?? null,
    ...{ regions: regions ?? [], zero_retention: zero_retention ?? undefined },
  }));
  const slugs = new Set(named.map(({ slug }) => slug));
  const brands = new Set(document.brands.map(({ slug }) => slug));
  const digest = createHash('sha256').update(JSON.stringify(models)).update(document.digest).digest('hex');
  return {
    version: document.version,
    brands: [...document.brands, ...seed.brands.filter(({ slug }) => !brands.has(slug))],
    providers: [...named, ...seed.providers.filter(({ slug }) => !slugs.has(slug))],
    models,
    digest,
  };
}

function answerOf(
  {
    document,
    base,
    applied,
    pending,
  }: { document: FeedDocument; base: readonly SeedModel[]; applied: FeedChange[]; pending: FeedChange[] },
  { keyid, dryRun }: { keyid: string; dryRun: boolean },
): CatalogueSync {
  const known = new Map(base.map((model) => [model.id, model]));
  return {
    status: pending.length > 0 ? 'pending' : applied.length > 0 ? 'applied' : 'unchanged',
    dry_run: dryRun,
    version: document.version,
    keyid,
    applied: applied.map(({ model }) => model),
    pending: pending.map(({ model }) => model),
    ...catalogueDiff(known, document.models, true),
  };
}

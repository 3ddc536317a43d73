import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Clock,
  type ImportCatalogueBody,
  type ImportedProviderBody,
  type ProviderRecord,
  type PutModelBody,
  type PutProviderBody,
  type Random,
} from '@gateway/contracts';
import { auditRow, type AuditedWrite } from '@gateway/database';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { isoDay } from '../iso-day.js';
import { referenceFaults } from '../seed/read-seed.js';
import { unknownWords } from '../snapshots/unknown-words.js';
import { knownModels } from '../seed/known-models.js';
import { followEqual, writeModels } from '../seed/seed-import.js';
import type { SeedModel } from '../seed/seed-record.js';
import { publishAfter } from '../snapshots/publish.js';
import { StoredCatalogueReader } from '../snapshots/stored-catalogue-reader.js';
import { OwnEntries } from '../own/own-entries.js';
import { catalogueDiff, guard, type CatalogueDiff } from './catalogue-diff.js';
import { seedOfBody } from './seed-of-body.js';
import { WriteQueue } from './write-queue.js';

/** Time that a write waits for one of another process. */
const LOCK_TIMEOUT_MS = 3_000;
const MODEL_ID = /^[a-z0-9][a-z0-9-]{0,63}\/[a-z0-9][a-z0-9._-]{0,159}$/;
const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Writes of administrators. Each write publishes its snapshot in its own transaction, or leaves nothing. */
@Injectable()
export class CatalogueWrites {
  private readonly queue: WriteQueue;

  constructor(
    private readonly database: CatalogueDatabase,
    private readonly reader: StoredCatalogueReader,
    private readonly own: OwnEntries,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.queue = new WriteQueue(clock, random);
  }

  /** Adds or replaces a model with its routes; prices that it had stay. Throws ApiError `validation_error`. */
  async putModel(id: string, body: PutModelBody, request: FastifyRequest): Promise<void> {
    if (!MODEL_ID.test(id)) throw invalid([{ loc: ['id'], msg: 'an id has the form <brand>/<model-name>' }]);
    await this.write(
      request,
      { ...audited('model.put', 'model', id), changedFields: Object.keys(body) },
      async (tx, now) => {
        const model = seedOfBody({ ...body, id }, isoDay(now));
        const faults = [...(await faultsOf(tx, [model], [])), ...wordFaults(model)];
        if (faults.length > 0) throw invalid(faults);
        await replaceModels(tx, [model], now);
        await followEqual(tx, this.own.seed().models, [model]);
      },
    );
  }

  /** It leaves the catalogue; its prices and its past stay. Throws ApiError `not_found`. */
  async deleteModel(id: string, request: FastifyRequest): Promise<void> {
    await this.write(request, audited('model.delete', 'model', id), async (tx) => {
      const { count } = await tx.model.updateMany({
        where: { id, is_enabled: true },
        data: { is_enabled: false, is_edited: true },
      });
      if (count === 0) throw new ApiError('not_found');
    });
  }

  /** Returns the provider as it now is. Throws ApiError `validation_error`. */
  async putProvider(slug: string, body: PutProviderBody, request: FastifyRequest): Promise<PutProvider> {
    if (!SLUG.test(slug)) throw invalid([{ loc: ['slug'], msg: 'not a slug' }]);
    const changedFields = Object.keys(body);
    await this.write(request, { ...audited('provider.put', 'provider', slug), changedFields }, (tx) =>
      putProvider(tx, { ...body, slug }),
    );
    return { slug, ...providerRow(body) };
  }

  /** Its routes leave the catalogue. Throws ApiError `not_found`. */
  async deleteProvider(slug: string, request: FastifyRequest): Promise<void> {
    await this.write(request, audited('provider.delete', 'provider', slug), async (tx) => {
      const { count } = await tx.provider.updateMany({
        where: { slug, is_enabled: true },
        data: { is_enabled: false, is_edited: true },
      });
      if (count === 0) throw new ApiError('not_found');
    });
  }

  /**
   * Sets the models that the load names; others stay, or leave the catalogue where it replaces everything. Throws ApiError
   * `validation_error` for a faulty load and `conflict` for one that takes too much away, unless it is forced.
   */
  async import(body: ImportCatalogueBody, request: FastifyRequest): Promise<CatalogueImport> {
    const { dry_run: isDry, force, replace } = body;
    const providers = body.providers ?? [];
    const load = body.models.map((model) => seedOfBody(model, isoDay(new Date(this.clock.now()))));
    const check = async (tx: Tx): Promise<Checked> => {
      const known = await knownModels(tx);
      const diff = catalogueDiff(known, load, replace === true);
      return { diff, faults: await faultsOf(tx, load, providers), refusal: guard(diff, known) };
    };
    if (isDry === true) {
      const { diff, faults, refusal } = await check(this.database.prisma);
      return { dry_run: true, applied: false, refused: refusal, faults, ...diff };
    }
    let done: Checked | null = null;
    await this.write(request, audited('catalogue.import', 'catalogue', 'catalogue'), async (tx, now) => {
      done = await check(tx);
      const { diff, faults, refusal } = done;
      if (faults.length > 0 && force !== true) throw invalid(faults.map((fault) => inLoad(fault, load)));
      if (refusal !== null && force !== true)
        throw new ApiError('conflict', { message: `${refusal} Send force: true to do it all the same.` });
      for (const provider of providers) await putProvider(tx, provider);
      const faulty = new Set(faults.map(({ model }) => model));
      // What is there already as the load says it stays as it is, so that it goes on following the release.
      const moved = new Set([...diff.added, ...diff.changed.map(({ id }) => id), ...faulty]);
      const written = withoutTwins(load).filter(({ id }) => moved.has(id));
      await replaceModels(tx, written, now, faulty);
      const sound = written.filter(({ id }) => !faulty.has(id));
      await followEqual(tx, this.own.seed().models, sound);
      await tx.model.updateMany({
        where: { id: { in: diff.removed } },
        data: { is_enabled: false, is_edited: true },
      });
    });
    const { diff, faults } = done as unknown as Checked;
    return { dry_run: false, applied: true, refused: null, faults, ...diff };
  }

  private async write(
    request: FastifyRequest,
    audit: AuditedWrite,
    change: (tx: Tx, now: Date) => Promise<void>,
  ): Promise<void> {
    const { clock, random } = this;
    const deps = { ...this.own.release(), clock, random, lockTimeoutMs: LOCK_TIMEOUT_MS };
    await this.queue.run(async () => {
      await publishAfter(this.database, deps, async (tx, now) => {
        await change(tx, now);
        await tx.auditLog.create({ data: auditRow(request, audit, { clock, random }) });
      });
      await this.reader.refresh();
    });
  }
}

interface Fault {
  model: string;
  loc: (string | number)[];
  msg: string;
}

interface Checked {
  diff: CatalogueDiff;
  faults: Fault[];
  refusal: string | null;
}

/** A provider as it was written. */
export type PutProvider = Pick<
  ProviderRecord,
  'slug' | 'name' | 'dialects' | 'regions' | 'zero_retention' | 'is_enabled'
>;

/** The changes that a load makes, or would make. */
export interface CatalogueImport extends CatalogueDiff {
  dry_run: boolean;
  applied: boolean;
  /** Reason why the load would have to be forced; null where it need not be. */
  refused: string | null;
  faults: Fault[];
}

function audited(action: string, targetType: string, targetId: string): AuditedWrite {
  return { action, targetType, targetId, orgId: null, changedFields: [] };
}

function invalid(faults: readonly Pick<Fault, 'loc' | 'msg'>[]): ApiError {
  const [first] = faults;
  return new ApiError('validation_error', {
    message: `${first.loc.join('.')}: ${first.msg}`,
    details: faults.map(({ loc, msg }) => ({ type: 'value_error' as const, loc, msg })),
  });
}

/** Returns the place of the fault in the body of the load. */
function inLoad({ model, loc, msg }: Fault, load: readonly SeedModel[]): Pick<Fault, 'loc' | 'msg'> {
  return { loc: ['models', load.findIndex(({ id }) => id === model), ...loc], msg: `${model}: ${msg}` };
}

/** Words that this release does not know. A load may hold those of a later one, which are shown once they are known. */
function wordFaults(model: SeedModel): Fault[] {
  return [...unknownWords(model)].map(({ within, word, known }) => ({
    model: model.id,
    loc: within,
    msg: `${word} is none of ${known.join(', ')}`,
  }));
}

/** Returns the faults of these models, beside those that exist. */
async function faultsOf(
  tx: Tx,
  models: readonly SeedModel[],
  more: readonly ImportedProviderBody[],
): Promise<Fault[]> {
  const providers = [...(await tx.provider.findMany()), ...more].map(({ slug }) => ({ slug }));
  const brands = models.map(({ brand }) => ({ slug: brand }));
  const others = (await tx.model.findMany({ where: { is_enabled: true } })).map(({ id }) => id);
  return referenceFaults({ brands, providers, models, others });
}

/** Returns each model of a forced load once: one named twice is faulty, and not served anyway. */
function withoutTwins(load: readonly SeedModel[]): SeedModel[] {
  const firstOf = <T>(rows: readonly T[], nameOf: (row: T) => string): T[] => [
    ...new Map(rows.toReversed().map((row) => [nameOf(row), row])).values(),
  ];
  return firstOf(load, ({ id }) => id).map((model) => ({
    ...model,
    routes: firstOf(model.routes, ({ provider, upstream_model }) => `${provider} ${upstream_model}`),
  }));
}

async function replaceModels(
  tx: Tx,
  models: readonly SeedModel[],
  now: Date,
  faulty: ReadonlySet<string> = new Set(),
): Promise<void> {
  const ids = models.map(({ id }) => id);
  await tx.route.deleteMany({ where: { model_id: { in: ids } } });
  await tx.model.deleteMany({ where: { id: { in: ids } } });
  const brands = [...new Set(models.map(({ brand }) => brand))];
  await tx.brand.createMany({ data: brands.map((slug) => ({ slug, name: slug })), skipDuplicates: true });
  await writeModels(tx, models, now, { is_edited: true });
  await tx.model.updateMany({ where: { id: { in: [...faulty] } }, data: { is_enabled: false } });
}

/** Returns the row, with a default for what is absent or null. */
function providerRow(body: PutProviderBody): Omit<PutProvider, 'slug'> {
  return {
    name: body.name,
    dialects: body.dialects ?? [],
    regions: body.regions ?? [],
    zero_retention: body.zero_retention ?? null,
    is_enabled: body.is_enabled ?? true,
  };
}

async function putProvider(tx: Tx, { slug, ...body }: ImportedProviderBody): Promise<void> {
  const row = { ...providerRow(body), is_edited: true };
  await tx.provider.upsert({ where: { slug }, create: { slug, ...row }, update: row });
}

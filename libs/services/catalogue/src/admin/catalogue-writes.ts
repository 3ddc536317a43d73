import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Clock,
  type FollowQuery,
  type ImportCatalogueBody,
  type ImportedProviderBody,
  type PatchModelBody,
  type ProviderRecord,
  type PutModelBody,
  type PutProviderBody,
  type Random,
} from '@gateway/contracts';
import { auditRow, type AuditedWrite } from '@gateway/database';
import { CLOCK, principalId, RANDOM } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { isoDay } from '../iso-day.js';
import { referenceFaults } from '../seed/read-seed.js';
import { unknownWords } from '../snapshots/unknown-words.js';
import { knownModels } from '../seed/known-models.js';
import { editKey, editsBetween, MODEL_REMOVED, withEdits, type ModelEdit } from '../seed/model-edits.js';
import { rewriteModels } from '../seed/seed-import.js';
import type { SeedModel } from '../seed/seed-record.js';
import { feedLayer } from '../seed/feed-layer.js';
import { putEdits, storedEdits } from '../seed/stored-edits.js';
import { publishAfter } from '../snapshots/publish.js';
import { StoredCatalogueReader } from '../snapshots/stored-catalogue-reader.js';
import type { Layers } from '../own/layers.js';
import { OwnEntries } from '../own/own-entries.js';
import { catalogueDiff, guard, type CatalogueDiff } from './catalogue-diff.js';
import { isNamed, patchedKeys, patchedModel } from './patched-model.js';
import { seedOfBody } from '../seed/seed-of-body.js';
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

  /** Adds a model or replaces it whole; prices that it had stay. Throws ApiError `validation_error`. */
  async putModel(id: string, body: PutModelBody, request: FastifyRequest): Promise<void> {
    if (!MODEL_ID.test(id)) throw invalid([{ loc: ['id'], msg: 'an id has the form <brand>/<model-name>' }]);
    const changedFields = Object.keys(body);
    await this.change(
      request,
      { ...audited('model.put', 'model', id), changedFields },
      async (tx, editor) => {
        const model = seedOfBody({ ...body, id }, isoDay(editor.now));
        await refuseFaulty(tx, model);
        return editor.edit(new Map([[id, editsBetween(editor.below.get(id) ?? null, model)]]));
      },
    );
  }

  /**
   * Sets the fields that the body names, and on the routes that it names those that stand there. Throws ApiError
   * `not_found` and `validation_error`.
   */
  async patchModel(id: string, body: PatchModelBody, request: FastifyRequest): Promise<void> {
    const changedFields = Object.keys(body);
    await this.change(
      request,
      { ...audited('model.patch', 'model', id), changedFields },
      async (tx, editor) => {
        const before = (await knownModels(tx, { id })).get(id);
        if (before === undefined) throw new ApiError('not_found');
        const model = patchedModel(before, body, isoDay(editor.now));
        await refuseFaulty(tx, model);
        const named = patchedKeys(body);
        const kept = (await storedEdits(tx, [id])).get(id)?.filter((edit) => !named.has(editKey(edit))) ?? [];
        const made = editsBetween(editor.below.get(id) ?? null, model).filter((edit) =>
          named.has(editKey(edit)),
        );
        return editor.edit(new Map([[id, [...kept, ...made]]]));
      },
    );
  }

  /** It leaves the catalogue; its prices and its past stay. Throws ApiError `not_found`. */
  async deleteModel(id: string, request: FastifyRequest): Promise<void> {
    await this.change(request, audited('model.delete', 'model', id), async (tx, editor) => {
      if ((await tx.model.count({ where: { id, is_enabled: true } })) === 0) throw new ApiError('not_found');
      return editor.edit(await withRemoval(tx, [id]));
    });
  }

  /**
   * Removes the edits that the query names, all of the model where it names none: what lies below holds again. Throws
   * ApiError `not_found` where there is none, and `conflict` where gateway.yaml says it or nothing lies below.
   */
  async follow(id: string, query: FollowQuery, request: FastifyRequest): Promise<void> {
    const changedFields = query.field === undefined ? [] : [query.field];
    await this.change(
      request,
      { ...audited('model.follow', 'model', id), changedFields },
      async (tx, editor) => {
        const edits = (await storedEdits(tx, [id])).get(id) ?? [];
        const kept = edits.filter((edit) => !isNamed(edit, query));
        if (kept.length === edits.length)
          throw editor.layers.fileEdits(id).some((edit) => isNamed(edit, query))
            ? new ApiError('conflict', { message: `gateway.yaml says it: change ${id} there.` })
            : new ApiError('not_found');
        const followed = withEdits(id, editor.below.get(id) ?? null, kept);
        if (followed === null)
          throw new ApiError('conflict', { message: `Nothing lies below ${id}: delete the model instead.` });
        if (!followed.isHidden) await refuseFaulty(tx, followed.model);
        return editor.edit(new Map([[id, kept]]));
      },
    );
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
      return { diff, faults: await faultsOf(tx, load, providers), rejection: guard(diff, known) };
    };
    if (isDry === true) {
      const { diff, faults, rejection } = await check(this.database.prisma);
      return { dry_run: true, applied: false, refused: rejection, faults, ...diff };
    }
    let done: Checked | null = null;
    await this.change(request, audited('catalogue.import', 'catalogue', 'catalogue'), async (tx, editor) => {
      done = await check(tx);
      const { diff, faults, rejection } = done;
      if (faults.length > 0 && force !== true) throw invalid(faults.map((fault) => inLoad(fault, load)));
      if (rejection !== null && force !== true)
        throw new ApiError('conflict', { message: `${rejection} Send force: true to do it all the same.` });
      for (const provider of providers) await putProvider(tx, provider);
      const faulty = new Set(faults.map(({ model }) => model));
      // What is there already as the load says it stays as it is, so that it goes on following what lies below.
      const moved = new Set([...diff.added, ...diff.changed.map(({ id }) => id), ...faulty]);
      const edits = new Map<string, readonly ModelEdit[]>(await withRemoval(tx, diff.removed));
      for (const model of withoutTwins(load)) {
        if (!moved.has(model.id)) continue;
        const made = editsBetween(editor.below.get(model.id) ?? null, model);
        edits.set(model.id, faulty.has(model.id) ? [...made, MODEL_REMOVED] : made);
      }
      return editor.edit(edits);
    });
    const { diff, faults } = done as unknown as Checked;
    return { dry_run: false, applied: true, refused: null, faults, ...diff };
  }

  /** A write of models, which sees the layers below and says which edits lie on them afterwards. */
  private change(
    request: FastifyRequest,
    audit: AuditedWrite,
    work: (tx: Tx, editor: ModelEditor) => Promise<void>,
  ): Promise<void> {
    const by = request.principal === null ? null : principalId(request.principal);
    return this.write(request, audit, async (tx, now) => {
      const layers = this.own.layers(await feedLayer(tx));
      const { models } = layers.seed;
      const edit = async (edits: ReadonlyMap<string, readonly ModelEdit[]>): Promise<void> => {
        await putEdits(tx, edits, { now, by });
        await rewriteModels(tx, [...edits.keys()], models, now);
      };
      await work(tx, { now, layers, below: new Map(models.map((model) => [model.id, model])), edit });
    });
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

/** The layers that edits lie on, and the way to set the edits of models. */
interface ModelEditor {
  now: Date;
  layers: Layers;
  below: ReadonlyMap<string, SeedModel>;
  edit(edits: ReadonlyMap<string, readonly ModelEdit[]>): Promise<void>;
}

interface Fault {
  model: string;
  loc: (string | number)[];
  msg: string;
}

interface Checked {
  diff: CatalogueDiff;
  faults: Fault[];
  rejection: string | null;
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

/** Returns the edits of these models with one more that takes each out of the catalogue. */
async function withRemoval(tx: Tx, ids: readonly string[]): Promise<Map<string, readonly ModelEdit[]>> {
  const edits = await storedEdits(tx, ids);
  return new Map(ids.map((id) => [id, [...(edits.get(id) ?? []), MODEL_REMOVED]]));
}

/** Throws ApiError `validation_error` for a model that has a fault or a word that this release does not know. */
async function refuseFaulty(tx: Tx, model: SeedModel): Promise<void> {
  const faults = [...(await faultsOf(tx, [model], [])), ...wordFaults(model)];
  if (faults.length > 0) throw invalid(faults);
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

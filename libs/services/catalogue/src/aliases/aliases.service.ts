import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueReader,
  newId,
  type AliasRecord,
  type AliasTarget,
  type Clock,
  type CreateAnswer,
  type CreatePlatformAliasBody,
  type ErrorDetail,
  type ListAliasesQuery,
  type Random,
  type UpdatePlatformAliasBody,
} from '@gateway/contracts';
import { CLOCK, pageOf, RANDOM, refuseFaults, sentFields, type Page } from '@gateway/platform';
import { newestIndex, type CatalogueIndex } from '@gateway/routing';
import type { FastifyRequest } from 'fastify';
import { Prisma, type Alias as AliasRow } from '../generated/prisma/client.js';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { AliasChanges, type Changed } from './alias-changes.js';
import { FILE, orgOf, PLATFORM } from './stored-aliases.js';

/** Aliases of one owner; one more is 409 `conflict`. */
const PER_ORG_MAX = 500;
const OF_PLATFORM_MAX = 1_000;
/** Name that requests use for the model that the gateway chooses. */
const AUTO = 'auto';

/** Aliases of organizations and of the platform. A change acts on the next requests of every edge. */
@Injectable()
export class Aliases {
  private readonly index: () => CatalogueIndex;

  constructor(
    private readonly database: CatalogueDatabase,
    private readonly changes: AliasChanges,
    catalogue: CatalogueReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.index = newestIndex(catalogue);
  }

  /** Newest first. */
  async list(owners: readonly string[], query: ListAliasesQuery): Promise<Page<AliasRecord>> {
    const where = { owner: { in: [...owners] } };
    const { prisma } = this.database;
    const [rows, total] = await Promise.all([
      prisma.alias.findMany({
        where,
        orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
        take: query.limit,
        skip: query.offset,
      }),
      prisma.alias.count({ where }),
    ]);
    return pageOf(rows.map(toWire), total, query);
  }

  /** Throws ApiError `not_found` alike for unknown aliases and those of others. */
  async read(owners: Named['owners'], id: string): Promise<AliasRecord> {
    return toWire(await found(this.database.prisma, owners, id));
  }

  /**
   * Throws ApiError `validation_error` for targets that are none; `unprocessable_entity` for an id of the catalogue as a
   * name and for an unknown model; `conflict` for a name that is taken and for one alias too many.
   */
  create(
    request: FastifyRequest,
    { owner, by }: { owner: string; by: string },
    body: CreatePlatformAliasBody,
  ): Promise<CreateAnswer<AliasRecord>> {
    const { name, targets, shadow, description = null, is_enabled = true } = body;
    const check = (): void => this.check(body);
    const make = async (tx: Tx): Promise<Changed<{ status: number; body: AliasRecord }>> => {
      const max = owner === PLATFORM ? OF_PLATFORM_MAX : PER_ORG_MAX;
      if ((await tx.alias.count({ where: { owner } })) >= max)
        throw new ApiError('conflict', { message: `There are at most ${max} aliases.` });
      await refuseTaken(tx, owner, name);
      const id = newId('alias', this.clock, this.random);
      const now = new Date(this.clock.now());
      const row = await tx.alias.create({
        data: {
          ...{ id, owner, name, description, created_by: by, created_at: now, updated_at: now },
          ...{ targets: stored(targets), shadow: storedShadow(shadow), is_enabled: is_enabled ?? true },
        },
      });
      const { answer, audit } = changed('create', row, sentFields(body));
      return { answer: { status: 201, body: answer }, audit };
    };
    return this.changes.create(request, make, check);
  }

  /**
   * Throws as `create`; `not_found` for an alias of another owner, `conflict` for one of gateway.yaml. `mayChange` throws
   * where the caller may not.
   */
  update(
    request: FastifyRequest,
    { owners, id, mayChange }: Named,
    body: UpdatePlatformAliasBody,
  ): Promise<AliasRecord> {
    return this.changes.run(request, async (tx) => {
      const row = await found(tx, owners, id);
      mayChange(row.owner);
      refuseOfFile(row);
      const fields = sentFields(body);
      if (fields.length === 0) return { answer: toWire(row), audit: null };
      this.check(body, row);
      const { name, targets, shadow, description, is_enabled } = body;
      if (name !== undefined && name !== row.name) await refuseTaken(tx, row.owner, name);
      const data = {
        ...{ name, description, is_enabled, updated_at: new Date(this.clock.now()) },
        ...(targets === undefined ? {} : { targets: stored(targets) }),
        ...(shadow === undefined ? {} : { shadow: storedShadow(shadow) }),
      };
      return changed('update', await tx.alias.update({ where: { id }, data }), fields);
    });
  }

  remove(request: FastifyRequest, { owners, id, mayChange }: Named): Promise<unknown> {
    return this.changes.run(request, async (tx) => {
      const row = await found(tx, owners, id);
      mayChange(row.owner);
      refuseOfFile(row);
      await tx.alias.delete({ where: { id } });
      return changed('delete', row, []);
    });
  }

  /** Refuses names and targets that requests could not use. A target that is stored already stays, whatever became of it. */
  private check({ name, targets = [], shadow }: UpdatePlatformAliasBody, row?: AliasRow): void {
    const index = this.index();
    const twice = targets.findIndex(({ model }, at) => targets.findIndex((one) => one.model === model) < at);
    const shape: ErrorDetail[] = [];
    if (name === AUTO) shape.push({ type: 'value_error', loc: ['name'], msg: 'auto is no name of an alias' });
    if (twice !== -1)
      shape.push({ type: 'unique_items', loc: ['targets', twice, 'model'], msg: 'a model stands here once' });
    if (targets.length > 0 && targets.every(({ weight }) => weight === 0))
      shape.push({ type: 'value_error', loc: ['targets'], msg: 'one weight has to be above 0' });
    refuseFaults('validation_error', shape);
    const known = new Set(row === undefined ? [] : modelsOf(row));
    const unknown = (model: string, loc: ErrorDetail['loc']): ErrorDetail[] => {
      const record = index.find(model)?.record;
      if (known.has(model) || (record?.id === model && !record.is_composite)) return [];
      const msg =
        record?.is_composite === true ? 'A composite is no target.' : 'The catalogue has no such model.';
      return [{ type: 'unknown_reference', loc, msg }];
    };
    const faults = targets.flatMap(({ model }, at) => unknown(model, ['targets', at, 'model']));
    if (shadow != null) faults.push(...unknown(shadow.model, ['shadow', 'model']));
    if (name !== undefined && name !== row?.name && index.find(name)?.record.id === name)
      faults.unshift({ type: 'conflict', loc: ['name'], msg: 'A model of the catalogue has this id.' });
    refuseFaults('unprocessable_entity', faults);
  }
}

interface Named {
  /** null = any. */
  owners: readonly string[] | null;
  id: string;
  mayChange: (owner: string) => void;
}

async function found(tx: Tx, owners: Named['owners'], id: string): Promise<AliasRow> {
  const owner = owners === null ? undefined : { in: [...owners] };
  const row = await tx.alias.findFirst({ where: { id, owner } });
  if (row === null) throw new ApiError('not_found');
  return row;
}

function refuseOfFile({ owner, name }: AliasRow): void {
  if (owner === FILE)
    throw new ApiError('conflict', { message: `gateway.yaml says it: change ${name} there.` });
}

async function refuseTaken(tx: Tx, owner: string, name: string): Promise<void> {
  const taken = await tx.alias.findFirst({ where: { owner, name }, select: { id: true } });
  if (taken !== null)
    throw new ApiError('conflict', {
      message: `An alias has this name already: ${taken.id}.`,
      param: 'name',
    });
}

/** Returns plain objects: a body is made of classes. */
function stored(targets: readonly AliasTarget[]): { model: string; weight: number }[] {
  return targets.map(({ model, weight }) => ({ model, weight }));
}

/** Returns the same of a shadow. */
export function storedShadow(
  shadow: AliasRecord['shadow'] | undefined,
): NonNullable<AliasRecord['shadow']> | typeof Prisma.DbNull {
  return shadow == null ? Prisma.DbNull : { model: shadow.model, sample_pct: shadow.sample_pct };
}

/** The columns were checked when they were written. */
function targetsOf({ targets }: AliasRow): AliasTarget[] {
  return targets as unknown as AliasTarget[];
}

function shadowOf({ shadow }: AliasRow): AliasRecord['shadow'] {
  return shadow as AliasRecord['shadow'];
}

function modelsOf(row: AliasRow): string[] {
  const shadow = shadowOf(row);
  return [...targetsOf(row), ...(shadow === null ? [] : [shadow])].map(({ model }) => model);
}

function changed(verb: string, row: AliasRow, changedFields: string[]): Changed<AliasRecord> {
  const answer = toWire(row);
  const target = { targetType: 'alias', targetId: row.id, orgId: answer.org_id };
  return { answer, audit: { action: `alias.${verb}`, ...target, changedFields } };
}

function toWire(row: AliasRow): AliasRecord {
  return {
    id: row.id,
    org_id: orgOf(row.owner),
    name: row.name,
    targets: stored(targetsOf(row)),
    shadow: shadowOf(row),
    description: row.description,
    is_enabled: row.is_enabled,
    created_by: row.owner === FILE ? null : row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

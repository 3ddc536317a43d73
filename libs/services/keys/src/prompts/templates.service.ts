import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type Clock,
  type CreateTemplateBody,
  type CreateTemplateVersionBody,
  type ListTemplatesQuery,
  type ListTemplateVersionsQuery,
  type Principal,
  type Random,
  type SessionPrincipal,
  type TemplateRecord,
  type TemplateVersionRecord,
  type UpdateTemplateBody,
  type CreateAnswer,
} from '@gateway/contracts';
import { writeJson } from '@gateway/json-body';
import { CLOCK, pageOf, RANDOM, type Page, refuseFaults, sentFields } from '@gateway/platform';
import { promptFaults, promptOf } from '@gateway/prompts';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { ledAccount } from '../accounts/led-account.js';
import { asWrittenJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import {
  accountsOf,
  existingVersion,
  findTemplate,
  listTemplates,
  TEMPLATE_READ_RULE,
  TEMPLATE_WRITE_RULE,
  templateToWire,
  versionToWire,
  type TemplateRow,
} from './template.store.js';

const TEMPLATES_MAX = 5_000;
const VERSIONS_MAX = 1_000;

/** Prompt templates and their versions, which never change once they are made. */
@Injectable()
export class TemplatesService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(caller: Principal, query: ListTemplatesQuery): Promise<Page<TemplateRecord>> {
    const accounts = accountsOf(caller, TEMPLATE_READ_RULE);
    const { rows, total } = await listTemplates(this.database.prisma, accounts, query);
    return pageOf(rows.map(templateToWire), total, query);
  }

  /** Throws ApiError `not_found` alike for unknown templates and those of others. */
  async read(caller: Principal, id: string): Promise<TemplateRecord> {
    return templateToWire(await this.readable(caller, id));
  }

  async versions(
    caller: Principal,
    id: string,
    query: ListTemplateVersionsQuery,
  ): Promise<Page<TemplateVersionRecord>> {
    const template = await this.readable(caller, id);
    const where = { template_id: id };
    const { promptTemplateVersion } = this.database.prisma;
    const [rows, total] = await Promise.all([
      promptTemplateVersion.findMany({
        where,
        orderBy: { version: 'desc' },
        take: query.limit,
        skip: query.offset,
      }),
      promptTemplateVersion.count({ where }),
    ]);
    return pageOf(
      rows.map((row) => versionToWire(row, template)),
      total,
      query,
    );
  }

  async version(caller: Principal, id: string, versionId: string): Promise<TemplateVersionRecord> {
    const template = await this.readable(caller, id);
    return versionToWire(await existingVersion(this.database.prisma, id, versionId), template);
  }

  /** Throws ApiError `forbidden`, `conflict` for a name that is taken. */
  create(
    caller: SessionPrincipal,
    body: CreateTemplateBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<TemplateRecord>> {
    const { accountId, orgId } = ledAccount(caller, body.org_id ?? null, TEMPLATE_WRITE_RULE);
    return this.changes.create(request, {
      accounts: [accountId],
      make: async (tx) => {
        if ((await tx.promptTemplate.count({ where: { account_id: accountId } })) >= TEMPLATES_MAX)
          throw new ApiError('conflict', { message: `An account has at most ${TEMPLATES_MAX} templates.` });
        await refuseTaken(tx, accountId, body.name);
        const now = new Date(this.clock.now());
        const row = await tx.promptTemplate.create({
          data: {
            id: newId('tmpl', this.clock, this.random),
            account_id: accountId,
            org_id: orgId,
            name: body.name,
            description: body.description ?? null,
            created_by: caller.userId,
            created_at: now,
            updated_at: now,
          },
        });
        const changed = templateChange('template.create', row, sentFields(body));
        return { ...changed, answer: { status: 201, body: { ...changed.answer } } };
      },
    });
  }

  async update(
    caller: SessionPrincipal,
    id: string,
    body: UpdateTemplateBody,
    request: FastifyRequest,
  ): Promise<TemplateRecord> {
    return this.change(caller, id, request, async (tx, row) => {
      const fields = sentFields(body);
      if (fields.length === 0) return { answer: templateToWire(row), audit: null };
      const { name, description, archived } = body;
      if (name !== undefined && name !== row.name) await refuseTaken(tx, row.account_id, name);
      return templateChange(
        'template.update',
        await this.write(tx, row, { name, description, archived }),
        fields,
      );
    });
  }

  /** The template with all its versions. */
  async remove(caller: SessionPrincipal, id: string, request: FastifyRequest): Promise<void> {
    await this.change(caller, id, request, async (tx, row) => {
      await tx.promptTemplate.delete({ where: { id, account_id: row.account_id } });
      return templateChange('template.delete', row, []);
    });
  }

  /** Adds a version and publishes nothing. Throws ApiError `validation_error`, `not_found`, `conflict` past 1,000. */
  async addVersion(
    caller: SessionPrincipal,
    id: string,
    body: CreateTemplateVersionBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<TemplateVersionRecord>> {
    const { account_id } = await this.writable(caller, id);
    refuseFaults('validation_error', promptFaults(body));
    const content = promptOf(body);
    return this.changes.create(request, {
      accounts: [account_id],
      make: async (tx) => {
        const template = await behindLock(tx, id, account_id);
        const version = template.latest_version + 1;
        if (version > VERSIONS_MAX)
          throw new ApiError('conflict', { message: `A template has at most ${VERSIONS_MAX} versions.` });
        const row = await tx.promptTemplateVersion.create({
          data: {
            id: newId('tv', this.clock, this.random),
            template_id: id,
            version,
            content: asWrittenJson(content),
            notes: body.notes ?? null,
            checksum: createHash('sha256').update(writeJson(content)).digest('hex'),
            created_by: caller.userId,
            created_at: new Date(this.clock.now()),
          },
        });
        await this.write(tx, template, { latest_version: version });
        const { audit } = templateChange('template.add_version', template, sentFields(body));
        return { audit, answer: { status: 201, body: { ...versionToWire(row, template) } } };
      },
    });
  }

  publish(
    caller: SessionPrincipal,
    id: string,
    versionId: string,
    request: FastifyRequest,
  ): Promise<TemplateRecord> {
    return this.change(caller, id, request, async (tx, row) => {
      await existingVersion(tx, id, versionId);
      if (row.published_version_id === versionId) return { answer: templateToWire(row), audit: null };
      return this.published('template.publish', tx, row, versionId);
    });
  }

  /** Publishes an earlier version again. Throws ApiError `conflict` for the one that is published. */
  rollback(
    caller: SessionPrincipal,
    id: string,
    versionId: string,
    request: FastifyRequest,
  ): Promise<TemplateRecord> {
    return this.change(caller, id, request, async (tx, row) => {
      await existingVersion(tx, id, versionId);
      if (row.published_version_id === versionId)
        throw new ApiError('conflict', { message: 'This version is already published.' });
      return this.published('template.rollback', tx, row, versionId);
    });
  }

  private async published(
    action: string,
    tx: Tx,
    row: TemplateRow,
    versionId: string,
  ): Promise<Changed<TemplateRecord>> {
    const published_at = new Date(this.clock.now());
    await tx.promptTemplateVersion.updateMany({
      where: { id: versionId, published_at: null },
      data: { published_at },
    });
    const updated = await this.write(tx, row, { published_version_id: versionId });
    return templateChange(action, updated, ['published_version_id']);
  }

  private async readable(caller: Principal, id: string): Promise<TemplateRow> {
    const row = await findTemplate(this.database.prisma, accountsOf(caller, TEMPLATE_READ_RULE), id);
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  /** Throws ApiError `forbidden` to a member who may read it, `not_found` to everybody else. */
  private async writable(caller: SessionPrincipal, id: string): Promise<TemplateRow> {
    const row = await this.readable(caller, id);
    if (!accountsOf(caller, TEMPLATE_WRITE_RULE).includes(row.account_id)) throw new ApiError('forbidden');
    return row;
  }

  private async change(
    caller: SessionPrincipal,
    id: string,
    request: FastifyRequest,
    work: (tx: Tx, row: TemplateRow) => Promise<Changed<TemplateRecord>>,
  ): Promise<TemplateRecord> {
    const { account_id } = await this.writable(caller, id); // It never changes.
    return this.changes.run(request, {
      accounts: [account_id],
      make: async (tx) => work(tx, await behindLock(tx, id, account_id)),
    });
  }

  private write(tx: Tx, { id, account_id }: TemplateRow, data: Partial<TemplateRow>): Promise<TemplateRow> {
    const updated_at = new Date(this.clock.now());
    return tx.promptTemplate.update({ where: { id, account_id }, data: { ...data, updated_at } });
  }
}

async function behindLock(tx: Tx, id: string, account_id: string): Promise<TemplateRow> {
  const row = await tx.promptTemplate.findFirst({ where: { id, account_id } });
  if (row === null) throw new ApiError('not_found');
  return row;
}

async function refuseTaken(tx: Tx, account_id: string, name: string): Promise<void> {
  if ((await tx.promptTemplate.count({ where: { account_id, name } })) > 0)
    throw new ApiError('conflict', { message: `There is a template of the name ${name}.`, param: 'name' });
}

function templateChange(action: string, row: TemplateRow, changedFields: string[]): Changed<TemplateRecord> {
  const target = { targetType: 'template', targetId: row.id, orgId: row.org_id };
  return { answer: templateToWire(row), audit: { action, ...target, changedFields } };
}

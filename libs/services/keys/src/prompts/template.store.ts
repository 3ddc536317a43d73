import type {
  ListTemplatesQuery,
  Principal,
  PromptContent,
  TemplateRecord,
  TemplateVersionRecord,
} from '@gateway/contracts';
import { ApiError } from '@gateway/contracts';
import type { OrgRule } from '@gateway/platform';
import type { Prisma } from '../generated/prisma/client.js';
import { writtenJson } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';

export type TemplateRow = Prisma.PromptTemplateGetPayload<object>;
export type VersionRow = Prisma.PromptTemplateVersionGetPayload<object>;

/** Every member reads the organization's templates; owners and admins change them. Everybody has their own account's. */
export const TEMPLATE_READ_RULE: OrgRule = { roles: ['owner', 'admin', 'member'], own: true };
export const TEMPLATE_WRITE_RULE: OrgRule = { roles: ['owner', 'admin'], own: true };

/** Accounts whose templates the caller reaches; a key those of its own account. */
export function accountsOf(caller: Principal, { roles }: OrgRule): string[] {
  if (caller.kind !== 'session') return [caller.accountId];
  const reached = caller.memberships.filter(({ role }) => roles.includes(role));
  return [caller.accountId, ...reached.map(({ accountId }) => accountId)];
}

export function findTemplate(tx: Tx, accounts: readonly string[], id: string): Promise<TemplateRow | null> {
  return tx.promptTemplate.findFirst({ where: { id, account_id: { in: [...accounts] } } });
}

/** Newest first. */
export async function listTemplates(
  tx: Tx,
  accounts: readonly string[],
  { limit, offset, org_id, name }: ListTemplatesQuery,
): Promise<{ rows: TemplateRow[]; total: number }> {
  const where = { account_id: { in: [...accounts] }, org_id, name };
  const orderBy: Prisma.PromptTemplateOrderByWithRelationInput[] = [{ created_at: 'desc' }, { id: 'desc' }];
  const [rows, total] = await Promise.all([
    tx.promptTemplate.findMany({ where, orderBy, take: limit, skip: offset }),
    tx.promptTemplate.count({ where }),
  ]);
  return { rows, total };
}

/** Throws ApiError `not_found` alike for unknown versions and those of other templates. */
export async function existingVersion(tx: Tx, templateId: string, id: string): Promise<VersionRow> {
  const row = await tx.promptTemplateVersion.findFirst({ where: { id, template_id: templateId } });
  if (row === null) throw new ApiError('not_found');
  return row;
}

export function templateToWire(row: TemplateRow): TemplateRecord {
  return {
    id: row.id,
    object: 'template',
    org_id: row.org_id,
    name: row.name,
    description: row.description,
    published_version_id: row.published_version_id,
    latest_version: row.latest_version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    created_by: row.created_by,
    archived: row.archived,
  };
}

export function versionToWire(
  row: VersionRow,
  { published_version_id: published }: TemplateRow,
): TemplateVersionRecord {
  const drafted = row.published_at === null ? 'draft' : 'superseded';
  return {
    id: row.id,
    object: 'template.version',
    template_id: row.template_id,
    version: row.version,
    status: row.id === published ? 'published' : drafted,
    ...writtenJson<PromptContent>(row.content),
    notes: row.notes,
    created_at: row.created_at.toISOString(),
    created_by: row.created_by,
    checksum: row.checksum,
  };
}

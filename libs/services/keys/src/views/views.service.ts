import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type Clock,
  type CreateAnswer,
  type CreateViewBody,
  type CursorPage,
  type ListViewsQuery,
  type Random,
  type SessionPrincipal,
  type UpdateViewBody,
  type ViewRecord,
} from '@gateway/contracts';
import { CLOCK, RANDOM, refuseFaults, sentFields } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { changedValues } from '../audit/changed-values.js';
import { orgAccount } from '../members/member.store.js';
import { plainJson, storedJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { keysetOf } from '../postgres/keyset.js';
import type { Prisma } from '../generated/prisma/client.js';
import { searchFaults } from './view-search.js';

/** Number of views of one organization. */
const VIEWS_MAX = 100;

type ViewRow = Prisma.SavedViewGetPayload<object>;

/** The place of one view. */
interface Place {
  orgId: string;
  id: string;
}

/** Views of the dashboard that an organization shares. No principal shows them, so no version moves. */
@Injectable()
export class ViewsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns the views in the order of their creation. */
  async list(orgId: string, query: ListViewsQuery): Promise<CursorPage<ViewRecord>> {
    const where = { org_id: orgId, page: query.page };
    const { after, range, page } = keysetOf(query, `views ${orgId}`);
    const { prisma } = this.database;
    const [rows, total] = await Promise.all([
      prisma.savedView.findMany({
        where: { AND: [where, after === null ? {} : { id: { gt: after } }] },
        orderBy: { id: 'asc' },
        ...range,
      }),
      prisma.savedView.count({ where }),
    ]);
    const found = page(rows, total, ({ id }) => id);
    return { ...found, data: found.data.map(toWire) };
  }

  /** Throws ApiError `validation_error`, `conflict` for a name that is taken or one view too many. */
  async create(
    caller: SessionPrincipal,
    orgId: string,
    body: CreateViewBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<ViewRecord>> {
    refuseFaults('validation_error', searchFaults(body.search));
    const { page, name, search } = body;
    return this.changes.create(request, {
      accounts: [await this.account(orgId)],
      keepsVersions: true,
      make: async (tx) => {
        if ((await tx.savedView.count({ where: { org_id: orgId } })) >= VIEWS_MAX)
          throw new ApiError('conflict', { message: `An organization has at most ${VIEWS_MAX} views.` });
        await refuseTaken(tx, { orgId, page, name, id: null });
        const now = new Date(this.clock.now());
        const id = newId('view', this.clock, this.random);
        const times = { created_at: now, updated_at: now };
        const row = await tx.savedView.create({
          data: {
            id,
            org_id: orgId,
            page,
            name,
            search: plainJson(search),
            created_by: caller.userId,
            ...times,
          },
        });
        const audit = viewAudit('view.create', row, sentFields(body));
        return { answer: { status: 201, body: { ...toWire(row) } }, audit };
      },
    });
  }

  /** Throws ApiError `not_found`, `forbidden` for a member who did not make it, `conflict`, `validation_error`. */
  async update(
    caller: SessionPrincipal,
    place: Place,
    body: UpdateViewBody,
    request: FastifyRequest,
  ): Promise<ViewRecord> {
    refuseFaults('validation_error', searchFaults(body.search));
    return this.change(caller, place, request, async (tx, row) => {
      if (sentFields(body).length === 0) return { answer: toWire(row), audit: null };
      const { name, search } = body;
      if (name !== undefined) await refuseTaken(tx, { ...place, page: row.page, name });
      const updated_at = new Date(this.clock.now());
      const data = { name, search: search === undefined ? undefined : plainJson(search), updated_at };
      const updated = await tx.savedView.update({ where: { id: row.id }, data });
      const audit = viewAudit('view.update', row, sentFields(body));
      return { answer: toWire(updated), audit, values: changedValues(row, updated) };
    });
  }

  /** Throws ApiError `not_found`, `forbidden` for a member who did not make it. */
  async remove(caller: SessionPrincipal, place: Place, request: FastifyRequest): Promise<void> {
    await this.change(caller, place, request, async (tx, row): Promise<Changed<null>> => {
      await tx.savedView.delete({ where: { id: row.id } });
      return { answer: null, audit: viewAudit('view.delete', row, []) };
    });
  }

  private async change<T>(
    caller: SessionPrincipal,
    { orgId, id }: Place,
    request: FastifyRequest,
    make: (tx: Tx, row: ViewRow) => Promise<Changed<T>>,
  ): Promise<T> {
    const role = caller.memberships.find((one) => one.orgId === orgId)?.role;
    if (role === undefined) throw new ApiError('not_found');
    return this.changes.run(request, {
      accounts: [await this.account(orgId)],
      keepsVersions: true,
      make: async (tx) => {
        const row = await tx.savedView.findFirst({ where: { id, org_id: orgId } });
        if (row === null) throw new ApiError('not_found');
        if (role === 'member' && row.created_by !== caller.userId)
          throw new ApiError('forbidden', {
            message: 'Only who made this view, an owner or an admin changes it.',
          });
        return make(tx, row);
      },
    });
  }

  private async account(orgId: string): Promise<string> {
    const account = await orgAccount(this.database.prisma, orgId);
    if (account === null) throw new ApiError('not_found');
    return account;
  }
}

/** Throws ApiError `conflict` where another view of the page has the name. The account's lock keeps two from taking it at once. */
async function refuseTaken(
  tx: Tx,
  { orgId, page, name, id }: { orgId: string; page: string; name: string; id: string | null },
): Promise<void> {
  const taken = await tx.savedView.findFirst({ where: { org_id: orgId, page, name }, select: { id: true } });
  if (taken === null || taken.id === id) return;
  throw new ApiError('conflict', {
    message: `There is a view "${name}" of this page already.`,
    param: 'name',
  });
}

function toWire(row: ViewRow): ViewRecord {
  return {
    id: row.id,
    org_id: row.org_id,
    page: row.page,
    name: row.name,
    search: storedJson<Record<string, string>>(row.search),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function viewAudit(action: string, { id, org_id }: ViewRow, changedFields: readonly string[]) {
  return { action, targetType: 'view', targetId: id, orgId: org_id, changedFields };
}

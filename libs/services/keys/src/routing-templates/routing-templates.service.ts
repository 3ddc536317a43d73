import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  newId,
  type Clock,
  type CreateRoutingPolicyTemplateBody,
  type ListRoutingPolicyTemplatesQuery,
  type Random,
  type RoutingPolicy,
  type RoutingPolicyTemplateRecord,
  type SessionPrincipal,
  type UpdateRoutingPolicyTemplateBody,
  type CreateAnswer,
} from '@gateway/contracts';
import {
  CLOCK,
  pageOf,
  RANDOM,
  requireOrgRole,
  type AccessRule,
  type Page,
  refuseFaults,
  sentFields,
} from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { storedPolicy } from '../api-keys/api-key.js';
import { catalogueFaults } from '../api-keys/named-in-catalogue.js';
import type { Prisma } from '../generated/prisma/client.js';
import { plainJson, storedJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';

/** Templates of one organization; one more is 409 `conflict`. */
const PER_ORG_MAX = 1_000;

type TemplateRow = Prisma.RoutingPolicyTemplateGetPayload<object>;

/** Routing policy templates. A change acts on the next request of every key that uses the template. */
@Injectable()
export class RoutingTemplates {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly names: CatalogueNames,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Throws ApiError `forbidden` for an org that the caller is not in, known or not. */
  async list(
    caller: SessionPrincipal,
    query: ListRoutingPolicyTemplatesQuery,
  ): Promise<Page<RoutingPolicyTemplateRecord>> {
    const orgIds =
      query.org_id === undefined
        ? caller.memberships.map(({ orgId }) => orgId)
        : [accountOf(caller, query.org_id).orgId];
    const where = { org_id: { in: orgIds } };
    const { prisma } = this.database;
    const [rows, total] = await Promise.all([
      prisma.routingPolicyTemplate.findMany({
        where,
        orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
        take: query.limit,
        skip: query.offset,
      }),
      prisma.routingPolicyTemplate.count({ where }),
    ]);
    return pageOf(rows.map(toWire), total, query);
  }

  async read(caller: SessionPrincipal, id: string, rule: AccessRule): Promise<RoutingPolicyTemplateRecord> {
    return toWire((await this.visible(caller, id, rule)).row);
  }

  /**
   * Throws ApiError `forbidden` for an org that the caller is not in or whose role does not do; `unprocessable_entity` for
   * a model or provider that nobody knows; `service_unavailable` where nobody could say; `conflict` for one too many.
   */
  async create(
    caller: SessionPrincipal,
    body: CreateRoutingPolicyTemplateBody,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<CreateAnswer<RoutingPolicyTemplateRecord>> {
    const { org_id, name } = body;
    const { accountId } = accountOf(caller, org_id);
    requireOrgRole(caller, org_id, rule);
    return this.changes.create(request, {
      accounts: [accountId],
      ask: async () =>
        refuseFaults('unprocessable_entity', await catalogueFaults(this.names, body, {}, org_id)),
      make: async (tx) => {
        if ((await tx.routingPolicyTemplate.count({ where: { org_id } })) >= PER_ORG_MAX)
          throw new ApiError('conflict', {
            message: `An organization has at most ${PER_ORG_MAX} templates.`,
          });
        const id = newId('rpt', this.clock, this.random);
        const now = this.now();
        const routing_policy = plainJson(storedPolicy(body.routing_policy));
        const row = await tx.routingPolicyTemplate.create({
          data: { id, org_id, name, routing_policy, created_at: now, updated_at: now },
        });
        const made = changed('routing_policy_template.create', row, sentFields(body));
        return { ...made, answer: { status: 201, body: { ...toWire(row) } } };
      },
    });
  }

  async update(
    caller: SessionPrincipal,
    id: string,
    body: UpdateRoutingPolicyTemplateBody,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<RoutingPolicyTemplateRecord> {
    const stored = await this.read(caller, id, rule);
    refuseFaults('unprocessable_entity', await catalogueFaults(this.names, body, stored, stored.org_id));
    return this.change(caller, id, rule, request, async (tx, { org_id }) => {
      const where = { id, org_id };
      if (sentFields(body).length === 0) {
        const row = await tx.routingPolicyTemplate.findUniqueOrThrow({ where });
        return { answer: toWire(row), audit: null };
      }
      const { name, routing_policy: policy } = body;
      const routing_policy = policy === undefined ? undefined : plainJson(storedPolicy(policy));
      const row = await tx.routingPolicyTemplate.update({
        where,
        data: { name, routing_policy, updated_at: this.now() },
      });
      return changed('routing_policy_template.update', row, sentFields(body));
    });
  }

  /** Throws ApiError `conflict` while a key uses it, a suspended one too: it may be reactivated. */
  remove(caller: SessionPrincipal, id: string, rule: AccessRule, request: FastifyRequest): Promise<unknown> {
    return this.change(caller, id, rule, request, async (tx, { org_id }) => {
      const user = await tx.apiKey.findFirst({
        where: { routing_policy_template_id: id, org_id },
        select: { id: true },
      });
      if (user !== null)
        throw new ApiError('conflict', {
          message: `Key ${user.id} uses this template: change its policy first.`,
        });
      const row = await tx.routingPolicyTemplate.delete({ where: { id, org_id } });
      return changed('routing_policy_template.delete', row, []);
    });
  }

  /** Throws ApiError `not_found` alike for unknown templates and those of others. */
  private async change<T>(
    caller: SessionPrincipal,
    id: string,
    rule: AccessRule,
    request: FastifyRequest,
    work: (tx: Tx, row: TemplateRow) => Promise<Changed<T>>,
  ): Promise<T> {
    const { row, accountId } = await this.visible(caller, id, rule);
    return this.changes.run(request, {
      accounts: [accountId],
      make: async (tx) => {
        const where = { id, org_id: row.org_id };
        const current = await tx.routingPolicyTemplate.findUnique({ where });
        if (current === null) throw new ApiError('not_found');
        return work(tx, current);
      },
    });
  }

  private async visible(
    caller: SessionPrincipal,
    id: string,
    rule: AccessRule,
  ): Promise<{ row: TemplateRow; accountId: string }> {
    const orgIds = caller.memberships.map(({ orgId }) => orgId);
    const row = await this.database.prisma.routingPolicyTemplate.findFirst({
      where: { id, org_id: { in: orgIds } },
    });
    if (row === null) throw new ApiError('not_found');
    requireOrgRole(caller, row.org_id, rule);
    return { row, accountId: accountOf(caller, row.org_id).accountId };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** An org that does not exist answers like one that the caller is not in. */
function accountOf(caller: SessionPrincipal, orgId: string): { accountId: string; orgId: string } {
  const membership = caller.memberships.find((candidate) => candidate.orgId === orgId);
  if (membership !== undefined) return membership;
  throw new ApiError('forbidden', { message: 'You are not a member of this organization.', param: 'org_id' });
}

function changed(
  action: string,
  row: TemplateRow,
  changedFields: string[],
): Changed<RoutingPolicyTemplateRecord> {
  const target = { targetType: 'routing_policy_template', targetId: row.id, orgId: row.org_id };
  return { answer: toWire(row), audit: { action, ...target, changedFields } };
}

function toWire(row: TemplateRow): RoutingPolicyTemplateRecord {
  return {
    id: row.id,
    org_id: row.org_id,
    name: row.name,
    routing_policy: storedJson<RoutingPolicy>(row.routing_policy),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

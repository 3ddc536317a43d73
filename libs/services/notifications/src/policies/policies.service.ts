import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type AccountEventType,
  type Clock,
  type CreatePolicyBody,
  type PolicyRecord,
  type Principal,
  type Random,
  type UpdatePolicyBody,
  type CreateAnswer,
} from '@gateway/contracts';
import { CLOCK, principalOf, RANDOM, requireOrgRole } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { channelType } from '../channels/channel.js';
import type { Channel, Policy, Prisma } from '../generated/prisma/client.js';
import { alertOrg, orgsOf, WRITE_ALERTS } from '../orgs/alert-org.js';
import { fault } from '../orgs/faults.js';
import { AlertChanges, type Changed } from '../postgres/alert-changes.js';
import { holdCount } from '../postgres/hold-count.js';
import { NotificationsDatabase, type Tx } from '../postgres/notifications-database.js';
import { requireSound, thresholdsOf, toWire } from './policy.js';

const POLICIES_MAX = 1_000;

/** Subscriptions of channels to events. */
@Injectable()
export class PoliciesService {
  constructor(
    private readonly database: NotificationsDatabase,
    private readonly changes: AlertChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(orgId: string): Promise<PolicyRecord[]> {
    const orderBy: Prisma.PolicyOrderByWithRelationInput[] = [{ created_at: 'asc' }, { id: 'asc' }];
    const rows = await this.database.prisma.policy.findMany({ where: { org_id: orgId }, orderBy });
    return rows.map(toWire);
  }

  /** Throws ApiError `forbidden`, `validation_error`, `conflict` for one too many. */
  async create(
    request: FastifyRequest,
    body: CreatePolicyBody,
    orgId: string | undefined,
  ): Promise<CreateAnswer<PolicyRecord>> {
    const principal = principalOf(request);
    const named = body.org_id ?? orgId ?? (await this.orgOfChannel(principal, body.channel_id));
    const org_id = alertOrg(principal, named, WRITE_ALERTS);
    const { channel_id, alert_type, is_enabled = true } = body;
    const thresholds = {
      threshold_usd: body.threshold_usd ?? null,
      threshold_pct: body.threshold_pct ?? null,
    };
    return this.changes.create(request, async (tx) => {
      await holdChannel(tx, channel_id);
      const channel = await channelOf(tx, org_id, channel_id);
      requireSound(alert_type, thresholds, channelType(channel));
      await holdCount(tx, 'alertsOfOrg', org_id);
      if ((await tx.policy.count({ where: { org_id } })) >= POLICIES_MAX)
        throw new ApiError('conflict', { message: `An organization has at most ${POLICIES_MAX} policies.` });
      const now = new Date(this.clock.now());
      const id = newId('pol', this.clock, this.random);
      const times = { effective_from: now, created_at: now, updated_at: now };
      const row = await tx.policy.create({
        data: { id, org_id, channel_id, alert_type, is_enabled, ...thresholds, ...times },
      });
      const answer = { status: 201, body: { ...toWire(row) } };
      return { answer, audit: auditOf('create', row, ['channel_id', 'alert_type', 'is_enabled']) };
    });
  }

  /** Throws ApiError `not_found`, `forbidden`, `validation_error` under the rules of create. */
  update(request: FastifyRequest, id: string, body: UpdatePolicyBody): Promise<PolicyRecord> {
    return this.changes.run(request, async (tx) => {
      // Before the policy: who deletes a channel takes its policies after it.
      if (body.channel_id !== undefined) await holdChannel(tx, body.channel_id);
      const current = await this.existing(tx, principalOf(request), id);
      const before = thresholdsOf(current);
      const after = {
        threshold_usd: body.threshold_usd === undefined ? before.threshold_usd : body.threshold_usd,
        threshold_pct: body.threshold_pct === undefined ? before.threshold_pct : body.threshold_pct,
      };
      const channel_id = body.channel_id ?? current.channel_id;
      const is_enabled = body.is_enabled ?? current.is_enabled;
      const channel = await channelOf(tx, current.org_id, channel_id);
      requireSound(current.alert_type as AccountEventType, after, channelType(channel));
      const fields = Object.keys(body).filter((name) => body[name as keyof UpdatePolicyBody] !== undefined);
      if (fields.length === 0) return { answer: toWire(current), audit: null };
      const now = new Date(this.clock.now());
      const data = { ...after, channel_id, is_enabled, effective_from: now, updated_at: now };
      const row = await tx.policy.update({ where: { id }, data });
      return { answer: toWire(row), audit: auditOf('update', row, fields) };
    });
  }

  remove(request: FastifyRequest, id: string): Promise<void> {
    return this.changes.run(request, async (tx) => {
      const row = await this.existing(tx, principalOf(request), id);
      await tx.policy.delete({ where: { id } });
      return { answer: undefined, audit: auditOf('delete', row, []) };
    });
  }

  /** Returns the organization that a channel of the caller's names, where the body names none. */
  private async orgOfChannel(principal: Principal, id: string): Promise<string | undefined> {
    const where = { id, org_id: { in: orgsOf(principal) } };
    const row = await this.database.prisma.channel.findFirst({ where, select: { org_id: true } });
    return row?.org_id;
  }

  /** Locked: two changes of one policy wait for each other. */
  private async existing(tx: Tx, principal: Principal, id: string): Promise<Policy> {
    await tx.$queryRaw`SELECT 1 FROM policy WHERE id = ${id} FOR UPDATE`;
    const row = await tx.policy.findFirst({ where: { id, org_id: { in: orgsOf(principal) } } });
    if (row === null) throw new ApiError('not_found');
    requireOrgRole(principal, row.org_id, WRITE_ALERTS);
    return row;
  }
}

/** It stays until the end of the transaction. */
async function holdChannel(tx: Tx, id: string): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM channel WHERE id = ${id} FOR KEY SHARE`;
}

async function channelOf(tx: Tx, orgId: string, id: string): Promise<Channel> {
  const row = await tx.channel.findFirst({ where: { id, org_id: orgId } });
  if (row === null) throw fault('channel_id', 'The organization has no such channel.');
  return row;
}

function auditOf(verb: string, row: Policy, changedFields: readonly string[]): Changed<never>['audit'] {
  return {
    action: `alert_policy.${verb}`,
    targetType: 'alert_policy',
    targetId: row.id,
    orgId: row.org_id,
    changedFields,
  };
}

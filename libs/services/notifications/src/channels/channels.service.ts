import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type ChannelRecord,
  type ListedChannel,
  type CreatedChannel,
  type Clock,
  type CreateChannelBody,
  type Principal,
  type Random,
  type UpdateChannelBody,
  type CreateAnswer,
} from '@gateway/contracts';
import type { OutgoingMail } from '@gateway/mail';
import { CLOCK, principalOf, RANDOM, requireOrgRole, type Created } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { Channel, Prisma } from '../generated/prisma/client.js';
import { alertOrg, orgsOf, READ_ALERTS, WRITE_ALERTS } from '../orgs/alert-org.js';
import { fault } from '../orgs/faults.js';
import { ConfirmationsService } from '../confirmations/confirmations.service.js';
import { AlertChanges, type Changed } from '../postgres/alert-changes.js';
import { holdCount } from '../postgres/hold-count.js';
import { NotificationsDatabase, type Tx } from '../postgres/notifications-database.js';
import { SigningSecrets } from '../secrets/signing-secrets.js';
import { channelType, hostOf, keptAs, toWire } from './channel.js';
import { Destinations } from './destinations.js';
import { ResultsStore } from './results.store.js';

/** Number of channels of one organization: each event looks at all of them. */
const CHANNELS_MAX = 100;

/** Channels of organizations. */
@Injectable()
export class ChannelsService {
  constructor(
    private readonly database: NotificationsDatabase,
    private readonly changes: AlertChanges,
    private readonly destinations: Destinations,
    private readonly secrets: SigningSecrets,
    private readonly confirmations: ConfirmationsService,
    private readonly results: ResultsStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(orgId: string): Promise<ListedChannel[]> {
    const orderBy: Prisma.ChannelOrderByWithRelationInput[] = [{ created_at: 'asc' }, { id: 'asc' }];
    const rows = await this.database.prisma.channel.findMany({ where: { org_id: orgId }, orderBy });
    const results = await this.results.newest(rows.map(({ id }) => id));
    return rows.map((row) => ({
      ...toWire(row),
      last_result: results.get(row.id) ?? null,
      failing_since: row.failing_since?.toISOString() ?? null,
    }));
  }

  /** Throws ApiError `forbidden`, `validation_error`, `conflict` for one too many. */
  async create(
    request: FastifyRequest,
    body: CreateChannelBody,
    orgId: string | undefined,
  ): Promise<CreateAnswer<CreatedChannel>> {
    const org_id = alertOrg(principalOf(request), body.org_id ?? orgId, WRITE_ALERTS);
    const { channel_type, is_enabled = true } = body;
    const destination = keptAs(channel_type, body.destination);
    let mail: OutgoingMail | null = null;
    const make = async (tx: Tx): Promise<Changed<Created<CreatedChannel>>> => {
      await holdCount(tx, 'alertsOfOrg', org_id);
      if ((await tx.channel.count({ where: { org_id } })) >= CHANNELS_MAX)
        throw new ApiError('conflict', { message: `An organization has at most ${CHANNELS_MAX} channels.` });
      const now = new Date(this.clock.now());
      const id = newId('chn', this.clock, this.random);
      const host = hostOf(channel_type, destination);
      const times = { enabled_at: now, created_at: now, updated_at: now };
      const row = await tx.channel.create({
        data: { id, org_id, channel_type, destination, host, is_enabled, ...times },
      });
      if (channel_type === 'email') mail = await this.confirmations.begin(tx, row);
      const secret = channel_type === 'webhook' ? { signing_secret: await this.secrets.create(tx, id) } : {};
      const made = { status: 201, body: { ...toWire(row), ...secret }, secretFields: ['signing_secret'] };
      return { answer: made, audit: auditOf('create', row, ['channel_type', 'destination', 'is_enabled']) };
    };
    const ask = (): Promise<void> => this.destinations.require(channel_type, body.destination);
    const answer = await this.changes.create(request, make, ask);
    this.confirmations.send(mail);
    return answer;
  }

  /** Throws ApiError `not_found`, `forbidden`, `validation_error`. */
  async update(request: FastifyRequest, id: string, body: UpdateChannelBody): Promise<ChannelRecord> {
    const { destination } = body;
    const known = await this.existing(this.database.prisma, principalOf(request), id, true);
    if (destination !== undefined) await this.destinations.require(channelType(known), destination);
    let mail: OutgoingMail | null = null;
    const answer = await this.changes.run(request, async (tx) => {
      const current = await this.locked(tx, known);
      const data = this.changed(current, body);
      const fields = Object.keys(data);
      if (fields.length === 0) return { answer: toWire(current), audit: null };
      const updated_at = new Date(this.clock.now());
      const row = await tx.channel.update({ where: { id }, data: { ...data, updated_at } });
      const isClosed = !row.is_enabled || (row.channel_type === 'email' && row.verified_at === null);
      if (isClosed) await cancelOpen(tx, id, updated_at);
      const isMoved = row.destination !== current.destination;
      if (row.channel_type === 'email' && isMoved) mail = await this.relink(tx, row);
      return {
        answer: toWire(row),
        audit: auditOf(
          'update',
          row,
          fields.filter((name) => name in body),
        ),
      };
    });
    this.confirmations.send(mail);
    return answer;
  }

  /** Removes the channel with its policies and its delivery history. */
  remove(request: FastifyRequest, id: string): Promise<void> {
    return this.changes.run(request, async (tx) => {
      const known = await this.existing(tx, principalOf(request), id, true);
      // What is being sent ends first: its outcome takes the delivery before the channel.
      await tx.$queryRaw`SELECT 1 FROM delivery WHERE channel_id = ${id} AND status = 'sending' FOR UPDATE`;
      const row = await this.locked(tx, known);
      await tx.channel.delete({ where: { id } });
      return { answer: undefined, audit: auditOf('delete', row, []) };
    });
  }

  /** Returns the record with the new secret, which nobody is shown again. */
  rotateSecret(request: FastifyRequest, id: string): Promise<ChannelRecord & { signing_secret: string }> {
    return this.changes.run(request, async (tx) => {
      const row = await this.locked(tx, await this.existing(tx, principalOf(request), id, true));
      if (channelType(row) !== 'webhook')
        throw fault('channel_type', 'Only a webhook channel has a signing secret.');
      const signing_secret = await this.secrets.rotate(tx, id);
      const answer = { ...toWire(row), signing_secret };
      return { answer, audit: auditOf('rotate_secret', row, ['signing_secret']) };
    });
  }

  /** Returns the record, whether or not anything was mailed. */
  async mailConfirmation(request: FastifyRequest, id: string): Promise<ChannelRecord> {
    let mail: OutgoingMail | null = null;
    const answer = await this.changes.run(request, async (tx) => {
      const row = await this.locked(tx, await this.existing(tx, principalOf(request), id, true));
      if (channelType(row) !== 'email')
        throw fault('channel_type', 'Only the address of an e-mail channel is confirmed.');
      if (row.verified_at === null) mail = await this.confirmations.begin(tx, row);
      return { answer: toWire(row), audit: mail === null ? null : auditOf('verify', row, []) };
    });
    this.confirmations.send(mail);
    return answer;
  }

  /** The links of the address before are void, also where no more mail may go out now. */
  private async relink(tx: Tx, row: Channel): Promise<OutgoingMail | null> {
    await this.confirmations.void(tx, row.id);
    return this.confirmations.begin(tx, row);
  }

  /** Throws ApiError `not_found` for what is not of the caller's organizations, `forbidden` for a role too low. */
  async existing(tx: Tx, principal: Principal, id: string, isWrite: boolean): Promise<Channel> {
    const row = await tx.channel.findFirst({ where: { id, org_id: { in: orgsOf(principal) } } });
    if (row === null) throw new ApiError('not_found');
    requireOrgRole(principal, row.org_id, isWrite ? WRITE_ALERTS : READ_ALERTS);
    return row;
  }

  /** Two changes of one channel wait for each other. Throws ApiError `not_found` for one that is gone meanwhile. */
  async locked(tx: Tx, { id, org_id }: Channel): Promise<Channel> {
    await tx.$queryRaw`SELECT 1 FROM channel WHERE id = ${id} FOR UPDATE`;
    const row = await tx.channel.findFirst({ where: { id, org_id } });
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  private changed(
    current: Channel,
    { destination: asked, is_enabled }: UpdateChannelBody,
  ): Prisma.ChannelUpdateInput {
    const destination = asked === undefined ? undefined : keptAs(channelType(current), asked);
    const data: Prisma.ChannelUpdateInput = {};
    if (destination !== undefined && destination !== current.destination) {
      Object.assign(data, { destination, host: hostOf(channelType(current), destination) });
      if (current.channel_type === 'email') data.verified_at = null;
    }
    if (is_enabled === undefined || is_enabled === current.is_enabled) return data;
    data.is_enabled = is_enabled;
    if (!is_enabled) return data;
    // It begins anew: what happened while it was off is not sent, what failed before does not count.
    const fresh = { failing_since: null, disabled_reason: null, owners_mailed_at: null };
    return { ...data, ...fresh, enabled_at: new Date(this.clock.now()) };
  }
}

/** Cancels open deliveries: one that is being sent may end, and is not sent again. */
async function cancelOpen(tx: Tx, channelId: string, now: Date): Promise<void> {
  await tx.delivery.updateMany({
    where: { channel_id: channelId, status: { in: ['pending', 'retrying'] } },
    data: { status: 'cancelled', next_at: null, updated_at: now },
  });
}

function auditOf(verb: string, row: Channel, changedFields: readonly string[]): Changed<never>['audit'] {
  return {
    action: `alert_channel.${verb}`,
    targetType: 'alert_channel',
    targetId: row.id,
    orgId: row.org_id,
    changedFields,
  };
}

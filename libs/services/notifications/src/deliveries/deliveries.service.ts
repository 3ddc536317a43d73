import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type Clock,
  type DeliveriesQuery,
  type DeliveryDetail,
  type DeliveryRecord,
  type Principal,
  type Random,
} from '@gateway/contracts';
import { CLOCK, pageOf, principalOf, RANDOM, requireOrgRole, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { ChannelsService } from '../channels/channels.service.js';
import { envelopeOf } from '../events/envelope.js';
import type { Channel } from '../generated/prisma/client.js';
import { alertOrg, orgsOf, READ_ALERTS, WRITE_ALERTS } from '../orgs/alert-org.js';
import { AlertChanges } from '../postgres/alert-changes.js';
import { NotificationsDatabase, type Tx } from '../postgres/notifications-database.js';
import { DeliveryLogStore, toWire } from './delivery-log.store.js';
import { DispatchLoop } from './dispatch-loop.js';

const TEST_TYPE = 'channel.test';

/** The log, and what a person has sent by hand. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly database: NotificationsDatabase,
    private readonly log: DeliveryLogStore,
    private readonly channels: ChannelsService,
    private readonly changes: AlertChanges,
    private readonly dispatch: DispatchLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(request: FastifyRequest, query: DeliveriesQuery): Promise<Page<DeliveryRecord>> {
    const orgId = alertOrg(principalOf(request), query.org_id, READ_ALERTS);
    const { rows, total } = await this.log.page(orgId, query);
    return pageOf(rows, total, query);
  }

  async read(request: FastifyRequest, id: string): Promise<DeliveryDetail> {
    return this.log.detail(await this.existing(principalOf(request), id, false));
  }

  /** The same event once more, as a delivery of its own. Throws ApiError `conflict` where the channel is closed. */
  async redeliver(request: FastifyRequest, id: string): Promise<DeliveryRecord> {
    const known = await this.existing(principalOf(request), id, true);
    const channel = await this.channels.existing(
      this.database.prisma,
      principalOf(request),
      known.channel_id,
      true,
    );
    const { event_id } = known;
    return this.byHand(request, channel, 'redeliver', async () => {
      // A repetition of a repetition is one of the first, so that the log shows one family.
      const redelivery_of = known.redelivery_of ?? known.id;
      return { event_id, redelivery_of, target: known.id };
    });
  }

  /** A `channel.test` event to this channel alone. Throws as `redeliver`. */
  async test(request: FastifyRequest, channelId: string): Promise<DeliveryRecord> {
    const channel = await this.channels.existing(this.database.prisma, principalOf(request), channelId, true);
    return this.byHand(request, channel, 'test', async (tx) => {
      const id = newId('evt', this.clock, this.random);
      const { org_id } = channel;
      const atMs = this.clock.now();
      const body = envelopeOf(id, { type: TEST_TYPE, atMs, orgId: org_id, data: { channel_id: channelId } });
      const created_at = new Date(atMs);
      await tx.event.create({ data: { id, org_id, type: TEST_TYPE, source_key: id, created_at, body } });
      return { event_id: id, redelivery_of: null, target: channelId };
    });
  }

  private async byHand(
    request: FastifyRequest,
    channel: Channel,
    verb: 'redeliver' | 'test',
    make: (tx: Tx) => Promise<{ event_id: string; redelivery_of: string | null; target: string }>,
  ): Promise<DeliveryRecord> {
    const id = newId('dlv', this.clock, this.random);
    await this.changes.run(request, async (tx) => {
      requireOpen(await this.channels.locked(tx, channel));
      const { event_id, redelivery_of, target } = await make(tx);
      const now = new Date(this.clock.now());
      const ends = { event_id, channel_id: channel.id, org_id: channel.org_id };
      await tx.delivery.create({
        data: {
          id,
          ...ends,
          redelivery_of,
          status: 'pending',
          next_at: now,
          created_at: now,
          updated_at: now,
        },
      });
      const targetType = verb === 'test' ? 'alert_channel' : 'alert_delivery';
      const audit = { action: `${targetType}.${verb}`, targetType, targetId: target, orgId: channel.org_id };
      return { answer: undefined, audit: { ...audit, changedFields: [] } };
    });
    this.dispatch.wake();
    const row = await this.log.find([channel.org_id], id);
    if (row === null) throw new ApiError('not_found');
    return toWire(row);
  }

  private async existing(principal: Principal, id: string, isWrite: boolean) {
    const row = await this.log.find(orgsOf(principal), id);
    if (row === null) throw new ApiError('not_found');
    requireOrgRole(principal, row.org_id, isWrite ? WRITE_ALERTS : READ_ALERTS);
    return row;
  }
}

function requireOpen({ is_enabled, channel_type, verified_at }: Channel): void {
  if (!is_enabled) throw new ApiError('conflict', { message: 'The channel is disabled.' });
  if (channel_type === 'email' && verified_at === null)
    throw new ApiError('conflict', { message: 'The address of the channel is not confirmed.' });
}

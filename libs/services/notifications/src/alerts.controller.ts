import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  AlertsQuery,
  CreateChannelBody,
  CreatePolicyBody,
  UpdateChannelBody,
  UpdatePolicyBody,
  type AlertsRecord,
  type ChannelRecord,
  type CreatedChannel,
  type PolicyRecord,
} from '@gateway/contracts';
import { Access, principalOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChannelsService } from './channels/channels.service.js';
import { alertOrg, READ_ALERTS, WRITE_ALERTS } from './orgs/alert-org.js';
import { PoliciesService } from './policies/policies.service.js';

/** Channels and policies. */
@Controller('alerts')
@Access(WRITE_ALERTS)
export class AlertsController {
  constructor(
    private readonly channels: ChannelsService,
    private readonly policies: PoliciesService,
  ) {}

  /** Lists the channels and policies of an organization. */
  @Get()
  @Access(READ_ALERTS)
  async list(@Query() query: AlertsQuery, @Req() request: FastifyRequest): Promise<AlertsRecord> {
    const orgId = alertOrg(principalOf(request), query.org_id, READ_ALERTS);
    const [channels, policies] = await Promise.all([this.channels.list(orgId), this.policies.list(orgId)]);
    return { channels, policies };
  }

  /** Creates a channel. The signing secret of a webhook is in this answer and never again. */
  @Post('channels')
  async createChannel(
    @Body() body: CreateChannelBody,
    @Query() query: AlertsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedChannel> {
    const answer = await this.channels.create(request, body, query.org_id);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Changes a channel. What is absent stays as it is. */
  @Patch('channels/:id')
  updateChannel(
    @Param('id') id: string,
    @Body() body: UpdateChannelBody,
    @Req() request: FastifyRequest,
  ): Promise<ChannelRecord> {
    return this.channels.update(request, id, body);
  }

  /** Deletes a channel with its policies. */
  @Delete('channels/:id')
  @HttpCode(204)
  removeChannel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.channels.remove(request, id);
  }

  /** Makes a new signing secret of a webhook. It is in this answer and never again. */
  @Post('channels/:id/rotate-secret')
  @HttpCode(200)
  rotateSecret(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<ChannelRecord & { signing_secret: string }> {
    return this.channels.rotateSecret(request, id);
  }

  /** Creates a policy: an event that goes to a channel. */
  @Post('policies')
  async createPolicy(
    @Body() body: CreatePolicyBody,
    @Query() query: AlertsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PolicyRecord> {
    const answer = await this.policies.create(request, body, query.org_id);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Changes a policy. What is absent stays as it is. */
  @Patch('policies/:id')
  updatePolicy(
    @Param('id') id: string,
    @Body() body: UpdatePolicyBody,
    @Req() request: FastifyRequest,
  ): Promise<PolicyRecord> {
    return this.policies.update(request, id, body);
  }

  /** Deletes a policy. */
  @Delete('policies/:id')
  @HttpCode(204)
  removePolicy(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.policies.remove(request, id);
  }
}

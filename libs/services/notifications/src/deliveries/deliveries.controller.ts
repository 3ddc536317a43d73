import { Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { DeliveriesQuery, type DeliveryDetail, type DeliveryRecord } from '@gateway/contracts';
import { Access, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { READ_ALERTS, WRITE_ALERTS } from '../orgs/alert-org.js';
import { DeliveriesService } from './deliveries.service.js';

/** The delivery log, redelivery and the test call. */
@Controller('alerts')
@Access(WRITE_ALERTS)
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  /** Lists deliveries, newest first. */
  @Get('deliveries')
  @Access(READ_ALERTS)
  list(@Query() query: DeliveriesQuery, @Req() request: FastifyRequest): Promise<Page<DeliveryRecord>> {
    return this.deliveries.list(request, query);
  }

  /** Reads a delivery with every attempt. */
  @Get('deliveries/:id')
  @Access(READ_ALERTS)
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<DeliveryDetail> {
    return this.deliveries.read(request, id);
  }

  /** Sends a delivery again, as a new one. */
  @Post('deliveries/:id/redeliver')
  @HttpCode(202)
  redeliver(@Param('id') id: string, @Req() request: FastifyRequest): Promise<DeliveryRecord> {
    return this.deliveries.redeliver(request, id);
  }

  /** Sends a test event to a channel. */
  @Post('channels/:id/test')
  @HttpCode(202)
  test(@Param('id') id: string, @Req() request: FastifyRequest): Promise<DeliveryRecord> {
    return this.deliveries.test(request, id);
  }
}

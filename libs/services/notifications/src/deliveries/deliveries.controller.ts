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

  @Get('deliveries')
  @Access(READ_ALERTS)
  list(@Query() query: DeliveriesQuery, @Req() request: FastifyRequest): Promise<Page<DeliveryRecord>> {
    return this.deliveries.list(request, query);
  }

  @Get('deliveries/:id')
  @Access(READ_ALERTS)
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<DeliveryDetail> {
    return this.deliveries.read(request, id);
  }

  @Post('deliveries/:id/redeliver')
  @HttpCode(202)
  redeliver(@Param('id') id: string, @Req() request: FastifyRequest): Promise<DeliveryRecord> {
    return this.deliveries.redeliver(request, id);
  }

  @Post('channels/:id/test')
  @HttpCode(202)
  test(@Param('id') id: string, @Req() request: FastifyRequest): Promise<DeliveryRecord> {
    return this.deliveries.test(request, id);
  }
}

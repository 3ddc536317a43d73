import { Body, Controller, Get, Put, Req } from '@nestjs/common';
import { OrgDefaultsBody, type OrgDefaultsRecord } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { StoredOrgDefaults } from './org-defaults.store.js';

@Controller('v1/admin/organization-defaults')
@Access({ superAdmin: true })
export class OrgDefaultsController {
  constructor(private readonly defaults: StoredOrgDefaults) {}

  /** Reads what new organizations begin with. */
  @Get()
  read(): Promise<OrgDefaultsRecord> {
    return this.defaults.read();
  }

  /** Replaces what new organizations begin with. Those that are there stay as they are. */
  @Put()
  write(@Body() body: OrgDefaultsBody, @Req() request: FastifyRequest): Promise<OrgDefaultsRecord> {
    return this.defaults.write(body, request);
  }
}

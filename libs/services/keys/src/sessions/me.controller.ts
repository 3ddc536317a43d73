import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Req } from '@nestjs/common';
import { UpdateMeBody, type MeRecord, type OwnSessionRecord, type UserRecord } from '@gateway/contracts';
import { Access, sessionOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { PeopleService } from './people.service.js';

@Controller('auth')
@Access({ session: true })
export class MeController {
  constructor(private readonly people: PeopleService) {}

  @Get('me')
  me(@Req() request: FastifyRequest): Promise<MeRecord> {
    return this.people.me(sessionOf(request));
  }

  @Patch('me')
  update(@Body() body: UpdateMeBody, @Req() request: FastifyRequest): Promise<UserRecord> {
    return this.people.update(sessionOf(request), body, request);
  }

  @Get('sessions')
  async sessions(@Req() request: FastifyRequest): Promise<{ data: OwnSessionRecord[] }> {
    return { data: await this.people.sessions(sessionOf(request)) };
  }

  @Delete('sessions')
  @HttpCode(204)
  endOthers(@Req() request: FastifyRequest): Promise<void> {
    return this.people.endOthers(sessionOf(request), request);
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  endOne(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.people.endOne(sessionOf(request), id, request);
  }
}

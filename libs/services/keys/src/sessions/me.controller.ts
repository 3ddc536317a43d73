import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Req } from '@nestjs/common';
import { UpdateMeBody, type MeRecord, type OwnSessionRecord, type UserRecord } from '@gateway/contracts';
import { Access, sessionOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { PeopleService } from './people.service.js';

@Controller('auth')
@Access({ session: true })
export class MeController {
  constructor(private readonly people: PeopleService) {}

  /** Reads who is logged in, and in which organizations. */
  @Get('me')
  me(@Req() request: FastifyRequest): Promise<MeRecord> {
    return this.people.me(sessionOf(request));
  }

  /** Changes the own profile. */
  @Patch('me')
  update(@Body() body: UpdateMeBody, @Req() request: FastifyRequest): Promise<UserRecord> {
    return this.people.update(sessionOf(request), body, request);
  }

  /** Lists the own sessions. */
  @Get('sessions')
  async sessions(@Req() request: FastifyRequest): Promise<{ data: OwnSessionRecord[] }> {
    return { data: await this.people.sessions(sessionOf(request)) };
  }

  /** Ends every own session but this one. */
  @Delete('sessions')
  @HttpCode(204)
  endOthers(@Req() request: FastifyRequest): Promise<void> {
    return this.people.endOthers(sessionOf(request), request);
  }

  /** Ends one own session. */
  @Delete('sessions/:id')
  @HttpCode(204)
  endOne(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.people.endOne(sessionOf(request), id, request);
  }
}

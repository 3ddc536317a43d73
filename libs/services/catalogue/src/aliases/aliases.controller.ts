import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiError,
  CreateAliasBody,
  ListAliasesQuery,
  UpdateAliasBody,
  type AliasRecord,
  type SessionPrincipal,
} from '@gateway/contracts';
import { Access, requireOrgRole, sessionOf, type AccessRule, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Aliases } from './aliases.service.js';

const READ: AccessRule = { session: true, org: { roles: ['owner', 'admin', 'member'] } };
const WRITE: AccessRule = { session: true, org: { roles: ['owner', 'admin'] } };

/** Names of an organization that stand for models. */
@Controller('v1/aliases')
export class AliasesController {
  constructor(private readonly aliases: Aliases) {}

  /** Creates a name that stands for one model, or for several by weight. */
  @Post()
  @Access(WRITE)
  async create(
    @Body() body: CreateAliasBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AliasRecord> {
    const caller = sessionOf(request);
    requireMember(caller, body.org_id);
    requireOrgRole(caller, body.org_id, WRITE);
    const answer = await this.aliases.create(request, { owner: body.org_id, by: caller.userId }, body);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists aliases. */
  @Get()
  @Access(READ)
  list(@Query() query: ListAliasesQuery, @Req() request: FastifyRequest): Promise<Page<AliasRecord>> {
    const caller = sessionOf(request);
    if (query.org_id !== undefined) requireMember(caller, query.org_id);
    return this.aliases.list(query.org_id === undefined ? orgsOf(caller) : [query.org_id], query);
  }

  /** Reads an alias. */
  @Get(':id')
  @Access(READ)
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<AliasRecord> {
    return this.aliases.read(orgsOf(sessionOf(request)), id);
  }

  /** Changes an alias. Requests follow within seconds. */
  @Patch(':id')
  @Access(WRITE)
  update(
    @Param('id') id: string,
    @Body() body: UpdateAliasBody,
    @Req() request: FastifyRequest,
  ): Promise<AliasRecord> {
    return this.aliases.update(request, changeOf(sessionOf(request), id), body);
  }

  /** Deletes an alias: its name is unknown to requests. */
  @Delete(':id')
  @HttpCode(204)
  @Access(WRITE)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.aliases.remove(request, changeOf(sessionOf(request), id));
  }
}

function changeOf(caller: SessionPrincipal, id: string): Parameters<Aliases['update']>[1] {
  return { owners: orgsOf(caller), id, mayChange: (owner) => requireOrgRole(caller, owner, WRITE) };
}

function orgsOf({ memberships }: SessionPrincipal): string[] {
  return memberships.map(({ orgId }) => orgId);
}

/** An organization that does not exist answers like one that the caller is not in. */
function requireMember(caller: SessionPrincipal, orgId: string): void {
  if (orgsOf(caller).includes(orgId)) return;
  throw new ApiError('forbidden', { message: 'You are not a member of this organization.', param: 'org_id' });
}

import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  AuditBody,
  ContentPromisesBody,
  Directory,
  DirectoryNamesBody,
  ForgetBody,
  type ContentPromise,
  type NamedIds,
  type Payer,
} from '@gateway/contracts';
import { Access } from '@gateway/platform';

/** Services that keep ids ask here who they are; `/internal` is never forwarded from outside. */
@Controller('internal/directory')
@Access({ internal: true })
export class DirectoryController {
  constructor(private readonly directory: Directory) {}

  @Post('names')
  @HttpCode(200)
  names(@Body() { account_id, ...ids }: DirectoryNamesBody): Promise<NamedIds> {
    return this.directory.names(account_id, ids);
  }

  @Get('orgs/:id/people/:user_id/teams')
  async teams(@Param('id') orgId: string, @Param('user_id') userId: string): Promise<{ teams: string[] }> {
    return { teams: await this.directory.teamsOf(orgId, userId) };
  }

  @Post('forget')
  @HttpCode(204)
  async forget(@Body() { account_id, end_user_hash }: ForgetBody): Promise<void> {
    await this.directory.forget(account_id, end_user_hash);
  }

  @Post('audit')
  @HttpCode(204)
  async audit(@Body() action: AuditBody): Promise<void> {
    await this.directory.audit(action);
  }

  @Post('content-promises')
  @HttpCode(200)
  async contentPromises(
    @Body() { org_ids }: ContentPromisesBody,
  ): Promise<{ promises: Record<string, ContentPromise[]> }> {
    return { promises: await this.directory.contentPromises(org_ids) };
  }

  @Get('payers/:id')
  async payer(@Param('id') id: string): Promise<{ payer: Payer | null }> {
    return { payer: await this.directory.payer(id) };
  }
}

import { Controller, Get, Param, Query } from '@nestjs/common';
import { ListAuditQuery, type AuditRecord, type CursorPage } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { KeysDatabase } from '../postgres/keys-database.js';
import { emailsOf, listAudit, toWire } from './audit.store.js';
import { targetNames } from './target-names.js';

@Controller('v1/orgs/:id/audit-log')
export class AuditController {
  constructor(private readonly database: KeysDatabase) {}

  /** `total` counts up to 10,000. */
  @Get()
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin'] } })
  async list(@Param('id') orgId: string, @Query() query: ListAuditQuery): Promise<CursorPage<AuditRecord>> {
    const { prisma } = this.database;
    const page = await listAudit(prisma, orgId, query);
    const [emails, nameOf] = await Promise.all([
      emailsOf(prisma, page.data),
      targetNames(prisma, orgId, page.data),
    ]);
    return { ...page, data: page.data.map((row) => toWire(row, emails, nameOf)) };
  }
}

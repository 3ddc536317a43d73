import { Injectable } from '@nestjs/common';
import { OrgOwners } from '@gateway/contracts';
import { KeysDatabase } from '../postgres/keys-database.js';

/** The owners of organizations, from the database. */
@Injectable()
export class DatabaseOrgOwners extends OrgOwners {
  constructor(private readonly database: KeysDatabase) {
    super();
  }

  override async emails(orgId: string): Promise<string[]> {
    const rows = await this.database.prisma.membership.findMany({
      where: { org_id: orgId, role: 'owner', removed_at: null, user: { disabled_at: null } },
      select: { user: { select: { email: true } } },
    });
    return rows.map(({ user }) => user.email);
  }
}

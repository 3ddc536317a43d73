import { Inject, Injectable } from '@nestjs/common';
import type { Clock, OrgDefaultsBody, OrgDefaultsRecord } from '@gateway/contracts';
import { CLOCK, refuseFaults, sentFields } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges } from '../accounts/account-change.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { KeysConfig } from '../keys.config.js';
import { defaultTier, newOrg, ORG_DEFAULTS, type OrgDefaults } from './org-defaults.js';
import { orgFaults } from './org.js';

const ONLY = { id: 1 };

/** Defaults of new organizations: those that a super admin has written, and the operator's file until then. */
@Injectable()
export class StoredOrgDefaults {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly config: KeysConfig,
    @Inject(ORG_DEFAULTS) private readonly file: OrgDefaults,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async read(tx: Tx = this.database.prisma): Promise<OrgDefaultsRecord> {
    const row = await tx.orgDefaults.findUnique({ where: ONLY });
    return saying((row?.fields as OrgDefaultsBody | undefined) ?? this.file);
  }

  /** Writes the defaults; a member that the body lacks has none. Throws ApiError `validation_error`. */
  write(body: OrgDefaultsBody, request: FastifyRequest): Promise<OrgDefaultsRecord> {
    refuseFaults('validation_error', orgFaults(body, newOrg(defaultTier(this.config))));
    const fields = saying(body);
    return this.changes.run(request, {
      accounts: [],
      make: async (tx) => {
        const written = { fields: { ...fields }, updated_at: new Date(this.clock.now()) };
        await tx.orgDefaults.upsert({ where: ONLY, create: { ...ONLY, ...written }, update: written });
        const target = { targetType: 'org_defaults', targetId: 'org_defaults', orgId: null };
        return {
          answer: fields,
          audit: { action: 'org_defaults.update', ...target, changedFields: sentFields(body) },
        };
      },
    });
  }
}

/** Returns the body without fields that are null: both mean none. */
function saying(body: OrgDefaultsBody): OrgDefaultsRecord {
  const named = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(named);
}

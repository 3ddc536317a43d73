import { Inject, Injectable } from '@nestjs/common';
import { newId, type Clock, type Random } from '@gateway/contracts';
import { KEY_DEFAULTS } from '@gateway/limits';
import { Usd } from '@gateway/money';
import { CLOCK, maskedSecret, mintSecret, RANDOM, secretDigest } from '@gateway/platform';
import { bumpAccount, createAccount } from '../accounts/account.store.js';
import { limitColumns } from '../accounts/scope-limits.js';
import { addAccountEvent } from '../events/account-events.js';
import { KeysConfig } from '../keys.config.js';
import { defaultTier, ORG_DEFAULTS, type OrgDefaults } from '../orgs/org-defaults.js';
import { realtimeColumns } from '../orgs/org.store.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { pepperedDigest } from '../secrets/seal.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { hashPassword } from '../sessions/password.js';

/** Limits of the key that a first run makes: those of every key without numbers of its own. */
export const FIRST_KEY_LIMITS = KEY_DEFAULTS;

export interface FirstRunResult {
  admin: { email: string; password: string };
  orgId: string;
  accountId: string;
  /** Plaintext, once; null where none was asked for. */
  apiKey: string | null;
}

interface Seed {
  passwordHash: string;
  secret: string | null;
  now: Date;
}

const PASSWORD_BYTES = 18;

/** The first super admin, their organization and, when asked for, a first key. */
@Injectable()
export class FirstRun {
  constructor(
    private readonly database: KeysDatabase,
    private readonly config: KeysConfig,
    @Inject(ORG_DEFAULTS) private readonly defaults: OrgDefaults,
    @Inject(SERVICE_SECRETS) private readonly secrets: ServiceSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Seeds an empty database and answers the plaintexts, which exist nowhere else. null where a person exists already;
   * of several processes that start at once one seeds.
   */
  async run({ withKey }: { withKey: boolean }): Promise<FirstRunResult | null> {
    if ((await this.database.prisma.user.count()) > 0) return null;
    const password = Buffer.from(this.random.bytes(PASSWORD_BYTES)).toString('base64url');
    const seed: Seed = {
      passwordHash: await hashPassword(password, this.random),
      secret: withKey ? mintSecret('rsk_', this.random) : null,
      now: new Date(this.clock.now()),
    };
    const made = await this.database.transaction((tx) => this.seed(tx, seed));
    if (made === null) return null;
    return {
      admin: { email: this.config.KEYS_ADMIN_EMAIL.toLowerCase(), password },
      apiKey: seed.secret,
      ...made,
    };
  }

  private async seed(
    tx: Tx,
    { passwordHash, secret, now }: Seed,
  ): Promise<{ orgId: string; accountId: string } | null> {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.first_run'))`;
    if ((await tx.user.count()) > 0) return null;
    const sources = { clock: this.clock, random: this.random };
    const userId = newId('usr', this.clock, this.random);
    const orgId = newId('org', this.clock, this.random);
    await tx.user.create({
      data: {
        id: userId,
        email: this.config.KEYS_ADMIN_EMAIL.toLowerCase(),
        name: 'Administrator',
        password_hash: passwordHash,
        is_super_admin: true,
        created_at: now,
      },
    });
    await createAccount(tx, { userId }, sources);
    const { default_api_version, tier = defaultTier(this.config) } = this.defaults;
    const begins = {
      tier,
      default_api_version,
      ...limitColumns(this.defaults),
      ...realtimeColumns(this.defaults),
    };
    await tx.org.create({
      data: { id: orgId, name: 'My organization', ...begins, created_at: now, updated_at: now },
    });
    const { BILLING, KEYS_OPENING_CREDIT_USD } = this.config;
    const credit = BILLING === 'off' ? Usd.zero : Usd.parse(KEYS_OPENING_CREDIT_USD);
    const accountId = await createAccount(tx, { orgId }, sources, {
      opening_credit_usd: credit.isZero() ? null : credit.toString(),
    });
    await tx.membership.create({ data: { org_id: orgId, user_id: userId, role: 'owner', created_at: now } });
    if (secret !== null) await this.addKey(tx, { accountId, orgId, userId, secret, now });
    return { orgId, accountId };
  }

  private async addKey(
    tx: Tx,
    {
      accountId,
      orgId,
      userId,
      secret,
      now,
    }: { accountId: string; orgId: string; userId: string; secret: string; now: Date },
  ): Promise<void> {
    const [pepper] = this.secrets.peppers;
    await bumpAccount(tx, accountId);
    const key = await tx.apiKey.create({
      data: {
        id: newId('key', this.clock, this.random),
        account_id: accountId,
        org_id: orgId,
        created_by: userId,
        secret_hmac: pepperedDigest(pepper.key, secretDigest(secret)),
        pepper_version: pepper.version,
        masked_key: maskedSecret(secret),
        label: 'First key',
        created_at: now,
        updated_at: now,
      },
    });
    const data = { key_id: key.id, label: key.label, masked_key: key.masked_key };
    const event = { type: 'api_key.created' as const, account_id: accountId, org_id: orgId, data };
    await addAccountEvent(tx, event, { clock: this.clock, random: this.random });
  }
}

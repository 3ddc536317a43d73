import { Inject, Injectable } from '@nestjs/common';
import {
  ProviderKeyVault,
  type Clock,
  type ProviderCredential,
  type ProviderKeyError,
  type ProviderKeyUse,
  type Random,
} from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { addAccountEvent } from '../events/account-events.js';
import { plainJson, storedJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { ProviderKeySecrets } from './provider-key-secrets.js';

/** A key that is refused again and again is announced once in this time for each way of refusing. */
const ANNOUNCED_EVERY_MS = 60_000;

/** Provider keys from the database. */
@Injectable()
export class DatabaseProviderKeyVault extends ProviderKeyVault {
  constructor(
    private readonly database: KeysDatabase,
    private readonly secrets: ProviderKeySecrets,
    private readonly relay: OutboxRelay,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async open(accountId: string, keyId: string, version: number): Promise<ProviderCredential | null> {
    try {
      const where = { id: keyId, account_id: accountId, version, is_enabled: true };
      const row = await this.database.prisma.providerKey.findFirst({ where });
      return row === null ? null : this.secrets.open(row);
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  /** Its own writes, not a management change: no principal shows them. */
  override async report(uses: readonly ProviderKeyUse[]): Promise<void> {
    for (const use of uses) await this.database.transaction((tx) => this.note(tx, use));
    if (uses.some(({ refusal }) => refusal !== null)) this.relay.nudge();
  }

  private async note(tx: Tx, { accountId, keyId, atMs, refusal }: ProviderKeyUse): Promise<void> {
    const at = new Date(Math.min(atMs, this.clock.now()));
    await tx.$executeRaw`
      UPDATE provider_key SET last_used_at = greatest(last_used_at, ${at}) WHERE id = ${keyId} AND account_id = ${accountId}`;
    if (refusal === null) return;
    // Locked, so that of two edges that report at once one announces.
    await tx.$queryRaw`SELECT id FROM provider_key WHERE id = ${keyId} FOR UPDATE`;
    const row = await tx.providerKey.findFirst({ where: { id: keyId, account_id: accountId } });
    if (row === null) return;
    const { model, requestId, errorCode, providerCode, message, servedOnPlatform } = refusal;
    const last: ProviderKeyError = {
      code: errorCode,
      provider_code: providerCode,
      message,
      at: at.toISOString(),
    };
    const announced = storedJson<Record<string, number>>(row.announced);
    const name = providerCode ?? errorCode;
    const isDue = this.clock.now() - (announced[name] ?? -Infinity) >= ANNOUNCED_EVERY_MS;
    if (isDue) {
      announced[name] = this.clock.now();
      const data = {
        pk_id: keyId,
        provider: row.provider,
        label: row.label,
        model,
        error_code: errorCode,
        provider_code: providerCode,
        message,
        request_id: requestId,
        served_on_platform: servedOnPlatform,
      };
      const sources = { clock: this.clock, random: this.random };
      const event = { type: 'byok_key.failed', account_id: accountId, org_id: row.org_id, data } as const;
      await addAccountEvent(tx, event, sources);
    }
    await tx.providerKey.update({
      where: { id: keyId },
      data: { last_error: plainJson(last), announced: plainJson(announced) },
    });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import {
  ProviderKeyVault,
  type Clock,
  type ProviderCredential,
  type ProviderKeyError,
  type ProviderKeyFailure,
  type ProviderKeyUse,
  type Random,
} from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { addAccountEvent } from '../events/account-events.js';
import type { Prisma } from '../generated/prisma/client.js';
import { plainJson, storedJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { contextOf, ProviderKeySecrets } from './provider-key-secrets.js';

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
      return row === null ? null : this.secrets.open(row, contextOf(row));
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  /** Its own writes, not a management change: no principal shows them. */
  override async report(uses: readonly ProviderKeyUse[]): Promise<void> {
    for (const use of uses) await this.database.transaction((tx) => this.note(tx, use));
    if (uses.some(({ failure }) => failure !== null)) this.relay.wake();
  }

  private async note(tx: Tx, { accountId, keyId, atMs, failure }: ProviderKeyUse): Promise<void> {
    const at = new Date(Math.min(atMs, this.clock.now()));
    await tx.$executeRaw`
      UPDATE provider_key SET last_used_at = greatest(last_used_at, ${at}) WHERE id = ${keyId} AND account_id = ${accountId}`;
    if (failure === null) return;
    // Locked, so that of two edges that report at once one announces.
    await tx.$queryRaw`SELECT id FROM provider_key WHERE id = ${keyId} FOR UPDATE`;
    const where = { id: keyId, account_id: accountId };
    const row = await tx.providerKey.findFirst({ where });
    if (row === null) {
      await this.noteRemoved(tx, where, failure);
      return;
    }
    const last: ProviderKeyError = {
      code: failure.errorCode,
      provider_code: failure.providerCode,
      message: failure.message,
      at: at.toISOString(),
    };
    const announced = await this.announce(tx, row, failure);
    await tx.providerKey.update({ where, data: { last_error: plainJson(last), announced } });
  }

  /** An edge reports up to some seconds after the request, or once this service is back: the key may be deleted by then. */
  private async noteRemoved(
    tx: Tx,
    where: { id: string; account_id: string },
    failure: ProviderKeyFailure,
  ): Promise<void> {
    await tx.$queryRaw`SELECT id FROM removed_provider_key WHERE id = ${where.id} FOR UPDATE`;
    const row = await tx.removedProviderKey.findFirst({ where });
    if (row === null) return;
    const announced = await this.announce(tx, row, failure);
    await tx.removedProviderKey.update({ where, data: { announced } });
  }

  /** @returns when each way of refusing this key was last announced */
  private async announce(
    tx: Tx,
    key: AnnouncedKey,
    { model, requestId, errorCode, providerCode, message, servedOnPlatform }: ProviderKeyFailure,
  ): Promise<Prisma.InputJsonObject> {
    const announced = storedJson<Record<string, number>>(key.announced);
    const name = providerCode ?? errorCode;
    if (this.clock.now() - (announced[name] ?? -Infinity) < ANNOUNCED_EVERY_MS) return plainJson(announced);
    const data = {
      pk_id: key.id,
      provider: key.provider,
      label: key.label,
      model,
      error_code: errorCode,
      provider_code: providerCode,
      message,
      request_id: requestId,
      served_on_platform: servedOnPlatform,
    };
    const sources = { clock: this.clock, random: this.random };
    const { account_id, org_id } = key;
    await addAccountEvent(tx, { type: 'byok_key.failed', account_id, org_id, data }, sources);
    return plainJson({ ...announced, [name]: this.clock.now() });
  }
}

/** A provider key, or what is kept of one that was deleted. */
type AnnouncedKey = Prisma.RemovedProviderKeyGetPayload<{ omit: { removed_at: true } }>;

import { Inject, Injectable } from '@nestjs/common';
import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { seal, unsealWithAny } from '@gateway/sealing';
import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';

/** A retired key verifies for this long: the life of the last token it signed, with room for clocks. */
const OVERLAP_MS = 20 * 60_000;
const FRESH_MS = 30_000;
/** An unknown kid asks the database at most this often. */
const UNKNOWN_KID_EVERY_MS = 1_000;

const FOREIGN_KEK = 'The signing key cannot be opened: KEYS_KEK is not the one it was sealed with.';
const SEALED = { kid: true, sealed_private: true } as const;

interface SealedKey {
  kid: string;
  sealed_private: Uint8Array;
}

interface Loaded {
  kid: string;
  publicJwk: JWK;
  publicKey: CryptoKey | Uint8Array;
  isRetired: boolean;
}

/** EdDSA keys of session tokens, in the database with the private part sealed. */
@Injectable()
export class SigningKeys {
  private loaded: Loaded[] = [];
  private loadedAt = Number.NEGATIVE_INFINITY;
  private signer: { kid: string; key: CryptoKey | Uint8Array } | null = null;

  constructor(
    private readonly database: KeysDatabase,
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'keks'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Makes the first key at start, and proves that this process can open what is sealed. Throws where it cannot. */
  async ensure(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await lock(tx);
      const active = await tx.signingKey.count({ where: { retired_at: null } });
      if (active === 0) await this.create(tx);
    });
    await this.current();
  }

  /**
   * Begins a rotation: a new key signs, the old one verifies for another 20 minutes. Throws where there are keys and this
   * process can open none: what it seals no service could open, and nobody could log in.
   */
  async rotate(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await lock(tx);
      const known = await tx.signingKey.findMany({ select: SEALED });
      const isOurs = known.length === 0 || known.some((row) => opens(row, this.secrets.keks));
      if (!isOurs) throw new Error(FOREIGN_KEK);
      await tx.signingKey.updateMany({ where: { retired_at: null }, data: { retired_at: this.nowDate() } });
      await this.create(tx);
    });
    this.loadedAt = Number.NEGATIVE_INFINITY;
  }

  /** Begins a rotation where the key that signs is older than this; of several processes one does. */
  async rotateOlderThan(ageMs: number): Promise<boolean> {
    const before = new Date(this.clock.now() - ageMs);
    const isRotated = await this.database.transaction(async (tx) => {
      await lock(tx);
      const old = await tx.signingKey.updateMany({
        where: { retired_at: null, created_at: { lt: before } },
        data: { retired_at: this.nowDate() },
      });
      if (old.count > 0) await this.create(tx);
      return old.count > 0;
    });
    if (isRotated) this.loadedAt = Number.NEGATIVE_INFINITY;
    return isRotated;
  }

  /** The key that signs now. */
  async current(): Promise<{ kid: string; key: CryptoKey | Uint8Array }> {
    await this.refresh(FRESH_MS);
    const active = this.loaded.find((key) => !key.isRetired);
    if (active === undefined) throw new Error('There is no signing key.');
    if (this.signer?.kid !== active.kid) this.signer = { kid: active.kid, key: await this.open(active.kid) };
    return this.signer;
  }

  /** The public key of a kid of ours; null for any other. */
  async publicKey(kid: string): Promise<CryptoKey | Uint8Array | null> {
    await this.refresh(FRESH_MS);
    if (!this.loaded.some((key) => key.kid === kid)) await this.refresh(UNKNOWN_KID_EVERY_MS);
    return this.loaded.find((key) => key.kid === kid)?.publicKey ?? null;
  }

  /** JWK set of the keys that verify. */
  async jwks(): Promise<{ keys: JWK[] }> {
    await this.refresh(FRESH_MS);
    return { keys: this.loaded.map((key) => key.publicJwk) };
  }

  private async refresh(maxAgeMs: number): Promise<void> {
    const now = this.clock.monotonic();
    if (now - this.loadedAt < maxAgeMs) return;
    const since = new Date(this.clock.now() - OVERLAP_MS);
    const rows = await this.database.prisma.signingKey.findMany({
      where: { OR: [{ retired_at: null }, { retired_at: { gt: since } }] },
      orderBy: { created_at: 'desc' },
    });
    this.loaded = await Promise.all(
      rows.map(async (row) => {
        const jwk = publicJwk(row.kid, row.public_jwk);
        const publicKey = await importJWK(jwk, 'EdDSA');
        return { kid: row.kid, publicJwk: jwk, publicKey, isRetired: row.retired_at !== null };
      }),
    );
    this.loadedAt = now;
  }

  private async open(kid: string): Promise<CryptoKey | Uint8Array> {
    const row = await this.database.prisma.signingKey.findUniqueOrThrow({ where: { kid } });
    const { d } = objectOf(JSON.parse(unsealed(row, this.secrets.keks)));
    return importJWK({ ...publicJwk(kid, row.public_jwk), d: String(d) }, 'EdDSA');
  }

  private async create(tx: Tx): Promise<void> {
    const kid = uuidv7(this.clock, this.random);
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    const { d, ...shown } = await exportJWK(pair.privateKey);
    const secret = Buffer.from(JSON.stringify({ d }));
    await tx.signingKey.create({
      data: {
        kid,
        public_jwk: { kty: shown.kty ?? 'OKP', crv: shown.crv ?? 'Ed25519', x: shown.x ?? '' },
        sealed_private: seal(secret, this.secrets.keks[0], contextOf(kid), this.random),
        created_at: this.nowDate(),
      },
    });
  }

  private nowDate(): Date {
    return new Date(this.clock.now());
  }
}

/** Throws where the key that signs now is not sealed with this KEK: then the services do not seal with it. */
export async function checkSealingKek(tx: Tx, kek: Buffer): Promise<void> {
  const active = await tx.signingKey.findFirst({
    where: { retired_at: null },
    orderBy: { created_at: 'desc' },
    select: SEALED,
  });
  if (active !== null && !opens(active, [kek]))
    throw new Error('The services do not seal with this KEYS_KEK: run rotate-signing-key with it first.');
}

function opens(row: SealedKey, keks: ServiceSecrets['keks']): boolean {
  try {
    unsealed(row, keks);
    return true;
  } catch {
    return false;
  }
}

function unsealed({ kid, sealed_private }: SealedKey, keks: ServiceSecrets['keks']): string {
  try {
    return unsealWithAny(sealed_private, keks, contextOf(kid)).toString('utf8');
  } catch (cause) {
    throw new Error(FOREIGN_KEK, { cause });
  }
}

/** Locks, so that one of several starting processes makes the key. */
async function lock(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.signing_key'))`;
}

function contextOf(kid: string): string {
  return `signing_key/${kid}`;
}

function publicJwk(kid: string, stored: unknown): JWK {
  const { kty, crv, x } = objectOf(stored);
  return { kid, kty: String(kty), crv: String(crv), x: String(x), alg: 'EdDSA', use: 'sig' };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

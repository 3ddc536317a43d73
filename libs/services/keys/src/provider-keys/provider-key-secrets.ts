import { Inject, Injectable } from '@nestjs/common';
import type { ProviderCredential, Random } from '@gateway/contracts';
import { RANDOM } from '@gateway/platform';
import { openEnvelope, sealEnvelope, type EnvelopeContext } from '@gateway/sealing';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';

/** The facts that bind the envelope of a row. */
export interface SealedRow {
  id: string;
  account_id: string;
  provider: string;
  version: number;
}

export interface SealedColumns {
  sealed_credentials: Uint8Array<ArrayBuffer>;
  wrapped_key: Uint8Array<ArrayBuffer>;
  kek_id: string;
}

export function contextOf({ id, account_id, provider, version }: SealedRow): EnvelopeContext {
  const row = `provider_key/${id}/${account_id}`;
  return { key: `${row}/key`, text: `${row}/${provider}/${version}` };
}

/** The facts that bind the envelope of a platform credential. */
export function platformContextOf({ id, provider, version }: Omit<SealedRow, 'account_id'>): EnvelopeContext {
  const row = `platform_credential/${id}`;
  return { key: `${row}/key`, text: `${row}/${provider}/${version}` };
}

/** Credentials of customers and of the platform at providers, sealed with a data key of each row. */
@Injectable()
export class ProviderKeySecrets {
  constructor(
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'keks'>,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  seal(credential: ProviderCredential, context: EnvelopeContext): SealedColumns {
    const plain = Buffer.from(JSON.stringify(credential));
    try {
      const { sealed, wrappedKey, kekId } = sealEnvelope(plain, this.secrets.keks, context, this.random);
      return { sealed_credentials: sealed, wrapped_key: wrappedKey, kek_id: kekId };
    } finally {
      plain.fill(0);
    }
  }

  /** Throws where the key-encryption key is another, or a byte of the row differs. */
  open(row: SealedColumns, context: EnvelopeContext): ProviderCredential {
    const envelope = { sealed: row.sealed_credentials, wrappedKey: row.wrapped_key, kekId: row.kek_id };
    const plain = openEnvelope(envelope, this.secrets.keks, context);
    try {
      return JSON.parse(plain.toString('utf8')) as ProviderCredential;
    } finally {
      plain.fill(0);
    }
  }
}

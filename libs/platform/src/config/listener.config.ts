import { createSecureContext } from 'node:tls';
import { IsOptional, IsString } from 'class-validator';
import { ConfigError, loadConfig } from './load-config.js';
import { OrFile } from './or-file.js';
import { IsCertificates } from './validators.js';

/** Settings of the address that a process offers to callers. */
class ListenerConfig {
  /** The certificate with its chain, in PEM. With it the port speaks HTTPS alone; absent = a proxy before us does. */
  @OrFile() @IsOptional() @IsCertificates() TLS_CERT?: string;
  /** Its private key in PEM, without a passphrase. */
  @OrFile() @IsOptional() @IsString() TLS_KEY?: string;
}

export interface Tls {
  cert: string;
  key: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Null for a listener without TLS. Throws ConfigError where one is missing or the two do not belong together. */
export function readTls(env: Environment): Tls | null {
  const { TLS_CERT: cert, TLS_KEY: key } = loadConfig(ListenerConfig, env);
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined)
    throw new ConfigError([
      `${cert === undefined ? 'TLS_CERT' : 'TLS_KEY'}: both or neither of TLS_CERT and TLS_KEY`,
    ]);
  try {
    createSecureContext({ cert, key });
  } catch {
    // What OpenSSL says of it may quote the key.
    throw new ConfigError(['TLS_KEY: no private key of the certificate TLS_CERT']);
  }
  return { cert, key };
}

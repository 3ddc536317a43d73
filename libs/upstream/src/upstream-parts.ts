import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { valueOrFile } from '@gateway/platform';
import {
  isSendable,
  type AddedParts,
  type GatewayFile,
  type OwnProvider,
  type Provider,
} from '@gateway/providers';

type Environment = Readonly<Record<string, string | undefined>>;

/** TLS of one upstream, in PEM. */
export interface UpstreamTls {
  /** Authorities that alone are trusted, in place of the public ones. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Additions of the operator's file to the calls of a provider. */
export interface UpstreamParts {
  readonly added: AddedParts;
  /** null = the TLS of all. */
  readonly tls: UpstreamTls | null;
  /** null = the times of all. */
  readonly timeouts: Provider['timeouts'] | null;
  /** null = it is not asked. */
  readonly healthPath: string | null;
}

/** More than any certificate with its chain, or authorities of a company. */
const PEM_BYTES_MAX = 1_048_576;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the variables and files that the providers of a gateway.yaml name. Returns the parts by slug, and each fault with
 * its place; a fault names variables and files, never a value.
 */
export function upstreamParts(
  file: GatewayFile,
  env: Environment,
): { parts: Map<string, UpstreamParts>; faults: string[] } {
  const faults: string[] = [];
  const parts = new Map<string, UpstreamParts>();
  for (const entry of file.config.providers) {
    const reader = new PartsReader(entry, env, (within, words) => {
      faults.push(file.fault(entry, within, words));
    });
    parts.set(entry.slug, reader.read());
  }
  return { parts, faults };
}

class PartsReader {
  constructor(
    private readonly entry: OwnProvider,
    private readonly env: Environment,
    private readonly fault: (within: string[], words: string) => void,
  ) {}

  read(): UpstreamParts {
    const { headers, query } = this.entry;
    const lower = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
    const added = {
      headers: this.values('headers', headers ?? {}, new Map(lower)),
      query: this.values('query', query ?? {}, new Map(Object.entries(query ?? {}))),
    };
    const { health_path: healthPath = null } = this.entry;
    return { added, tls: this.tls(), timeouts: this.timeouts(), healthPath };
  }

  private values(
    member: 'headers' | 'query',
    given: NonNullable<OwnProvider['headers']>,
    named: ReadonlyMap<string, unknown>,
  ): Record<string, string> {
    const spelling = Object.keys(given);
    return Object.fromEntries(
      [...named].flatMap(([name, value], at) => {
        const text = typeof value === 'string' ? value : this.variable([member, spelling[at]], value);
        return text === null ? [] : [[name, text]];
      }),
    );
  }

  private variable(at: string[], reference: unknown): string | null {
    const name = String(Reflect.get(Object(reference), 'env'));
    try {
      const value = valueOrFile(this.env, name);
      if (value === undefined) this.fault(at, `${name} is not set.`);
      else if (!isSendable(value)) this.fault(at, `${name} has to be printable ASCII of at most 8 KiB.`);
      else return value;
    } catch (failure) {
      this.fault(at, `${failure instanceof Error ? failure.message : String(failure)}.`);
    }
    return null;
  }

  private timeouts(): UpstreamParts['timeouts'] {
    const { timeouts } = this.entry;
    if (timeouts === undefined) return null;
    const {
      connect_ms: connectMs,
      first_byte_ms: firstByteMs,
      idle_ms: idleMs,
      total_ms: totalMs,
    } = timeouts;
    return {
      ...(connectMs !== undefined && { connectMs }),
      ...(firstByteMs !== undefined && { firstByteMs }),
      ...(idleMs !== undefined && { idleMs }),
      ...(totalMs !== undefined && { totalMs }),
    };
  }

  private tls(): UpstreamTls | null {
    const ca = this.pem('ca_file', isCertificates);
    const cert = this.pem('client_cert_file', isCertificates);
    const key = this.pem('client_key_file', (text) => createPrivateKey(text).type === 'private');
    if (cert !== null && key !== null && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      this.fault(['client_key_file'], 'this key does not fit the certificate of client_cert_file.');
    if (ca === null && cert === null) return null;
    return { ...(ca !== null && { ca }), ...(cert !== null && key !== null && { cert, key }) };
  }

  /** Returns the text of a file; null where none is named, or with a fault. */
  private pem(
    member: 'ca_file' | 'client_cert_file' | 'client_key_file',
    isSound: (text: string) => boolean,
  ): string | null {
    const path = this.entry[member];
    if (path === undefined) return null;
    let text: string;
    try {
      if (statSync(path).size > PEM_BYTES_MAX) throw new TypeError('it is longer than 1 MiB');
      text = readFileSync(path, 'utf8');
    } catch (failure) {
      const reason = String(Reflect.get(Object(failure), 'code') ?? failure);
      this.fault([member], `${path} cannot be read (${reason}).`);
      return null;
    }
    try {
      if (isSound(text)) return text;
    } catch {
      // What OpenSSL says of a key may hold parts of it.
    }
    this.fault([member], `${path} holds no PEM of that kind.`);
    return null;
  }
}

/** True where every certificate of the text can be read, and there is one. Throws for one that cannot. */
function isCertificates(text: string): boolean {
  const found = text.match(CERTIFICATE) ?? [];
  return found.every((one) => new X509Certificate(one).serialNumber !== '') && found.length > 0;
}

import { readFileSync } from 'node:fs';
import { askGuard, textOf } from './guard-client.js';

/** Servers with TLS and credentials, on 127.0.0.1, started for one test. */
interface Secured {
  /** The authority that signed the servers' certificates, as PEM. */
  ca: string;
  username: string;
  password: string;
  drop: () => Promise<void>;
}

export interface SecuredRedis extends Secured {
  /** host:port; it has a replica. */
  server: string;
  /** Names `server` as `mymaster`, and its replica once it is away for two seconds. */
  sentinel: string;
  sentinelPassword: string;
  /** Three masters with a replica each, which takes over after two seconds. */
  cluster: string[];
}

export interface SecuredKafka extends Secured {
  /** host:port of the listeners of one broker. */
  plaintext: string;
  saslPlaintext: string;
  saslSsl: string;
}

const CREDENTIALS = { username: 'gateway', password: 'for-this-test-only' };

/** A server, a sentinel and a cluster, all with TLS and a password. */
export async function securedRedis(): Promise<SecuredRedis> {
  const { parts, ca, drop } = await start('secured-redis');
  const [server, sentinel, ...cluster] = parts;
  return { ...CREDENTIALS, server, sentinel, sentinelPassword: 'for-the-sentinel-only', cluster, ca, drop };
}

/** A broker that takes PLAIN, SCRAM and OAUTHBEARER, with and without TLS. */
export async function securedKafka(): Promise<SecuredKafka> {
  const { parts, ca, drop } = await start('secured-kafka');
  const [plaintext, saslPlaintext, saslSsl] = parts;
  return { ...CREDENTIALS, plaintext, saslPlaintext, saslSsl, ca, drop };
}

async function start(kind: string): Promise<{ parts: string[]; ca: string; drop: () => Promise<void> }> {
  const started = await askGuard('/own', { kind });
  const parts = textOf(started, 'address').split(',');
  const ca = readFileSync(parts.pop() ?? '', 'utf8');
  const id = textOf(started, 'id');
  return { parts, ca, drop: async () => void (await askGuard('/own/stop', { id })) };
}

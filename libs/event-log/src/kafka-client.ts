import './kafka-checksum.js';
import './kafka-codecs.js';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import kafkajs from 'kafkajs';

/** Addresses and credentials of the brokers. Plain values: a worker thread is sent it. */
export interface KafkaAccess {
  /** host:port of some brokers, `[::1]:9092` of an IPv6 address; the others are learnt from them. */
  brokers: string[];
  /** An empty object = the authorities that Node brings; `ca` is PEM. */
  tls?: { ca?: string };
  sasl?:
    | { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
    /** The file is read at each authentication. */
    | { mechanism: 'oauthbearer'; tokenFile: string };
}

export interface KafkaOptions extends KafkaAccess {
  /** Name of the service, in the brokers' logs. */
  clientId: string;
  /** The client's own warnings and errors. */
  onNotice?: (level: 'warn' | 'error', message: string) => void;
}

const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;
/** Place of the colons of an IPv6 address: kafkajs takes what stands before the first colon for the host. */
const COLON = '%3A';

export function kafkaClient(options: KafkaOptions): kafkajs.Kafka {
  withoutNegativeTimers();
  const { WARN, ERROR } = kafkajs.logLevel;
  return new kafkajs.Kafka({
    brokers: options.brokers.map(withoutColons),
    socketFactory: openSocket,
    clientId: options.clientId,
    ssl: options.tls ?? false,
    sasl: saslOf(options.sasl),
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    authenticationTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    logLevel: WARN,
    logCreator: () => (entry) => {
      if (entry.level > WARN) return;
      const detail: unknown = entry.log['error'];
      const text = typeof detail === 'string' ? `${entry.log.message}: ${detail}` : entry.log.message;
      options.onNotice?.(entry.level === ERROR ? 'error' : 'warn', text);
    },
  });
}

function withoutColons(broker: string): string {
  const [, address, port] = /^\[(.+)\]:(\d+)$/.exec(broker) ?? [];
  return address === undefined ? broker : `${address.replaceAll(':', COLON)}:${port}`;
}

/** Connects as kafkajs does, also to an IPv6 address. */
function openSocket({ host: written, port, ssl, onConnect }: kafkajs.ISocketFactoryArgs): Socket {
  const host = written.replaceAll(COLON, ':');
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = ssl
    ? connectTls({ host, port, ...name, ...ssl }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  return socket;
}

function saslOf(sasl: KafkaOptions['sasl']): kafkajs.SASLOptions | undefined {
  if (sasl === undefined) return undefined;
  if (sasl.mechanism === 'oauthbearer') {
    const { mechanism, tokenFile } = sasl;
    const token = async (): Promise<{ value: string }> => ({
      value: (await readFile(tokenFile, 'utf8')).trim(),
    });
    return { mechanism, oauthBearerProvider: token };
  }
  const { mechanism, username, password } = sasl;
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password };
    case 'scram-sha-256':
      return { mechanism, username, password };
    case 'scram-sha-512':
      return { mechanism, username, password };
  }
}

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

const patched = new WeakSet<RequestQueue>();

/**
 * kafkajs sets a timer after each answer, also where no request waits; its delay is then below zero, at which Node 24
 * warns. Without a waiting request there is nothing to check: the next one that has to wait sets its own timer.
 */
function withoutNegativeTimers(): void {
  const require = createRequire(import.meta.url);
  const queue: unknown = require('kafkajs/src/network/requestQueue');
  if (typeof queue !== 'function' || !isRequestQueue(queue.prototype) || patched.has(queue.prototype)) return;
  const prototype = queue.prototype;
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };
  patched.add(prototype);
}

function isRequestQueue(value: unknown): value is RequestQueue {
  return typeof value === 'object' && value !== null && 'scheduleCheckPendingRequests' in value;
}

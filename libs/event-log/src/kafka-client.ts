import './kafka-checksum.js';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';

/** Addresses and credentials of the brokers. Plain values: a worker thread is sent it. */
export interface KafkaAccess {
  /** host:port of some brokers; the others are learnt from them. */
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

export function kafkaClient(options: KafkaOptions): kafkajs.Kafka {
  withoutNegativeTimers();
  const { WARN, ERROR } = kafkajs.logLevel;
  return new kafkajs.Kafka({
    brokers: options.brokers,
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

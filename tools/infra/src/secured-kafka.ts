import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeCertificates } from './certificates.js';
import { CLUSTER_ID, launch, preparedKafka, serverProperties } from './kafka.js';
import { killAndWait } from './local-process.js';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as in postgres.ts.
import { freePort } from '../../../libs/database/src/postgres/free-port.js';
import type { RunningService } from './service.js';

const FORMAT_MS = 60_000;
/** Credentials of this one broker on 127.0.0.1, which ends with its test. */
const [USER, PASSWORD] = ['gateway', 'for-this-test-only'];
const LISTENERS = ['sasl_plaintext', 'sasl_ssl'];
const MODULES = {
  plain: `plain.PlainLoginModule required user_${USER}="${PASSWORD}"`,
  'scram-sha-256': 'scram.ScramLoginModule required',
  'scram-sha-512': 'scram.ScramLoginModule required',
  oauthbearer: 'oauthbearer.OAuthBearerLoginModule required',
};

/**
 * A broker with three listeners, whose address is `plaintext,sasl_plaintext,sasl_ssl,<file of the authority>`. It takes PLAIN,
 * SCRAM and OAUTHBEARER (a JWT of algorithm "none") of the user `gateway`.
 */
export async function startSecuredKafka(folder: string): Promise<RunningService> {
  const { classPath } = await preparedKafka();
  mkdirSync(folder, { recursive: true });
  const { ca, bundle } = await makeCertificates(folder);
  const ports = { broker: await freePort(), controller: await freePort() };
  const secured = [await freePort(), await freePort()];
  const plain = serverProperties(join(folder, 'log'), ports);
  const properties = withListeners(plain, secured) + security(bundle);
  const config = join(folder, 'format.properties');
  writeFileSync(config, properties);
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${USER},password=${PASSWORD}]`,
  ]);
  const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', config, ...users];
  await promisify(execFile)('java', ['-cp', classPath, ...format], { timeout: FORMAT_MS });
  const server = await launch(await preparedKafka(), folder, ports, [], properties);
  const brokers = [ports.broker, ...secured].map((port) => `127.0.0.1:${port}`);
  return { address: [...brokers, ca].join(','), pid: server.pid, stop: () => killAndWait(server) };
}

function withListeners(properties: string, ports: number[]): string {
  const more = LISTENERS.map((name, at) => `${name.toUpperCase()}://127.0.0.1:${ports[at]}`).join(',');
  return properties
    .replace(/^(listeners|advertised\.listeners)=/gm, (start) => `${start}${more},`)
    .replace(/^(listener\.security\.protocol\.map)=/m, '$1=SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,');
}

function security(bundle: string): string {
  const logins = LISTENERS.flatMap((listener) =>
    Object.entries(MODULES).map(
      ([mechanism, module]) =>
        `listener.name.${listener}.${mechanism}.sasl.jaas.config=org.apache.kafka.common.security.${module};`,
    ),
  );
  return [
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    ...logins,
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${bundle}`,
    '',
  ].join('\n');
}

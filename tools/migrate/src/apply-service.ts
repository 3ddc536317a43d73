import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { applyMigrations } from '@gateway/database';
import { releaseOf, serviceEnvironment, valueOrFile, type ServiceName } from '@gateway/platform';

const SERVICES: readonly ServiceName[] = ['catalogue', 'keys', 'usage', 'notifications', 'workers'];

/**
 * Applies what the schema of a service lacks, in the database of `<SERVICE>_DATABASE_URL` or `DATABASE_URL`, each
 * also as `<NAME>_FILE`. Harmless where nothing is missing. Throws with a sentence for an operator.
 */
export async function applyService(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const service = SERVICES.find((known) => known === name);
  if (service === undefined) throw new Error(`${name} has no database; these have: ${SERVICES.join(', ')}.`);
  const variable = `${service.toUpperCase()}_DATABASE_URL`;
  const url = valueOrFile(serviceEnvironment(service, env), variable);
  if (url === undefined) throw new Error(`${variable} or DATABASE_URL is required.`);
  const schemaDir = join(import.meta.dirname, '../../../libs/services', service, 'prisma');
  if (!existsSync(schemaDir)) throw new Error(`${schemaDir} does not exist: run the build first.`);
  await applyMigrations({ url, schemaDir, schema: service, release: releaseOf(import.meta.dirname) });
}

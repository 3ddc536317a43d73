// eslint-disable-next-line @nx/enforce-module-boundaries -- the lib's index would load Nest into a process that only starts servers.
import { EmbeddedPostgres } from '../../../libs/database/src/postgres/embedded-postgres.js';
import type { RunningService } from './service.js';

/** PostgreSQL 18 that syncs nothing to disk; many test files connect to it at the same time. */
export async function startPostgres(folder: string, port?: number): Promise<RunningService> {
  const server = new EmbeddedPostgres({ dataDir: folder, isThrowaway: true, port });
  const { url, pid } = await server.start();
  return { address: url, pid, stop: () => server.stop() };
}

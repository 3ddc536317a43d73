import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metrics } from './metrics.js';

const HELP = 'Always 1; its labels say which release of which service runs on what.';

/** Reports which release this process is, so that a dashboard can lay a change of it over every other figure. */
export function reportBuild(metrics: Metrics, service: string): void {
  const labels = {
    service,
    version: releaseOf(dirname(fileURLToPath(import.meta.url))),
    node: process.version,
  };
  metrics.gauges('gateway_build_info', HELP, ['service', 'version', 'node'], () => [{ labels, value: 1 }]);
}

/** The version of the nearest package.json: compiled files lie deeper than their sources. */
export function releaseOf(folder: string): string {
  const path = join(folder, 'package.json');
  if (existsSync(path)) {
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown };
    if (typeof version === 'string') return version;
  }
  const parent = dirname(folder);
  return parent === folder ? 'unknown' : releaseOf(parent);
}

import type { ApiVersionRecord, BodyKind } from './api-version.js';
import { VersionTable } from './version-table.js';
import { DECLARED_VERSIONS } from './versions.generated.js';

const table = new VersionTable(DECLARED_VERSIONS);

/** Every version as GET /v1/api-versions answers it, oldest first. */
export const VERSIONS: readonly ApiVersionRecord[] = table.records;
export const SUPPORTED_VERSIONS: readonly string[] = table.served;
export const BASELINE_VERSION: string = table.baseline;
export const LATEST_VERSION: string = table.latest;

/** See VersionTable.resolve. */
export function resolveVersion(
  header: string | readonly string[] | undefined,
  keyPin: string | null,
): string {
  return table.resolve(header, keyPin);
}

/** See VersionTable.downConvert. */
export function downConvert<T extends object>(kind: BodyKind, body: T, label: string): T {
  return table.downConvert(kind, body, label);
}

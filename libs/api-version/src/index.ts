export type { ApiVersion, ApiVersionRecord, BodyKind, Retirement, WireBody } from './api-version.js';
export {
  BASELINE_VERSION,
  downConvert,
  LATEST_VERSION,
  resolveVersion,
  SUPPORTED_VERSIONS,
  VERSIONS,
} from './api-versions.js';
export { retirementHeaders } from './retirement.js';
export { VersionTable } from './version-table.js';

import { ApiError } from '@gateway/contracts';
import type { ApiVersion, ApiVersionRecord, BodyKind, WireBody } from './api-version.js';
import { checkRetirement } from './retirement.js';

/** Rules of the versions of one contract. The served contract is made in index.ts; tests make their own. */
export class VersionTable {
  /** Records as GET /v1/api-versions returns them, oldest first. */
  readonly records: readonly ApiVersionRecord[];
  /** Labels that a request may name, oldest first. */
  readonly served: readonly string[];
  /** The oldest served version: what unpinned traffic gets. */
  readonly baseline: string;
  readonly latest: string;
  private readonly versions: readonly ApiVersion[];

  constructor(declared: readonly ApiVersion[]) {
    this.versions = declared.toSorted((a, b) => (a.label < b.label ? -1 : 1));
    const labels = this.versions.map(({ label }) => label);
    if (new Set(labels).size !== labels.length) throw new Error('Two API versions have one label.');
    this.versions.forEach((version, index) => checkRetirement(version, this.versions[index + 1]));
    this.served = this.versions.filter(({ status }) => status !== 'sunset').map(({ label }) => label);
    const stable = this.versions.filter(({ status }) => status === 'ga');
    if (stable.length === 0) throw new Error('No API version is generally available.');
    this.baseline = this.served[0];
    this.latest = stable[stable.length - 1].label;
    this.records = this.versions.map((version, index) => this.toRecord(version, index));
  }

  /**
   * The version of a request: header, then the key's pin, then the baseline.
   * `header` is the field's value or values; several lines of it may also come joined by commas.
   * Throws ApiError `invalid_api_version` for an unsupported, malformed, empty or contradictory header.
   * An unsupported pin falls back to the baseline.
   */
  resolve(header: string | readonly string[] | undefined, keyPin: string | null): string {
    if (header === undefined) return keyPin !== null && this.isServed(keyPin) ? keyPin : this.baseline;
    const values = (typeof header === 'string' ? [header] : header)
      .flatMap((value) => value.split(','))
      .map((value) => value.trim());
    const [label] = values;
    if (label === undefined || values.some((value) => value !== label) || !this.isServed(label)) {
      throw new ApiError('invalid_api_version', { supportedVersions: [...this.served] });
    }
    return label;
  }

  isServed(label: string): boolean {
    return this.served.includes(label);
  }

  /**
   * Takes a body of the newest shape, which T is, back to what `label` promised. The argument is not changed.
   * Throws ApiError `api_version_migration_failed` where a conversion cannot.
   */
  downConvert<T extends object>(kind: BodyKind, body: T, label: string): T {
    let converted = body as WireBody;
    for (let index = this.versions.length - 1; index >= 0; index -= 1) {
      const version = this.versions[index];
      if (version.label <= label) break;
      try {
        converted = version.downConversions[kind]?.(converted) ?? converted;
      } catch (cause) {
        throw new ApiError('api_version_migration_failed', { cause });
      }
    }
    return converted as T;
  }

  private toRecord(version: ApiVersion, index: number): ApiVersionRecord {
    const { label, status, released, deprecated_on, sunset_on, notes_url } = version;
    return {
      label,
      status,
      released,
      deprecated_on,
      sunset_on,
      notes_url,
      baseline: label === this.baseline,
      latest: label === this.latest,
      capabilities: this.versions.slice(0, index + 1).flatMap(({ capabilities }) => capabilities),
    };
  }
}

/** Bodies whose shape differs between versions. A conversion is registered per kind. */
export type BodyKind = 'model' | 'provider' | 'video_task';

/** A JSON object of an answer, as it goes to the wire. */
export type WireBody = Readonly<Record<string, unknown>>;

/** Dates of a retirement. All null while nothing is planned. */
export interface Retirement {
  /** Day from which `Deprecation` is sent, `YYYY-MM-DD`. */
  deprecated_on: string | null;
  /** Day on which it ends, `YYYY-MM-DD`; null while the date is undecided. */
  sunset_on: string | null;
  /** Address of the migration notes. */
  notes_url: string | null;
}

/** One version of the contract: one file under versions/ declares it. */
export interface ApiVersion extends Retirement {
  /** `YYYY-MM`. */
  label: string;
  status: 'preview' | 'ga' | 'deprecated' | 'sunset';
  /** Day of publication, `YYYY-MM-DD`. */
  released: string;
  /** Capabilities that this version adds; records return them cumulatively. */
  capabilities: readonly string[];
  /** Takes an answer of this version back to the one before it. Never changes its argument. */
  downConversions: Readonly<Partial<Record<BodyKind, (body: WireBody) => WireBody>>>;
}

/** A version as GET /v1/api-versions answers it. */
export interface ApiVersionRecord extends Retirement {
  label: string;
  status: ApiVersion['status'];
  released: string;
  /** True on the oldest served version, which unpinned traffic gets. */
  baseline: boolean;
  /** True on the newest generally available version. */
  latest: boolean;
  capabilities: string[];
}

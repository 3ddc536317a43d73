import { nameAt, type Locked } from './shipped.js';

/** Advisories of the registry, or the reason that it gave none. */
export type Advisories =
  { isKnown: true; faults: string[]; others: string[] } | { isKnown: false; reason: string };

interface Advisory {
  title?: string;
  url?: string;
}
interface Audit {
  message?: string;
  error?: { summary?: string };
  vulnerabilities?: Record<
    string,
    { severity: string; range?: string; nodes?: string[]; via?: (Advisory | string)[] }
  >;
}

/** Severities that stop a release; lower ones are named. */
const STOPPING = new Set(['high', 'critical']);
const REASON_CHARACTERS_MAX = 200;

/** Reads the answer of `npm audit --json`. What no image has inside is left out. */
export function readAdvisories(json: string, inside: ReadonlyMap<string, Locked>): Advisories {
  let audit: Audit;
  try {
    audit = JSON.parse(json) as Audit;
  } catch {
    return { isKnown: false, reason: 'npm audit printed no JSON' };
  }
  if (audit.vulnerabilities === undefined) {
    const reason = audit.message || audit.error?.summary || 'npm audit named no reason';
    return { isKnown: false, reason: reason.slice(0, REASON_CHARACTERS_MAX) };
  }
  const found = { isKnown: true as const, faults: [] as string[], others: [] as string[] };
  for (const [name, { severity, nodes = [], via = [] }] of Object.entries(audit.vulnerabilities)) {
    const paths = nodes.filter((path) => inside.has(path));
    if (paths.length === 0) continue;
    const versions = paths.map((path) => `${nameAt(path)}@${inside.get(path)?.version ?? '?'}`);
    const whys = via.map((one) =>
      typeof one === 'string' ? `by ${one}` : `${one.title ?? ''} ${one.url ?? ''}`.trim(),
    );
    const line = `${[...new Set(versions)].join(', ') || name} has an advisory (${severity}): ${whys.join('; ')}`;
    (STOPPING.has(severity) ? found.faults : found.others).push(line);
  }
  return found;
}

/** One section of CHANGELOG.md: its heading without the `## `, and what stands below it. */
export interface Section {
  heading: string;
  body: string;
}

/** Returns the sections in their order, newest first. */
export function sectionsOf(changelog: string): Section[] {
  const [, ...parts] = `\n${changelog}`.split(/\n## /);
  return parts.map((part) => {
    const end = part.indexOf('\n');
    return end === -1
      ? { heading: part.trim(), body: '' }
      : { heading: part.slice(0, end).trim(), body: part.slice(end).trim() };
  });
}

/** A release to come: its version, its section, and what is left to do. */
export interface Planned {
  version: string;
  section: Section;
  /** Steps that are left before it may be tagged; none where it may. */
  left: string[];
}

export interface Sources {
  changelog: string;
  /** The version of package.json, and the others that have to be equal to it, by their files. */
  version: string;
  others: Readonly<Record<string, string | undefined>>;
}

/** The next minor version: each release may add, and none takes away. */
function nextMinor(version: string): string {
  const [major, minor] = version.split('.').map(Number);
  return `${major}.${minor + 1}.0`;
}

/**
 * Plans the release of these sources. Where lines stand under Unreleased it is the next minor one, and the steps say how the
 * sources get its version.
 */
export function planned({ changelog, version, others }: Sources): Planned {
  const sections = sectionsOf(changelog);
  const unreleased = sections.find(({ heading }) => heading === 'Unreleased');
  const own = sections.find(({ heading }) => heading.startsWith(`${version} - `));
  const isDue = unreleased !== undefined && unreleased.body !== '';
  const next = isDue && own !== undefined ? nextMinor(version) : version;
  const section = isDue ? unreleased : (own ?? { heading: version, body: '' });
  const left: string[] = [];
  if (isDue) left.push(`CHANGELOG.md: put a heading "## ${next} - <date>" below "## Unreleased"`);
  else if (own === undefined) left.push(`CHANGELOG.md: there is no section "## ${version} - <date>"`);
  if (section.body !== '' && !/^### Upgrading$/m.test(section.body))
    left.push('CHANGELOG.md: the section has no heading "### Upgrading"');
  for (const [file, at] of Object.entries({ 'package.json': version, ...others }))
    if (at !== next) left.push(`${file}: the version is ${at ?? 'not there'}, not ${next}`);
  return { version: next, section, left };
}

import { planned, sectionsOf } from './changelog.js';

const HEAD = '# Changelog\n\nThe format.\n\n';
const others = { 'package-lock.json': '0.3.0' };

describe('the changelog of a release', () => {
  it('is read in sections, newest first', () => {
    const text = `${HEAD}## Unreleased\n\n### Added\n- a\n\n## 0.2.0 - 2026-11-27\nOne line.\n`;
    expect(sectionsOf(text)).toEqual([
      { heading: 'Unreleased', body: '### Added\n- a' },
      { heading: '0.2.0 - 2026-11-27', body: 'One line.' },
    ]);
  });

  it('leaves nothing to do where section, heading and versions stand', () => {
    const changelog = `${HEAD}## Unreleased\n\n## 0.3.0 - 2026-12-01\n### Upgrading\n- read this\n\n## 0.2.0 - 2026-11-27\n- x\n`;
    expect(planned({ changelog, version: '0.3.0', others })).toEqual({
      version: '0.3.0',
      section: { heading: '0.3.0 - 2026-12-01', body: '### Upgrading\n- read this' },
      left: [],
    });
  });

  it('plans the next minor version of lines that are not released, and says how the sources get it', () => {
    const changelog = `${HEAD}## Unreleased\n### Added\n- a\n## 0.2.0 - 2026-11-27\n- x\n`;
    const { version, section, left } = planned({
      changelog,
      version: '0.2.0',
      others: { 'package-lock.json': '0.2.0', 'Chart.yaml': undefined },
    });
    expect([version, section.heading]).toEqual(['0.3.0', 'Unreleased']);
    expect(left).toEqual([
      'CHANGELOG.md: put a heading "## 0.3.0 - <date>" below "## Unreleased"',
      'CHANGELOG.md: the section has no heading "### Upgrading"',
      'package.json: the version is 0.2.0, not 0.3.0',
      'package-lock.json: the version is 0.2.0, not 0.3.0',
      'Chart.yaml: the version is not there, not 0.3.0',
    ]);
  });

  it('takes no section of another version for its own', () => {
    const changelog = `${HEAD}## 0.3.10 - 2027-01-01\n### Upgrading\n- x\n`;
    expect(planned({ changelog, version: '0.3.1', others: {} }).left).toEqual([
      'CHANGELOG.md: there is no section "## 0.3.1 - <date>"',
    ]);
  });
});

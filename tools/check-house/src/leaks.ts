import type { Finding, SourceTree } from './tree.js';

/** Patterns that tie a repository to one machine or one network; it must build and test anywhere. */
const leaks: { rule: string; pattern: RegExp; message: string }[] = [
  {
    rule: 'machine-path',
    pattern: /(?<![\w.})\]*-])\/(?:(?:work|root)(?=\/)|(?:home|Users|tmp)\/[\w.-])/,
    message: 'a path of one machine',
  },
  { rule: 'machine-path', pattern: /(?<![\w/])\.\.\/shared\b/, message: 'a folder outside the repository' },
  {
    rule: 'registry-host',
    pattern:
      /\bregistry\.(?:[a-z0-9-]+\.)*(?:com|dev|io|net|org)\b|https?:\/\/(?:[\w-]+\.)*(?:artifactory|nexus|registry|verdaccio)\b|\brepo1?\.maven\.|"resolved":\s*"https?:/,
    message: 'a registry host',
  },
];

const recordedFolder = /(?:^|\/)recorded(?:\/|$)/;
const recordedName = /-[0-9a-f]{6}-\d+\.(?:json|stream|error)\.json$/;

/** No machine paths, no registry hosts, no recorded traffic of others. */
export function leakFaults(tree: SourceTree): Finding[] {
  return [...tree].flatMap(([path, text]) => {
    const faults: Finding[] = [];
    if (recordedFolder.test(path) || recordedName.test(path)) {
      faults.push({ rule: 'recorded', path, message: 'recorded traffic is not kept in the repository' });
    }
    text.split('\n').forEach((line, index) => {
      for (const { rule, pattern, message } of leaks) {
        const match = pattern.exec(line);
        if (match) faults.push({ rule, path, line: index + 1, message: `${message}: ${match[0]}` });
      }
    });
    return faults;
  });
}

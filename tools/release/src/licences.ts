import { nameAt, type Locked } from './shipped.js';

/** Licences that ask for no more than a notice, which the packages carry in their folders. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'Unlicense',
]);
/** Libraries that are loaded unchanged at run time and may be replaced, as the LGPL asks: libvips, of sharp. */
const LINKED: Readonly<Record<string, RegExp>> = { 'LGPL-3.0-or-later': /^@img\/sharp-/ };

/** True where an SPDX expression allows what is done with the package. One with both AND and OR is for a person. */
function isAllowed(name: string, expression: string): boolean {
  const plain = expression.replaceAll(/[()]/g, '');
  const isOne = (licence: string): boolean => ALLOWED.has(licence) || (LINKED[licence]?.test(name) ?? false);
  if (plain.includes(' AND ')) return plain.split(' AND ').every(isOne);
  return plain.split(' OR ').some(isOne);
}

/** Returns one sentence for each package whose licence is not on the list. */
export function licenceFaults(inside: ReadonlyMap<string, Locked>): string[] {
  return [...inside].flatMap(([path, { version, license }]) => {
    const name = nameAt(path);
    if (license !== undefined && isAllowed(name, license)) return [];
    return [`${name}@${version ?? '?'} has the licence ${license ?? '(none named)'}, which is not allowed`];
  });
}

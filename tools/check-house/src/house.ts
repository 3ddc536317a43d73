import { aliasFaults } from './aliases.js';
import { ambientFaults } from './ambient.js';
import { closureFaults } from './closures.js';
import { citationFaults, commentFaults } from './comments.js';
import { constructorFaults } from './constructors.js';
import { cycleFaults } from './cycles.js';
import { documentFaults } from './documents.js';
import { folderFaults } from './folders.js';
import { leakFaults } from './leaks.js';
import { logFieldFaults } from './log-fields.js';
import { exportStarFaults, nameFaults, shapeFaults } from './names.js';
import { partFaults } from './parts.js';
import { sizeFaults } from './sizes.js';
import type { Finding, Rule, SourceTree } from './tree.js';

const rules: Rule[] = [
  sizeFaults,
  aliasFaults,
  nameFaults,
  shapeFaults,
  exportStarFaults,
  ambientFaults,
  cycleFaults,
  closureFaults,
  folderFaults,
  leakFaults,
  logFieldFaults,
  commentFaults,
  citationFaults,
  partFaults,
  documentFaults,
  constructorFaults,
];

/** Every broken rule of the house in the tree, in the order of the paths. */
export function checkHouse(tree: SourceTree): Finding[] {
  return rules.flatMap((rule) => rule(tree)).sort((a, b) => a.path.localeCompare(b.path));
}

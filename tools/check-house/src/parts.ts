import { importGraph } from './imports.js';
import { type Finding, isSpec, type SourceTree } from './tree.js';

/** A part of a group of specs runs only if the spec of its group imports it. */
export function partFaults(tree: SourceTree): Finding[] {
  const graph = [...importGraph(tree)];
  const run = new Set(graph.flatMap(([path, targets]) => (isSpec(path) && !isPart(path) ? targets : [])));
  const left = graph.map(([path]) => path).filter((path) => isPart(path) && !run.has(path));
  return left.map((path) => ({ rule: 'part', path, message: 'no spec imports this part, so it never runs' }));
}

function isPart(path: string): boolean {
  return /\.part\.spec\.tsx?$/.test(path);
}

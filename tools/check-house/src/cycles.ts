import { posix } from 'node:path';
import ts from 'typescript';
import { type Finding, type SourceTree, sources } from './tree.js';

/** No import cycle between files, type-only imports included: a contract must not know who implements it. */
export function cycleFaults(tree: SourceTree): Finding[] {
  return knots(importGraph(tree)).map((knot) => {
    const message = `import cycle between ${knot.join(', ')}`;
    return { rule: 'cycle', path: knot[0] ?? '', message };
  });
}

/** Which files of the tree each file imports, by relative path or by the alias of a lib. */
export function importGraph(tree: SourceTree): Map<string, string[]> {
  const files = new Map(sources(tree));
  return new Map([...files].map(([path, text]) => [path, importsOf(path, text, files)]));
}

function importsOf(path: string, text: string, files: ReadonlyMap<string, string>): string[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles
    .map(({ fileName }) => resolve(path, fileName))
    .filter((target) => target !== undefined)
    .map((target) => candidates(target).find((candidate) => files.has(candidate)))
    .filter((target) => target !== undefined);
}

function resolve(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  const alias = /^@gateway\/([^/]+(?:\/[^/]+)?)$/.exec(specifier)?.[1];
  return alias === undefined ? undefined : `@gateway/${alias}`;
}

function candidates(target: string): string[] {
  if (target.startsWith('@gateway/')) {
    const name = target.slice('@gateway/'.length);
    const [lib, entry = 'index'] = name.split('/');
    return [`libs/${lib}/src/${entry}.ts`, `libs/services/${lib}/src/${entry}.ts`];
  }
  const stem = target.replace(/\.jsx?$/, '');
  return [target, `${stem}.ts`, `${stem}.tsx`];
}

/** Strongly connected components of more than one file, or a node that points at itself (Tarjan, without recursion). */
export function knots(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const found: string[][] = [];
  for (const start of graph.keys()) {
    if (order.has(start)) continue;
    const work: { node: string; next: number }[] = [{ node: start, next: 0 }];
    while (work.length > 0) {
      const frame = work[work.length - 1];
      const { node } = frame;
      if (frame.next === 0) {
        order.set(node, order.size);
        low.set(node, order.get(node) ?? 0);
        stack.push(node);
        onStack.add(node);
      }
      const child = graph.get(node)?.[frame.next];
      frame.next += 1;
      if (child !== undefined) {
        if (!order.has(child)) work.push({ node: child, next: 0 });
        else if (onStack.has(child)) lower(low, node, order.get(child) ?? 0);
        continue;
      }
      work.pop();
      const parent = work[work.length - 1];
      if (parent) lower(low, parent.node, low.get(node) ?? 0);
      if (low.get(node) === order.get(node)) {
        const knot = stack.splice(stack.indexOf(node));
        knot.forEach((member) => onStack.delete(member));
        if (knot.length > 1 || graph.get(node)?.includes(node)) found.push(knot.sort());
      }
    }
  }
  return found;
}

function lower(low: Map<string, number>, node: string, value: number): void {
  low.set(node, Math.min(low.get(node) ?? value, value));
}

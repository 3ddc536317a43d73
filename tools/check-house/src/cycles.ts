import { importGraph } from './imports.js';
import type { Finding, SourceTree } from './tree.js';

/** No import cycle between files, type-only imports included: a contract must not know who implements it. */
export function cycleFaults(tree: SourceTree): Finding[] {
  return knots(importGraph(tree)).map((knot) => {
    const message = `import cycle between ${knot.join(', ')}`;
    return { rule: 'cycle', path: knot[0] ?? '', message };
  });
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

import ts from 'typescript';
import { type Finding, isSpec, type SourceTree, sources } from './tree.js';

/** Folders that touch the outer world: real clocks, timers and chance are used here and handed on as arguments. */
const adapters = [
  'libs/platform/',
  'libs/upstream/',
  'libs/event-log/',
  'libs/database/',
  'libs/fleet/',
  'libs/testing/',
  'libs/simulator/',
  'tools/',
  'lab/',
  'apps/',
  'e2e/',
];
const environmentReaders = ['tools/', 'lab/', 'e2e/', 'libs/testing/'];
const timers = new Set(['setTimeout', 'setInterval']);

/** No hidden inputs: the environment is read in `*.config.ts`, time and chance are arguments. */
export function ambientFaults(tree: SourceTree): Finding[] {
  return sources(tree).flatMap(([path, text]) => {
    const mayReadClock = isSpec(path) || adapters.some((folder) => path.startsWith(folder));
    const mayReadEnvironment =
      isSpec(path) ||
      path.endsWith('.config.ts') ||
      environmentReaders.some((folder) => path.startsWith(folder));
    if (mayReadClock && mayReadEnvironment) return [];
    return ambientReads(path, text).filter((fault) =>
      fault.rule === 'environment' ? !mayReadEnvironment : !mayReadClock,
    );
  });
}

function ambientReads(path: string, text: string): Finding[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const faults: Finding[] = [];
  const visit = (node: ts.Node): void => {
    const found = ambientRead(node);
    if (found !== undefined) {
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      faults.push({ path, line, ...found });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return faults;
}

function ambientRead(node: ts.Node): { rule: string; message: string } | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const text = `${node.expression.getText()}.${node.name.text}`;
    if (text === 'process.env') return { rule: 'environment', message: 'read it in a *.config.ts file' };
    if (text === 'Date.now') return { rule: 'clock', message: 'Date.now: take a Clock argument' };
    if (text === 'Math.random') return { rule: 'chance', message: 'Math.random: take a Random argument' };
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) {
    return { rule: 'clock', message: 'new Date(): take a Clock argument' };
  }
  if (ts.isCallExpression(node)) {
    const callee = node.expression.getText().replace(/^globalThis\./, '');
    if (timers.has(callee)) return { rule: 'clock', message: `${callee}: take a Clock argument` };
  }
  return undefined;
}

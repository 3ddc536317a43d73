import ts from 'typescript';
import { type Finding, isSpec, type SourceTree, sources } from './tree.js';

const maxFileLines = 400;
const maxFunctionLines = 70;
const maxMainLines = 30;

/** No file above 400 lines, no function above 70 lines of code, no `main.ts` of an app above 30 lines. */
export function sizeFaults(tree: SourceTree): Finding[] {
  return sources(tree)
    .filter(([path]) => !path.endsWith('.generated.ts'))
    .flatMap(([path, text]) => [...fileFaults(path, text), ...functionFaults(path, text)]);
}

function fileFaults(path: string, text: string): Finding[] {
  const lines = text.replace(/\n$/, '').split('\n').length;
  const isMain = /^apps\/[^/]+\/src\/main\.ts$/.test(path);
  const cap = isMain ? maxMainLines : maxFileLines;
  if (lines <= cap) return [];
  return [{ rule: 'file-size', path, message: `${lines} lines, the cap is ${cap}` }];
}

function functionFaults(path: string, text: string): Finding[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const codeLines = linesWithCode(file);
  const faults: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (isFunctionWithBody(node) && !(isSpec(path) && isDescribeBlock(node))) {
      const first = file.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
      const lines = codeLines.slice(first, last + 1).filter(Boolean).length;
      if (lines > maxFunctionLines) {
        const message = `${nameOf(node)} has ${lines} lines of code, the cap is ${maxFunctionLines}`;
        faults.push({ rule: 'function-size', path, line: first + 1, message });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return faults;
}

function isFunctionWithBody(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

function isDescribeBlock(node: ts.Node): boolean {
  if (!ts.isCallExpression(node.parent)) return false;
  return /^describe(?:[A-Z]\w*)?\b/.test(node.parent.expression.getText());
}

function nameOf(node: ts.FunctionLikeDeclaration): string {
  if (node.name) return node.name.getText();
  if (ts.isVariableDeclaration(node.parent)) return node.parent.name.getText();
  return ts.isConstructorDeclaration(node) ? 'constructor' : 'a function';
}

/** Returns for each line whether it has a token: blank lines and comments do not count. */
function linesWithCode(file: ts.SourceFile): boolean[] {
  const lines = file.getLineStarts().map(() => false);
  const visit = (node: ts.Node): void => {
    if (node.getChildCount(file) === 0 && node.getEnd() > node.getStart(file)) {
      const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
      const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
      lines.fill(true, first, last + 1);
    }
    node.getChildren(file).forEach(visit);
  };
  visit(file);
  return lines;
}

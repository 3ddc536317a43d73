import ts from 'typescript';
import { type Finding, isSpec, type SourceTree, sources } from './tree.js';

const LOGGER = 'libs/platform/src/logging/logger.ts';
const LIST = /ALLOWED_FIELDS[^[]*\[([^\]]*)\]/;
const levels = new Set(['fatal', 'error', 'warn', 'info', 'debug']);
const receiver = /(?:^|\.)logger$/;

/** The logger drops fields that are not on its list, without a word: a line that gives it others says less than it seems to. */
export function logFieldFaults(tree: SourceTree): Finding[] {
  const [, list = ''] = LIST.exec(tree.get(LOGGER) ?? '') ?? [];
  const allowed = new Set([...list.matchAll(/'(\w+)'/g)].map(([, name]) => name));
  if (allowed.size === 0) return [];
  return sources(tree).flatMap(([path, text]) =>
    isSpec(path) || !text.includes('ogger.') ? [] : droppedFields(path, text, allowed),
  );
}

function droppedFields(path: string, text: string, allowed: ReadonlySet<string>): Finding[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const faults: Finding[] = [];
  const judge = (fields: ts.Expression): void => {
    if (!ts.isObjectLiteralExpression(fields)) return;
    for (const property of fields.properties) {
      if (ts.isSpreadAssignment(property)) judge(property.expression);
      else if (property.name !== undefined && !allowed.has(property.name.getText()))
        faults.push({
          ...{ rule: 'log-field', path },
          line: file.getLineAndCharacterOfPosition(property.getStart()).line + 1,
          message: `${property.name.getText()}: name it as ${LOGGER} does, or add it there if it can hold no secret`,
        });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isLine(node.expression) && node.arguments.length > 1)
      judge(valueOf(node.arguments[0], file));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return faults;
}

function isLine(callee: ts.Expression): boolean {
  if (!ts.isPropertyAccessExpression(callee)) return false;
  return levels.has(callee.name.text) && receiver.test(callee.expression.getText());
}

/** Returns the value of an argument; of a name, the last constant before it. */
function valueOf(argument: ts.Expression, file: ts.SourceFile): ts.Expression {
  if (!ts.isIdentifier(argument)) return argument;
  let found: ts.Expression = argument;
  const visit = (node: ts.Node): void => {
    if (node.pos > argument.pos) return;
    if (ts.isVariableDeclaration(node) && node.name.getText() === argument.text && node.initializer)
      found = node.initializer;
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

import ts from 'typescript';

/** One token of a source turned into another. Offsets are into the source's text. */
export interface Mutant {
  file: string;
  /** Line, from 1. */
  line: number;
  start: number;
  end: number;
  from: string;
  to: string;
}

const TURNED: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&&': ['||'],
  '||': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '<<': ['>>'],
  '>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
};
const TURNED_NAMES: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
};

/** Every one-token mutant of a source, in the order of the text. Imports, types and the words of errors stay. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const add = (node: ts.Node, to: string): void => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, start, end: node.getEnd(), from: text.slice(start, node.getEnd()), to });
  };
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return;
    mutate(node, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

function isLeftAlone(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isDecorator(node)) return true;
  // What an error says is for people; that it is thrown is another mutant.
  return ts.isNewExpression(node) && /Error$/.test(node.expression.getText());
}

type Add = (node: ts.Node, to: string) => void;

function mutate(node: ts.Node, add: Add): void {
  if (ts.isBinaryExpression(node)) {
    for (const to of TURNED[node.operatorToken.getText()] ?? []) add(node.operatorToken, to);
  } else if (ts.isPrefixUnaryExpression(node)) mutatePrefix(node, add);
  else if (ts.isPropertyAccessExpression(node)) {
    const { text } = node.name;
    const to = ts.isCallExpression(node.parent) && Object.hasOwn(TURNED_NAMES, text) && TURNED_NAMES[text];
    if (to) add(node.name, to);
  } else if (ts.isIfStatement(node)) {
    add(node.expression, 'false');
    add(node.expression, 'true');
  } else if (ts.isConditionalExpression(node)) {
    add(node.condition, 'false');
    add(node.condition, 'true');
  } else if (ts.isExpressionStatement(node) && isCall(node.expression)) add(node, ';');
  else mutateLiteral(node, add);
}

function mutatePrefix(node: ts.PrefixUnaryExpression, add: Add): void {
  if (node.operator === ts.SyntaxKind.ExclamationToken) add(node, node.operand.getText());
  if (node.operator === ts.SyntaxKind.MinusToken && !ts.isLiteralExpression(node.operand))
    add(node, node.operand.getText());
}

function isCall(node: ts.Expression): boolean {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isCall(node.expression);
  return ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.SuperKeyword;
}

function mutateLiteral(node: ts.Node, add: Add): void {
  if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false');
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true');
  else if (ts.isNumericLiteral(node)) add(node, String(Number(node.text) + 1));
  else if (ts.isBigIntLiteral(node)) add(node, `${BigInt(node.text.slice(0, -1).replaceAll('_', '')) + 1n}n`);
  else if (ts.isStringLiteral(node) && node.text !== '' && !isName(node)) add(node, "''");
}

/** A member's name, or a word of a log line. */
function isName(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if ('name' in parent && parent.name === node) return true;
  return ts.isCallExpression(parent) && /\b(log|logger)\.\w+$/.test(parent.expression.getText());
}

/** The source with the mutant in it. */
export function mutated(text: string, { start, end, to }: Pick<Mutant, 'start' | 'end' | 'to'>): string {
  return text.slice(0, start) + to + text.slice(end);
}

import ts from 'typescript';

const idPattern = /^[A-Z][A-Z0-9]*-\d+[a-z]?$/;
const testPattern = /^(?:it|test)\b/;

/**
 * The requirement ids that the titles of a spec file begin with, several per title allowed. Only tests count, not
 * describe blocks, and a skipped test or one still to be written proves nothing.
 */
export function titleIds(path: string, text: string): { id: string; path: string }[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const found: { id: string; path: string }[] = [];
  const visit = (node: ts.Node): void => {
    for (const title of testTitles(node)) found.push(...leadingIds(title).map((id) => ({ id, path })));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function testTitles(node: ts.Node): string[] {
  if (!ts.isCallExpression(node) || node.arguments.length < 2) return [];
  const callee = node.expression.getText();
  if (!testPattern.test(callee) || /^\w+(?:\.each)?\.(?:skip|todo|failing)\b/.test(callee)) return [];
  const [title] = node.arguments;
  // The ids of a computed title stand before the first substitution.
  if (ts.isTemplateExpression(title)) return [title.head.text];
  if (!ts.isStringLiteralLike(title)) return [];
  const column = /^(?:%s|\$(?<name>\w+))/.exec(title.text);
  return column ? rowTitles(node.expression, column.groups?.['name']) : [title.text];
}

/** The titles of `it.each([...])('%s …')` and `('$name …')`, when the table stands in place. */
function rowTitles(callee: ts.Expression, name: string | undefined): string[] {
  const table = ts.isCallExpression(callee) ? callee.arguments[0] : undefined;
  if (table === undefined || !ts.isArrayLiteralExpression(table)) return [];
  return table.elements.flatMap((row) => {
    const cell = name === undefined ? firstCell(row) : namedCell(row, name);
    return cell !== undefined && ts.isStringLiteralLike(cell) ? [cell.text] : [];
  });
}

function firstCell(row: ts.Expression): ts.Expression | undefined {
  return ts.isArrayLiteralExpression(row) ? row.elements[0] : row;
}

function namedCell(row: ts.Expression, name: string): ts.Expression | undefined {
  if (!ts.isObjectLiteralExpression(row)) return undefined;
  const property = row.properties.find((candidate) => candidate.name?.getText() === name);
  return property && ts.isPropertyAssignment(property) ? property.initializer : undefined;
}

function leadingIds(title: string): string[] {
  const words = title.split(/\s+/);
  const end = words.findIndex((word) => !idPattern.test(word.replace(/[,:]$/, '')));
  return words.slice(0, end === -1 ? words.length : end).map((word) => word.replace(/[,:]$/, ''));
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const SOURCES = new URL('.', import.meta.url).pathname;
/** Attributes and members whose text people read. */
const VISIBLE = new Set([
  'label',
  'title',
  'about',
  'description',
  'placeholder',
  'action',
  'note',
  'said',
  'text',
  'none',
  'never',
  'aria-label',
]);
/** Words that the glossary has another one for, and the one it has. */
const OTHER_WORDS: readonly [RegExp, string][] = [
  [/\b(?:rpm|rpd|tpm)\b/i, 'requests a minute, requests a day, tokens a minute'],
  [/\borgs?\b/i, 'organization'],
  [/\bbyok\b/i, 'provider key'],
  [/\bttft\b/i, 'first token'],
  [/\bread(?:s|ing)? anew\b/i, 'Refresh'],
  [/\blets? in\b/i, 'passes'],
  [/\bbinds\b/i, 'effective'],
  [/\btake (?:out|back)\b/i, 'Remove, Cancel'],
  [/\bmay owe\b/i, 'Credit limit'],
  [/\b(?:only|never) these\b/i, 'Allowed, Blocked'],
  [/\bkeeps nothing\b/i, 'zero retention'],
  [/\bwaits for its confirmation\b/i, 'Unconfirmed'],
  [/\bbooks\b/i, 'Ledger check'],
  [/\bworkspace|\btenant\b/i, 'organization'],
  [/\bAPI token|\bsecret key\b/i, 'API key'],
];
const UNDERSCORE = /[a-z0-9]_[a-z0-9]/i;

interface Shown {
  text: string;
  line: number;
}

/** Texts of a source that people read: those between tags, and those of visible attributes and members. */
function shownIn(path: string): Shown[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Shown[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isJsxText(node) || ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
    if (isText && isShown(node)) {
      found.push({
        text: node.text.trim(),
        line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.filter(({ text }) => text !== '');
}

/** True if what a text is part of is shown: the branches of a choice and the parts of a template are. */
function isShown(node: ts.Node): boolean {
  if (ts.isJsxText(node)) return !isCode(node);
  const { parent } = node;
  if (ts.isJsxAttribute(parent)) return VISIBLE.has(parent.name.getText());
  if (ts.isPropertyAssignment(parent)) {
    return parent.initializer === node && (VISIBLE.has(nameOf(parent)) || isColumn(parent));
  }
  if (ts.isJsxExpression(parent)) return ts.isJsxAttribute(parent.parent) ? isShown(parent) : !isCode(parent);
  const isPart =
    ts.isTemplateExpression(parent) ||
    ts.isTemplateSpan(parent) ||
    ts.isParenthesizedExpression(parent) ||
    (ts.isConditionalExpression(parent) && parent.condition !== node);
  return isPart && isShown(parent);
}

function nameOf({ name }: ts.PropertyAssignment): string {
  return ts.isStringLiteral(name) ? name.text : name.getText();
}

/** Heads of columns are called `name`. */
function isColumn(member: ts.PropertyAssignment): boolean {
  const names = member.parent.properties.map((other) => other.name?.getText());
  return nameOf(member) === 'name' && names.includes('cell');
}

/** True within an element that shows code. */
function isCode(node: ts.Node): boolean {
  for (let at: ts.Node | undefined = node.parent; at !== undefined; at = at.parent)
    if (ts.isJsxElement(at) && /^Code/.test(at.openingElement.tagName.getText())) return true;
  return false;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.(?:spec|fixture)\.|generated/.test(path))
    .map((path) => join(folder, path));
}

const texts = sourcesBelow(SOURCES).flatMap((path) =>
  shownIn(path).map(({ text, line }) => ({ text, at: `${path.slice(SOURCES.length)}:${line}` })),
);

describe('the words of the dashboard', () => {
  it('are found: the texts of pages, columns, fields and buttons', () => {
    const known = new Set(texts.map(({ text }) => text));
    for (const text of ['Budgets', 'Spent', 'Spend cap, USD', 'Create key', 'Allowed', 'Refresh'])
      expect(known).toContain(text);
    expect(texts.length).toBeGreaterThan(700);
  });

  it('have no name of the API in them', () => {
    expect(texts.filter(({ text }) => UNDERSCORE.test(text))).toEqual([]);
  });

  it('are those of the glossary, one for each thing', () => {
    const others = texts.flatMap(({ text, at }) =>
      OTHER_WORDS.filter(([word]) => word.test(text)).map(([, say]) => `${at} "${text}": say ${say}`),
    );
    expect(others).toEqual([]);
  });
});

import ts from 'typescript';
import { type Finding, isSpec, type SourceTree, sources } from './tree.js';

const MOST = 8;

interface Constructed {
  path: string;
  name: string;
  line: number;
  parameters: readonly ts.ParameterDeclaration[];
  isInjectable: boolean;
  /** Names that Nest can see as the program runs. */
  classes: ReadonlySet<string>;
}

/**
 * Returns constructors of production code that a reader cannot take in: more than 8 parameters, or a bag of more than 8
 * dependencies. A class that Nest makes also has to ask for what Nest can see: a class as a value, or a token.
 */
export function constructorFaults(tree: SourceTree): Finding[] {
  const files = sources(tree)
    .filter(([path]) => /^(apps|libs)\//.test(path) && !isSpec(path) && !path.endsWith('.fixture.ts'))
    .map(([path, text]) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  const bags = new Map(files.flatMap((file) => bagsOf(file)));
  return files.flatMap(constructorsOf).flatMap((made) => {
    const messages = [...sizeFault(made, bags), ...made.parameters.flatMap((each) => unseen(each, made))];
    const { path, line } = made;
    return messages.map((message) => ({ rule: 'constructor', path, line, message }));
  });
}

function sizeFault({ name, parameters }: Constructed, bags: ReadonlyMap<string, number>): string[] {
  if (parameters.length > MOST)
    return [`${name} takes ${parameters.length} parameters, at most ${MOST}: split it by what it does`];
  return parameters.flatMap(({ type }) => {
    const bag = type === undefined ? undefined : /\b\w*(?:Deps|Parts)\b/.exec(type.getText())?.[0];
    const size = bags.get(bag ?? '') ?? 0;
    return size > MOST ? [`${name} takes a bag of ${size} dependencies (${bag}): name what it asks for`] : [];
  });
}

/** Number of fields by the name of the interface. */
function bagsOf(file: ts.SourceFile): [string, number][] {
  return file.statements.flatMap((each): [string, number][] =>
    ts.isInterfaceDeclaration(each) ? [[each.name.text, each.members.length]] : [],
  );
}

function constructorsOf(file: ts.SourceFile): Constructed[] {
  const found: Constructed[] = [];
  const classes = classesOf(file);
  const visit = (node: ts.Node): void => {
    if (ts.isConstructorDeclaration(node)) {
      const { parent, parameters } = node;
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      const decorators = ts.canHaveDecorators(parent) ? (ts.getDecorators(parent) ?? []) : [];
      const isInjectable = decorators.some((each) => /^@(?:Injectable|Controller)\(/.test(each.getText()));
      const name = parent.name?.getText() ?? 'a class';
      found.push({ path: file.fileName, name, line, parameters, isInjectable, classes });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Nest reads a parameter's class from the program as it runs, where types are gone. */
function unseen(parameter: ts.ParameterDeclaration, { name, isInjectable, classes }: Constructed): string[] {
  const isToken = (ts.getDecorators(parameter) ?? []).length > 0;
  if (!isInjectable || isToken) return [];
  const { type } = parameter;
  if (type !== undefined && ts.isTypeReferenceNode(type) && classes.has(type.typeName.getText())) return [];
  return [
    `Nest cannot see what ${name} asks for by "${parameter.getText()}": import the class, or @Inject a token`,
  ];
}

/** Names that are there as the program runs: imported values, and classes of the file. */
function classesOf(file: ts.SourceFile): Set<string> {
  const names = file.statements.flatMap((each): string[] => {
    if (ts.isClassDeclaration(each)) return [each.name?.text ?? ''];
    if (!ts.isImportDeclaration(each)) return [];
    const { importClause } = each;
    const named = importClause?.namedBindings;
    if (importClause === undefined || importClause.isTypeOnly) return [];
    if (named === undefined || !ts.isNamedImports(named)) return [];
    return named.elements.flatMap(({ isTypeOnly, name }) => (isTypeOnly ? [] : [name.text]));
  });
  return new Set(names);
}

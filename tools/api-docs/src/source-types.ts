import { globSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Schema } from './class-schemas.js';
import { oneLine, TypeSchemas } from './type-schemas.js';

/** Code of a handler whose answer is kept for its Idempotency-Key: its status is that of the kept answer. */
const ANSWERED_ONCE = /\bidempotent\(|\banswer\.status\)/;

/** Facts of the source on one handler. */
export interface HandlerSource {
  /** It takes an Idempotency-Key. */
  isOnce: boolean;
  /** Its doc comment as one line each; empty where it has none. */
  comment: string;
  /** Answers by media type; empty where there is none. */
  answers: Readonly<Record<string, Schema>>;
}

/** Types and comments that decorators do not keep: they are read from the source, by the compiler. */
export class SourceTypes {
  private readonly checker: ts.TypeChecker;
  private readonly classes = new Map<string, ts.ClassDeclaration>();
  private readonly types: TypeSchemas;

  /** `files` hold the controllers; what they import is read with them. */
  constructor(files: readonly string[]) {
    const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as {
      config: object;
    };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
    const program = ts.createProgram([...files], { ...options, types: ['node'] });
    this.checker = program.getTypeChecker();
    this.types = new TypeSchemas(this.checker);
    for (const file of program.getSourceFiles()) {
      if (file.isDeclarationFile) continue;
      file.forEachChild((node) => {
        if (ts.isClassDeclaration(node) && node.name !== undefined) this.classes.set(node.name.text, node);
      });
    }
  }

  /** Reads the controllers of all services, and `more` files. */
  static ofServices(...more: readonly string[]): SourceTypes {
    const cwd = join(process.cwd(), 'libs/services');
    const files = globSync('*/src/**/*.controller.ts', { cwd }).map((file) => join(cwd, file));
    return new SourceTypes([...files.sort(), ...more]);
  }

  /** Throws where there is no such handler. */
  handler(controller: string, name: string): HandlerSource {
    const method = this.classes
      .get(controller)
      ?.members.find((member) => ts.isMethodDeclaration(member) && member.name.getText() === name);
    if (method === undefined || !ts.isMethodDeclaration(method) || method.type === undefined)
      throw new Error(`There is no source of ${controller}.${name}, or it does not say what it returns.`);
    const comment = this.checker.getSignatureFromDeclaration(method)?.getDocumentationComment(this.checker);
    const isOnce = ANSWERED_ONCE.test(method.body?.getText() ?? '');
    return { comment: oneLine(comment ?? []), answers: this.answersOf(method.type), isOnce };
  }

  /** The name of its type shows whether it is text or JSON. */
  private answersOf(declared: ts.TypeNode): Record<string, Schema> {
    const texts: Record<string, Schema> = {};
    const json: ts.Type[] = [];
    for (const node of partsOf(declared)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName.getText() : '';
      const media = TEXTS[name];
      if (media !== undefined) texts[media] = { type: 'string' };
      else json.push(this.checker.getTypeFromTypeNode(name === 'JsonText' ? onlyArgument(node) : node));
    }
    const schema = this.types.answer(json);
    return { ...(schema === null ? {} : { 'application/json': schema }), ...texts };
  }

  /** The doc comments of a class's fields by their names, those that it inherits as well. */
  fieldComments(name: string): ReadonlyMap<string, string> {
    const symbol = this.classes.get(name)?.name;
    const type = symbol === undefined ? undefined : this.checker.getTypeAtLocation(symbol);
    const fields = type?.getProperties() ?? [];
    return new Map(
      fields.map((field) => [field.name, oneLine(field.getDocumentationComment(this.checker))] as const),
    );
  }

  /**
   * The same schema with what decorators do not keep: the comment of each field, and the members of those that are
   * any object.
   */
  withComments(name: string, schema: Schema): Schema {
    const symbol = this.classes.get(name)?.name;
    if (symbol === undefined) return schema;
    const fields = new Map(
      this.checker
        .getTypeAtLocation(symbol)
        .getProperties()
        .map((field) => [field.name, field]),
    );
    const described = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(
      ([member, given]) => {
        const field = fields.get(member);
        if (field === undefined) return [member, given];
        const description = oneLine(field.getDocumentationComment(this.checker));
        const isOpen = given.type === 'object';
        const members = isOpen ? this.types.inline(this.checker.getTypeOfSymbol(field)) : {};
        return [member, { ...given, ...members, ...(description === '' ? {} : { description }) }];
      },
    );
    return { ...schema, properties: Object.fromEntries(described) as Schema };
  }

  /** The named types of all answers that were asked for. */
  answerSchemas(): ReadonlyMap<string, Schema> {
    return this.types.named();
  }
}

/** Media types of answers that are no JSON, by the names of their types. */
const TEXTS: Readonly<Record<string, string>> = {
  HtmlText: 'text/html',
  EventStreamText: 'text/event-stream',
  SentCsv: 'text/csv',
  StreamableFile: '*/*',
};

/** The members of a union, in a promise or not. */
function partsOf(node: ts.TypeNode): ts.TypeNode[] {
  if (ts.isUnionTypeNode(node)) return node.types.flatMap(partsOf);
  const isPromise = ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Promise';
  return isPromise ? partsOf(onlyArgument(node)) : [node];
}

function onlyArgument(node: ts.TypeNode): ts.TypeNode {
  const [argument] = (node as ts.TypeReferenceNode).typeArguments ?? [];
  return argument;
}

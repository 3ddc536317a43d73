import { globSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Schema } from './class-schemas.js';
import { oneLine, TypeSchemas } from './type-schemas.js';

/** What the source says about one handler. */
export interface HandlerSource {
  /** Its doc comment as one line each; empty where it has none. */
  comment: string;
  /** What it answers with; null where that is nothing. */
  answer: Schema | null;
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

  /** Of the controllers of all services, and of what `more` files hold. */
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
    const signature =
      method === undefined
        ? undefined
        : this.checker.getSignatureFromDeclaration(method as ts.MethodDeclaration);
    if (signature === undefined) throw new Error(`There is no source of ${controller}.${name}.`);
    const returned = this.checker.getReturnTypeOfSignature(signature);
    return {
      comment: oneLine(signature.getDocumentationComment(this.checker)),
      answer: this.types.answer(this.checker.getAwaitedType(returned) ?? returned),
    };
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

  /** The doc comment of a class; empty where it has none. */
  classComment(name: string): string {
    const symbol = this.classes.get(name)?.name;
    const found = symbol === undefined ? undefined : this.checker.getSymbolAtLocation(symbol);
    return oneLine(found?.getDocumentationComment(this.checker) ?? []);
  }

  /** The named types of all answers that were asked for. */
  answerSchemas(): ReadonlyMap<string, Schema> {
    return this.types.named();
  }
}

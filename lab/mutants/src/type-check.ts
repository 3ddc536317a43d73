import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { mutated, type Mutant } from './mutants-of.js';

/** The compiler over the whole repository, for mutants that no test sees and that would not compile. */
export class TypeCheck {
  private mutant: Mutant | null = null;
  private version = 0;
  private readonly service: ts.LanguageService;

  constructor(private readonly root: string) {
    const read = (path: string): string | undefined => ts.sys.readFile(path);
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), read) as { config: unknown };
    const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    this.service = ts.createLanguageService({
      ...{ getCompilationSettings: () => options, getScriptFileNames: () => fileNames },
      getScriptVersion: (path) => (this.isMutated(path) ? `m${this.version}` : '0'),
      getScriptSnapshot: (path) => this.snapshot(path),
      getCurrentDirectory: () => root,
      getDefaultLibFileName: (compiler) => ts.getDefaultLibFilePath(compiler),
      fileExists: (path) => ts.sys.fileExists(path),
      readFile: read,
      directoryExists: (path) => ts.sys.directoryExists(path),
      readDirectory: (...asked) => ts.sys.readDirectory(...asked),
    });
  }

  /** Returns the compiler's message on the mutant's own file; null where it compiles. */
  fault(mutant: Mutant): string | null {
    this.mutant = mutant;
    this.version += 1;
    const [first] = this.service.getSemanticDiagnostics(join(this.root, mutant.file));
    return first === undefined ? null : ts.flattenDiagnosticMessageText(first.messageText, ' ');
  }

  private isMutated(path: string): boolean {
    return this.mutant !== null && path === join(this.root, this.mutant.file);
  }

  private snapshot(path: string): ts.IScriptSnapshot | undefined {
    if (!ts.sys.fileExists(path)) return undefined;
    const text = readFileSync(path, 'utf8');
    return ts.ScriptSnapshot.fromString(
      this.mutant !== null && this.isMutated(path) ? mutated(text, this.mutant) : text,
    );
  }
}

// `node tools/typecheck-project.mjs FOLDER`: reports the type errors in the files of one project. What they import is read,
// but judged in its own project.
import { join } from 'node:path';
import ts from 'typescript';

const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write('usage: node tools/typecheck-project.mjs FOLDER\n');
  process.exit(2);
}
const root = process.cwd();
const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => ts.sys.readFile(path));
const parsed = ts.parseJsonConfigFileContent({ ...config, include: [`${folder}/**/*.ts`] }, ts.sys, root);
const program = ts.createProgram(parsed.fileNames, { ...parsed.options, noEmit: true });
const own = new Set(parsed.fileNames);
const faults = [
  ...parsed.errors.filter(({ code }) => code !== 18003), // No file: a project without TypeScript.
  ...program.getOptionsDiagnostics(),
  ...program
    .getSourceFiles()
    .filter(({ fileName }) => own.has(fileName))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
];
const host = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => root,
  getNewLine: () => '\n',
};
process.stderr.write(ts.formatDiagnostics(faults, host));
process.exitCode = faults.length === 0 ? 0 : 1;

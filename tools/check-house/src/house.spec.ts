import { checkHouse } from './house.js';

const service = {
  'libs/services/edge/project.json': '{}',
  'libs/services/edge/README.md': '# Edge',
  'libs/services/edge/src/index.ts': "export { a } from './a.js';\n",
  'libs/services/edge/src/a.ts': 'export const a = 1;\n',
};

function rulesBroken(files: Record<string, string>): string[] {
  return checkHouse(new Map(Object.entries({ ...service, ...files }))).map(({ rule }) => rule);
}

const inEdge = (text: string) => rulesBroken({ 'libs/services/edge/src/a.ts': text });
const lines = (count: number, line: string) => Array.from({ length: count }, () => line).join('\n');
const path = (...segments: string[]) => ['', ...segments].join('/');

describe('check-house', () => {
  it('finds nothing in a tree that keeps the rules', () => {
    expect(rulesBroken({})).toEqual([]);
  });

  it('caps a file at 400 lines', () => {
    expect(inEdge(lines(400, 'export {};') + '\n')).toEqual([]);
    expect(inEdge(lines(401, 'export {};') + '\n')).toEqual(['file-size']);
  });

  it('caps main.ts of an app at 30 lines', () => {
    expect(rulesBroken({ 'apps/edge/src/main.ts': lines(31, 'export {};') })).toEqual(['file-size']);
  });

  it('caps a function at 70 lines of code, comments and blank lines apart', () => {
    const body = (count: number) => `export function f() {\n// why\n\n${lines(count, 'g();')}\n}\n`;
    expect(inEdge(body(68))).toEqual([]);
    expect(inEdge(body(69))).toEqual(['function-size']);
  });

  it('judges methods and arrow functions too', () => {
    expect(inEdge(`export const f = () => {\n${lines(70, 'g();')}\n};\n`)).toEqual(['function-size']);
    expect(inEdge(`export class A {\n m() {\n${lines(70, 'g();')}\n}\n}\n`)).toEqual(['function-size']);
  });

  it('lets a describe block be long, but not a test inside it', () => {
    const spec = (inner: string) =>
      rulesBroken({ 'libs/services/edge/src/a.spec.ts': `describe('a', () => {\n${inner}\n});\n` });
    expect(spec(lines(90, "it('b', () => c());"))).toEqual([]);
    expect(spec(`it('b', () => {\n${lines(90, 'c();')}\n});`)).toEqual(['function-size']);
  });

  it.each(['What it is', 'Of one that ended', 'Where it goes', 'Until then', 'How long it may take'])(
    'refuses a doc comment that begins with half a sentence: %s',
    (words) => {
      expect(inEdge(`/** ${words}. */\nexport const a = 1;\n`)).toEqual(['doc-comment']);
      expect(inEdge(`/**\n * ${words}.\n */\nexport const a = 1;\n`)).toEqual(['doc-comment']);
    },
  );

  it('refuses a sentence of a doc comment with more than 25 words, and takes two of 20', () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    const comment = (text: string): string => `/**\n * Returns\n * ${text}.\n */\nexport const a = 1;\n`;
    expect(inEdge(comment(words(25)))).toEqual(['doc-comment']);
    expect(inEdge(comment(words(24)))).toEqual([]);
    expect(inEdge(comment(`${words(19)}; ${words(20)}`))).toEqual([]);
    expect(inEdge(comment(`\`${words(40)}\``))).toEqual([]);
    expect(inEdge(comment(`it:\n *\n *     ${words(40)}\n *\n * Done`))).toEqual([]);
  });

  it('refuses a comment that cites a page by a number of its section', () => {
    const cited = ['(limits 3', '.2)'].join('');
    expect(inEdge(`/** Returns what is left ${cited}. */\nexport const a = 1;\n`)).toEqual(['citation']);
    expect(inEdge(`/** Returns what is left (at most 3). */\nexport const a = 1;\n`)).toEqual([]);
  });

  it.each(['Returns what is left', 'Time until the next try', 'In-band error', 'Answers by status'])(
    'takes a doc comment that begins with a noun or a verb: %s',
    (words) => {
      expect(inEdge(`/** ${words}. */\nexport const a = 1;\n`)).toEqual([]);
    },
  );

  it.each([
    'libs/services/edge/src/utils.ts',
    'libs/services/edge/src/common/a.ts',
    'libs/services/edge/src/price-helper.ts',
    'libs/services/edge/src/price.helpers.ts',
    'docs/shared/a.md',
    'libs/core/README.md',
  ])('refuses the dumping ground %s', (file) => {
    expect(rulesBroken({ [file]: '' })).toEqual(['name']);
  });

  it('does not mistake a word inside a name', () => {
    expect(rulesBroken({ 'libs/services/edge/src/score.ts': '', 'docs/common-errors.md': '' })).toEqual([]);
  });

  it('refuses a barrel inside a lib', () => {
    expect(rulesBroken({ 'libs/services/edge/src/chat/index.ts': '' })).toEqual(['barrel']);
  });

  it('asks each library for one index, a project.json and a README', () => {
    expect(rulesBroken({ 'libs/services/keys/src/a.ts': '' }).sort()).toEqual(['index', 'project', 'readme']);
    expect(rulesBroken({ 'libs/money/src/a.ts': '' }).sort()).toEqual(['index', 'project', 'readme']);
  });

  it('refuses export * in an index', () => {
    expect(rulesBroken({ 'libs/services/edge/src/index.ts': "export * from './a.js';" })).toEqual([
      'export-star',
    ]);
    expect(
      rulesBroken({ 'libs/services/edge/src/index.ts': "export * from './names.generated.js';" }),
    ).toEqual([]);
  });

  it.each([
    ['environment', 'export const a = process.env.HOME;'],
    ['clock', 'export const a = Date.now();'],
    ['clock', 'export const a = [1].map(Date.now);'],
    ['clock', 'export const a = new Date();'],
    ['clock', 'setTimeout(() => {}, 1);'],
    ['clock', 'globalThis.setInterval(() => {}, 1);'],
    ['chance', 'export const a = Math.random();'],
  ])('refuses a hidden input outside adapters: %s, %s', (rule, text) => {
    expect(inEdge(text)).toEqual([rule]);
    expect(rulesBroken({ 'libs/services/edge/src/a.spec.ts': text })).toEqual([]);
    expect(rulesBroken({ 'lab/bench/src/a.ts': text })).toEqual([]);
  });

  it('lets a date be built from an argument, and comments and strings name what is banned', () => {
    expect(inEdge("// Date.now()\nexport const a = (at: number) => [new Date(at), 'process.env'];")).toEqual(
      [],
    );
  });

  it('lets the environment be read in *.config.ts only, platform and apps included', () => {
    const text = 'export const a = process.env;';
    expect(rulesBroken({ 'libs/services/edge/src/edge.config.ts': text })).toEqual([]);
    expect(rulesBroken({ 'apps/edge/src/main.ts': text })).toEqual(['environment']);
  });

  it('finds an import cycle, type-only imports included', () => {
    expect(
      rulesBroken({
        'libs/services/edge/src/a.ts': "import type { b } from './b.js';\nexport const a = 1 as typeof b;",
        'libs/services/edge/src/b.ts': "import { c } from './c.js';\nexport const b = c;",
        'libs/services/edge/src/c.ts': "export { a as c } from './a.js';",
      }),
    ).toEqual(['cycle']);
  });

  it('bounds the files that an import of the platform loads; types and late imports load none', () => {
    const files = Array.from({ length: 170 }, (_, at) => `libs/contracts/src/a${at}.ts`);
    const platform = (text: string) =>
      rulesBroken({
        'libs/platform/README.md': '# Platform',
        'libs/platform/project.json': '{}',
        'libs/platform/src/index.ts': text,
        'libs/contracts/README.md': '# Contracts',
        'libs/contracts/project.json': '{}',
        'libs/contracts/src/index.ts': files.map((_, at) => `export { a } from './a${at}.js';`).join('\n'),
        ...Object.fromEntries(files.map((file) => [file, ''])),
      });
    expect(platform("export { a } from '@gateway/contracts';")).toEqual(['closure']);
    expect(platform("import { type A, a } from '@gateway/contracts';")).toEqual(['closure']);
    expect(platform("import '@gateway/contracts';")).toEqual(['closure']);
    expect(platform("export { type A } from '@gateway/contracts';")).toEqual([]);
    expect(platform("import type { A } from '@gateway/contracts';")).toEqual([]);
    expect(platform("import { type A } from '@gateway/contracts';")).toEqual([]);
    expect(platform("export const a = () => import('@gateway/contracts');")).toEqual([]);
  });

  it('refuses a part of a group of specs that no spec imports, because it would never run', () => {
    const part = { 'libs/services/edge/src/b.part.spec.ts': '' };
    expect(rulesBroken(part)).toEqual(['part']);
    const group = { 'libs/services/edge/src/b.http.spec.ts': "import './b.part.spec.js';\n" };
    expect(rulesBroken({ ...part, ...group })).toEqual([]);
  });

  it('follows an alias that leads to another file than an index', () => {
    const paths = { '@gateway/edge/clock': ['./libs/services/edge/src/time/clock.ts'] };
    const aliases = {
      'tsconfig.base.json': JSON.stringify({ compilerOptions: { paths } }),
      '.swcrc': JSON.stringify({ jsc: { paths } }),
    };
    expect(
      rulesBroken({
        ...aliases,
        'libs/services/edge/src/a.ts': "import { b } from '@gateway/edge/clock';\nexport const a = b;",
        'libs/services/edge/src/time/clock.ts': "import { a } from '../a.js';\nexport const b = a;",
      }),
    ).toContain('cycle');
  });

  it('finds a cycle through the alias of a lib', () => {
    expect(inEdge("import { a as b } from '@gateway/edge';\nexport const a = b;")).toEqual(['cycle']);
  });

  it('does not take two ways to one file for a cycle', () => {
    expect(
      rulesBroken({
        'libs/services/edge/src/a.ts': "import './b.js';\nimport './c.js';",
        'libs/services/edge/src/b.ts': "import './d.js';",
        'libs/services/edge/src/c.ts': "import './d.js';",
        'libs/services/edge/src/d.ts': 'export {};',
      }),
    ).toEqual([]);
  });

  describe('folders of a project depend one way', () => {
    const src = 'libs/money/src';
    const inMoney = (files: Record<string, string>) =>
      rulesBroken({
        'libs/money/README.md': '# Money',
        'libs/money/project.json': '{}',
        [`${src}/index.ts`]: 'export {};',
        ...files,
      });

    it('refuses two folders that import each other, also without a cycle of files', () => {
      expect(
        inMoney({
          [`${src}/units/unit.ts`]: "import type { Call } from '../request/call.js';",
          [`${src}/request/call.ts`]: 'export interface Call {}',
          [`${src}/request/refuse.ts`]: "import '../units/rejections.js';",
          [`${src}/units/rejections.ts`]: 'export {};',
        }),
      ).toEqual(['folder-direction']);
    });

    it('refuses a circle of three folders', () => {
      expect(
        inMoney({
          [`${src}/a/a.ts`]: "import '../b/b.js';",
          [`${src}/b/b.ts`]: 'export {};',
          [`${src}/b/c.ts`]: "import '../c/c.js';",
          [`${src}/c/c.ts`]: 'export {};',
          [`${src}/c/d.ts`]: "import '../a/e.js';",
          [`${src}/a/e.ts`]: 'export {};',
        }),
      ).toEqual(['folder-direction']);
    });

    it('judges each file beside the folders alone', () => {
      expect(
        inMoney({
          [`${src}/money.module.ts`]: "import './units/unit.js';",
          [`${src}/units/unit.ts`]: "import '../ports.js';",
          [`${src}/ports.ts`]: 'export {};',
        }),
      ).toEqual([]);
      expect(
        inMoney({
          [`${src}/ports.ts`]: "import './units/unit.js';",
          [`${src}/units/unit.ts`]: 'export {};',
          [`${src}/units/other.ts`]: "import '../ports.js';",
        }),
      ).toEqual(['folder-direction']);
    });

    it('lets specs and fixtures import what they test', () => {
      expect(
        inMoney({
          [`${src}/units/unit.ts`]: 'export {};',
          [`${src}/units/unit.spec.ts`]: "import '../request/call.fixture.js';",
          [`${src}/request/call.fixture.ts`]: "import '../units/unit.js';",
          [`${src}/request/call.ts`]: "import '../units/unit.js';",
        }),
      ).toEqual([]);
    });
  });

  it.each([
    ['machine-path', path('home', 'ann', 'gateway')],
    ['machine-path', `cd ${path('work', 'main')}`],
    ['machine-path', `"${path('tmp', 'run')}"`],
    ['machine-path', ['..', 'shared', 'spec'].join('/')],
    ['registry-host', ['registry', 'npmjs', 'org'].join('.')],
    ['registry-host', `${'https'}://npm.${'registry'}.example/`],
    ['registry-host', `"resolved": "${'https'}://host/a.tgz"`],
  ])('finds what ties the tree to one machine: %s, %s', (rule, text) => {
    expect(rulesBroken({ 'docs/a.md': text })).toContain(rule);
  });

  it('takes no file of ours for a registry host', () => {
    expect(inEdge("export { a } from './registry.generated.js';\n// https://host/v1/registry")).toEqual([]);
  });

  it('lets a generated file be as long as it must', () => {
    expect(rulesBroken({ 'libs/services/edge/src/a.generated.ts': lines(500, 'export {};') })).toEqual([]);
  });

  it('takes no address or route for a machine path', () => {
    expect(
      rulesBroken({ 'docs/a.md': `https://host${path('home', 'ann')} and \`\${base}/home/a\`` }),
    ).toEqual([]);
  });

  it('finds an alias that the type check and the build resolve differently', () => {
    const types = (paths: object) => JSON.stringify({ compilerOptions: { paths } });
    const build = (paths: object) => JSON.stringify({ jsc: { paths } });
    const both = (a: object, b: object) =>
      rulesBroken({ 'tsconfig.base.json': types(a), '.swcrc': build(b) });
    expect(both({ '@gateway/edge': ['a'] }, { '@gateway/edge': ['a'] })).toEqual([]);
    expect(both({ '@gateway/edge': ['a'] }, { '@gateway/edge': ['b'] })).toEqual(['alias']);
    expect(both({}, { '@gateway/edge': ['a'] })).toEqual(['alias']);
  });

  it('refuses recorded traffic by name', () => {
    const recording = ['chat', 'd77e7b', '1.json.json'].join('-');
    expect(rulesBroken({ [`libs/dialects/${recording}`]: '{}' })).toEqual(['recorded']);
    expect(rulesBroken({ 'lab/replay/recorded/a.json': '{}' })).toEqual(['recorded']);
  });

  it('refuses a field of a log line that the logger drops, also one behind a name or in a spread', () => {
    const withLogger = (text: string) =>
      rulesBroken({
        'libs/platform/README.md': '# Platform',
        'libs/platform/project.json': '{}',
        'libs/platform/src/index.ts': "export { a } from './logging/logger.js';\n",
        'libs/platform/src/logging/logger.ts':
          "const ALLOWED_FIELDS: ReadonlySet<string> = new Set(['err', 'status']);\n",
        'libs/services/edge/src/a.ts': text,
      });
    expect(withLogger("logger.warn({ err, status: 1 }, 'kept');\nlogger.info(`no fields`);\n")).toEqual([]);
    expect(withLogger("this.logger.warn({ err, ip }, 'dropped');\n")).toEqual(['log-field']);
    expect(withLogger("logger.error({ ...{ user: 1 }, ...more }, 'dropped');\n")).toEqual(['log-field']);
    expect(withLogger("const line = { user: 1 };\nlogger.error(line, 'dropped');\n")).toEqual(['log-field']);
    expect(withLogger("console.error({ user: 1 }, 'not ours');\n")).toEqual([]);
  });

  describe('constructors', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: number`);

    it('refuses a ninth parameter', () => {
      const made = (count: number) => `export class A {\n  constructor(${fields(count).join(', ')}) {}\n}\n`;
      expect(inEdge(made(8))).toEqual([]);
      expect(inEdge(made(9))).toEqual(['constructor']);
    });

    it.each(['ADeps', 'Parts'])('refuses a bag of nine dependencies: %s', (bag) => {
      const made = (count: number) =>
        `interface ${bag} {\n${fields(count).join(';\n')}\n}\nexport class A {\n  constructor(private readonly of: ${bag}) {}\n}\n`;
      expect(inEdge(made(8))).toEqual([]);
      expect(inEdge(made(9))).toEqual(['constructor']);
    });

    it('refuses what Nest cannot see: a type, unless a token says what is meant', () => {
      const made = (imported: string, parameter: string) =>
        `${imported} from './b.js';\n@Injectable()\nexport class A {\n  constructor(${parameter}) {}\n}\n`;
      const broken = (text: string) =>
        rulesBroken({ 'libs/services/edge/src/b.ts': '', 'libs/services/edge/src/a.ts': text });
      expect(broken(made('import { B }', 'private readonly b: B'))).toEqual([]);
      expect(broken(made('import type { B }', '@Inject(C) private readonly b: B'))).toEqual([]);
      expect(broken(made('import type { B }', 'private readonly b: B'))).toEqual(['constructor']);
      expect(broken(made('import { type B }', 'private readonly b: B'))).toEqual(['constructor']);
      expect(broken(made('import { B }', "private readonly b: Pick<B, 'c'>"))).toEqual(['constructor']);
      expect(broken(made('import { B }', 'private readonly b: number'))).toEqual(['constructor']);
    });

    it('holds for the classes of the edge too, without an exception', () => {
      const made = (name: string) => `export class ${name} {\n  constructor(${fields(9).join(', ')}) {}\n}\n`;
      for (const name of ['EdgeRoutes', 'EdgeInference', 'JournalRuntime'])
        expect([name, inEdge(made(name))]).toEqual([name, ['constructor']]);
    });
  });
});

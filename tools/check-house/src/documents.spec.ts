import { documentFaults } from './documents.js';

const tree = {
  'libs/money/src/price.ts': 'export class Price {\n  rounded(): string {\n    return "";\n  }\n}\n',
  'docs/architecture.md': '',
};

function faultsOf(files: Record<string, string>): string[] {
  return documentFaults(new Map(Object.entries({ ...tree, ...files }))).map(
    ({ rule, path, line, message }) => `${rule} ${path}${line === undefined ? '' : `:${line}`} ${message}`,
  );
}

const inReadme = (text: string) => faultsOf({ 'libs/money/README.md': text });
const lines = (count: number) => 'x\n'.repeat(count);

describe('documents', () => {
  it.each([
    ['README.md', 140],
    ['docs/decisions.md', 60],
  ])('bounds %s at %d lines', (path, max) => {
    expect(faultsOf({ [path]: lines(max) })).toEqual([]);
    expect(faultsOf({ [path]: lines(max + 1) })).toEqual([
      `document-size ${path} ${max + 1} lines, at most ${max}`,
    ]);
  });

  it('refuses a file that is not there, by whatever end of its path it is named', () => {
    expect(
      inReadme(
        '`price.ts`, `src/price.ts`, `libs/money/src/price.ts`, `src/*.ts`, `libs/money/`, `libs/money/src/price`',
      ),
    ).toEqual([]);
    expect(inReadme('a\n`prices.ts`')).toEqual(['document libs/money/README.md:2 no file prices.ts']);
    expect(inReadme('`other/price.ts`')).toEqual(['document libs/money/README.md:1 no file other/price.ts']);
    expect(inReadme('`libs/moneys/`')).toEqual([
      'document libs/money/README.md:1 no libs/moneys/ in the repository',
    ]);
  });

  it('takes no address, placeholder or made folder for a file', () => {
    expect(
      inReadme(
        '`/v1/models`, `libs/<name>/src/a.ts`, `.data/x.json`, `dist/apps/edge/src/main.js`, `.spec.ts`',
      ),
    ).toEqual([]);
  });

  it('refuses a link that leads nowhere', () => {
    expect(inReadme('[a](../../docs/architecture.md#parts) [b](https://host/a.md) [c](src)')).toEqual([]);
    expect(inReadme('[a](docs/architecture.md)')).toEqual([
      'document libs/money/README.md:1 no libs/money/docs/architecture.md to lead to',
    ]);
  });

  it('refuses a member that no source of its class has, in a README', () => {
    expect(inReadme('`Price.rounded`, `Price.rounded(4)`, `JSON.parse`')).toEqual([]);
    expect(inReadme('`Price.round`')).toEqual([
      'document libs/money/README.md:1 no Price.round in the sources',
    ]);
    expect(inReadme('`Cost.rounded`')).toEqual([
      'document libs/money/README.md:1 no Cost.rounded in the sources',
    ]);
    expect(faultsOf({ 'docs/a.md': '`Price.round`' })).toEqual([]);
  });

  it('reads the files of a drawing, and no code', () => {
    const page = (fence: string, word: string) => ({
      'docs/a.md': `\`\`\`${fence}\n  ${word}  what it is\n\`\`\`\n`,
    });
    expect(faultsOf(page('', 'money/src/price.ts'))).toEqual([]);
    expect(faultsOf(page('', 'money/src/cost.ts'))).toEqual([
      'document docs/a.md:2 no file money/src/cost.ts',
    ]);
    expect(faultsOf(page('ts', 'money/src/cost.ts'))).toEqual([]);
  });

  it('lets the changelog and decisions of their time name what was there', () => {
    const text = '`libs/gone/src/gone.ts`';
    expect(faultsOf({ 'CHANGELOG.md': text, 'docs/adr/0001-a.md': text })).toEqual([]);
  });
});
